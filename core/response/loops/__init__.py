"""Going round in circles: five detectors, one verdict."""

from __future__ import annotations

from core.response.loops.detector import LoopDetector
from core.response.loops.loop import DetectorReading, Loop, LoopReading

__all__ = ["DetectorReading", "Loop", "LoopDetector", "LoopReading"]
