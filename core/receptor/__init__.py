"""The receptor: a passive observer that turns what an agent does into emotion axes and signals."""

from __future__ import annotations

from core.receptor.readings import ReceptorReading, Why
from core.receptor.receptor import Receptor

__all__ = ["Receptor", "ReceptorReading", "Why"]
