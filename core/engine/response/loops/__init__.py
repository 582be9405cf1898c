"""Going round in circles: five detectors, one verdict."""

from __future__ import annotations

from core.engine.response.loops.detector import LoopDetector
from core.engine.response.loops.loop import DetectorReading, Loop, LoopReading

__all__ = ["DetectorReading", "Loop", "LoopDetector", "LoopReading"]
