"""The table of events: what is listed, what is found, and the line behind an event."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.widgets import Input

from core.events import (
    AgentEnd,
    AgentStart,
    Compaction,
    Event,
    Prompt,
    SessionEnd,
    SessionStart,
    ToolUse,
    Turn,
    Where,
)
from core.logs.excerpt import Passage
from core.report.event_words import ALL, EventFilter, about, fits, kind_of, outcome_of, sift, touches
from core.timeline.marks import Mark
from tests.tui.panel_app import view_at
from tests.tui.screen_app import Stage, recorded, recording_of
from tui.draw.line import wrapped
from tui.screens.events import EventsScreen
from tui.widgets.transcript.event_columns import EventColumns, call_duration
from tui.widgets.transcript.event_table import EventTable
from tui.widgets.transcript.passage import PassagePane, passage_lines

START = 1_760_000_000.0
EVENTS: list[Event] = [
    SessionStart(at=START, session="s", tool="claude-code", project="/home/dev/api"),
    Prompt(at=START + 1, characters=42),
    Turn(at=START + 2, model="large", output_tokens=900, context_tokens=148_000),
    ToolUse(at=START + 3, action="file_read", tool="Read", targets=("src/a.py",), duration=0.04),
    ToolUse(
        at=START + 4,
        action="shell_exec",
        tool="Bash",
        program="pytest",
        purpose="test",
        outcome="failure",
        exit_code=1,
        targets=("src/sub/b.py", "src/c.py"),
        duration=12.0,
    ),
    Compaction(at=START + 5, trigger="auto", tokens_before=166_000, tokens_after=22_000),
    AgentStart(at=START + 6, child="explorer", role="Explore"),
    ToolUse(at=START + 7, agent="explorer", action="search", tool="Grep", outcome="empty"),
    AgentEnd(at=START + 8, child="explorer", tool_uses=1),
    Prompt(at=START + 9, characters=3, interrupt=True),
    SessionEnd(at=START + 10),
]


@pytest.mark.parametrize(
    ("place", "kind", "outcome", "words", "path"),
    [
        (0, "session start", "", "", "/home/dev/api"),
        (1, "prompt", "", "42 characters", ""),
        (2, "turn", "", "148.0k in, 900 out", ""),
        (3, "file read", "success", "", "src/a.py"),
        (4, "shell exec", "failure", "pytest (test) exit 1 +1", "src/sub/b.py"),
        (5, "compaction", "", "auto 166.0k → 22.0k", ""),
        (6, "agent start", "", "explorer Explore", ""),
        (7, "search", "empty", "", ""),
        (8, "agent end", "success", "explorer reports, 1 tool use", ""),
        (9, "prompt", "", "stopped the agent", ""),
        (10, "session end", "", "", ""),
    ],
)
def test_an_event_in_words(place: int, kind: str, outcome: str, words: str, path: str) -> None:
    event = EVENTS[place]
    assert (kind_of(event), outcome_of(event), about(event)) == (kind, outcome, (words, path))


@pytest.mark.parametrize(
    ("wanted", "places"),
    [
        (ALL, list(range(11))),
        (EventFilter(agent="explorer"), [7]),
        (EventFilter(kind="prompt"), [1, 9]),
        (EventFilter(outcome="failure"), [4]),
        (EventFilter(path="src"), [3, 4]),
        (EventFilter(path="src/sub"), [4]),
        (EventFilter(path="src/c.py"), [4]),
        (EventFilter(path="sr"), []),
        (EventFilter(text="PYTEST"), [4]),
        (EventFilter(text="c.py"), [4]),
        (EventFilter(text="frustration"), [4]),
        (EventFilter(kind="shell exec", outcome="success"), []),
    ],
)
def test_what_a_filter_lets_through(wanted: EventFilter, places: list[int]) -> None:
    marks = [Mark(4, START + 4, "main", "signal", "frustration_spike", 0.1)]
    assert sift(EVENTS, 0, len(EVENTS), wanted, marks) == places
    naive = [
        place
        for place, event in enumerate(EVENTS)
        if fits(event, wanted, [mark for mark in marks if mark.place == place])
    ]
    assert naive == places


def test_touching_needs_whole_names() -> None:
    assert (
        touches(EVENTS[4], "src/sub/") and not touches(EVENTS[4], "src/su") and not touches(EVENTS[1], "src")
    )


@pytest.mark.parametrize(
    ("took", "said"),
    [(None, ""), (0.0, "0ms"), (0.25, "250ms"), (3.21, "3.2s"), (99.97, "2m"), (720, "12m"), (9000, "2h")],
)
def test_duration_in_five_cells(took: float | None, said: str) -> None:
    assert call_duration(took) == said
    assert len(said) <= 5


@pytest.mark.parametrize("width", [60, 75, 95, 100, 116, 150, 196])
@pytest.mark.parametrize("several", [False, True])
def test_rows_fit_the_width(width: int, several: bool) -> None:
    timeline = recorded()
    view = view_at(timeline, 300)
    columns = EventColumns(width, 3, several=several)
    titles = sum(len(text) for text, _ in columns.titles())
    assert titles <= width
    for place, event in enumerate(timeline.events[:200]):
        line = columns.line(event, place, timeline.marks.between(place, place + 1)[:0], view)
        assert sum(len(text) for text, _ in line) <= width


def table_of(app: Stage) -> EventTable:
    return app.screen.query_one(EventTable)


async def test_starts_at_the_playhead_and_dims_what_comes_after() -> None:
    app = Stage(EventsScreen(), recorded(), 300)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        table = table_of(app)
        assert table.place == 299
        rows = app.inside(table).splitlines()
        row = next(line for line in rows if "▶" in line)
        assert " 300 " in row
        assert "600" in str(table.border_title)


async def test_moving_and_seeking() -> None:
    app = Stage(EventsScreen(), recorded(), 300)
    async with app.run_test(size=(80, 24)) as pilot:
        table = table_of(app)
        await pilot.press("down", "down", "up")
        assert table.place == 300
        await pilot.press("pagedown")
        assert table.place == 300 + table.page - 1
        await pilot.press("pageup", "home")
        assert table.place == 0
        await pilot.press("end")
        assert table.place == 599
        await pilot.press("s")
        assert app.sought == [600]
        await pilot.press("p")
        assert table.place == 299
        await pilot.press("left")
        assert app.stepped == [-1]


async def test_cursor_on_the_playhead_goes_with_it() -> None:
    app = Stage(EventsScreen(), recorded(), 300)
    async with app.run_test(size=(80, 24)) as pilot:
        app.show(310)
        await pilot.pause()
        assert table_of(app).place == 309
        await pilot.press("up")
        app.shown.view = replace(view_at(recorded(), 320), playing=True)
        await pilot.pause()
        assert table_of(app).place == 308
        app.show(330)
        await pilot.pause()
        assert table_of(app).place == 329


async def test_filters_by_key() -> None:
    app = Stage(EventsScreen(), recorded(), 600)
    async with app.run_test(size=(120, 40)) as pilot:
        table = table_of(app)
        events = recorded().events
        await pilot.press("w")
        assert [events[place].agent for place in table.places] == ["main"] * len(table.places)
        await pilot.press("k")
        assert {kind_of(events[place]) for place in table.places} == {"file read"}
        await pilot.press("x", "r", "r")
        assert {outcome_of(events[place]) for place in table.places} == {"failure"}
        assert "only failure" in str(table.border_subtitle)
        assert f"{len(table.places)} of 600" in str(table.border_title)
        await pilot.press("r", "r")
        assert len(table.places) == 600
        await pilot.press("R")
        assert {outcome_of(events[place]) for place in table.places} == {"empty"}
        await pilot.press("R", "R", "R", "W")
        last = recorded().agents[-1]
        assert {events[place].agent for place in table.places} == {last}
        assert f"agent {last}" in str(table.border_subtitle)
        await pilot.press("w", "K")
        assert {kind_of(events[place]) for place in table.places} == {"agent start"}
        await pilot.press("k")
        assert len(table.places) == 600


async def test_search_as_one_types() -> None:
    app = Stage(EventsScreen(), recorded(), 600)
    async with app.run_test(size=(120, 40)) as pilot:
        table = table_of(app)
        await pilot.press("slash", *"pytest")
        assert 0 < len(table.places) < 600
        await pilot.press("enter")
        assert table.has_focus and not app.screen.query_one("#search", Input).display
        assert "“pytest”" in str(table.border_subtitle)
        await pilot.press("slash", "escape")
        assert len(table.places) == 600
        await pilot.press("slash", "[", "/", "]")
        assert len(table.places) == 0
        assert "no event to show" in app.inside(table)
        assert "[/]" in app.seen()


async def test_a_cursor_that_is_filtered_out_goes_to_the_next_listed() -> None:
    app = Stage(EventsScreen(), recording_of(EVENTS), 5)
    async with app.run_test(size=(100, 24)) as pilot:
        table = table_of(app)
        assert table.place == 4
        await pilot.press("slash", *"prompt", "enter")
        assert (list(table.places), table.place) == ([1, 9], 9)


async def test_only_the_events_of_a_path() -> None:
    app = Stage(EventsScreen("src/sub"), recording_of(EVENTS))
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.pause()
        assert list(table_of(app).places) == [4]
        assert "below src/sub" in str(table_of(app).border_subtitle)


async def test_grows_while_it_is_looked_at() -> None:
    timeline = recording_of(EVENTS[:4])
    app = Stage(EventsScreen(), timeline)
    async with app.run_test(size=(100, 24)) as pilot:
        table = table_of(app)
        await pilot.press("r")
        assert list(table.places) == [3]
        timeline.extend(EVENTS[4:])
        app.show(len(timeline))
        await pilot.pause()
        assert list(table.places) == [3, 8]
        await pilot.press("x")
        assert len(table.places) == 11


async def test_many_events_are_sifted_aside() -> None:
    app = Stage(EventsScreen(), recorded(9000, 2), 9000)
    async with app.run_test(size=(120, 40)) as pilot:
        table = table_of(app)
        await pilot.press("r", "r")
        await app.workers.wait_for_complete()
        await pilot.pause()
        events = recorded(9000, 2).events
        wanted = [place for place, event in enumerate(events) if outcome_of(event) == "failure"]
        assert list(table.places) == wanted


async def test_reads_the_line_and_takes_secrets_out(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    key = "sk-ant-api03-" + "Ab1" * 30
    line = f'{{"type":"user","message":{{"content":"[b]key {key}[/b]"}},"n":[1,{{"deep":true}}]}}\n'.encode()
    log.write_bytes(b"{}\n" + line)
    events: list[Event] = [
        ToolUse(at=START, tool="Bash", where=Where(str(log), 3, len(line))),
        ToolUse(at=START + 1, tool="Bash"),
        ToolUse(at=START + 2, tool="Bash", where=Where(str(tmp_path / "gone"), 0, 9)),
    ]
    app = Stage(EventsScreen(), recording_of(events), 1)
    async with app.run_test(size=(100, 30)) as pilot:
        pane = app.screen.query_one(PassagePane)
        assert not pane.display
        await pilot.press("enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        shown = app.inside(pane)
        assert "content: [b]key" in shown and key not in shown and "type: user" in shown
        await pilot.press("down")
        await pilot.pause()
        assert "has no line of its own" in app.inside(pane)
        await pilot.press("down")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "cannot be shown" in app.inside(pane)
        await pilot.press("enter")
        assert not pane.display
        await pilot.press("enter", "escape")
        assert not pane.display
        assert not app.left
        await pilot.press("escape")
        assert app.left


async def test_mouse() -> None:
    app = Stage(EventsScreen(), recording_of(EVENTS))
    async with app.run_test(size=(100, 24)) as pilot:
        table = table_of(app)
        await pilot.click(table, offset=(10, 4))
        assert table.place == 2
        await pilot.click(table, offset=(10, 5), times=2)
        await pilot.pause()
        assert table.place == 3
        assert app.screen.query_one(PassagePane).display


async def test_empty() -> None:
    app = Stage(EventsScreen())
    async with app.run_test(size=(80, 24)) as pilot:
        assert "no event to show" in app.seen()
        await pilot.press("down", "end", "enter", "s", "p", "w", "k", "r", "x")
        assert app.sought == []
        await pilot.press("e")
        assert app.left


@pytest.mark.parametrize(
    ("passage", "first"),
    [
        (Passage(fault="gone"), "the line cannot be shown: gone"),
        (Passage(text="not json\nat all"), ""),
        (Passage(text='{"a":1,"b":{"c":"x"}}'), "b:"),
        (Passage(text='[{"a":1,"b":2}]'), "- a: 1"),
        (Passage(text='{"a":[]}'), "a: []"),
    ],
)
def test_passage_laid_out(passage: Passage, first: str) -> None:
    lines = ["".join(text for text, _ in line) for line in passage_lines(passage, 40)]
    assert lines[0].strip() == first
    assert all(len(line) <= 40 for line in lines)


def test_deep_and_long_passages_end() -> None:
    deep = Passage(text="[" * 400 + "]" * 400)
    assert len(passage_lines(deep, 40)) < 100
    long = Passage(text="\n".join(["x"] * 9000), cut=True)
    assert len(passage_lines(long, 40)) <= 5001


def test_wrapping_keeps_indent_and_words() -> None:
    assert wrapped("    one two three", 10) == ["    one", "two three"]
    assert wrapped("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert wrapped("", 4) == [""]
