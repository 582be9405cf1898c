"""The files the session changed up to the playhead, and the diff of one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Container
from textual.widget import Widget
from textual.worker import get_current_worker

from core.agents.registry import make_kit
from core.agents.words import WordReader
from core.logs.finder import sessions
from core.report.changes import DiffLine, FileChange
from core.report.formatting import count, plain
from core.report.outcome import OutcomeReader, SessionOutcome
from core.settings.program import LineSettings, ScreenSettings
from core.timeline.timeline import Timeline
from tui.draw.line import Line, fit, path_end, wrapped
from tui.feed.messages import Failed, Seek, ShowTranscript
from tui.feed.view import View, names_of
from tui.keys import bind
from tui.screens.board import Board
from tui.widgets.common.panel import CursorList, TextPage

_STYLES = {"+": "confidence", "-": "frustration", "@": "quiet", " ": "plain"}


class ChangedFiles(CursorList):
    """A row for each changed file, with a cursor."""

    EMPTY: ClassVar[str] = "no file changed so far"

    files: Sequence[FileChange] = ()

    def count_rows(self) -> int:
        return len(self.files)

    def row(self, number: int, width: int) -> Line:
        one = self.files[number]
        sign = {"complete": "●", "pieces": "◐", "command": "○", "possible": "?"}[one.state]
        what = "deleted" if one.deleted else "new" if one.created else "moved" if one.moved_from else ""
        figures = ("", "") if one.state in ("command", "possible") else (f"+{one.added}", f"-{one.removed}")
        right = f" {what:>7} {figures[0]:>6} {figures[1]:>6}"
        room = max(4, width - 2 - len(right))
        name = fit(path_end(plain(one.path), room), room)
        if number == self.cursor:
            return [(fit(f"{sign} {name}{right}", width), "cursor")]
        removed = f"{figures[1]:>6}", "frustration" if one.removed else "quiet"
        title: Line = [(f"{sign} ", "quiet"), (name, "plain"), (f" {what:>7} ", "quiet")]
        return [*title, (f"{figures[0]:>6} ", "confidence"), removed]

    def moved(self) -> None:
        if isinstance(self.screen, ChangesScreen):
            self.screen.show_file()


class ChangesScreen(Board):
    """Files above or left, the diff of the chosen one below or right; both follow the playhead."""

    AUTO_FOCUS = "ChangedFiles"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("open", "history", "history", "Show this file in the transcript", show=True),
        bind("jump.difference", "edit", "next edit", "To the next edit of this file", show=True),
        bind("view", "mine", "this agent", "Show only this agent's changes, or all", show=True),
    ]

    def __init__(self, path: str = "", settings: ScreenSettings | None = None) -> None:
        super().__init__(settings)
        self._wanted = path
        self._reader: OutcomeReader | None = None
        self._read_for: Timeline | None = None
        self._linked = 0
        self._alone = False
        self._shown = ("", False)

    def body(self) -> Iterable[Widget]:
        files = ChangedFiles(id="files").data_bind(ChangesScreen.view)
        yield Container(files, TextPage(id="diff"), id="changes")

    def watch_recording(self) -> None:
        self._reader = None
        self.watch_view()

    def watch_view(self) -> None:
        """Read on in a thread, so that a slow disk holds up nothing."""
        view, timeline = self.view, self.recording
        if view is None or timeline is None or not self.is_mounted:
            return
        request = self._wanted
        agent = view.agent if self._alone else ""

        def work() -> None:
            reader = self._read(view, timeline)
            outcome = reader.at(view.index)
            files = reader.changes.files(view.index, agent) if agent else list(outcome.changes)
            path = request if any(one.path == request for one in files) else files[0].path if files else ""
            diff = reader.changes.diff(path, view.index) if path and view.words else []
            if not get_current_worker().is_cancelled:
                self.app.call_from_thread(self._show, files, path, diff, outcome)

        self.run_worker(work, name="changes", group="changes", thread=True, exclusive=True)

    def _read(self, view: View, timeline: Timeline) -> OutcomeReader:
        reader = self._reader
        if reader is None or self._read_for is not timeline:
            reader = OutcomeReader(WordReader(view.word_logs))
            self._reader, self._read_for, self._linked = reader, timeline, -1
        prompts = view.total if view.mode == "replay" else sum(1 for mark in timeline.marks if mark.kind == "prompt")
        reader.feed(timeline.events)
        if prompts != self._linked and view.subject.path:
            self._linked = prompts
            kit, lines = make_kit(), LineSettings()
            for session in sessions([str(Path(view.subject.path))], kit, lines):
                if session.id == view.subject.session:
                    reader.read_links(session, kit, lines)
        return reader

    def _show(self, files: list[FileChange], path: str, diff: list[DiffLine], outcome: SessionOutcome) -> None:
        if not self.is_attached or self.view is None:
            return
        rows, page = self.query_one(ChangedFiles), self.query_one("#diff", TextPage)
        rows.files = files
        rows.cursor = next((n for n, one in enumerate(files) if one.path == path), 0)
        added, removed = sum(one.added for one in files), sum(one.removed for one in files)
        certain = sum(one.state != "possible" for one in files)
        rows.border_title = f"Changes  {count(certain, 'file')}, +{added} -{removed}"
        agent = plain(names_of(self.view).get(self.view.agent, self.view.agent), 30)
        rows.border_subtitle = f"only {agent}" if self._alone else outcome.short()
        rows.resize_rows()
        chosen = files[rows.cursor] if files else None
        hidden = not self.view.words
        page.border_title = "" if chosen is None else plain(chosen.path, 80)
        page.border_subtitle = count(len(chosen.places), "edit") if chosen else ""
        same = self._shown == (path, hidden)
        self._shown = path, hidden
        page.show(lambda width: _page(chosen, diff, hidden, outcome, width), top=not same)

    def show_file(self) -> None:
        """Show the diff of the file under the cursor."""
        if self._chosen is not None:
            self._wanted = self._chosen.path
            self.watch_view()

    @property
    def _chosen(self) -> FileChange | None:
        rows = self.query_one(ChangedFiles)
        return rows.files[rows.cursor] if rows.files else None

    def action_history(self) -> None:
        if self._chosen is not None:
            self.post_message(ShowTranscript(self._chosen.path))

    def action_edit(self) -> None:
        """Go to the next edit of the chosen file, around the end."""
        chosen, view, reader = self._chosen, self.view, self._reader
        if chosen is None or view is None or reader is None or self.recording is None:
            return
        self._wanted = chosen.path
        last = next((one for one in reader.changes.files(len(self.recording)) if one.path == chosen.path), chosen)
        places = [place + 1 for place in last.places]
        self.post_message(Seek(next((place for place in places if place > view.index), places[0])))

    def action_mine(self) -> None:
        if self.view is not None and len(self.view.agents) < 2:
            self.post_message(Failed("this session has only one agent so far"))
        self._alone = not self._alone
        self.watch_view()


def _page(
    chosen: FileChange | None, diff: list[DiffLine], hidden: bool, outcome: SessionOutcome, width: int
) -> list[Line]:
    if chosen is None:
        return [[(line, "plain")] for line in outcome.lines()]
    lines: list[Line] = [[(piece, "quiet")] for note in chosen.notes for piece in wrapped(note, max(8, width))]
    if hidden:
        return [*lines, [("words are hidden: h shows them", "quiet")]]
    for line in diff:
        text = plain(line.text.replace("\t", "    "))
        sign = "" if line.sign == "@" else line.sign
        number = "" if line.sign == "@" else f"{(line.old if line.sign == '-' else line.new):>5} "
        head = number if chosen.state == "complete" else ""
        lines.append([(head, "quiet"), (fit(sign + text, max(1, width - len(head))).rstrip(), _STYLES[line.sign])])
    if not diff and chosen.state == "complete":
        lines.append([("the file is the same as before the session", "quiet")])
    return lines
