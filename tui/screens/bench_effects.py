"""The right side of the bench: what the changed settings would do, run in threads of their own."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import var
from textual.worker import get_current_worker

from core.settings.layers import tunables
from core.store.bookmarks import Label
from core.timeline.sweep import Sweep, sweep_recording, usual_grid
from core.timeline.timeline import Timeline
from core.timeline.whatif import WhatIf, WhatIfResult
from tui.feed.messages import Failed, Latest
from tui.feed.view import View
from tui.widgets.tuning.comparison import Comparison, SweepChart
from tui.widgets.tuning.firing_table import Figures, FiringTable

_PATIENCE = 0.1  # Seconds for which a what-if waits for its result to be painted.


class Effects(Vertical):
    """Actual against what-if, what fired, the playhead under both, and a sweep on demand."""

    @dataclass
    class Ran(Latest):
        """From the worker: what is known by now."""

        result: WhatIfResult

    view: var[View | None] = var(None)
    recording: var[Timeline | None] = var(None)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.compared: WhatIfResult | None = None
        self.labels: tuple[Label, ...] = ()
        self._whatif: WhatIf | None = None
        self._running = False
        self._painted = threading.Event()  # The last result is on the screen.

    def compose(self) -> ComposeResult:
        yield Comparison(id="comparison").data_bind(Effects.view, Effects.recording)
        yield SweepChart(id="sweep").data_bind(Effects.view, Effects.recording)
        yield FiringTable(id="firings").data_bind(Effects.view, Effects.recording)
        yield Figures(id="figures").data_bind(Effects.view, Effects.recording)

    def emphasise(self, setting: str) -> None:
        """Draw the reading that a setting is about first."""
        self.query_one(Comparison).named = setting

    def show_labels(self, labels: tuple[Label, ...]) -> None:
        """Show what people said of firings."""
        self.labels = labels
        self.query_one(Comparison).labels = labels

    def forget(self) -> None:
        """Drop the what-if: another recording, or other settings in force."""
        self._whatif = None

    def run(self, recording: Timeline | None, edits: Mapping[str, Any]) -> None:
        """Show what these edits would do, unless they are shown or run already."""
        if recording is None or not len(recording) or not edits:
            self.forget()
            self.workers.cancel_group(self, "whatif")
            self._compare(None)
        elif self._whatif is None or self._whatif.edits != edits:
            self._whatif = WhatIf(recording, edits)
            self._start(self._whatif)

    def follow(self, recording: Timeline, edits: Mapping[str, Any]) -> None:
        """Take in events that came since."""
        whatif = self._whatif
        if whatif is not None and whatif.behind and not self._running:
            self._start(whatif)
        elif whatif is None and edits:
            self.run(recording, edits)

    def _start(self, whatif: WhatIf) -> None:
        """Run it in a thread that stands still while its results are painted, so that neither waits long."""
        painted = self._painted = threading.Event()

        def post(result: WhatIfResult) -> None:
            painted.clear()
            self.post_message(self.Ran(result))
            painted.wait(_PATIENCE)

        def work() -> None:
            worker = get_current_worker()
            whatif.run(post, lambda: worker.is_cancelled)

        self._running = True
        self.run_worker(work, name="what-if", group="whatif", thread=True, exclusive=True)

    def on_effects_ran(self, message: Ran) -> None:
        """Show a result, unless a newer what-if was asked for since."""
        message.stop()
        result = message.result
        if self._whatif is not None and result.edits is self._whatif.edits:
            self._running = not result.complete
            self._compare(result)
            self.call_after_refresh(self._painted.set)

    def _compare(self, result: WhatIfResult | None) -> None:
        self.compared = result
        for panel in (self.query_one(Comparison), self.query_one(FiringTable), self.query_one(Figures)):
            panel.compared = result

    def next_difference(self, index: int) -> int | None:
        """Return the next place at which the draft changes what fires, around the end."""
        changes = self.compared.changes() if self.compared is not None else ()
        places = sorted(place + 1 for place, _, _ in changes)
        return next((place for place in places if place > index), places[0] if places else None)

    def toggle_sweep(self, name: str, present: Any, edits: Mapping[str, Any]) -> None:
        """Try a setting over its range; asked for the same again, put the chart away."""
        recording, chart = self.recording, self.query_one(SweepChart)
        same = chart.sweep is None or chart.sweep.name in ("", name)
        if self.end_sweep() and same:
            return
        if recording is None or not len(recording):
            return
        if not name or tunables()[name].kind not in ("number", "integer"):
            self.post_message(Failed("only a setting with a range can be swept"))
            return
        self.add_class("-sweeping")
        chart.sweep = Sweep(name, present, (), 1, len(recording), len(self.labels))
        values, labels, tried = usual_grid(tunables()[name], present), self.labels, dict(edits)

        def work() -> None:
            worker = get_current_worker()
            reported = 0

            def report(sweep: Sweep) -> bool:
                nonlocal reported
                if not worker.is_cancelled and len(sweep.points) != reported:
                    reported = len(sweep.points)
                    self.call_later(self._show_sweep, sweep)
                return not worker.is_cancelled

            sweep_recording(recording, name, values, labels, report, tried)

        self.run_worker(work, name="sweep", group="sweep", thread=True, exclusive=True)

    def _show_sweep(self, sweep: Sweep) -> None:
        chart = self.query_one(SweepChart)
        if chart.sweep is not None and chart.sweep.name == sweep.name:
            chart.sweep = sweep

    def end_sweep(self) -> bool:
        """Put the chart away; False if it is not shown."""
        self.workers.cancel_group(self, "sweep")
        is_open = self.has_class("-sweeping")
        self.remove_class("-sweeping")
        return is_open
