"""Bounded agency: how long an agent may run on its own, and why it would be stopped."""

from __future__ import annotations

from core.engine.governor.episode import GovernorEpisode as GovernorEpisode
from core.engine.governor.governor import Governor as Governor, GovernorReading as GovernorReading, Verdict as Verdict
from core.engine.governor.machine import (
    HALT_REASONS as HALT_REASONS,
    HALT_WORDS as HALT_WORDS,
    RULES as RULES,
    HaltReason as HaltReason,
    Machine as Machine,
    State as State,
    Transition as Transition,
)
from core.engine.governor.profile import PUBLISHED as PUBLISHED, Profile as Profile, chosen as chosen
