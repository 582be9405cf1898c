"""The words of what the person is needed for are those of that call, and of no other."""

from __future__ import annotations

import pytest

from core.live.status import Limits, Open, Status, StatusFacts, status_of
from core.live.status_facts import with_now
from core.report.now import Now
from core.settings import Settings

LIMITS = Limits.of(Settings())
QUESTION = Open(10.0, "main", "AskUserQuestion", "other")
EDIT = Open(10.0, "a1", "Edit", "file_edit")
RUN = Open(10.0, "main", "Bash", "shell_exec")


def stands(*calls: Open, after: float = 600.0) -> Status:
    return status_of(StatusFacts(events=3, heard=10.0, close="tool", closed=10.0, open=calls), after, LIMITS)


@pytest.mark.parametrize(
    ("status", "tool", "reason"),
    [
        (stands(QUESTION, RUN), "AskUserQuestion", "asks: “Red or blue?”"),
        (stands(QUESTION, RUN), "Bash", "asks you something (AskUserQuestion)"),
        (stands(EDIT), "Edit", "Edit may be asking for permission (unusually slow): Red or blue?"),
        (stands(EDIT, RUN), "Bash", "Edit may be asking for permission (unusually slow)"),
        (stands(RUN, after=11.0), "Bash", "running a command (Bash)"),
    ],
)
def test_a_call_that_goes_on_beside_it_lends_no_words(status: Status, tool: str, reason: str) -> None:
    assert with_now(status, Now(tool=tool, doing="Red or blue?", said="Well.")).reason == reason


def test_an_error_is_told_in_the_words_of_the_last_answer() -> None:
    status = Status("needs you", 3, 9.0, "an error ended its turn", need="error")
    assert with_now(status, Now(tool="Bash", doing="make", said="Too long.")).words == "Too long."
