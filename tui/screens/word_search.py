"""Search of all sessions: results appear while logs are still being read, and open at the place found."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import work
from textual._path import CSSPathType
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from core.errors import NooscopeError, StoreError
from core.report.formatting import count, plain
from core.report.log_tree import LogTree, SessionName, agent_folders
from core.report.search import Hit, fill_index, search
from core.settings import Settings
from core.store.reading_cache import Narrowed, WordIndex, reading_cache
from tui.draw.line import fit
from tui.feed.messages import Latest, OpenSession
from tui.keys import bind
from tui.widgets.common.key_line import EntryLine, KeyLine, LeftOnce

_MOST = 40
_LEAST = 2  # Letters a query needs.
_AGAIN = 1.0  # Seconds between two searches while logs are being read.
_SPEAKERS = {"asked": "you", "said": "agent", "call": "call", "result": "result"}


class WordSearchScreen(LeftOnce[None]):
    """A search line, and the matches below it, the latest first."""

    CSS_PATH: ClassVar[CSSPathType | None] = "board.tcss"
    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("row.down", "into_list", "choose", "Go to the list", show=True),
        bind("open", "open", "", "Open the session at this moment", show=True),
        bind("back", "leave", "", "To the search line, or back", show=True),
    ]

    @dataclass
    class Reading(Latest):
        """How many of the changed logs are read."""

        number: int
        total: int
        fault: str = ""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self._hits: list[Hit] = []
        self._shown: str = ""  # The query whose matches are listed.
        self._reading = "reading new logs …"
        self._fault = ""  # Why the search failed.
        self._unread = ""  # Why some logs could not be read.
        self._index = WordIndex()
        # The index until this screen is closed, if it cannot be stored.
        self._room: tempfile.TemporaryDirectory[str] | None = None

    def compose(self) -> ComposeResult:
        yield EntryLine("search all sessions …", enter="open there")
        yield Static("", id="found", markup=False)
        yield OptionList(markup=False)
        yield KeyLine()

    def on_mount(self) -> None:
        self._tell()
        self._fill()
        self.set_interval(_AGAIN, self._look_again)
        self.watch(self.app, "words", self._hide, init=False)

    def on_unmount(self) -> None:
        if self._room is not None:
            self._room.cleanup()

    def _hide(self, words: bool) -> None:
        """Close when words are hidden, as the list shows nothing else."""
        if not words:
            self.dismiss()

    def on_screen_resume(self) -> None:
        if not getattr(self.app, "words", True):
            self.call_later(self._hide, False)

    def on_input_changed(self, message: Input.Changed) -> None:
        message.stop()
        self._search(message.value)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self.action_open()

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self._open(message.option_index)

    def _list(self, query: str, hits: list[Hit], fault: str) -> None:
        """List the matches for a query, unless another is typed by now."""
        if query != self.query_one(Input).value:
            return
        self._fault = fault
        if hits != self._hits or query != self._shown:
            self._hits, self._shown = hits, query
            listed = self.query_one(OptionList)
            here = listed.highlighted
            listed.clear_options()
            width = max(20, self.size.width - 4)
            sessions = [(hit.path, hit.session) for hit in hits]
            firsts = [one != before for one, before in zip(sessions, [("", ""), *sessions], strict=False)]
            lines = (_hit_lines(hit, width, first=first) for hit, first in zip(hits, firsts, strict=True))
            listed.add_options(map(Option, lines))
            if hits:
                listed.highlighted = min(here or 0, len(hits) - 1)
        self._tell()

    def on_word_search_screen_reading(self, message: Reading) -> None:
        self._unread = message.fault and f"not all logs could be read: {message.fault}"
        over = message.number >= message.total
        self._reading = "" if over else f"reading {message.number} of {count(message.total, 'changed log')} …"
        if over:
            self._search(self.query_one(Input).value)
        self._tell()

    def action_into_list(self) -> None:
        self.query_one(OptionList).focus()

    def action_open(self) -> None:
        """Open the selected match, or the first one."""
        if self._hits and self._shown == self.query_one(Input).value:
            self._open(self.query_one(OptionList).highlighted or 0)

    def action_leave(self) -> None:
        if self.query_one(OptionList).has_focus:
            self.query_one(Input).focus()
        else:
            self.dismiss()

    def _open(self, number: int) -> None:
        hit = self._hits[number]
        self.app.post_message(OpenSession(Path(hit.path), False, hit.session if hit.shared else "", hit.place))

    def _look_again(self) -> None:
        if self._reading:
            self._search(self.query_one(Input).value)

    def _tell(self) -> None:
        query = self.query_one(Input).value
        if self._fault:
            status = self._fault
        elif sum(map(len, query.split())) < _LEAST:
            status = "type one or more words"
        elif self._shown != query:
            status = "looking …"
        elif not self._hits and self._unread:
            status = "nothing found in the other logs"
        elif not self._hits:
            status = "nothing found" + (" so far" if self._reading else "; try fewer words, or their beginnings")
        else:
            status = f"{'at least ' if len(self._hits) == _MOST else ''}{count(len(self._hits), 'match')}"
        unkept = "this search is not indexed" if self._room is not None else ""
        together = "  ·  ".join(part for part in (self._unread, status, self._reading, unkept) if part)
        self.query_one("#found", Static).update(Content(together))

    @work(thread=True, exclusive=True, group="find")
    def _search(self, query: str) -> None:
        words = query.split()
        worker = get_current_worker()
        hits, fault = list[Hit](), ""
        if sum(map(len, words)) >= _LEAST:
            try:
                hits = group_hits(search(self._index, words, Narrowed(), _MOST))
            except NooscopeError as error:
                fault = str(error)
        if not worker.is_cancelled:
            self.call_later(self._list, query, hits, fault)

    @work(thread=True, exclusive=True, group="index")
    def _fill(self) -> None:
        worker = get_current_worker()
        tree = LogTree(self._settings, reading_cache(self._settings))

        def progress(number: int, total: int) -> None:
            if worker.is_cancelled:
                raise NooscopeError("stopped")
            self.post_message(self.Reading(number - 1, total))

        fault = ""
        try:
            names = tree.sessions_or_none(agent_folders(os.environ, Path.home()))
            self._fill_from(tree, names, progress)
        except (NooscopeError, OSError) as error:
            fault = str(error)
        if not worker.is_cancelled:
            self.post_message(self.Reading(1, 1, fault))
        elif self._room is not None:
            self._room.cleanup()

    def _fill_from(self, tree: LogTree, names: Sequence[SessionName], progress: Callable[[int, int], None]) -> None:
        """Update the index; if it cannot be stored, use a temporary one."""
        try:
            fill_index(self._index, tree, names, progress)
        except (StoreError, OSError):
            if self._room is not None:
                raise
            self._index.clear_blank()
            self._room = tempfile.TemporaryDirectory(prefix="nooscope-", ignore_cleanup_errors=True)
            self._index = WordIndex(Path(self._room.name) / "words.db")
            fill_index(self._index, tree, names, progress)


def group_hits(hits: Sequence[Hit]) -> list[Hit]:
    """Group matches by session, the session of the latest match first."""
    sessions: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        sessions.setdefault((hit.path, hit.session), []).append(hit)
    return [hit for places in sessions.values() for hit in places]


def _hit_lines(hit: Hit, width: int, *, first: bool) -> Text:
    """Return a match with its text; the first one of a session has a heading."""
    when = hit.place[:16].replace("T", " ") if hit.at is not None else "undated"
    if not first:
        speaker = f"  {when.rpartition(' ')[2]} {_SPEAKERS[hit.speaker]}{hit.fate}: "
        text = fit(plain(hit.snippet), width - len(speaker)).rstrip()
        return Text(no_wrap=True).append(speaker, "dim").append(text)
    project = plain(Path(hit.project).name, 24)
    about = "  ".join(part for part in (hit.agent, project, plain(hit.title)) if part)
    speaker = f"  {_SPEAKERS[hit.speaker]}{hit.fate}: "
    line = Text(no_wrap=True).append(f"{when}  ", "dim")
    line.append(fit(about, width - len(when) - 2).rstrip(), "bold")
    return line.append(f"\n{speaker}", "dim").append(fit(plain(hit.snippet), width - len(speaker)).rstrip())
