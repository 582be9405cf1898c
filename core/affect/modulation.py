"""What the fields bend: eight parameters within bounds, and how they lean what composes with affect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.percept import Composition, Modulation
from core.settings.affect import ModulationSettings

_make = tuple.__new__
"""Builds a named tuple without its Python-level constructor: one is made for every event."""


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

    def bend(self, deviations: Sequence[float], quarantined: bool) -> Modulation:
        """The eight parameters for deviations from rest; quarantine tightens two and suspends delegation."""
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
        """How the rest leans; by the bounds of the settings no factor reaches zero."""
        share = self._composition
        uncertain, _, novel, persist, _, risk, _ = deviations
        familiarity = 0.5 + share * (uncertain - novel) / 2.0
        values = (
            1.0 + share * (uncertain + risk) / 2.0,
            1.0 + share * persist,
            1.0 + share * novel,
            1.0 + share * risk,
            1.0 + share * persist,
            0.0 if familiarity < 0.0 else 1.0 if familiarity > 1.0 else familiarity,
        )
        return _make(Composition, values)


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
