"""Which session to open: all that agents left on this machine, the newest first."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import DataTable, Input, Static
from textual.widgets.data_table import RowKey

from core.agents.registry import known_agents
from core.logs.discovery import find
from core.logs.found import Found
from core.report.formatting import count, plain, short, span
from core.settings import Settings
from tui.feed.messages import OpenSession
from tui.widgets.common.key_line import KeyLine

_EVERY = 3.0
"""Seconds between two looks at the disk."""

_NOTHING = """\
No sessions found on this machine.

nooscope reads what coding agents write to disk by themselves: Claude Code, Codex, Gemini CLI, OpenCode, pi,
OpenHands and Copilot CLI in their usual places. Run one of them once, or name a log:

  nooscope watch PATH     follow it live, also before it exists
  nooscope replay PATH    play it from the start\
"""


class PickerScreen(Screen[None]):
    """A table of sessions that keeps itself up to date."""

    DEFAULT_CSS = """
    PickerScreen {
        layout: vertical;
        background: $background;
        & #title { height: 1; padding: 0 1; background: $panel; }
        & DataTable { height: 1fr; background: $background; }
        & #nothing { height: 1fr; padding: 1 2; display: none; }
        & Input, & Input:focus { height: 1; border: none; padding: 0 1; background: $surface; }
        & Input { display: none; }
        &.-filtering Input { display: block; }
        &.-empty #nothing { display: block; }
        &.-empty DataTable { display: none; }
    }
    """
    AUTO_FOCUS = "DataTable"
    HELP: ClassVar[str] = """\
## Sessions

Every session agents left on this machine; `●` is written right now.
Enter follows it if it is active and plays it otherwise; `w` follows, `r` plays, `/` narrows the list.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter", "open('')", "open", id="sessions.open", tooltip="Follow an active one, play an old one"
        ),
        Binding("w", "open('live')", "watch", id="sessions.watch", tooltip="Follow it live"),
        Binding("r", "open('replay')", "replay", id="sessions.replay", tooltip="Play it from the start"),
        Binding(
            "slash", "filter", "filter", key_display="/", id="sessions.filter", tooltip="Filter the list"
        ),
        Binding("escape", "leave", "back", id="sessions.leave", tooltip="Back, or all sessions again"),
        Binding("space", "nothing", show=False, id="sessions.space"),
    ]

    class Listed(Message):
        """From the search: what lies on this machine now."""

        def __init__(self, found: list[Found]) -> None:
            super().__init__()
            self.found = found

    def __init__(self, settings: Settings, home: Path | None = None) -> None:
        super().__init__()
        self._settings = settings
        self._home = home or Path.home()
        self._found: dict[str, Found] = {}
        self._wanted = ""

    def compose(self) -> ComposeResult:
        yield Static("nooscope  looking for sessions…", id="title")
        yield Input(placeholder="agent, project or session")
        table: DataTable[Text] = DataTable(cursor_type="row", zebra_stripes=False)
        table.add_column("", key="active", width=1)
        for name in ("agent", "project", "title", "age", "events", "size", "session"):
            table.add_column(name, key=name)
        yield table
        yield Static(_NOTHING, id="nothing", markup=False)
        yield KeyLine()

    def on_mount(self) -> None:
        self._look()
        self.set_interval(_EVERY, self._look)

    @work(thread=True, exclusive=True, group="sessions")
    def _look(self) -> None:
        active = self._settings.ingest.follow.active_within
        found = find(known_agents(), os.environ, self._home, now=time.time(), active_within=active)
        self.post_message(self.Listed(found))

    def on_picker_screen_listed(self, message: Listed) -> None:
        self._found = {f"{one.path}\n{one.session}": one for one in message.found}
        self._fill()

    def on_input_changed(self, message: Input.Changed) -> None:
        self._wanted = message.value.lower()
        self._fill()

    def on_input_submitted(self) -> None:
        self.query_one(DataTable).focus()

    def on_data_table_row_selected(self, message: DataTable.RowSelected) -> None:
        message.stop()
        self._open(message.row_key, "")

    def action_open(self, how: str) -> None:
        table = self.query_one(DataTable)
        if table.row_count:
            self._open(table.coordinate_to_cell_key(table.cursor_coordinate).row_key, how)

    def action_filter(self) -> None:
        self.add_class("-filtering")
        self.query_one(Input).focus()

    def action_leave(self) -> None:
        """Clear the filter first, then leave the screen, unless there is nothing below it."""
        if self.has_class("-filtering"):
            self.remove_class("-filtering")
            self.query_one(Input).value = ""
            self.query_one(DataTable).focus()
        elif getattr(self.app, "view", None) is not None:
            self.dismiss()

    def action_nothing(self) -> None:
        """Space does nothing here."""

    def _open(self, key: RowKey, how: str) -> None:
        found = self._found.get(str(key.value))
        if found is not None:
            live = found.active if not how else how == "live"
            self.dismiss()
            self.app.post_message(OpenSession(found.path, live, found.session))

    def _fill(self) -> None:
        """Fill the table with what was found; the cursor stays on its session."""
        table = self.query_one(DataTable)
        shown = {key: one for key, one in self._found.items() if self._fits(one)}
        here = None
        if table.row_count:
            here = table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value
        if [str(row.value) for row in table.rows] != list(shown):
            table.clear()
            for key, one in shown.items():
                table.add_row(*_row(one), key=key)
            if here in shown:
                table.move_cursor(row=table.get_row_index(here))
        else:
            for key, one in shown.items():
                for name, cell in zip(
                    ("active", "agent", "project", "title", "age", "events", "size"), _row(one), strict=False
                ):
                    table.update_cell(key, name, cell)
        self.set_class(not self._found, "-empty")
        active = sum(one.active for one in self._found.values())
        words = f"nooscope  {count(len(self._found), 'session')} on this machine, {active} active"
        self.query_one("#title", Static).update(Content(words))

    def _fits(self, found: Found) -> bool:
        text = f"{found.agent} {found.project} {found.title} {found.session}".lower()
        return all(word in text for word in self._wanted.split())


def _row(found: Found) -> tuple[Text, ...]:
    """Its cells as Text: never markup, and the table knows their width."""
    return (
        Text("●", "bold") if found.active else Text("·", "dim"),
        Text(plain(found.agent, 16)),
        Text(plain(Path(found.project).name or "-", 28)),
        Text(plain(found.title, 30) or "-"),
        Text(span(max(0.0, time.time() - found.modified))),
        Text(f"~{found.events:,}", justify="right"),
        Text(f"{short(found.size)}B", justify="right"),
        Text(plain(found.session, 36)),
    )
