"""What a sub-agent takes over from its parent at its start, and a parent from its sub-agent at its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.engine.affect.fields import ControlField, Vector


class Emission(NamedTuple):
    """What one agent shows of its affect to another."""

    deviations: Vector
    """From rest, in the order of FIELDS."""
    head: bytes
    """The head of its lineage at that moment."""
    felt: tuple[int, ...] = ()
    """The places of deviations large enough to be felt, where the sender has looked."""


def inherited(fields: Sequence[ControlField], parent: Sequence[float], blend: float) -> list[float]:
    """The steps that blend the parent's masked state into the sub-agent's own."""
    return [
        blend * (field.rest + field.inherits * deviation - field.magnitude) if field.inherits else 0.0
        for field, deviation in zip(fields, parent, strict=True)
    ]


def returned(fields: Sequence[ControlField], child: Sequence[float], back: float) -> list[float]:
    """The steps that carry the sub-agent's masked last state into its parent."""
    return [
        back * (field.rest + field.returns * deviation - field.magnitude) if field.returns else 0.0
        for field, deviation in zip(fields, child, strict=True)
    ]
