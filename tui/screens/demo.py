"""The main screen on a sample session, with a narrator who says what to notice."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.reactive import var
from textual.widgets import Static

from core.events import MAIN
from core.settings.screen import ScreenSettings
from sample_sessions import Line, Sample
from tui.feed.messages import SelectAgent
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
