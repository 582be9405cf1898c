"""A loop put into words."""

from __future__ import annotations

from typing import Protocol

from core.response.loops.burn import Burn
from core.response.loops.cycle import Cycle
from core.response.loops.failing import Failing
from core.response.loops.loop import Loop, intensity
from core.response.loops.oscillation import Oscillation
from core.response.loops.stalls import Churn, GaveUp, Reread, Retest, Rework, Storm, Waiting
from core.settings.loops import DetectorName


class Parts(Protocol):
    """The detectors of one agent; None where one is switched off."""

    exact: Cycle | None
    near: Cycle | None
    failing: Failing | None
    oscillation: Oscillation | None
    burn: Burn | None
    retest: Retest | None
    rework: Rework | None
    churn: Churn | None
    storm: Storm | None
    reread: Reread | None
    waiting: Waiting | None
    gave_up: GaveUp | None


def told_of(parts: Parts, name: DetectorName) -> Loop:
    """The loop that one detector sees."""
    if name == "burn" and parts.burn is not None:
        return _burn(parts.burn)
    if name == "failing" and parts.failing is not None:
        return _failing(parts.failing)
    if name == "oscillation" and parts.oscillation is not None:
        return _oscillation(parts.oscillation)
    stall = getattr(parts, name)
    if isinstance(stall, Retest | Rework | Churn | Storm | Reread | Waiting | GaveUp):
        strength = intensity(stall.count, stall.limit)
        return Loop(name, 0, stall.count, stall.tool, stall.what(), strength, stall.began_at)
    cycle = parts.exact if name == "exact" else parts.near
    assert cycle is not None, name  # noqa: S101
    return _cycle(cycle, name)


def _cycle(cycle: Cycle, name: DetectorName) -> Loop:
    count, period = cycle.count, cycle.period
    if period > 1:
        nearly = "nearly the same" if name == "near" else "the same"
        what = f"{nearly} {period} calls {count} times round, at {cycle.subject}"
    elif cycle.failed:
        what = f"{cycle.subject} failed {'again' if name == 'near' else 'the same way'} {count} times"
    else:
        what = f"{cycle.subject} brought the same {count} times"
    strength = intensity(count, cycle.limit)
    return Loop(name, period, count, cycle.tool, what, strength, cycle.began_at)


def _failing(failing: Failing) -> Loop:
    count = failing.count
    how = "failed the same way" if failing.alike else "failed"
    what = f"{failing.subject} {how} {count} times, nothing edited between"
    return Loop("failing", 1, count, failing.tool, what, intensity(count, failing.limit), failing.began_at)


def _oscillation(edits: Oscillation) -> Loop:
    count = edits.count
    what = f"{edits.subject} edited back and forth {count} times"
    return Loop("oscillation", 2, count, edits.tool, what, intensity(count, edits.limit), edits.began_at)


def _burn(burn: Burn) -> Loop:
    what = f"{burn.spent / 1000.0:.0f}k tokens in {burn.turns} answers without progress"
    return Loop("burn", 0, burn.turns, "", what, intensity(burn.spent, burn.limit), burn.began_at)
