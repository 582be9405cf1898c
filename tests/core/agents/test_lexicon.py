"""Phrases of checking and doubt, counted and not kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agents.models import CHECKING, DOUBTING, Tone, joined_words, plain_words, tone


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("", Tone()),
        ("Let me verify the change.", Tone(1, 0)),
        ("Let me VERIFY\nthe fix, and verify again.", Tone(1, 0)),
        ("It might still fail; maybe it is that.", Tone(0, 2)),
        ("Done.\n```\nmaybe verify\n```\nthat was it", Tone()),
        ("Go.<function=bash>verify maybe", Tone()),
        ("an await, not a pause", Tone()),
    ],
)
def test_what_is_counted(said: str, found: Tone) -> None:
    assert tone(said) == found


def test_the_lexicon_is_short_and_each_phrase_stands_once() -> None:
    every = (*CHECKING, *DOUBTING)
    assert len(every) <= 45
    assert len(set(every)) == len(every)
    assert all(phrase == phrase.lower() and phrase.startswith(" ") for phrase in every)


@given(
    st.lists(
        st.one_of(
            st.sampled_from([part for phrase in (*CHECKING, *DOUBTING) for part in (phrase, phrase.strip())]),
            st.text(max_size=8),
        ),
        max_size=12,
    ).map("".join)
)
def test_a_phrase_is_counted_where_the_text_holds_it(said: str) -> None:
    text = plain_words(said)
    assert tone(said) == Tone(*(sum(one in text for one in kind) for kind in (CHECKING, DOUBTING)))


@given(st.lists(st.sampled_from(["maybe ", "x" * 3999, "<function=", "x" * 3, "```", " verify", "<func"])))
def test_words_are_joined_as_far_as_they_are_looked_at(parts: list[str]) -> None:
    said = ""
    for part in parts:
        said = joined_words(said, part)
    assert tone(said) == tone("".join(parts))
    assert plain_words(said) == plain_words("".join(parts))


def test_words_that_nobody_looks_at_are_not_joined() -> None:
    said = joined_words("", "x" * 9000)
    assert joined_words(said, "and more") is said
