"""Data Docs without the rest of the internet."""

from __future__ import annotations

import pytest

from nestsync.reports.data_docs import local
from tests.reports.pages import Page


def body(markup: str) -> str:
    return local(f"<!DOCTYPE html><html><head></head><body>{markup}</body></html>", "").split("<body>")[1][:-14]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        pytest.param('<script src="https://cdn.example/x.js"></script>a', "a", id="script"),
        pytest.param("<script>alert(1)</script>a", "a", id="inline-script"),
        pytest.param('<link rel="stylesheet" href="https://cdn.example/x.css">a', "a", id="stylesheet"),
        pytest.param("<style>@import 'https://cdn.example'</style>a", "a", id="style"),
        pytest.param('<img src="https://x.example/logo.png?id=1" alt="logo"/>a', "a", id="image"),
        pytest.param('<a href="https://x.example">a</a>', "<a>a</a>", id="link-away"),
        pytest.param('<a href="//x.example">a</a>', "<a>a</a>", id="link-without-scheme"),
        pytest.param('<a href=" JavaScript:alert(1)">a</a>', "<a>a</a>", id="script-address"),
        pytest.param('<a href="../index.html#x">a</a>', '<a href="../index.html#x">a</a>', id="link-within"),
        pytest.param('<p onclick="x()" class="y">a</p>', '<p class="y">a</p>', id="handler"),
        pytest.param("<p style=\"background:url('//x')\">a</p>", "<p>a</p>", id="style-that-loads"),
        pytest.param("<footer>news <a>Subscribe</a></footer>a", "a", id="footer"),
        pytest.param("a &lt;b&gt; &#36; &amp;c", "a &lt;b&gt; &#36; &amp;c", id="references-stay"),
        pytest.param('<p title="&quot;&lt;">a</p>', '<p title="&quot;&lt;">a</p>', id="attribute-references-stay"),
        pytest.param("a<hr></hr>b<br></br>", "a<hr>b<br>", id="ends-of-what-has-none"),
        pytest.param('<input type="radio" autocomplete="off">', '<input type="radio">', id="attribute-out-of-place"),
        pytest.param('<a href="#x" aria-controls="y">a</a>', '<a href="#x">a</a>', id="control-of-nothing"),
        pytest.param(
            '<i class="fas fa-times"></i>',
            '<i class="fas fa-times"><b>failed</b></i>',
            id="icon",
        ),
    ],
)
def test_what_stays_of_a_page(markup: str, expected: str) -> None:
    assert body(markup) == expected


def test_the_page_gets_our_style() -> None:
    page = local("<html><head><title>t</title><title></title></head><body></body></html>", "p{color:red}")
    assert page == '<html lang="en"><head><title>t</title><style>p{color:red}</style></head><body></body></html>'
    assert Page(page).remote == []
