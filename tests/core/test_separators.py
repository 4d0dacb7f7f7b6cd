"""Which characters may join levels, and what a refusal says."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestsync.core.errors import UnknownKind
from nestsync.core.separators import (
    ALLOWED,
    DEFAULT_CANDIDATES,
    REFUSED,
    SeparatorRefused,
    check_separator,
    free_separators,
    safety_reason,
    typed_separator,
)
from tests.core import hostile


def refused(separator: str, **options: object) -> SeparatorRefused:
    with pytest.raises(SeparatorRefused) as caught:
        check_separator(separator, **options)  # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize("separator", ALLOWED)
def test_the_designs_own_examples_are_allowed_by_default(separator: str) -> None:
    check_separator(separator)


@pytest.mark.parametrize("separator", [*DEFAULT_CANDIDATES, "-", "_", "+", "=", "→", "😀"])
def test_any_safe_character_passes_the_unrestricted_policy(separator: str) -> None:
    check_separator(separator, policy="unrestricted")


@pytest.mark.parametrize("policy", ["restricted", "unrestricted"])
@pytest.mark.parametrize(
    ("separator", "reason"),
    [
        ("", "it is empty"),
        ("::", "not a single character"),
        (" ", "it is blank"),
        ("\t", "it is blank"),
        ("\u00a0", "it is blank"),
        (".", "dotted identifiers"),
        ("\x01", "Gravitino's storage joins levels with it"),
        ("\x1f", "Iceberg REST joins levels with it"),
        ("/", "it conflicts with path parsing"),
        ("\\", "escape character"),
        ("%", "percent-encoded"),
        ("?", "query of a URL"),
        ("#", "fragment of a URL"),
        ("&", "parameters of a query"),
        ("'", "quotes text"),
        ('"', "quotes identifiers"),
        ("`", "quotes identifiers"),
        ("*", "wildcard"),
        ("@", "marks a catalog"),
        ("a", "letter"),
        ("é", "letter"),
        ("日", "letter"),
        ("7", "digit"),
        ("٣", "digit"),
        ("\u0301", "combining mark"),
        ("\x00", "control character"),
        ("\x7f", "control character"),
        ("\u200b", "cannot be seen"),
        ("\u202e", "cannot be seen"),
        ("\ud800", "control character or cannot be seen"),
        ("\u037e", "normalisation"),  # the Greek question mark, which NFC turns into ;
    ],
    ids=ascii,
)
def test_an_unsafe_separator_is_refused_whatever_the_policy(separator: str, reason: str, policy: str) -> None:
    error = refused(separator, policy=policy, allowed=(":", separator))
    assert error.separator == separator
    assert reason in error.reason
    assert ":" in error.alternatives
    assert error.exit_code == 2


def test_the_message_is_the_one_of_the_design() -> None:
    error = refused("/")
    assert error.what == ("Delimiter '/' is not allowed because it conflicts with path parsing. Try ':', ';', or '$'.")
    assert refused("/", policy="unrestricted").what == error.what


@pytest.mark.parametrize(
    ("taken", "alternatives", "advice"),
    [
        ((), (":", ";", "$"), "Try ':', ';', or '$'."),
        (("a:b",), (";", "$"), "Try ';' or '$'."),
        (("a:b", "c$"), (";",), "Try ';'."),
        (("a:b", "c;$"), (), "No allowed separator is free here: rename the levels that hold one, or allow another."),
    ],
    ids=str,
)
def test_only_what_is_free_is_offered(taken: tuple[str, ...], alternatives: tuple[str, ...], advice: str) -> None:
    error = refused("/", taken=taken)
    assert error.alternatives == alternatives
    assert error.what.endswith(advice)


def test_the_unrestricted_policy_offers_more_when_the_allowed_ones_are_taken() -> None:
    assert refused("/", policy="unrestricted", taken=("a:b;c$d",)).alternatives == ("|", "~", "^")


def test_taken_filters_the_alternatives_only() -> None:
    check_separator(":", taken=("a:b",))


def test_the_allow_list_binds_under_the_restricted_policy_only() -> None:
    error = refused("|")
    assert error.reason == "the restricted policy allows ':', ';', and '$' only"
    check_separator("|", policy="restricted", allowed=("|",))
    check_separator("|", policy="unrestricted", allowed=(":",))
    assert refused(":", allowed=("|",)).alternatives == ("|",)
    assert refused(":", allowed=()).reason == "the restricted policy allows none only"


def test_a_policy_that_does_not_exist_is_no_policy() -> None:
    with pytest.raises(UnknownKind, match="no policy 'Restricted' Hint: the policies are restricted, unrestricted"):
        check_separator("|", policy="Restricted")  # type: ignore[arg-type]


def test_the_separator_is_called_sep() -> None:
    check_separator(sep=":")


def test_an_unsafe_member_of_the_allow_list_is_never_offered() -> None:
    assert refused("x", allowed=("/", ".", ";")).alternatives == (";",)


def test_what_cannot_be_seen_is_shown_as_code_points() -> None:
    assert refused("\x01").what.startswith("Delimiter U+0001 is not allowed")
    assert refused("\x01\x02").what.startswith("Delimiter U+0001 U+0002 is not allowed")


def test_the_default_candidates_are_safe_and_the_refused_are_not() -> None:
    assert all(safety_reason(candidate) is None for candidate in DEFAULT_CANDIDATES)
    assert len(set(DEFAULT_CANDIDATES)) == len(DEFAULT_CANDIDATES) == 8
    assert all(safety_reason(separator) == reason for separator, reason in REFUSED.items())


@given(taken=st.lists(hostile.names))
def test_a_free_separator_is_in_no_text(taken: list[str]) -> None:
    for separator in free_separators(DEFAULT_CANDIDATES, taken):
        assert not any(separator in text for text in taken)


@given(separator=hostile.any_names)
def test_a_refusal_offers_what_would_pass(separator: str) -> None:
    try:
        check_separator(separator)
    except SeparatorRefused as error:
        for alternative in error.alternatives:
            check_separator(alternative)


def test_a_refused_separator_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(refused("/")))
    assert (error.separator, error.alternatives) == ("/", (":", ";", "$"))
    assert str(error).startswith("[separator-refused] Delimiter '/'")


def test_of_a_refusal_read_back_from_text_the_sentence_is_left() -> None:
    error = SeparatorRefused.from_text(f"Traceback ...\n{refused('/')}\n")
    assert isinstance(error, SeparatorRefused)
    assert (error.separator, error.reason, error.alternatives) == ("", "", ())
    assert error.what == refused("/").what


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        (";", ";"),
        ("%", "%"),
        ("\\", "\\"),
        ("%1F", "\x1f"),
        ("%2e", "."),
        ("%C2%A7", "§"),
        (r"\x1f", "\x1f"),
        (r"\u001F", "\x1f"),
        ("U+001F", "\x1f"),
        ("%2", "%2"),
        ("::", "::"),
    ],
)
def test_a_separator_that_cannot_be_typed_is_typed_as_an_escape(text: str, separator: str) -> None:
    assert typed_separator(text) == separator


@pytest.mark.parametrize("text", ["%FF", "U+FFFFFF"])
def test_an_escape_that_encodes_no_character_is_refused(text: str) -> None:
    with pytest.raises(SeparatorRefused, match="it encodes no character"):
        typed_separator(text)
