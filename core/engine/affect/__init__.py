"""The seventh field: seven control fields under a policy, with a lineage, and what they bend."""

from __future__ import annotations

from core.engine.affect.affect import Affect
from core.engine.affect.contagion import CHANNELS, Channel, Emission, Zone, ZoneReading
from core.engine.affect.fields import FIELDS, FieldName, FieldReading
from core.engine.affect.lineage import FieldChange, LineageEntry, LineageReading, describe_entry, verify
from core.engine.affect.policy import BUILT_IN, Policy, parse_policy
from core.engine.affect.reading import RESTRICTIONS, AffectReading, AffectStep, KeptAffect, Neighbour, Restriction

__all__ = [
    "Affect",
    "AffectStep",
    "AffectReading",
    "FIELDS",
    "FieldName",
    "FieldReading",
    "RESTRICTIONS",
    "Restriction",
    "Policy",
    "BUILT_IN",
    "parse_policy",
    "LineageEntry",
    "FieldChange",
    "LineageReading",
    "describe_entry",
    "verify",
    "KeptAffect",
    "Neighbour",
    "Emission",
    "Channel",
    "CHANNELS",
    "Zone",
    "ZoneReading",
]
