"""The panels of the bench, the draft they show, and the what-if that follows it."""

from __future__ import annotations

import threading

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.reactive import var
from textual.widgets import Input
from textual.worker import get_current_worker

from core.settings import Settings
from core.timeline.timeline import Timeline
from tui.feed.view import View
from tui.widgets.common.type_line import TypeLine
from tui.widgets.tuning.compared import Compared
from tui.widgets.tuning.comparison import Comparison
from tui.widgets.tuning.draft import Draft, draft_of
from tui.widgets.tuning.firing_table import Figures, FiringTable
from tui.widgets.tuning.setting_details import Asked, Meaning, Said
from tui.widgets.tuning.sliders import SettingsList
from tui.widgets.tuning.sweep_chart import SweepChart
from tui.widgets.tuning.whatif import Ran, WhatIf

_PATIENCE = 0.1
"""Seconds for which a what-if waits for its picture to be painted."""


class Worktop(Horizontal):
    """Owns the draft and the what-if; its panels only show and ask."""

    view: var[View | None] = var(None)
    recording: var[Timeline | None] = var(None)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.draft = Draft(Settings())
        self.compared: Compared | None = None
        self._whatif: WhatIf | None = None
        self._running = False
        self._painted = threading.Event()

    def compose(self) -> ComposeResult:
        with Vertical(id="knobs"):
            yield SettingsList(id="settings")
            yield Meaning(id="meaning")
            yield TypeLine(id="typed")
            yield Input(placeholder="words of a name or a sentence", id="find", select_on_focus=False)
        with Vertical(id="effects"):
            yield Comparison(id="comparison").data_bind(Worktop.view, Worktop.recording)
            yield SweepChart(id="sweep").data_bind(Worktop.view, Worktop.recording)
            yield FiringTable(id="firings").data_bind(Worktop.view, Worktop.recording)
            yield Figures(id="figures").data_bind(Worktop.view, Worktop.recording)

    def on_mount(self) -> None:
        self._show()

    # What comes down

    def watch_recording(self, recording: Timeline | None) -> None:
        self._whatif = None
        if recording is not None:
            self.draft = draft_of(recording)
            if self.is_mounted:
                self._show()
                self._follow(recording)

    def watch_view(self, view: View | None) -> None:
        if view is not None and self.recording is not None and self.is_mounted:
            self._follow(self.recording)

    def _follow(self, recording: Timeline) -> None:
        """Take in other settings in force, and events that came since."""
        if recording.settings is not self.draft.base:
            self.rebase(recording.settings)
        elif self._whatif is not None and self._whatif.behind and not self._running:
            self._start(self._whatif)
        elif self._whatif is None and self.draft.edits:
            self._ask()

    def rebase(self, settings: Settings) -> None:
        """Other settings are in force now: what is changed is changed against them."""
        self.draft.rebase(settings)
        self._whatif = None
        self._show()

    # What goes up

    def _show(self, problem: str = "") -> None:
        """Hand the draft to the panels and ask what it would do."""
        panel = self.query_one(SettingsList)
        panel.drafted = self.draft.drafted
        self._explain(problem)
        self._ask()

    def _explain(self, problem: str = "") -> None:
        panel = self.query_one(SettingsList)
        meaning = self.query_one(Meaning)
        meaning.said = Said(panel.drafted, panel.chosen, problem, self.asked())
        self.query_one(Comparison).named = panel.name_here

    def asked(self) -> Asked | None:
        """The key or word that is being typed, where one is."""
        return None

    def _ask(self) -> None:
        """Run the what-if of the draft, unless it runs already."""
        recording = self.recording
        if recording is None or not len(recording) or not self.draft.edits:
            self._whatif = None
            self.workers.cancel_group(self, "whatif")
            self._compare(None)
        elif self._whatif is None or self._whatif.edits != self.draft.edits:
            self._whatif = WhatIf(recording, self.draft.edits)
            self._start(self._whatif)

    def _start(self, whatif: WhatIf) -> None:
        """Run it in a thread that stands still while its pictures are painted, so that neither waits long."""
        painted = threading.Event()
        self._painted = painted

        def post(message: Ran) -> None:
            painted.clear()
            self.post_message(message)
            painted.wait(_PATIENCE)

        def work() -> None:
            worker = get_current_worker()
            painted.wait(_PATIENCE)
            whatif.run(post, lambda: worker.is_cancelled)

        self._running = True
        self.call_after_refresh(painted.set)
        self.run_worker(work, name="what-if", group="whatif", thread=True, exclusive=True)

    def on_ran(self, message: Ran) -> None:
        """A result arrived; one that was overtaken is dropped."""
        message.stop()
        if self._whatif is None or message.compared.edits is not self._whatif.edits:
            return
        self._running = not message.compared.complete
        self._compare(message.compared)
        self.call_after_refresh(self._painted.set)

    def _compare(self, compared: Compared | None) -> None:
        self.compared = compared
        for panel in (self.query_one(Comparison), self.query_one(FiringTable), self.query_one(Figures)):
            panel.compared = compared
