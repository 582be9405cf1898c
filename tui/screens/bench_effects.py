"""The right side of the bench: what the changed settings would do, run in threads of their own."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import var
from textual.widget import Widget
from textual.worker import get_current_worker

from core.errors import StoreError
from core.settings.layers import tunables
from core.store.labels import Label, Labels
from core.timeline.sweep import Sweep, sweep_recording, usual_grid
from core.timeline.timeline import Timeline
from core.timeline.whatif import WhatIf, WhatIfResult
from tui.feed.messages import Failed, Latest
from tui.feed.view import View
from tui.widgets.tuning.comparison import Comparison
from tui.widgets.tuning.firing_table import Figures, FiringTable
from tui.widgets.tuning.sweep_chart import SweepChart


class Effects(Vertical):
    """Actual against what-if, what fired, the playhead under both, and a sweep on demand."""

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
        values = usual_grid(tunables()[name], present)
        run_sweep(self, recording, name, values, self.labels, dict(edits))

    def end_sweep(self) -> bool:
        """Put the chart away; False if it is not shown."""
        self.workers.cancel_group(self, "sweep")
        is_open = self.has_class("-sweeping")
        self.remove_class("-sweeping")
        return is_open

    def on_swept(self, message: Swept) -> None:
        message.stop()
        chart = self.query_one(SweepChart)
        if chart.sweep is not None and chart.sweep.name == message.sweep.name:
            chart.sweep = message.sweep


_PATIENCE = 0.1  # Seconds for which a what-if waits for its result to be painted.


@dataclass
class Ran(Latest):
    """From the worker: what is known by now."""

    result: WhatIfResult


@dataclass
class Swept(Latest):
    """From the worker: the values tried so far."""

    sweep: Sweep


class WhatIfRunner:
    """Runs the newest edits over a recording; a widget is told of results by `Ran`."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._whatif: WhatIf | None = None
        self._running = False
        self._painted = threading.Event()

    @property
    def idle(self) -> bool:
        """There is nothing to run."""
        return self._whatif is None

    def forget(self) -> None:
        """Drop the what-if; what it still posts is not taken."""
        self._whatif = None

    def cancel(self) -> None:
        """Drop it and stop its thread."""
        self.forget()
        self._widget.workers.cancel_group(self._widget, "whatif")

    def run(self, recording: Timeline, edits: Mapping[str, Any]) -> None:
        """Run these edits, unless they run already."""
        if self._whatif is None or self._whatif.edits != edits:
            self._whatif = WhatIf(recording, edits)
            self._start(self._whatif)

    def catch_up(self) -> None:
        """Go on where the recording went on."""
        if self._whatif is not None and self._whatif.behind and not self._running:
            self._start(self._whatif)

    def take(self, message: Ran) -> WhatIfResult | None:
        """A result that arrived; None where a newer what-if was asked for since."""
        if self._whatif is None or message.result.edits is not self._whatif.edits:
            return None
        self._running = not message.result.complete
        return message.result

    def painted(self) -> None:
        """The result is on the screen, the thread may go on."""
        self._painted.set()

    def _start(self, whatif: WhatIf) -> None:
        """Run it in a thread that stands still while its results are painted, so that neither waits long."""
        painted = threading.Event()
        self._painted = painted
        widget = self._widget

        def post(result: WhatIfResult) -> None:
            painted.clear()
            widget.post_message(Ran(result))
            painted.wait(_PATIENCE)

        def work() -> None:
            worker = get_current_worker()
            whatif.run(post, lambda: worker.is_cancelled)

        self._running = True
        widget.run_worker(work, name="what-if", group="whatif", thread=True, exclusive=True)


def run_sweep(
    widget: Widget,
    recording: Timeline,
    name: str,
    values: Sequence[float],
    labels: tuple[Label, ...],
    edits: Mapping[str, Any],
) -> None:
    """Try one setting at every value; the widget is told of each by `Swept`."""

    def work() -> None:
        worker = get_current_worker()
        reported = 0

        def report(sweep: Sweep) -> bool:
            nonlocal reported
            if worker.is_cancelled:
                return False
            if len(sweep.points) != reported:
                reported = len(sweep.points)
                widget.post_message(Swept(sweep))
            return True

        sweep_recording(recording, name, values, labels, report, edits)

    widget.run_worker(work, name="sweep", group="sweep", thread=True, exclusive=True)


@dataclass
class Labelled(Message):
    """From the worker: the session's labels by now."""

    labels: tuple[Label, ...]


class LabelSource(Protocol):
    """Whoever knows where the labels of the session on the screen are kept."""

    @property
    def labels(self) -> Labels | None: ...


def save_labels(widget: Widget, source: LabelSource | None, labels: Sequence[Label], *, withdraw: bool) -> None:
    """Write labels, or take them back; the widget is told of all there are by `Labelled`."""
    store = source.labels if source is not None else None
    if store is None:
        if labels:
            widget.post_message(Failed("labels cannot be saved before the session is known"))
        return

    def work() -> None:
        try:
            for label in labels:
                (store.withdraw if withdraw else store.judge)(label)
            widget.post_message(Labelled(store.judged()))
        except StoreError as error:
            widget.post_message(Failed(str(error)))
        for notice in store.notices:
            widget.post_message(Failed(notice))

    widget.run_worker(work, name="labels", group="labels", thread=True)
