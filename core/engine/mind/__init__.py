"""Attention, sleep, habituation, homeostasis, clock."""

from __future__ import annotations

from core.engine.mind.mind import Mind
from core.engine.mind.readings import MindReading, Thought

__all__ = ["Mind", "Thought", "MindReading"]
