"""What an event was about, in a few words."""

from __future__ import annotations

import pytest

from core.events import Compaction
from core.report.event_words import about


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [(167_700, 42_600, "auto 167.7k → 42.6k"), (167_700, 0, "auto 167.7k → ?"), (0, 0, "auto")],
)
def test_a_size_that_the_log_does_not_tell_is_not_called_nothing(before: int, after: int, words: str) -> None:
    cut = Compaction(at=1.0, trigger="auto", tokens_before=before, tokens_after=after)
    assert about(cut) == (words, "")
