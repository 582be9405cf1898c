"""The seventh field: seven control fields under a policy, with a lineage, and what they bend."""

from __future__ import annotations

from core.affect.affect import Affect
from core.affect.commons import Commons, Peer
from core.affect.contagion import CHANNELS, Channel, Zone, ZoneReading
from core.affect.fields import FIELDS, FieldName, FieldReading
from core.affect.inheritance import Emission
from core.affect.lineage import FieldChange, LineageEntry, LineageReading, describe_entry, verify
from core.affect.neighbours import KeptAffect, Neighbour
from core.affect.policy import BUILT_IN, Policy, parse_policy
from core.affect.reading import RESTRICTIONS, AffectReading, AffectStep, Restriction

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
    "Commons",
    "Peer",
    "Zone",
    "ZoneReading",
]
