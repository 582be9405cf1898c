"""The what-if in a thread of its own: partial results as they come, given up when a newer is asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from textual.message import Message

from core.timeline.firings import Difference, compare
from core.timeline.rerun import Rerun
from core.timeline.timeline import Timeline
from tui.widgets.tuning.compared import Compared

NOTHING = Difference((), (), (), ())
_BATCH = 48
"""Events between two looks at whether the result is still wanted."""
_FIRST = 0.012
"""Seconds until the first partial result."""
_EVERY = 0.25
"""Seconds between two partial results."""


@dataclass
class Ran(Message):
    """From the worker: what is known by now."""

    compared: Compared

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Ran)


class WhatIf:
    """One set of edits over one recording; run it again when the recording went on."""

    def __init__(self, timeline: Timeline, edits: Mapping[str, Any]) -> None:
        self.timeline = timeline
        self.edits = dict(edits)
        self.felt: Rerun | None = None
        self.whole: Rerun | None = None

    @property
    def behind(self) -> bool:
        """The recording went on, or nothing was run yet."""
        return self.whole is None or self.whole.done < self.whole.total

    def run(self, post: Callable[[Ran], object], cancelled: Callable[[], bool]) -> None:
        """Run to the end, telling now and then; or until nobody wants it."""
        due = time.monotonic() + _FIRST
        for feels in (True, False):
            rerun = self._rerun(feels)
            more = rerun is not None
            while more and rerun is not None:
                if cancelled():
                    return
                more = rerun.advance(_BATCH)
                if more and time.monotonic() >= due:
                    post(Ran(self.picture()))
                    due = time.monotonic() + _EVERY
            if rerun is not None and not cancelled():
                post(Ran(self.picture()))

    def _rerun(self, feels: bool) -> Rerun | None:
        """The run of the receptor alone, where the edits touch it; the run of everything."""
        if not feels:
            self.whole = self.whole or Rerun(self.timeline, self.edits)
            return self.whole
        if self.felt is None and any(name.startswith("receptor.") for name in self.edits):
            self.felt = Rerun(self.timeline, self.edits, whole=False)
        return self.felt

    def picture(self) -> Compared:
        """What is known by now: signals from the run that is furthest, all else from the whole one."""
        felt, whole = self.felt, self.whole
        total = len(self.timeline)
        run, lived = (felt.done if felt else 0), (whole.done if whole else 0)
        near = self.timeline.settings.timeline.branch.near
        done = max(run, lived)
        actual = self.timeline.marks.between(0, done)
        other = whole.marks() if whole is not None else []
        if felt is not None and run > lived:
            actual = [mark for mark in actual if mark.kind == "signal" or mark.place < lived]
            other = [mark for mark in other if mark.kind != "signal"] + felt.marks()
        weight = 0.15 if felt is not None else 0.0
        share = (weight * run + (1.0 - weight) * lived) / total if total else 1.0
        return Compared(
            self.edits, felt, whole, compare(actual, other, near), done, total, lived >= total, share
        )
