"""Hostile names: the one strategy that every property test of names draws from."""

from __future__ import annotations

from hypothesis import strategies as st

from nestsync.core.identifiers import Levels

HOSTILE = (
    "",
    " ",
    "  ",
    "\u00a0",
    ".",
    "..",
    "...",
    "a.b",
    "a b",
    " a",
    "a ",
    "a+b",
    "100%",
    "%2E",
    "%1F",
    "%zz",
    "a/b",
    "a\\b",
    "a?b",
    "a#b",
    "b#",
    "b!",
    "@a",
    "a:b",
    ":",
    "a;b",
    "a$b",
    "$",
    "a|b",
    "`",
    "``",
    "a`b",
    "'",
    '"',
    'a"b',
    "x" * 300,
    "é",
    "e\u0301",
    "\u0301",
    "İ",
    "ß",
    "Sales",
    "sales",
    "日本",
    "مرحبا",
    "\u202eabc",
    "😀",
    "👨\u200d👩\u200d👧",
    "\x00",
    "a\x01b",
    "a\x1fb",
    "a\nb",
    "a\rb",
    "\x7f",
    "\u2028",
    "1e5",
    "12b",
    "select",
    "system",
    "information_schema",
    "tables",
    "*",
    "a--b",
    "/*",
)
"""Names that have broken some catalog, engine or client."""

LONE_SURROGATES = ("\ud800", "a\udfffb")
"""What JSON can carry and UTF-8 cannot."""

_SPICE = ".:;$|~^,!/\\%?#&@*'\"`+-_= \t\n\r\x00\x01\x1f\u00a0\u2028\u0301\u202e😀éÉİaA1"

names: st.SearchStrategy[str] = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(alphabet=_SPICE, max_size=6),
    st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=12),
)
"""Any name that UTF-8 can carry, most of them hostile."""

any_names: st.SearchStrategy[str] = st.one_of(names, st.sampled_from(LONE_SURROGATES))
"""`names`, and lone surrogates too."""

levels: st.SearchStrategy[Levels] = st.lists(names, max_size=4).map(tuple)
any_levels: st.SearchStrategy[Levels] = st.lists(any_names, max_size=4).map(tuple)
texts: st.SearchStrategy[str] = st.one_of(names, st.lists(names, max_size=4).map(".".join))
