"""The receptor: a passive observer that turns what an agent does into emotion axes and signals."""

from __future__ import annotations

from core.engine.receptor.readings import ReceptorReading as ReceptorReading
from core.engine.receptor.receptor import Receptor as Receptor
