"""One rule for what a terminal may be given."""

from __future__ import annotations

import json
import sys
import tomllib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.safe_text import replace_by_blank, safe, safe_cell, safe_json, safe_json_bytes, toml_escape, whole
from tests.hostile import HOSTILE, harm

TEXTS = st.text(
    st.one_of(
        st.characters(), st.sampled_from("\x1b\x9b\x7f\u202e\u2066\u200b\u0301\u0489\ufe0f\U000e0041\n\t\r\u2028\ud800")
    )
)


def test_every_control_format_and_separator_of_unicode_goes() -> None:
    kinds = ("Cc", "Cf", "Cs", "Zl", "Zp")
    chars = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in kinds]
    assert [hex(ord(char)) for char in chars if safe(char) != " "] == []


@pytest.mark.parametrize("char", "\u034f\u115f\u1160\u3164\uffa0\ufe00\ufe0f\U000e0100")
def test_letters_without_width_go(char: str) -> None:
    assert char not in safe(f"a{char}b")


@pytest.mark.parametrize("text", ["plain", "größe", "日本語", "עברית", "e\u0301", "✓ █▁ ⚑", "emoji 🙂", "tiếng Việt"])
def test_other_text_stays(text: str) -> None:
    assert safe(text) == text


@pytest.mark.parametrize(("marks", "kept"), [(2, 2), (3, 3), (4, 3), (40, 3)])
def test_a_letter_carries_three_marks_at_most(marks: int, kept: int) -> None:
    for mark in "\u0301\u0489\u20dd\u0e35\U0001e8d0":
        assert safe("a" + mark * marks + "b") == "a" + mark * kept + "b"


def test_lines_keep_their_ends_and_tabs_only_where_wanted() -> None:
    assert safe("a\tb\nc\rd") == "a b c d"
    assert safe("a\tb\nc\rd", lines=True) == "a\tb\nc d"


@given(TEXTS)
def test_nothing_harmful_is_left_and_twice_is_once(text: str) -> None:
    once = safe(text)
    assert harm(once) == [] and "\n" not in once and "\t" not in once
    assert safe(once) == once
    assert harm(safe(text, lines=True)) == []


@given(st.lists(TEXTS))
def test_many_lines_at_once_are_as_each_alone(texts: list[str]) -> None:
    lines = [line for text in texts for line in text.split("\n")]
    assert safe("\n".join(lines), lines=True) == "\n".join(safe(line, lines=True) for line in lines)


@given(st.dictionaries(TEXTS, TEXTS))
def test_json_says_the_same_without_harm(value: dict[str, str]) -> None:
    said = {whole(key): whole(item) for key, item in value.items()}
    for indent in (None, 2):
        text = safe_json(json.dumps(said, ensure_ascii=False, indent=indent))
        assert harm(text) == [] and json.loads(text) == said
    assert json.loads(safe_json_bytes(json.dumps(said, ensure_ascii=False).encode())) == said


@given(TEXTS)
def test_toml_says_the_same_without_harm(text: str) -> None:
    from core.settings.draft import toml_value

    written = toml_value(whole(text))
    assert harm(written) == [] and tomllib.loads(f"a = {written}")["a"] == whole(text)


def test_a_half_character_is_said_in_toml() -> None:
    assert toml_escape("\udcff") == "?"


def test_all_of_it_at_once() -> None:
    assert harm(HOSTILE) and not harm(safe(HOSTILE))
    assert replace_by_blank("\u0301") == "" and replace_by_blank("\x1b") == " "


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd", "'+cmd"),
        ("-2", "'-2"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\u200b=1", "' =1"),
        (" =1", "' =1"),
        ("a=1", "a=1"),
        ("\x1b[31m", " [31m"),
        (-2, -2),
        (None, None),
    ],
)
def test_no_cell_is_a_formula(value: object, cell: object) -> None:
    assert safe_cell(value) == cell
