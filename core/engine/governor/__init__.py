"""Bounded agency: how long an agent may run on its own, and why it would be stopped."""

from __future__ import annotations

from core.engine.governor.episode import GovernorEpisode, Point
from core.engine.governor.governor import Governor, GovernorReading, Input, Verdict
from core.engine.governor.machine import HALT_REASONS, HALT_WORDS, RULES, STATES, HaltReason, Machine, State, Transition
from core.engine.governor.profile import PUBLISHED, Profile, chosen

__all__ = [
    "Governor",
    "GovernorReading",
    "Verdict",
    "GovernorEpisode",
    "Point",
    "Input",
    "Machine",
    "State",
    "STATES",
    "HaltReason",
    "HALT_REASONS",
    "HALT_WORDS",
    "Transition",
    "RULES",
    "Profile",
    "PUBLISHED",
    "chosen",
]
