"""The app on a sample session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from textual.screen import Screen

from core.live.source import Target
from core.settings import Settings
from core.store.bookmarks import Bookmarks
from core.timeline.initial_state import ConfiguredStart, StartFiles
from sample_sessions import Sample
from tui.app import NooscopeApp
from tui.feed.notices import end_with_terminal
from tui.screens.demo import DemoScreen


class DemoApp(NooscopeApp):
    """One sample session, played from its beginning."""

    def __init__(
        self,
        sample: Sample,
        settings: Settings,
        *,
        bookmarks: Callable[[str], Bookmarks] = Bookmarks,
        theme_folder: Path | None = None,
        begin: Callable[[], ConfiguredStart] | None = None,
        note: str = "",
        faults: Sequence[str] = (),
    ) -> None:
        super().__init__(
            Target(sample.path, live=False),
            settings,
            bookmarks=bookmarks,
            theme_folder=theme_folder,
            begin=begin,
            faults=faults,
        )
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
