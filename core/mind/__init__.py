"""Attention, sleep, habituation, homeostasis, clock."""

from __future__ import annotations
