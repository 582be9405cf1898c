"""What the fields bend: eight parameters within bounds, and readings for what has no parameter here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from core.affect.fields import ControlField
from core.percept import Modulation
from core.settings.affect import ModulationSettings

_make = tuple.__new__
"""Builds a named tuple without its Python-level constructor: one is made for every event."""


class Composition(Struct, frozen=True):
    """How confidence, forecasting and exploration would lean; 1 is neutral for a factor."""

    confidence_decay: float
    """Caution makes confidence fade faster."""
    confidence_recovery: float
    """Persistence lets confidence come back faster."""
    branching: float
    """Novelty appetite opens more futures."""
    pruning: float
    """Sensitivity to risk cuts more of them."""
    depth: float
    """Persistence looks further ahead."""
    familiarity: float
    """0 goes where nothing is known, 1 stays where all is."""


class Modulator:
    """Compute the targets from deviations: each moves by `reach` times the mean of its drivers."""

    __slots__ = (
        "_acceptance",
        "_branches",
        "_breadth",
        "_composition",
        "_delegation",
        "_escalation",
        "_fading",
        "_promotion",
        "_retries",
    )

    def __init__(self, settings: ModulationSettings) -> None:
        self._promotion = _plain(settings.promotion, 0.5)
        self._breadth = _plain(settings.breadth, 0.5)
        self._branches = _plain(settings.branches, 1.0)
        self._fading = _plain(settings.fading, -1.0)
        self._escalation = _plain(settings.escalation, -0.5)
        self._retries = _plain(settings.retries, 1.0)
        self._delegation = _plain(settings.delegation, 1.0)
        self._acceptance = _plain(settings.acceptance, 0.5)
        self._composition = settings.composition

    def targets(self, fields: Sequence[ControlField], quarantined: bool) -> Modulation:
        """The eight parameters; quarantine tightens both thresholds and suspends delegation."""
        a, b, c, d, e, f, g = fields
        deviations = (
            a.magnitude - a.rest,
            b.magnitude - b.rest,
            c.magnitude - c.rest,
            d.magnitude - d.rest,
            e.magnitude - e.rest,
            f.magnitude - f.rest,
            g.magnitude - g.rest,
        )
        return self.bend(deviations, quarantined)

    def bend(self, deviations: Sequence[float], quarantined: bool) -> Modulation:
        """The eight parameters for given deviations from rest."""
        uncertain, open_, novel, persist, escalate, risk, together = deviations
        caution = risk + uncertain
        base, low, high, reach = self._promotion
        value = base + reach * caution
        promotion = low if value < low else high if value > high else value
        base, low, high, reach = self._breadth
        value = base + reach * (novel + open_)
        breadth = low if value < low else high if value > high else value
        base, low, high, reach = self._branches
        value = base + reach * novel
        branches = low if value < low else high if value > high else value
        base, low, high, reach = self._fading
        value = base + reach * persist
        fading = low if value < low else high if value > high else value
        base, low, high, reach = self._escalation
        value = base + reach * (escalate + uncertain)
        escalation = low if value < low else high if value > high else value
        base, low, high, reach = self._retries
        value = base + reach * persist
        retries = low if value < low else high if value > high else value
        base, low, high, reach = self._delegation
        value = base + reach * together
        delegation = low if value < low else high if value > high else value
        base, low, high, reach = self._acceptance
        value = base + reach * caution
        acceptance = low if value < low else high if value > high else value
        if quarantined:
            promotion, delegation, acceptance = self._promotion[2], 0.0, self._acceptance[2]
        values = (promotion, breadth, branches, fading, escalation, retries, delegation, acceptance)
        return _make(Modulation, values)

    def composition(self, deviations: Sequence[float]) -> Composition:
        """The readings; by the bounds of the settings no factor reaches zero."""
        uncertain, _, novel, persist, _, risk, _ = (value * self._composition for value in deviations)
        return Composition(
            confidence_decay=1.0 + (uncertain + risk) / 2.0,
            confidence_recovery=1.0 + persist,
            branching=1.0 + novel,
            pruning=1.0 + risk,
            depth=1.0 + persist,
            familiarity=min(1.0, max(0.0, 0.5 + (uncertain - novel) / 2.0)),
        )


class _Target(Protocol):
    @property
    def base(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def reach(self) -> float: ...


def _plain(target: _Target, weight: float) -> tuple[float, float, float, float]:
    return (target.base, target.low, target.high, target.reach * weight)
