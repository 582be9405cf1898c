"""A status at any place of a recording is the one that a watch had there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bench.workload import session
from core.events import (
    CONTINUES,
    MAIN,
    AgentEnd,
    AgentStart,
    Event,
    Outcome,
    Prompt,
    Rollback,
    SessionEnd,
    SessionStart,
    ToolUse,
    Turn,
)
from core.live.status import Limits, status_of
from core.live.status_facts import StatusHistory, StatusTracker
from core.report.story import last_word
from core.settings import Settings
from core.timeline.timeline import Timeline

NOW = 1_760_000_000.0
FINAL = Settings().response.notices.final


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), agents=st.integers(0, 2), size=st.integers(1, 160))
def test_a_recording_tells_the_facts_of_the_watch(seed: int, agents: int, size: int) -> None:
    timeline = Timeline(Settings())
    tracker = StatusTracker(FINAL)
    seen = []
    for event in session(size, seed=seed, agents=agents):
        tracker.update(event, timeline.add(event))
        seen.append(tracker.facts(timeline.society))
    history = StatusHistory(timeline, FINAL)
    for index in (*range(1, len(timeline) + 1, 7), len(timeline)):
        assert history.facts(index, timeline.society_at(index)) == seen[index - 1]


def test_rollbacks_and_modes_are_the_same_in_the_recording_and_in_the_watch() -> None:
    events: list[Event] = [
        Prompt(at=NOW, characters=3, mode="plan"),
        Turn(at=NOW + 1, stop="end_turn"),
        Prompt(at=NOW + 2, characters=3, mode="bypassPermissions", agent="other"),
        Prompt(at=NOW + 3, characters=3),
        Turn(at=NOW + 4, mode="bypassPermissions"),
        Rollback(at=NOW + 5, turns=1),
        Prompt(at=NOW + 6, characters=3, mode="plan"),
        Rollback(at=NOW + 7, turns=9),
    ]
    timeline, tracker = Timeline(Settings()), StatusTracker(FINAL)
    seen = []
    for event in events:
        tracker.update(event, timeline.add(event))
        seen.append(tracker.facts(timeline.society))
    history = StatusHistory(timeline, FINAL)
    assert [history.facts(index, timeline.society_at(index)) for index in range(1, len(events) + 1)] == seen
    assert [facts.mode for facts in seen] == ["plan"] * 4 + ["bypassPermissions"] * 2 + ["plan"] * 2
    assert [facts.close for facts in seen[3:]] == ["asked", "said", "rolled back", "asked", "rolled back"]


def test_trouble_of_a_sub_agent_that_the_session_forgot_since() -> None:
    timeline = Timeline(Settings.parse({"affect": {"society": {"finished": 0, "summaries": 1}}}))
    for number, child in enumerate(("a", "b", "c")):
        began = NOW + 100.0 * number
        timeline.add(AgentStart(at=began, child=child, role="scout"))
        for call in range(1, 9):
            failed = ToolUse(at=began + call, agent=child, action="shell_exec", tool="Bash", outcome="failure")
            timeline.add(replace(failed, call=7, shape=7, result=5))
        timeline.add(AgentEnd(at=began + 50.0, child=child))
    assert [one.name for one in timeline.society.read().agents] == [MAIN, "c"]
    history = StatusHistory(timeline, FINAL)
    for index, name in ((9, "scout"), (19, "scout 2"), (29, "scout")):
        loop = history.facts(index, timeline.society_at(index)).loop
        assert loop is not None and loop.why.startswith(f"sub-agent {name}: ")


@st.composite
def jumbled(draw: st.DrawFn) -> list[Event]:
    """Calls, turns and prompts of one agent whose times go back and forth."""
    made: list[Event] = []
    for _ in range(draw(st.integers(1, 25))):
        at = NOW + draw(st.integers(0, 9))
        kind = draw(st.sampled_from(("use", "pending", "turn", "prompt", "end")))
        if kind == "end":
            made.append(SessionEnd(at=at))
        elif kind == "turn":
            made.append(Turn(at=at, stop=draw(st.sampled_from(("", "tool_use", "end_turn", "error", "total")))))
        elif kind == "prompt":
            made.append(Prompt(at=at, characters=3, interrupt=draw(st.booleans())))
        else:
            outcome: Outcome = "pending" if kind == "pending" else "success"
            made.append(ToolUse(at=at, action="shell_exec", tool="Bash", outcome=outcome))
    return made


@settings(max_examples=60, deadline=None)
@given(jumbled())
def test_what_was_left_behind_is_found_from_the_end_as_from_the_start(events: list[Event]) -> None:
    timeline = Timeline(Settings())
    tracker = StatusTracker(FINAL)
    for event in events:
        tracker.update(event, timeline.add(event))
        left = last_word(reversed(timeline.events), frozenset(FINAL))
        assert (left.close, left.at) == (tracker.close, tracker.closed)
    facts = StatusHistory(timeline, FINAL).facts(len(events), timeline.society)
    assert (facts.close, facts.closed, facts.turn) == (tracker.close, tracker.closed, tracker.turn)


@pytest.mark.parametrize(("later", "close"), [(5.0, "ended"), (5.1, "tool")])
def test_what_is_tidied_up_after_the_end_belongs_to_it(later: float, close: str) -> None:
    use = ToolUse(at=NOW + 9 + later, action="shell_exec", tool="Bash")
    timeline, history = recorded(Prompt(at=NOW + 1, characters=3), SessionEnd(at=NOW + 9), use)
    assert history.facts(4, timeline.society).close == close


def test_a_log_cut_off_amid_its_work_is_not_done() -> None:
    """The turn that made a call is told last, though the call was answered after it."""
    use = ToolUse(at=NOW + 9, action="shell_exec", tool="Bash")
    timeline, history = recorded(Prompt(at=NOW + 1, characters=3), use, Turn(at=NOW + 5))
    facts = history.facts(4, timeline.society)
    assert (facts.close, facts.closed) == ("tool", NOW + 9)
    assert word(timeline, history, 4, later=600.0) == "may need you"
    timeline, history = recorded(Prompt(at=NOW + 1, characters=3), use, Turn(at=NOW + 9))
    assert word(timeline, history, 4, later=600.0) == "done"


def test_a_call_of_an_answer_that_failed_does_not_hide_the_error() -> None:
    call = ToolUse(at=NOW + 5, action="file_edit", tool="Edit", outcome="pending")
    timeline, history = recorded(Prompt(at=NOW + 1, characters=3), Turn(at=NOW + 5, stop="error"), call)
    assert history.facts(4, timeline.society).close == "failed"


def test_a_loop_at_the_end_of_a_saved_log_is_over() -> None:
    failed = ToolUse(at=NOW, action="shell_exec", tool="Bash", outcome="failure", call=7, shape=7, result=5)
    calls = [replace(failed, at=NOW + place) for place in range(1, 9)]
    timeline, history = recorded(Prompt(at=NOW, characters=3), *calls)
    facts, limits = history.facts(10, timeline.society), Limits.of(Settings())
    assert history.status(facts, 10, NOW + 8, limits).word == "looping"
    over = history.status(facts, 10, NOW + 8, limits, ended=True)
    assert over.word == "ended" and "it was looping" in over.why


def test_a_run_that_continues_in_another_log_is_not_done() -> None:
    end = SessionEnd(at=NOW + 9, reason=f"{CONTINUES}rest.json")
    timeline, history = recorded(Prompt(at=NOW + 1, characters=3), Turn(at=NOW + 9), end)
    status = history.status(history.facts(4, timeline.society), 4, NOW + 9, Limits.of(Settings()), ended=True)
    assert (status.word, status.why) == ("ended", "the run continues in rest.json")


@pytest.mark.parametrize("off", [0.0, 0.1, 0.123456, 0.7])
def test_an_answer_at_the_end_of_a_log_is_one_however_its_time_is_rounded(off: float) -> None:
    timeline, history = recorded(Prompt(at=NOW + 1, characters=3), Turn(at=NOW + 5 + off))
    facts = history.facts(3, timeline.society)
    assert history.status(facts, 3, NOW + 5 + off, Limits.of(Settings()), ended=True).word == "done"


@pytest.mark.parametrize("ended", [False, True])
def test_nobody_works_in_a_log_that_has_ended(ended: bool) -> None:
    use = ToolUse(at=NOW + 9, action="shell_exec", tool="Bash")
    timeline, history = recorded(Prompt(at=NOW + 1, characters=3), use)
    facts = history.facts(3, timeline.society)
    status = history.status(facts, 3, NOW + 9, Limits.of(Settings()), ended=ended)
    left, works = "abandoned: the log stops mid-task", "thinking"
    assert (status.word, status.why) == (("ended", left) if ended else ("working", works))


@pytest.mark.parametrize(("stop", "left"), [("refusal", "needs you"), ("max_tokens", "done"), ("length", "done")])
def test_a_refusal_needs_you_and_a_cut_answer_may_be_all(stop: str, left: str) -> None:
    timeline, history = recorded(Prompt(at=NOW + 1, characters=3), Turn(at=NOW + 5, stop=stop))
    assert word(timeline, history, 3, later=600.0) == left


def recorded(*events: Event) -> tuple[Timeline, StatusHistory]:
    timeline = Timeline(Settings())
    timeline.extend([SessionStart(at=NOW, session="s", tool="claude-code"), *events])
    return timeline, StatusHistory(timeline, FINAL)


def word(timeline: Timeline, history: StatusHistory, index: int, later: float = 0.0) -> str:
    at = timeline.time_of(index) + later
    facts = history.facts(index, timeline.society_at(index))
    facts = replace(facts, open=history.open_calls(index, at))
    return status_of(facts, at, Limits.of(Settings())).word


QUESTION = ToolUse(at=NOW + 60, id="q", action="other", tool="AskUserQuestion", duration=50.0)


@pytest.mark.parametrize(("later", "said"), [(8.9, "working"), (9.0, "needs you"), (58.9, "needs you")])
def test_a_question_is_open_from_its_call_to_its_answer(later: float, said: str) -> None:
    timeline, history = recorded(Prompt(at=NOW + 1, characters=3), QUESTION, Turn(at=NOW + 61, stop="end_turn"))
    assert word(timeline, history, 2, later) == said
    assert word(timeline, history, 3) == "working"
    assert word(timeline, history, 4) == "done"


def test_a_question_answered_by_the_next_event_is_never_stepped_over() -> None:
    timeline, history = recorded(Prompt(at=NOW + 1, characters=3), QUESTION, Turn(at=NOW + 61, stop="end_turn"))
    asking = Limits.of(Settings()).asking
    at = timeline.time_of(2)
    assert history.open_calls(2, at) == ()
    assert [call.tool for call in history.open_calls(2, at, asking)] == ["AskUserQuestion"]
    assert history.open_calls(1, timeline.time_of(1), asking) == ()
    assert history.open_calls(3, NOW + 60, asking) == ()


def test_a_question_the_log_ends_with_stays_open() -> None:
    asked = replace(QUESTION, at=NOW + 9, outcome="pending", duration=None)
    timeline, history = recorded(Prompt(at=NOW + 1, characters=3), asked)
    assert word(timeline, history, 3) == "needs you"
    gone_on, known = recorded(
        Prompt(at=NOW + 1, characters=3), asked, Prompt(at=NOW + 20, characters=4, interrupt=True)
    )
    assert word(gone_on, known, 4) == "ended"


def test_an_error_that_ends_a_turn_needs_the_person() -> None:
    timeline, history = recorded(Prompt(at=NOW + 1, characters=3), Turn(at=NOW + 9, stop="error"))
    assert word(timeline, history, 3) == "needs you"
    retried, known = recorded(Turn(at=NOW + 9, stop="error"), Turn(at=NOW + 12, stop="tool_use"))
    assert word(retried, known, 3) == "working"


def test_calls_under_way_are_told_oldest_first() -> None:
    first = ToolUse(at=NOW + 50, id="a", agent=MAIN, action="shell_exec", tool="Bash", duration=40.0)
    second = replace(first, at=NOW + 30, id="b", tool="Grep", duration=10.0)
    _, history = recorded(Prompt(at=NOW + 1, characters=3), second, first)
    assert [call.tool for call in history.open_calls(2, NOW + 25)] == ["Bash", "Grep"]
    assert [call.tool for call in history.open_calls(2, NOW + 10)] == ["Bash"]
    assert history.open_calls(2, NOW + 9.9) == ()


KINDS = ("prompt", "turn", "done", "use", "open")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(("prompt", "turn", "done", "use", "open")), st.integers(1, 9)), max_size=8))
def test_calls_that_the_end_of_a_log_brings_leave_the_same_facts(told: list[tuple[str, int]]) -> None:
    """However the times run, the recording tells what the watch was told."""
    made: dict[str, Event] = {
        "prompt": Prompt(at=0.0, characters=3),
        "turn": Turn(at=0.0),
        "done": Turn(at=0.0, stop="end_turn"),
        "use": ToolUse(at=0.0, action="file_edit", tool="Edit"),
        "open": ToolUse(at=0.0, action="file_edit", tool="Edit", outcome="pending"),
    }
    timeline = Timeline(Settings())
    tracker = StatusTracker(FINAL)
    for kind, at in told:
        event = replace(made[kind], at=NOW + at)
        tracker.update(event, timeline.add(event))
    if told:
        facts = StatusHistory(timeline, FINAL).facts(len(timeline), timeline.society)
        watched = tracker.facts(timeline.society)
        assert (facts.close, facts.closed, facts.turn, facts.prompted) == (
            watched.close,
            watched.closed,
            watched.turn,
            watched.prompted,
        )
