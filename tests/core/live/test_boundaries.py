"""When a session's status changes and when a notice is given, a moment before, at and after each limit."""

from __future__ import annotations

from datetime import time
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from core.events import ToolUse
from core.live.notices import quiet
from core.live.source import _ENDED, OpenEvents
from core.live.status import Open, StatusFacts
from core.report.turn_endings import TurnEnding
from core.settings.response import NoticeSettings
from tests.core.live.test_status import ASK, BASH, BUSY, EDIT, HURT, LIMITS, NOW, stand

LEFT, NEWS, SILENT, QUICK = LIMITS.fleet.left, LIMITS.fleet.news, LIMITS.fleet.silent, LIMITS.fleet.quick
AROUND = (-0.5, 0.0, 0.5)


def silent(facts: StatusFacts, seconds: float) -> StatusFacts:
    """The same, heard of last so long ago."""
    return replace(facts, heard=NOW - seconds)


@pytest.mark.parametrize(("off", "stale"), zip(AROUND, (False, True, True), strict=True))
def test_a_question_goes_stale_with_its_session(off: float, stale: bool) -> None:
    asking = silent(replace(BUSY, open=(ASK,)), LEFT + off)
    assert (stand(asking).word, stand(asking).stale) == ("needs you", stale)


@pytest.mark.parametrize(("off", "stale"), zip(AROUND, (False, True, True), strict=True))
def test_a_need_that_was_told_goes_stale_once_it_is_old(off: float, stale: bool) -> None:
    asks = HURT._replace(since=NOW - LEFT - off)
    assert stand(silent(replace(BUSY, asks=asks), LEFT + 1)).stale is stale


@pytest.mark.parametrize(("off", "stale"), zip(AROUND, (False, True, True), strict=True))
def test_an_error_goes_stale_with_its_session(off: float, stale: bool) -> None:
    failed = silent(replace(BUSY, close="failed"), LEFT + off)
    assert (stand(failed).word, stand(failed).stale) == ("needs you", stale)


@pytest.mark.parametrize(("off", "level"), zip(AROUND, (2, 0, 0), strict=True))
def test_a_finished_session_is_news_for_a_while(off: float, level: int) -> None:
    done = silent(replace(BUSY, close="done"), NEWS + off)
    assert (stand(done).word, stand(done).level) == ("done", level)


@pytest.mark.parametrize(("off", "level"), zip(AROUND, (2, 0, 0), strict=True))
def test_so_is_one_that_may_have_finished(off: float, level: int) -> None:
    said = silent(replace(BUSY, close="said"), NEWS + off)
    assert (stand(said).word, stand(said).level) == ("done", level)


@pytest.mark.parametrize(("off", "word"), zip(AROUND, ("working", "done", "done"), strict=True))
def test_an_answer_may_be_the_last_once_it_was_still_for_a_while(off: float, word: str) -> None:
    assert stand(silent(replace(BUSY, close="said"), LIMITS.idle + off)).word == word


@pytest.mark.parametrize(
    ("limit", "words"), [(LIMITS.idle, ("working", "idle", "idle")), (SILENT, ("idle", "done", "done"))]
)
def test_a_done_session_waits_for_its_sub_agents_until_they_are_silent(limit: float, words: tuple[str, ...]) -> None:
    facts = replace(BUSY, close="done", closed=NOW - 900, running=2)
    statuses = [stand(silent(facts, limit + off)) for off in AROUND]
    assert tuple(status.word for status in statuses) == words
    assert all(status.word == "done" or status.why == "waiting on 2 sub-agents" for status in statuses)


def test_a_question_does_not_wait_for_sub_agents() -> None:
    asked = replace(BUSY, close="done", running=1, ending=TurnEnding("question", "Which one?"))
    assert stand(asked).word == "needs you"


@pytest.mark.parametrize(("off", "word"), zip(AROUND, ("working", "may need you", "may need you"), strict=True))
def test_a_quick_call_may_ask_for_permission_from_a_limit_on(off: float, word: str) -> None:
    call = Open(NOW - QUICK - off, "main", "Edit", "file_edit")
    assert stand(replace(BUSY, open=(call,))).word == word
    for mode in ("never danger-full-access", "bypassPermissions"):
        assert stand(replace(BUSY, open=(call,), mode=mode)).word == "working", "it asks for no permission"
    assert stand(replace(BUSY, open=(call,), mode="acceptEdits")).word == word


@pytest.mark.parametrize(("off", "word"), zip(AROUND, ("may need you", "ended", "ended"), strict=True))
def test_it_does_so_until_the_session_is_left(off: float, word: str) -> None:
    assert stand(silent(replace(BUSY, open=(EDIT,)), LEFT + off)).word == word


@pytest.mark.parametrize(("off", "word"), zip(AROUND, ("may need you", "ended", "ended"), strict=True))
def test_a_session_silent_amid_work_is_left_from_a_limit_on(off: float, word: str) -> None:
    assert stand(silent(BUSY, LEFT + off)).word == word
    assert stand(silent(replace(BUSY, open=(BASH,)), LEFT + off)).word == word


@pytest.mark.parametrize(("off", "word"), zip(AROUND, ("idle", "may need you", "may need you"), strict=True))
def test_silence_with_no_call_open_needs_a_look_from_a_limit_on(off: float, word: str) -> None:
    assert stand(silent(BUSY, SILENT + off)).word == word


@pytest.mark.parametrize(("off", "word"), zip(AROUND, ("idle", "may need you", "may need you"), strict=True))
def test_so_does_a_call_that_does_not_return(off: float, word: str) -> None:
    assert stand(silent(replace(BUSY, open=(BASH,)), SILENT + off)).word == word


@pytest.mark.parametrize(("off", "level"), [(-0.01, 1), (0.0, 2), (0.01, 2)])
def test_a_context_is_full_from_a_share_on(off: float, level: int) -> None:
    assert stand(replace(BUSY, context=LIMITS.fleet.context + off)).level == level


@pytest.mark.parametrize(
    ("start", "end", "now", "is_quiet"),
    [
        ("22:00", "07:30", time(21, 59, 59), False),
        ("22:00", "07:30", time(22, 0), True),
        ("22:00", "07:30", time(7, 29, 59), True),
        ("22:00", "07:30", time(7, 30), False),
        ("12:00", "13:00", time(11, 59, 59), False),
        ("12:00", "13:00", time(12, 0), True),
        ("12:00", "13:00", time(12, 59, 59), True),
        ("12:00", "13:00", time(13, 0), False),
        ("12:00", "12:00", time(12, 0), False),
        ("12:00", "12:00", time(11, 0), False),
        ("12:00", "12:00", time(13, 0), False),
    ],
)
def test_quiet_hours_begin_at_their_start_and_end_at_their_end(start: str, end: str, now: time, is_quiet: bool) -> None:
    assert quiet(NoticeSettings(quiet_from=start, quiet_until=end), now) is is_quiet


@pytest.mark.parametrize(("others", "known"), [(_ENDED - 1, True), (_ENDED, False)])
def test_so_many_ended_calls_are_remembered(others: int, known: bool) -> None:
    source: Any = SimpleNamespace(behind=False, session=None, pending_events=tuple)
    open_events = OpenEvents(source, lambda _: None)
    for name in ["first", *(f"call {number}" for number in range(others))]:
        open_events.take(ToolUse(at=0.0, id=name, outcome="success"))
    assert ("first" in open_events._ended) is known
