"""The session as one document: what was asked, done, changed and said, with the raw line on demand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual import on
from textual._path import CSSPathType
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Input

from core.events import Event, ToolUse
from core.report.event_words import ALL, TranscriptFilter
from core.report.formatting import plain
from core.settings.program import ScreenSettings
from tui.feed.messages import EditFile, ShowChanges
from tui.feed.view import View, names_of
from tui.keys import bind
from tui.screens.board import Board
from tui.widgets.common.key_line import EntryLine
from tui.widgets.transcript.document import Document
from tui.widgets.transcript.entry import PassagePane


class TranscriptScreen(Board):
    """The document, a filter on one key each, a search over all words, and the line behind an entry."""

    CSS_PATH: ClassVar[CSSPathType | None] = ["board.tcss", "transcript.tcss"]
    AUTO_FOCUS = "Document"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("search", "search", "", "Search all text", show=True),
        bind("part.1", "all", "all", "Show every entry", show=True),
        bind("part.2", "only('failed')", "failed", "Only what failed", show=True),
        bind("part.3", "only('prompts')", "talk", "Only prompts and answers", show=True),
        bind("part.4", "like('path')", "path", "Only entries with this path", show=True),
        bind("part.5", "like('tool')", "tool", "Only entries with this tool", show=True),
        bind("part.6", "like('agent')", "agent", "Only entries of this agent"),
        bind("show.changes", "changes", "", "The history of this entry's file", show=True),
        bind("edit", "edit", "", "Open this entry's file in your editor"),
    ]

    chosen: reactive[TranscriptFilter] = reactive(ALL)

    def __init__(self, path: str = "", settings: ScreenSettings | None = None) -> None:
        super().__init__(settings)
        self.set_reactive(TranscriptScreen.chosen, TranscriptFilter(path=path))
        self._listed = Document.Listed(0, 0)

    def body(self) -> Iterable[Widget]:
        document = Document(id="document").data_bind(TranscriptScreen.view, TranscriptScreen.recording)
        document.data_bind(TranscriptScreen.chosen)
        yield Container(document, PassagePane(id="passage"), id="log")
        yield EntryLine("words, then enter", enter="search", escape="clear", id="search")

    def watch_chosen(self) -> None:
        self._caption_edges()

    def watch_view(self, view: View | None) -> None:
        if view is not None and not view.words and self.has_class("-reading"):
            self._close()

    def _caption_edges(self) -> None:
        """Say on the document's edges what is shown."""
        narrowing, listed = self.chosen, self._listed
        parts = [
            "failed" if narrowing.failed else "",
            "prompts and answers" if narrowing.prompts else "",
            narrowing.path and f"path {narrowing.path}",
            narrowing.tool and f"tool {narrowing.tool}",
            narrowing.agent and f"agent {self._called(narrowing.agent)}",
            narrowing.text and f"“{narrowing.text}”",
        ]
        filters = " · ".join(plain(part, 40) for part in parts if part)
        for document in self.query(Document):
            entries = "1 entry" if listed.shown == 1 else f"{listed.shown:,} entries"
            if listed.searched < 1.0:
                entries += f", {100 * listed.searched:.0f}% searched"
            if listed.unread:
                entries += f", {listed.unread:,} not read"
            document.border_title = Content(f"Transcript  {entries}")
            document.border_subtitle = Content(f"only {filters}; 1 shows all") if filters else None

    def _called(self, agent: str) -> str:
        return agent if self.view is None else names_of(self.view).get(agent, agent)

    def on_document_listed(self, message: Document.Listed) -> None:
        self._listed = message
        self._caption_edges()

    def on_document_raw(self, message: Document.Raw) -> None:
        """Show the line; if it is shown already, close it."""
        pane = self.query_one(PassagePane)
        if self.view is not None and not self.view.words:
            self.notify("words are hidden; h shows them again", severity="warning")
        elif self.has_class("-reading") and pane.place == message.place:
            self._close()
        else:
            self.add_class("-reading")
            self._open(message.place)

    def on_document_moved(self, message: Document.Moved) -> None:
        if self.has_class("-reading"):
            self._open(message.place)

    def _open(self, place: int) -> None:
        if self.recording is not None and self.view is not None:
            self.query_one(PassagePane).open(self.recording.events[place], place, self.view.logs)

    def _close(self) -> None:
        self.remove_class("-reading")
        self.query_one(Document).focus()

    def action_leave(self) -> None:
        if self.has_class("-searching"):
            self._end_search(keep=False)
        elif self.has_class("-reading"):
            self._close()
        else:
            self.dismiss()

    def action_all(self) -> None:
        self.query_one("#search", Input).value = ""
        self.chosen = ALL

    def action_only(self, name: str) -> None:
        """Turn one of the two filters on or off; the other one goes."""
        turned: dict[str, Any] = {"failed": False, "prompts": False, name: not getattr(self.chosen, name)}
        self.chosen = self.chosen._replace(**turned)

    def action_like(self, name: str) -> None:
        """Only entries that have this in common with the one under the bar, or all again."""
        event, value = self._event, ""
        if not getattr(self.chosen, name) and event is not None:
            tool = event.tool if isinstance(event, ToolUse) else ""
            value = {"agent": event.agent, "tool": tool, "path": _path(event)}[name]
            if not value:
                self.notify(f"this entry has no {name}", severity="warning", markup=False)
        like: dict[str, Any] = {name: value}
        self.chosen = self.chosen._replace(**like)

    @property
    def _event(self) -> Event | None:
        """The event of the entry under the bar."""
        place = self.query_one(Document).place
        return self.recording.events[place] if self.recording is not None and place >= 0 else None

    def action_changes(self) -> None:
        """Show what the session did to the file of the entry under the bar."""
        self.post_message(ShowChanges(_path(self._event)))

    def action_edit(self) -> None:
        """Open the file of the entry under the bar."""
        if path := _path(self._event):
            self.post_message(EditFile(path))
        else:
            self.notify("this entry has no path", severity="warning", markup=False)

    def action_search(self) -> None:
        self.add_class("-searching")
        self.query_one("#search", Input).focus()

    def _end_search(self, *, keep: bool) -> None:
        box = self.query_one("#search", Input)
        if not keep:
            box.value = ""
        self.chosen = self.chosen._replace(text=box.value.strip())
        self.remove_class("-searching")
        self.query_one(Document).focus()

    @on(Input.Submitted, "#search")
    def _searched(self) -> None:
        self._end_search(keep=True)


def _path(event: Event | None) -> str:
    """Return the first path an entry touched; empty if it touched none."""
    return event.targets[0] if isinstance(event, ToolUse) and event.targets else ""
