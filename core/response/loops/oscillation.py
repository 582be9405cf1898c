"""Edits that undo one another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.events import ToolUse
from core.settings.loops import OscillationSettings
from core.state import Stateful, made

Edit = tuple[tuple[str, ...], int, int]
"""The files, the text taken away, the text put there."""


def _written(edits: dict[Edit, tuple[int, float]]) -> tuple[tuple[Any, ...], ...]:
    return tuple([(*edit, *known) for edit, known in edits.items()])


def _read(rows: Sequence[Any]) -> dict[Edit, tuple[int, float]]:
    return {(tuple(targets), before, after): (flips, at) for targets, before, after, flips, at in rows}


class Oscillation(Stateful):
    """Remember edits by what they took and gave; the reverse of a known one is a flip.

    A whole-file write takes away what the last write to that file gave. An edit that goes through twice
    was undone out of sight.
    """

    __slots__ = (
        "_edits",
        "_flips",
        "_kept",
        "_last",
        "_linger",
        "_step",
        "_written",
        "began_at",
        "count",
        "limit",
        "subject",
        "tool",
    )
    STATE = (
        made("_edits", _written, _read),
        made(
            "_written",
            lambda known: tuple(known.items()),
            lambda rows: {tuple(row[0]): row[1] for row in rows},
        ),
        "_step",
        "_last",
        "subject",
        "tool",
        "count",
        "limit",
        "began_at",
    )

    def __init__(self, settings: OscillationSettings) -> None:
        self._flips = settings.flips
        self._kept = settings.kept
        self._linger = settings.linger
        self._edits: dict[Edit, tuple[int, float]] = {}
        self._written: dict[tuple[str, ...], int] = {}
        self._step = 0
        self.reset()

    def reset(self) -> None:
        """Forget every edit."""
        self._edits.clear()
        self._written.clear()
        self._last = 0
        self.subject = ""
        """The file that goes back and forth; blank where none does."""
        self.tool = ""
        self.count = 0
        self.limit = self._flips
        self.began_at = 0.0

    def step(self) -> None:
        """Another call passes."""
        self._step += 1
        if self.subject and self._step - self._last >= self._linger:
            self.subject = ""
            self.count = 0

    def update(self, event: ToolUse, own: int) -> None:
        """Take in an edit that went through; `own` is its tool's limit, or -1."""
        after = event.after
        if not after or not event.targets:
            return
        before = event.before or self._overwrite(event.targets, after)
        if not before or before == after:
            return
        edits = self._edits
        known = edits.pop((event.targets, after, before), None) or edits.pop(
            (event.targets, before, after), None
        )
        if known is None:
            if len(edits) >= self._kept:
                del edits[next(iter(edits))]
            edits[event.targets, before, after] = (0, event.at)
            return
        flips, began = known
        flips += 1
        edits[event.targets, before, after] = (flips, began)
        limit = own if own > 0 else self._flips
        if own and flips >= limit:
            self.subject = event.targets[0].rpartition("/")[2] or event.targets[0]
            self.tool = event.program or event.tool
            self.count, self.limit, self.began_at = flips, limit, began
            self._last = self._step

    def _overwrite(self, targets: tuple[str, ...], after: int) -> int:
        written = self._written
        before = written.pop(targets, 0)
        if len(written) >= self._kept:
            del written[next(iter(written))]
        written[targets] = after
        return before

    def restored(self) -> None:
        """Keep no more than these settings let it."""
        for known in (self._edits, self._written):
            for gone in list(known)[: max(0, len(known) - self._kept)]:
                del known[gone]  # type: ignore[arg-type]
