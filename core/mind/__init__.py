"""Attention, sleep, habituation, homeostasis, clock."""

from __future__ import annotations

from core.mind.mind import Mind
from core.mind.readings import MindReading
from core.mind.thought import Thought

__all__ = ["Mind", "Thought", "MindReading"]
