"""Two sessions side by side: one timeline below the other, aligned by what they did, with one playhead."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.worker import get_current_worker

from core.agents.registry import make_kit
from core.errors import NooscopeError
from core.events import Event, Prompt, ToolUse
from core.logs.finder import sessions
from core.report.compare import Alignment, ComparedRun, Move, align, move_words, parting_words, read_run, rows
from core.report.formatting import clock, plain
from core.settings import Settings
from tui.draw.line import Line, fit, joined_cells, overlaid, path_end, wrapped
from tui.feed.messages import OpenSession
from tui.keys import bind
from tui.screens.board import HEIGHTS, WIDTHS
from tui.widgets.common.key_line import KeyLine, LeftOnce
from tui.widgets.common.panel import TextPage

_LABEL = 8


class Moment(NamedTuple):
    """One place of the shared timeline: a move of both runs, or of only one."""

    a: int | None
    b: int | None


class Compared(NamedTuple):
    """Two runs, and the timeline they share."""

    runs: tuple[ComparedRun, ComparedRun]
    events: tuple[Sequence[Event], Sequence[Event]]
    alignment: Alignment
    moments: tuple[Moment, ...]


def compare(paths: Sequence[str], ids: Sequence[str], settings: Settings) -> Compared:
    """Read and align two sessions."""
    kit = make_kit()
    runs = []
    for path, session_id in zip(paths, ids, strict=True):
        matches = sessions([Path(path)], kit, settings.ingest.lines)
        runs.append(read_run(next((one for one in matches if one.id == session_id), matches[-1]), settings))
    first, second = runs
    alignment = align(first.moves, second.moves)
    moments = tuple(_moments(first.moves, second.moves, alignment))
    return Compared((first.figures, second.figures), (first.events, second.events), alignment, moments)


def _moments(ours: Sequence[Move], theirs: Sequence[Move], alignment: Alignment) -> Iterator[Moment]:
    """Return the moves of both runs in one order, partners beside each other."""
    left, right = [move.place for move in ours], [move.place for move in theirs]
    a = b = 0
    for pair in (*alignment.pairs, (sys.maxsize, sys.maxsize)):
        while a < len(left) and left[a] < pair[0]:
            yield Moment(left[a], None)
            a += 1
        while b < len(right) and right[b] < pair[1]:
            yield Moment(None, right[b])
            b += 1
        if a < len(left) and b < len(right):
            yield Moment(left[a], right[b])
            a, b = a + 1, b + 1


def run_cells(events: Sequence[Event], places: Sequence[int | None], width: int) -> Line:
    """One run as a row of cells: calls, failures, prompts, and gaps where only the other one moved."""
    ranks = [(" ", "track"), ("▄", "confidence"), ("×", "alert"), ("│", "live")]
    best = [0] * width
    for number, place in enumerate(places):
        if place is None:
            continue
        event = events[place]
        failed = isinstance(event, ToolUse) and event.outcome == "failure"
        rank = 3 if isinstance(event, Prompt) else 2 if failed else 1
        cell = number * width // max(1, len(places))
        best[cell] = max(best[cell], rank)
    return joined_cells([ranks[rank][0] for rank in best], [ranks[rank][1] for rank in best])


def timeline_lines(compared: Compared, playhead: int, width: int) -> list[Line]:
    """Both timelines with the alignment between them, and what each did at the playhead."""
    room = max(8, width - _LABEL)
    moments = compared.moments
    head = min(room - 1, playhead * room // max(1, len(moments)))
    links = [" "] * room
    for number, moment in enumerate(moments):
        if moment.a is not None and moment.b is not None:
            links[number * room // len(moments)] = "╎"
    strips: list[tuple[str, Line]] = [
        ("A", run_cells(compared.events[0], [moment.a for moment in moments], room)),
        ("same", joined_cells(links, ["quiet"] * room)),
        ("B", run_cells(compared.events[1], [moment.b for moment in moments], room)),
    ]
    lines: list[Line] = [[(fit(name, _LABEL), "quiet"), *overlaid(row, head, ("┃", "strong"))] for name, row in strips]
    for name, run, events, place in zip("AB", compared.runs, compared.events, _reached(moments, playhead), strict=True):
        lines.append([(fit(name, _LABEL), "strong"), (path_end(plain(run.path), room), "quiet")])
        lines.append([(" " * _LABEL, "plain"), *_moment_line(events, place, room)])
    return lines


def _reached(moments: Sequence[Moment], playhead: int) -> tuple[int, int]:
    """How far each run is at the playhead; -1 before its first move."""
    a = b = -1
    for moment in moments[: playhead + 1]:
        a = a if moment.a is None else moment.a
        b = b if moment.b is None else moment.b
    return a, b


def _moment_line(events: Sequence[Event], place: int, width: int) -> Line:
    if place < 0:
        return [("not started", "quiet")]
    event = events[place]
    failed = isinstance(event, ToolUse) and event.outcome == "failure"
    where = f"{clock(event.at - events[0].at)}  event {place + 1:,} of {len(events):,}  "
    text = fit(("✗ " if failed else "") + move_words(event), max(4, width - len(where)))
    return [(where, "quiet"), (text.rstrip(), "alert" if failed else "plain")]


def figure_lines(compared: Compared, width: int) -> list[Line]:
    """Where they part, then the figures of both in two columns; what differs is bright."""
    words = parting_words(compared.alignment, *compared.events)
    lines: list[Line] = [[(line, "strong")] for line in wrapped(words, max(8, width))]
    lines.append([])
    column = max(10, (width - 18) // 2)
    for title, cells in [("", ["A", "B"]), *rows(compared.runs)]:
        ink = "plain" if cells[0] != cells[1] else "quiet"
        lines.append([(fit(title, 18), "quiet"), *((f"{fit(cell, column - 1)} ", ink) for cell in cells)])
    return lines


class CompareScreen(LeftOnce[None]):
    """Two timelines with one playhead above the figures of both runs."""

    CSS_PATH = "board.tcss"
    AUTO_FOCUS = "#figures"
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    SHOWS_NO_SESSION: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("play.back", "step(-1)", show=True),
        bind("play.on", "step(1)"),
        bind("jump.difference", "difference", "next difference", "To the next move of only one run", show=True),
        bind("open", "open", "open A", "Open session A at the playhead", show=True),
        bind("back", "dismiss", show=True),
    ]

    def __init__(self, paths: tuple[str, ...], ids: tuple[str, ...], settings: Settings) -> None:
        super().__init__()
        self._paths, self._ids = paths, ids
        self._settings = settings
        self.compared: Compared | None = None
        self.playhead = 0

    def compose(self) -> ComposeResult:
        runs = TextPage(id="runs")
        runs.show(lambda _: [[("reading both sessions…", "quiet")]])
        runs.can_focus = False
        runs.border_title = "Compare"
        yield runs
        yield TextPage(id="figures")
        yield KeyLine()

    def on_mount(self) -> None:
        def work() -> None:
            try:
                compared = compare(self._paths, self._ids, self._settings)
            except NooscopeError as error:
                self.app.call_from_thread(self.notify, str(error), severity="error", markup=False)
                return
            if not get_current_worker().is_cancelled:
                self.app.call_from_thread(self._show, compared)

        self.run_worker(work, name="compare", thread=True, exclusive=True)

    def _show(self, compared: Compared) -> None:
        if not self.is_attached:
            return
        self.compared = compared
        self.query_one("#figures", TextPage).show(lambda width: figure_lines(compared, width))
        self.playhead = next(
            (n for n, moment in enumerate(compared.moments) if None in moment), len(compared.moments) - 1
        )
        self._draw()

    def _draw(self) -> None:
        compared, playhead = self.compared, self.playhead
        if compared is not None:
            page = self.query_one("#runs", TextPage)
            page.border_subtitle = f"move {playhead + 1:,} of {len(compared.moments):,}"
            page.show(lambda width: timeline_lines(compared, playhead, width))

    def action_step(self, by: int) -> None:
        if self.compared is not None:
            self.playhead = max(0, min(self.playhead + by, len(self.compared.moments) - 1))
            self._draw()

    def action_difference(self) -> None:
        """Go to the next move that only one of them made, around the end."""
        if self.compared is None:
            return
        places = [n for n, moment in enumerate(self.compared.moments) if None in moment]
        if places:
            self.playhead = next((n for n in places if n > self.playhead), places[0])
            self._draw()
        else:
            self.notify("both made the same moves")

    def action_open(self) -> None:
        if self.compared is None:
            return
        place, _ = _reached(self.compared.moments, self.playhead)
        self.app.post_message(OpenSession(Path(self._paths[0]), False, self._ids[0], str(max(1, place + 1))))
