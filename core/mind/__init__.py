"""Attention, sleep, habituation, homeostasis, clock."""

from __future__ import annotations

from core.mind.mind import Mind, Thought
from core.mind.readings import MindReading

__all__ = ["Mind", "Thought", "MindReading"]
