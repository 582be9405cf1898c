"""Figures and log text in words."""

from __future__ import annotations

import pytest

from core.report.formatting import last_words


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("All done.\n\n**Key fix:** the mock", "Key fix: the mock"),
        ("## Summary", "Summary"),
        ("look here:\n```\nmake test\n```\n", "make test"),
        ("call(**kwargs, **more)", "call(**kwargs, **more)"),
        ("2**3**4 and src/**/x", "2**3**4 and src/**/x"),
        ("---\n", ""),
        ("", ""),
    ],
)
def test_the_last_words_of_an_answer(said: str, line: str) -> None:
    assert last_words(said) == line
