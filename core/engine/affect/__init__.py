"""The seventh field: seven control fields under a policy, with a lineage, and what they bend."""

from __future__ import annotations

from core.engine.affect.affect import Affect as Affect
from core.engine.affect.contagion import (
    Channel as Channel,
    Emission as Emission,
    Zone as Zone,
    ZoneReading as ZoneReading,
)
from core.engine.affect.fields import FIELDS as FIELDS
from core.engine.affect.lineage import LineageEntry as LineageEntry, describe_entry as describe_entry, verify as verify
from core.engine.affect.policy import BUILT_IN as BUILT_IN, Policy as Policy, parse_policy as parse_policy
from core.engine.affect.reading import (
    AffectReading as AffectReading,
    AffectStep as AffectStep,
    KeptAffect as KeptAffect,
    Neighbour as Neighbour,
)
