"""The app on a sample session, with a narrator who says what to notice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from textual.app import ComposeResult
from textual.content import Content
from textual.reactive import var
from textual.screen import Screen
from textual.widgets import Static

from core.events import MAIN
from core.live.source import Target
from core.settings import Settings
from core.settings.program import ScreenSettings
from core.timeline.initial_state import StartFiles
from sample_sessions import Line, Sample
from tui.app import NooscopeApp
from tui.feed.messages import SelectAgent
from tui.feed.notices import end_with_terminal
from tui.feed.view import View, names_of
from tui.screens.main import MainScreen


class Narrator(Static):
    """The line at the bottom: what is to be noticed at the playhead."""

    view: var[View | None] = var(None)

    def __init__(self, sample: Sample, note: str = "") -> None:
        super().__init__(_words(sample.narration[0], note))
        self._sample = sample
        self._note = note
        self._line = sample.narration[0]
        self._agent = MAIN  # Whom it showed last.

    def watch_view(self, view: View | None) -> None:
        """Show the line at the playhead, and the agent it is about unless the person went to another."""
        if view is None:
            return
        line = self._sample.line(view.at - view.start)
        if line != self._line:
            self._line = line
            self.update(_words(line, self._note, names_of(view).get(line.agent, line.agent)))
        if line.agent != self._agent and view.agent == self._agent:
            self._agent = line.agent
            self.post_message(SelectAgent(line.agent))


class DemoScreen(MainScreen):
    """The observatory with a narrator above the footer."""

    def __init__(self, settings: ScreenSettings, sample: Sample, note: str) -> None:
        super().__init__(settings)
        self._sample = sample
        self._note = note

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield Narrator(self._sample, self._note).data_bind(MainScreen.view)


def _words(line: Line, note: str, name: str = "") -> Content:
    who = "" if line.agent == MAIN else f"{name or line.agent}: "
    content = Content(f"» {who}{line.text}")
    return Content.assemble((f"{note}\n", "dim not bold"), content) if note else content


class DemoApp(NooscopeApp):
    """One sample session, played from its beginning."""

    def __init__(self, sample: Sample, settings: Settings, *, note: str = "", **options: Any) -> None:
        super().__init__(Target(sample.path, live=False), settings, **options)
        self._sample = sample
        self._note = note
        self.sub_title = sample.title

    def get_default_screen(self) -> Screen[None]:
        return DemoScreen(self.settings.screen, self._sample, self._note)


def run_demo(
    sample: Sample, settings: Settings, project: Path | None = None, *, note: str = "", faults: Sequence[str] = ()
) -> int:
    """Play a sample until the person quits; a note explains a sample that was not requested."""
    app = DemoApp(sample, settings, begin=StartFiles(project).read, note=note, faults=faults)
    end_with_terminal()
    app.run()
    return app.return_code or 0
