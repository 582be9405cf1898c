"""Attention, sleep, habituation, homeostasis, clock."""

from __future__ import annotations

from core.engine.mind.mind import Mind as Mind
from core.engine.mind.readings import MindReading as MindReading, Thought as Thought
