"""Figures and log text in words."""

from __future__ import annotations

import pytest

from core.report.formatting import clock, last_words, typed_path


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("All done.\n\n**Key fix:** the mock", "Key fix: the mock"),
        ("## Summary", "Summary"),
        ("look here:\n```\nmake test\n```\n", "make test"),
        ("call(**kwargs, **more)", "call(**kwargs, **more)"),
        ("2**3**4 and src/**/x", "2**3**4 and src/**/x"),
        ("I mend it:\n\na.py\n```python\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```\n", "I mend it:"),
        ("I mend it:\n````\na.py\n<<<<<<< SEARCH\n=======\ny\n>>>>>>> REPLACE\n````", "I mend it:"),
        ("---\n", ""),
        ("", ""),
    ],
)
def test_the_last_words_of_an_answer(said: str, line: str) -> None:
    assert last_words(said) == line


@pytest.mark.parametrize(
    ("path", "typed"),
    [
        ("logs/s.jsonl", "logs/s.jsonl"),
        ("a b/s.jsonl", "'a b/s.jsonl'"),
        ("~/s.jsonl", "~/s.jsonl"),
        ("~/a b/it's.jsonl", "~/'a b/it'\"'\"'s.jsonl'"),
        ("~/", "'~/'"),
        ("$(reboot)", "'$(reboot)'"),
        ("a\x1b[2J", "'a [2J'"),
    ],
)
def test_a_path_can_be_typed_into_a_shell(path: str, typed: str) -> None:
    assert typed_path(path) == typed


def test_a_place_days_after_the_start_is_written_with_its_days() -> None:
    assert [clock(seconds) for seconds in (2472, 359_999, 10_325_788)] == ["00:41:12", "99:59:59", "119d 12:16:28"]
