"""Moving through a recording: where one arrives, what is said on the way, and the record of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.workload import session
from core.agents.registry import make_kit
from core.errors import StateError, StoreError
from core.events import Event, Prompt, ToolUse, Where
from core.logs.finder import sessions
from core.logs.links import session_links
from core.logs.redact.values import one_line
from core.logs.session import read_session
from core.report.chrono import ChronoNav, SummaryPolicy, Trail, Visit, narrative, place_after, structural
from core.report.conversation import ConversationTree
from core.report.event_words import firing_words
from core.report.formatting import short_clock, token_estimate
from core.settings import Settings
from core.timeline.keyframes import encode
from core.timeline.timeline import Timeline
from tests.core.strategies import events


def recorded(stream: list[Event]) -> Timeline:
    timeline = Timeline(Settings())
    timeline.extend(stream)
    return timeline


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    return recorded(session(600, agents=2))


def test_moves_are_recorded_with_their_direction(timeline: Timeline) -> None:
    nav = ChronoNav(timeline)
    assert nav.move(200, 5.0) == nav.move(340, 6.0) == nav.move(340, 7.0) == ()
    assert nav.place == 340
    assert [(each.origin, each.place, each.at, each.direction) for each in nav.trail.visits] == [
        (600, 200, 5.0, "backward"),
        (200, 340, 6.0, "forward"),
        (340, 340, 7.0, "forward"),
    ]
    for place in (-1, 601):
        with pytest.raises(StateError, match="600 events"):
            nav.move(place, 8.0)
    assert nav.place == 340 and len(nav.trail) == 3


def test_a_move_reads_and_changes_nothing(timeline: Timeline) -> None:
    before = encode(timeline.society.dump())
    nav = ChronoNav(timeline)
    for place in (10, 400, 600):
        nav.move(place, 1.0, SummaryPolicy("narrative", 300))
    assert encode(timeline.society.dump()) == before


def test_a_structural_summary_counts_what_lies_between(timeline: Timeline) -> None:
    said = ChronoNav(timeline).move(100, 1.0, SummaryPolicy("structural"))
    passed = timeline.events[100:]
    uses = [event for event in passed if isinstance(event, ToolUse)]
    failed = sum(event.outcome == "failure" for event in uses)
    assert said[0].startswith("500 events in ")
    assert f"{len(uses)} tool uses ({failed} failed)" in said
    assert f"{sum(isinstance(event, Prompt) for event in passed)} prompts" in said
    signals = [mark.name for mark in timeline.marks.between(100, 600) if mark.kind == "signal"]
    assert signals
    told = next(line for line in said if line.startswith("signals: "))
    assert all(f"{firing_words(name)} {signals.count(name)}" in told for name in signals)
    assert "_" not in told
    assert structural(timeline, 50, 50) == ["nothing happened in between"]


@pytest.mark.parametrize("budget", [0, 3, 8, 20, 60, 200, 10_000])
def test_a_narrative_keeps_to_its_tokens(timeline: Timeline, budget: int) -> None:
    said = narrative(timeline, 100, 600, budget)
    assert sum(map(token_estimate, said)) <= budget
    assert bool(said) == (budget >= 8)
    assert set(said) <= set(narrative(timeline, 100, 600, 100_000))


def test_a_narrative_tells_the_weightiest_first_and_in_its_order(timeline: Timeline) -> None:
    whole = narrative(timeline, 0, 600, 100_000)
    fired = {mark.name for mark in timeline.marks if mark.kind == "signal"}
    assert fired and all(any(firing_words(name) in line for line in whole) for name in fired)
    assert any(" peaks at " in line for line in whole)
    assert any(" for " in line and "states" in line for line in whole)
    brief = narrative(timeline, 0, 600, 90)
    places = [whole.index(line) for line in brief]
    assert 3 < len(brief) < len(whole) and places == sorted(places)


def test_a_halt_is_told_before_all_else() -> None:
    failing = [
        ToolUse(at=10.0 + number, action="shell_exec", program="pytest", outcome="failure", call=1)
        for number in range(120)
    ]
    timeline = recorded([Prompt(at=1.0, characters=50), *failing])
    (halt,) = (mark for mark in timeline.marks if mark.kind == "halt")
    brief = narrative(timeline, 0, 121, 16)
    assert len(brief) == 2 and brief[1].endswith(f"would halt: {halt.name}")
    assert brief[1].startswith(short_clock(halt.at - 1.0))


def test_a_peak_is_where_the_axis_stood_highest(timeline: Timeline) -> None:
    track = timeline.tracks["main"]
    column = track.columns.column("axis.fatigue")
    best = max(range(len(column)), key=lambda row: column[row])
    line = next(each for each in narrative(timeline, 0, 600, 100_000) if "fatigue peaks" in each)
    at = timeline.events[track.indexes[best]].at - timeline.events[0].at
    assert line.startswith(short_clock(at))
    assert line.endswith(f"{column[best]:.2f}".removeprefix("0"))


def test_own_words_are_kept_to_plain_lines(timeline: Timeline) -> None:
    secret = "ghp_" + "x1Y2" * 9
    policy = SummaryPolicy("custom", text=f"went back\x1b[31m to look\n{secret}\n" + "\n" * 100)
    said = ChronoNav(timeline).move(5, 1.0, policy)
    assert said[0] == "went back [31m to look"
    assert secret not in "".join(said) and len(said) <= 40
    assert one_line("a" * 500) == "a" * 120


@settings(max_examples=15)
@given(
    events(min_size=3, max_size=40, agents=("main", "x"), backwards=True),
    st.lists(st.integers(0, 40), min_size=1, max_size=5),
    st.sampled_from(("none", "structural", "narrative")),
)
def test_any_moves_on_any_recording_arrive_and_verify(stream: list[Event], places: list[int], kind: str) -> None:
    timeline = recorded(stream)
    nav, again = ChronoNav(timeline, limit=3), ChronoNav(recorded(stream), limit=3)
    policy = SummaryPolicy(kind, 80)  # type: ignore[arg-type]
    for number, place in enumerate(min(place, len(stream)) for place in places):
        assert again.move(place, float(number), policy) == nav.move(place, float(number), policy)
        assert again.trail.dump() == nav.trail.dump()
    assert len(nav.trail) == min(3, len(places)) and nav.trail.verify() is None
    assert nav.trail.visits[-1].number == len(places)


def trail(moves: int = 5) -> Trail:
    made = Trail(4)
    for number in range(moves):
        made.add(float(number), number, number + 1, "", "structural", ["a", str(number)])
    return made


@pytest.mark.parametrize("field", range(len(Visit._fields)))
@pytest.mark.parametrize("place", range(4))
def test_any_changed_field_of_the_record_is_found(field: int, place: int) -> None:
    state = [list(row) for row in trail().dump()]
    value = state[place][field]
    state[place][field] = value + 1 if isinstance(value, int | float) else value + "x"
    with pytest.raises(StoreError, match="damaged at move"):
        Trail().load(state)


@pytest.mark.parametrize("change", ["removed", "swapped"])
def test_a_removed_or_swapped_move_is_found(change: str) -> None:
    state = list(trail().dump())
    if change == "removed":
        del state[1]
    else:
        state[1], state[2] = state[2], state[1]
    with pytest.raises(StoreError, match="damaged"):
        Trail().load(state)
    with pytest.raises(StoreError, match="not a record"):
        Trail().load([(1, 2)])


def test_a_trail_goes_on_from_its_dump() -> None:
    first, second = trail(), Trail(4)
    second.load(first.dump())
    for each in (first, second):
        each.add(9.0, 1, 2, "n", "none", [])
    assert first.dump() == second.dump() and second.verify() is None
    assert [visit.number for visit in second.visits] == [3, 4, 5, 6]
    second._visits[-1] = second._visits[-1]._replace(hash="0")
    assert second.verify() is not None


def test_a_record_of_the_conversation_leads_to_its_place() -> None:
    lines = [Where("log", 100 * number, 90) for number in range(6)]
    stream: list[Event] = [
        Prompt(at=1.0, characters=3, where=lines[0]),
        ToolUse(at=2.0, where=lines[2]),
        ToolUse(at=3.0, where=lines[1]),
        ToolUse(at=4.0, where=lines[4]),
        ToolUse(at=4.0, outcome="pending", where=lines[1]),
    ]
    assert [place_after(stream, lines[number]) for number in (5, 4, 3, 2, 1, 0)] == [5, 5, 3, 3, 1, 1]
    assert place_after(stream, Where("other", 1, 2)) == 5


def test_entries_of_documents_and_rows_of_databases_lead_to_their_places() -> None:
    stream: list[Event] = [
        *(Prompt(at=1.0, characters=1, where=Where("doc", 0, 9, f"/messages/{number}/parts/1")) for number in (0, 2)),
        *(Prompt(at=2.0, characters=1, where=Where("db", entry=f"part/p{number}")) for number in (5, 3)),
    ]
    wheres = [Where("doc", 0, 9, f"/messages/{number}") for number in range(3)]
    wheres += [Where("db", entry="part/p3"), Where("db", entry="part/none")]
    assert [place_after(stream, where) for where in reversed(wheres)] == [4, 4, 4, 1, 1]


def test_records_of_a_real_session_lie_in_order(shared_data: Path) -> None:
    kit = make_kit()
    folder = shared_data / "real_sessions"
    for found in sessions([folder / "claude-code" / "pomodoro-timer.jsonl", folder / "pi"], kit):
        timeline = recorded(list(read_session(found, kit)))
        tree = ConversationTree(session_links(found, kit))
        places = [place_after(timeline.events, node.where) for node in tree.path()]
        assert places == sorted(places) and places[len(places) // 25 * 25] > len(timeline) // 2
        assert places[-1] == len(timeline)
