"""How a session stands: the table of what is said when, and that silence is never called fine."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from core.agents.registry import make_kit
from core.engine.mind.cortical import Regime
from core.engine.society import Society
from core.events import MAIN, AgentEnd, AgentStart, Event, Prompt, SessionEnd, SessionStart, ToolUse, Turn
from core.live.status import (
    GLYPHS,
    QUICK_ACTIONS,
    WORDS,
    AgentTrouble,
    Limits,
    Open,
    Status,
    StatusFacts,
    Word,
    status_of,
)
from core.live.status_facts import StatusTracker, with_minds
from core.logs.finder import sessions
from core.logs.session import log_events
from core.report.story import GOODBYE, Close, closing, last_word
from core.report.turn_endings import TurnEnding
from core.settings import Settings
from core.settings.program import LineSettings

NOW = 1_760_000_000.0
LIMITS = Limits.of(Settings())
BUSY = StatusFacts(events=40, heard=NOW - 2, close="tool", closed=NOW - 2)
BASH = Open(NOW - 90, MAIN, "Bash", "shell_exec")
EDIT = Open(NOW - 20, MAIN, "Edit", "file_edit")
OLD = Open(NOW - 100, MAIN, "Read", "file_read")
ASK = Open(NOW - 5, MAIN, "AskUserQuestion", "other")
HURT = AgentTrouble(NOW - 30, "pytest failed 9 times")


def stand(facts: StatusFacts, now: float = NOW) -> Status:
    return status_of(facts, now, LIMITS)


@pytest.mark.parametrize(
    ("facts", "word", "level", "since"),
    [
        (replace(BUSY, open=(ASK,)), "needs you", 3, NOW - 5),
        (replace(BUSY, open=(EDIT,)), "may need you", 3, NOW - 20),
        (replace(BUSY, open=(EDIT._replace(at=NOW - 3),)), "working", 1, NOW - 2),
        (replace(BUSY, loop=HURT, stuck=HURT), "looping", 3, NOW - 30),
        (replace(BUSY, stuck=HURT), "stuck", 3, NOW - 30),
        (replace(BUSY, context=0.93), "working", 2, None),
        (replace(BUSY, heard=NOW - 90, open=(BASH,)), "idle", 2, NOW - 90),
        (replace(BUSY, heard=NOW - 90, open=(BASH,), loop=HURT), "looping", 3, NOW - 30),
        (replace(BUSY, heard=NOW - 400, open=(BASH,)), "may need you", 3, NOW - 400),
        (replace(BUSY, heard=NOW - 90), "idle", 2, NOW - 90),
        (replace(BUSY, heard=NOW - 400), "may need you", 3, NOW - 400),
        (replace(BUSY, heard=NOW - 9000), "ended", 0, NOW - 9000),
        (replace(BUSY, heard=NOW - 9000, open=(EDIT,)), "ended", 0, NOW - 9000),
        (replace(BUSY, heard=NOW - 9000, open=(ASK,)), "needs you", 3, NOW - 5),
        (replace(BUSY, close="done", closed=NOW - 60, heard=NOW - 60), "done", 2, NOW - 60),
        (replace(BUSY, close="done", closed=NOW - 900, heard=NOW - 900), "done", 0, NOW - 900),
        (replace(BUSY, close="stopped", closed=NOW - 60, heard=NOW - 60), "ended", 2, NOW - 60),
        (replace(BUSY, close="said", closed=NOW - 90, heard=NOW - 90), "done", 2, NOW - 90),
        (replace(BUSY, close="said"), "working", 1, NOW - 2),
        (replace(BUSY, close="said", closed=NOW - 90, heard=NOW - 90, open=(OLD,)), "done", 2, NOW - 90),
        (replace(BUSY, close="ended", closed=NOW - 9), "ended", 0, NOW - 9),
        (replace(BUSY, close="done", closed=NOW - 60, running=2), "working", 1, NOW - 60),
        (replace(BUSY, flow=NOW - 300, stuck=HURT), "stuck", 3, NOW - 30),
        (BUSY, "working", 1, NOW - 2),
        (StatusFacts(heard=NOW - 5), "idle", 1, NOW - 5),
        (StatusFacts(), "idle", 1, NOW),
        (StatusFacts(heard=NOW - 5, read=0.0), "idle", 2, None),
        (replace(BUSY, process="gone", open=(ASK, BASH)), "ended", 2, NOW - 2),
        (replace(BUSY, process="gone", heard=NOW - 900), "ended", 0, NOW - 900),
        (replace(BUSY, process="gone", close="done", closed=NOW - 60, heard=NOW - 60, running=2), "done", 2, NOW - 60),
        (replace(BUSY, process="gone", close="said", closed=NOW - 2), "done", 2, NOW - 2),
        (replace(BUSY, process="busy", heard=NOW - 400, open=(BASH,)), "working", 1, NOW - 2),
        (replace(BUSY, process="busy", open=(OLD,)), "working", 1, NOW - 2),
        (replace(BUSY, process="busy", heard=NOW - 9000), "ended", 0, NOW - 9000),
        (replace(BUSY, lost="log.jsonl: vanished; waiting for it"), "unreadable", 3, NOW - 2),
    ],
)
def test_what_is_said(facts: StatusFacts, word: Word, level: int, since: float | None) -> None:
    said = stand(facts)
    assert (said.word, said.level, said.since) == (word, level, since)
    assert said.why


SURE = replace(BUSY, close="done", closed=NOW - 60, heard=NOW - 60)
LOOSE = replace(BUSY, close="said", closed=NOW - 90, heard=NOW - 90)
QUOTE = "Should I drop it?"


@pytest.mark.parametrize(
    ("facts", "ending", "word", "reason"),
    [
        (SURE, TurnEnding("question", QUOTE), "needs you", f"asks: “{QUOTE}”"),
        (LOOSE, TurnEnding("question", QUOTE), "may need you", f"asks: “{QUOTE}”"),
        (SURE, TurnEnding("offer", QUOTE), "may need you", f"finished, and offers to go on: “{QUOTE}”"),
        (SURE, TurnEnding("offer", QUOTE, optional=True), "done", f"finished, with an offer: “{QUOTE}”"),
        (SURE, TurnEnding("gave up", "No."), "gave up", "could not do it: “No.”"),
        (SURE, TurnEnding("partial", "No."), "done", "finished in part: “No.”"),
        (SURE, TurnEnding("done", "Yes."), "done", "finished, waiting for you"),
        (LOOSE, TurnEnding("done", ""), "done", "answered (this log does not mark the end of a turn)"),
        (SURE, TurnEnding("waiting", "CI."), "idle", "waiting on something it started: “CI.”"),
        (SURE, TurnEnding("cut off", "an"), "may need you", "its answer was cut off at the length limit: “an”"),
    ],
)
def test_the_end_of_a_turn_decides_the_word(facts: StatusFacts, ending: TurnEnding, word: Word, reason: str) -> None:
    said = stand(replace(facts, ending=ending))
    assert (said.word, said.reason, said.ending) == (word, reason, ending.ending)
    assert said.wordless().reason != reason or not said.words


def test_made_up_times_are_not_compared_with_the_clock() -> None:
    fresh = replace(BUSY, open=(EDIT._replace(at=12.0),), synthetic=True)
    assert stand(fresh).word == "working"
    assert stand(replace(fresh, heard=NOW - 20)).since == NOW - 20


@pytest.mark.parametrize(("ages", "told"), [(19.9, True), (20.1, False)])
def test_a_clock_that_was_never_set_tells_no_length_of_time(ages: float, told: bool) -> None:
    then = NOW - ages * 365.25 * 86_400
    working = replace(BUSY, turn=then)
    assert (stand(working).word, stand(working).since) == ("working", then if told else None)
    reading = replace(BUSY, open=(EDIT._replace(at=then),))
    assert stand(reading).word == ("may need you" if told else "working")
    assert stand(replace(reading, heard=NOW - 60)).word == "may need you"
    assert stand(replace(BUSY, loop=HURT._replace(since=then))).since == (then if told else None)


def test_a_silence_says_what_was_wrong_before_it() -> None:
    said = stand(replace(BUSY, heard=NOW - 400, loop=HURT))
    assert said.word == "may need you"
    assert "it was looping (pytest failed 9 times)" in said.why


def test_a_question_left_for_hours_stays_one_but_lets_newer_ones_go_first() -> None:
    old = stand(replace(BUSY, heard=NOW - 20_000, open=(ASK._replace(at=NOW - 20_000),)))
    new = stand(replace(BUSY, stuck=HURT))
    assert old.word == "needs you"
    assert new.urgency < old.urgency


def test_urgency_orders_levels_then_words_then_age() -> None:
    ordered = [
        stand(replace(BUSY, open=(ASK._replace(at=NOW - 50),))),
        stand(replace(BUSY, open=(ASK,))),
        stand(replace(BUSY, loop=HURT)),
        stand(replace(BUSY, stuck=HURT)),
        stand(replace(BUSY, context=0.95)),
        stand(BUSY),
        stand(replace(BUSY, close="ended")),
    ]
    assert sorted(ordered, key=lambda said: said.urgency) == ordered


def test_every_word_has_a_glyph_of_one_cell() -> None:
    assert set(GLYPHS) == set(WORDS)
    assert all(len(glyph) == 1 for glyph in GLYPHS.values())


@settings(max_examples=200, deadline=None)
@given(
    quiet=st.floats(60.0, 10_000_000.0),
    close=st.sampled_from(["", "asked", "tool", "said"]),
    call=st.sampled_from([None, BASH, EDIT, ASK]),
    flow=st.sampled_from([None, NOW - 100_000.0]),
    running=st.integers(0, 3),
)
def test_an_unfinished_silent_session_is_never_called_fine(
    quiet: float, close: Close, call: Open | None, flow: float | None, running: int
) -> None:
    facts = StatusFacts(
        events=9,
        heard=NOW - quiet,
        close=close,
        closed=NOW - quiet,
        open=(call,) if call else (),
        flow=flow,
        running=running,
    )
    said = stand(facts)
    may_run = call is not None and (call.action not in QUICK_ACTIONS or call.at >= facts.closed)
    assert said.word != "working" and not (said.word == "done" and (close != "said" or may_run))
    assert said.word != "ended" or said.why.startswith("abandoned")


def run(events: list[Event], held: list[Event] | None = None) -> StatusFacts:
    society = Society(Settings())
    tracker = StatusTracker(Settings().response.notices.final)
    for event in events:
        tracker.update(event, society.step(event))
    return tracker.facts(society, held or [])


def use(at: float, **more: object) -> ToolUse:
    given = {"action": "shell_exec", "tool": "Bash", "program": "pytest", "id": f"t{at}", **more}
    return ToolUse(at=NOW + at, **given)  # type: ignore[arg-type]


START = SessionStart(at=NOW, session="s", tool="claude-code")
ASKED = Prompt(at=NOW + 1, characters=20)


@pytest.mark.parametrize(
    ("last", "close"),
    [
        (Turn(at=NOW + 9, stop="end_turn"), "done"),
        (Turn(at=NOW + 9, stop="tool_use"), "tool"),
        (Turn(at=NOW + 9), "said"),
        (Prompt(at=NOW + 9, characters=0, interrupt=True), "stopped"),
        (Prompt(at=NOW + 9, characters=4), "asked"),
        (SessionEnd(at=NOW + 9), "ended"),
        (use(9), "tool"),
        (use(9, tool="attempt_completion"), "done"),
        (use(9, tool="attempt_completion", outcome="failure"), "tool"),
        (Turn(at=NOW + 9, stop="retry"), "retry"),
    ],
)
def test_how_the_last_event_closes(last: Event, close: Close) -> None:
    facts = run([START, ASKED, last])
    assert (facts.close, facts.closed, facts.events) == (close, NOW + 9, 3)


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (Turn(at=NOW + 9, stop="error"), "the session is over; an error stopped it"),
        (Prompt(at=NOW + 9, characters=0, interrupt=True), "the session is over; you stopped it"),
        (use(9), "the session is over"),
    ],
)
def test_the_end_of_a_session_says_how_it_was_left(last: Event, reason: str) -> None:
    assert stand(run([START, ASKED, last, SessionEnd(at=NOW + 10)])).reason == reason


@pytest.mark.parametrize(
    ("last", "where"),
    [
        (use(9), "mid-task"),
        (Prompt(at=NOW + 9, characters=4), "after your prompt, without an answer"),
        (Turn(at=NOW + 9, stop="retry"), "after a service error"),
    ],
)
def test_an_abandoned_log_says_where_it_stops(last: Event, where: str) -> None:
    facts = run([START, ASKED, last])
    assert status_of(facts, NOW + 90_000, LIMITS).why == f"abandoned: the log stops {where}"


def test_a_command_of_the_persons_own_does_not_reopen_a_turn() -> None:
    turn = Turn(at=1.0, stop="end_turn")
    own = ToolUse(at=2.0, tool="bashExecution", action="shell_exec", outcome="success")
    final = frozenset(Settings().response.notices.final)
    assert last_word([own, turn], final).close == "done"
    assert last_word([replace(own, tool="bash"), turn], final).close == "tool"


def test_a_finishing_call_without_a_result_ends_the_turn() -> None:
    facts = run([START, ASKED, use(3)], [use(8, tool="finish", outcome="pending")])
    assert (facts.close, facts.closed) == ("done", NOW + 8)


def test_a_sub_agents_turn_does_not_close_the_session() -> None:
    facts = run([START, ASKED, use(3), Turn(at=NOW + 9, agent="sub", stop="end_turn")])
    assert (facts.close, facts.closed, facts.heard) == ("tool", NOW + 3, NOW + 9)


def test_held_events_tell_of_open_calls_and_a_last_turn() -> None:
    pending = use(8, outcome="pending")
    facts = run([START, ASKED, use(3)], [Turn(at=NOW + 7), pending])
    assert facts.close == "said"
    assert facts.open == (Open(NOW + 8, MAIN, "Bash", "shell_exec"),)


def test_a_loop_is_named_with_its_beginning() -> None:
    same = [use(5.0 * number, outcome="failure", call=7, shape=7, result=5) for number in range(1, 9)]
    facts = run([START, ASKED, *same])
    assert facts.loop is not None
    assert facts.loop.since == NOW + 5
    assert "pytest" in facts.loop.why


def test_a_session_that_ended_in_a_loop_says_so() -> None:
    same = [use(5.0 * number, outcome="failure", call=7, shape=7, result=5) for number in range(1, 9)]
    ended = stand(run([START, ASKED, *same, SessionEnd(at=NOW + 60)]))
    assert ended.word == "ended"
    assert ended.why.startswith("the session is over; it was looping (pytest failed")
    assert stand(run([START, ASKED, use(5.0), SessionEnd(at=NOW + 60)])).why == "the session is over"


def test_trouble_of_a_sub_agent_is_told_until_it_ends() -> None:
    begin = AgentStart(at=NOW + 2, child="scout")
    same = [use(5.0 * number, agent="scout", outcome="failure", call=7, shape=7, result=5) for number in range(1, 9)]
    facts = run([START, ASKED, begin, *same])
    assert facts.loop is not None and facts.loop.why.startswith("sub-agent: ")
    assert facts.loop.agent == "scout"
    assert (facts.running, facts.subagents) == (1, 1)
    over = run([START, ASKED, begin, *same, AgentEnd(at=NOW + 99, child="scout")])
    assert over.loop is None
    assert (over.running, over.subagents) == (0, 1)


def test_stuck_and_flow_are_told_since_when_they_stand() -> None:
    failing = [use(4.0 * n, outcome="failure", call=n, shape=n, result=n) for n in range(1, 13)]
    edits = [
        ToolUse(at=NOW + 4.0 * n + 2, action="file_edit", tool="Edit", targets=(f"m{n}.py",), call=90 + n)
        for n in range(1, 13)
    ]
    mixed = sorted([*failing, *edits], key=lambda event: event.at)
    assert run([START, ASKED, *mixed]).stuck is None
    assert run([START, ASKED, *failing[:5]]).stuck is None
    facts = run([START, ASKED, *failing[:8]])
    assert facts.stuck is not None
    assert facts.stuck.why == "8 actions in a row failed"
    assert NOW < facts.stuck.since < facts.heard
    smooth = [
        use(5.0 * n, outcome="success", call=n, shape=n, result=n)
        if n % 2
        else ToolUse(
            at=NOW + 5.0 * n, action="file_edit", tool="Edit", targets=(f"m{n}.py",), call=n, result=n, before=1
        )
        for n in range(1, 40)
    ]
    flowing = run([START, ASKED, *smooth])
    assert flowing.stuck is None
    assert flowing.flow is not None and NOW < flowing.flow < flowing.heard


@pytest.mark.parametrize(
    ("regime", "flows"), [("calm", True), ("progress", True), ("turbulence", False), ("crisis", False)]
)
def test_flow_is_not_told_in_a_crisis(regime: Regime, flows: bool) -> None:
    society = Society(Settings())
    society.engine(MAIN).mind.heart.regime.regime = regime
    log = StatusFacts(events=1, heard=NOW, close="tool", closed=NOW, flow=NOW - 60)
    assert (with_minds(society, log, {}).flow is not None) is flows


def goodbye(children: int) -> list[Event]:
    """A session that started some sub-agents, heard of none, and was left by the person."""
    started: list[Event] = [Prompt(at=NOW + 0.0, characters=5)]
    for number in range(children):
        started.append(AgentStart(at=NOW + 1.0 + number, child=f"kid-{number}"))
        started.append(use(1.5 + number, agent=f"kid-{number}"))
    return started


def test_nobody_is_at_work_once_the_session_said_goodbye() -> None:
    before = run(goodbye(16))
    assert (before.running, before.subagents) == (16, 16)
    after = run([*goodbye(16), SessionEnd(at=NOW + 30.0, reason="exit")])
    assert (after.close, after.running, after.subagents) == ("ended", 0, 16)
    assert stand(after).word == "ended"


def test_a_sub_agent_of_which_nobody_hears_the_end_is_not_at_work() -> None:
    ends: list[Event] = [AgentEnd(at=NOW + 20.0, child=f"kid-{number}", outcome="pending") for number in range(3)]
    assert run([*goodbye(3), *ends]).running == 0


@pytest.mark.parametrize(("later", "close"), [(0.01, "ended"), (GOODBYE, "ended"), (GOODBYE + 0.01, "tool")])
def test_what_is_tidied_up_after_the_goodbye_belongs_to_it(later: float, close: Close) -> None:
    facts = run([*goodbye(2), SessionEnd(at=NOW + 30.0, reason="exit"), use(30.0 + later)])
    assert facts.close == close
    assert facts.running == (0 if close == "ended" else 2)


def test_a_prompt_goes_on_with_a_session_that_was_over() -> None:
    facts = run([*goodbye(1), SessionEnd(at=NOW + 30.0), Prompt(at=NOW + 30.5, characters=3)])
    assert (facts.close, facts.running) == ("asked", 1)


def test_no_real_session_has_sub_agents_at_work_for_ever(shared_data: Path) -> None:
    kit = make_kit()
    checked = 0
    for session in sessions([shared_data / "real_sessions" / "claude-code"], kit):
        events = [event for log in session.logs for event in log_events(log, kit, LineSettings())]
        events.sort(key=lambda event: event.at)
        facts = run(events)
        checked += facts.subagents
        assert facts.running == 0, session.id
        if any(isinstance(event, SessionEnd) for event in events):
            assert facts.close == "ended"
    assert checked >= 15


def test_what_a_session_spent_as_a_whole_is_no_answer() -> None:
    """A sum told after the last answer leaves the session done."""
    final = frozenset(("end_turn",))
    assert closing(Turn(at=1.0, stop="end_turn"), final) == "done"
    assert [closing(Turn(at=2.0, stop=stop), final) for stop in ("total", "shutdown")] == ["", ""]


@pytest.mark.parametrize(
    ("call", "prompted", "word"),
    [
        (ASK, ASK.at - 0.1, "needs you"),
        (ASK, ASK.at, "needs you"),
        (ASK, ASK.at + 0.1, "working"),
        (EDIT, EDIT.at, "may need you"),
        (EDIT, EDIT.at + 0.1, "working"),
        (ASK._replace(agent="sub"), NOW, "needs you"),
    ],
)
def test_a_call_left_behind_by_a_later_prompt_asks_nobody(call: Open, prompted: float, word: Word) -> None:
    assert stand(replace(BUSY, open=(call,), prompted=prompted)).word == word


def test_a_question_stays_open_until_the_agent_takes_up_the_prompt_behind_it() -> None:
    asked = replace(BUSY, open=(ASK,), prompted=NOW, close="asked")
    assert stand(asked).word == "needs you"
    assert stand(replace(asked, close="said")).word != "needs you"


def test_a_command_that_runs_on_behind_a_prompt_is_still_open() -> None:
    quiet = replace(BUSY, open=(BASH,), prompted=NOW - 80, heard=NOW - 80, closed=NOW - 80)
    assert stand(quiet).reason.startswith("waiting on a command (Bash)")


def test_a_call_without_an_answer_that_the_logs_end_brings_is_no_news() -> None:
    """The agent had gone on for long: what stands is its last answer, not the old call."""
    left = use(3, action="file_edit", tool="edit", outcome="pending")
    asked, answered = Prompt(at=NOW + 50, characters=3), Turn(at=NOW + 60, stop="end_turn")
    facts = run([START, ASKED, asked, answered, left])
    assert (facts.close, facts.closed, facts.prompted) == ("done", NOW + 60, NOW + 50)
