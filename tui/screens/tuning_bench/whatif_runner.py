"""The what-if and the sweep of the bench, each in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textual.message import Message
from textual.widget import Widget
from textual.worker import get_current_worker

from core.store.labels import Label
from core.timeline.sweep import Sweep, sweep_recording
from core.timeline.timeline import Timeline
from core.timeline.whatif import WhatIf, WhatIfResult

_PATIENCE = 0.1
"""Seconds for which a what-if waits for its result to be painted."""


@dataclass
class Ran(Message):
    """From the worker: what is known by now."""

    result: WhatIfResult

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Ran)


@dataclass
class Swept(Message):
    """From the worker: the values tried so far."""

    sweep: Sweep

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Swept)


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
        shown = 0

        def report(sweep: Sweep) -> bool:
            nonlocal shown
            if worker.is_cancelled:
                return False
            if len(sweep.points) != shown:
                shown = len(sweep.points)
                widget.post_message(Swept(sweep))
            return True

        sweep_recording(recording, name, values, labels, report, edits)

    widget.run_worker(work, name="sweep", group="sweep", thread=True, exclusive=True)
