"""What sessions leave of their affect: for the next one of the same agent, and for those beside it."""

from __future__ import annotations

from msgspec import Struct

from core.engine.affect.fields import Vector


class KeptAffect(Struct, frozen=True):
    """An agent's affect at the end of an earlier session in the same project."""

    session: str
    deviations: Vector
    """From rest, in the order of FIELDS."""
    elapsed: float
    """Seconds from then to the start of this session."""


class Neighbour(Struct, frozen=True):
    """Another session at work in the same folder, as it last reported."""

    session: str
    at: float
    """When it reported; the same report is taken in once."""
    deviations: Vector
    outcome: str = ""
    """How its work ended, where it did."""
