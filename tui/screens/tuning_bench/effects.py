"""The right side of the bench: what the changed settings would do to the recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import var

from core.settings.layers import tunables
from core.store.labels import Label
from core.timeline.sweep import Sweep, usual_grid
from core.timeline.timeline import Timeline
from core.timeline.whatif import WhatIfResult
from tui.feed.messages import Failed
from tui.feed.view import View
from tui.screens.tuning_bench.whatif_runner import Ran, Swept, WhatIfRunner, run_sweep
from tui.widgets.tuning.comparison import Comparison
from tui.widgets.tuning.firing_table import Figures, FiringTable
from tui.widgets.tuning.sweep_chart import SweepChart


class Effects(Vertical):
    """Actual against what-if, what fired, the playhead under both, and a sweep on demand."""

    DEFAULT_CSS = """
    Effects #comparison { height: 3fr; min-height: 7; }
    Effects #firings { height: 2fr; min-height: 5; }
    Effects #figures { height: 9; }
    Effects #sweep { display: none; height: 2fr; min-height: 7; }
    Effects.-sweeping #sweep { display: block; }
    Effects.-sweeping #figures { display: none; }
    """

    view: var[View | None] = var(None)
    recording: var[Timeline | None] = var(None)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.compared: WhatIfResult | None = None
        self.labels: tuple[Label, ...] = ()
        self._whatif = WhatIfRunner(self)

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
        self._whatif.forget()

    def run(self, recording: Timeline | None, edits: Mapping[str, Any]) -> None:
        """Show what these edits would do, unless they are shown or run already."""
        if recording is None or not len(recording) or not edits:
            self._whatif.cancel()
            self._compare(None)
        else:
            self._whatif.run(recording, edits)

    def follow(self, recording: Timeline, edits: Mapping[str, Any]) -> None:
        """Take in events that came since."""
        if not self._whatif.idle:
            self._whatif.catch_up()
        elif edits:
            self.run(recording, edits)

    def on_ran(self, message: Ran) -> None:
        message.stop()
        result = self._whatif.take(message)
        if result is not None:
            self._compare(result)
            self.call_after_refresh(self._whatif.painted)

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
        self.workers.cancel_group(self, "sweep")
        if self.has_class("-sweeping") and (chart.sweep is None or chart.sweep.name in ("", name)):
            self.remove_class("-sweeping")
            return
        if recording is None or not len(recording):
            return
        if not name or tunables()[name].kind not in ("number", "integer"):
            self.post_message(Failed("only a setting with a range can be swept"))
            return
        self.add_class("-sweeping")
        chart.sweep = Sweep(name, present, (), 1, len(recording), len(self.labels))
        values = usual_grid(tunables()[name], present)
        run_sweep(self, recording, name, values, self.labels, dict(edits))

    def on_swept(self, message: Swept) -> None:
        message.stop()
        chart = self.query_one(SweepChart)
        if chart.sweep is not None and chart.sweep.name == message.sweep.name:
            chart.sweep = message.sweep
