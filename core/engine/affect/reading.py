"""The readings of affect: the change one event made, and the values a screen shows."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from core.engine.affect.fields import FieldName, FieldReading, Vector
from core.engine.affect.lineage import LineageEntry
from core.engine.percept import Composition, Modulation

Restriction = Literal["promotion at its maximum", "delegation suspended", "acceptance raised", "extra validation"]
RESTRICTIONS: tuple[Restriction, ...] = get_args(Restriction)  # The four effects of quarantine.


class AffectStep(Struct, frozen=True, gc=False):
    """The changes one event made to affect."""

    modulation: Modulation
    quarantined: bool
    entered: bool  # Quarantine begins with this event.
    released: bool  # Quarantine ends with this event.
    strongest: FieldName | None  # The field that moved most, if any did.
    change: float
    entry: LineageEntry | None  # The new link of the lineage, if any.


class AffectReading(Struct, frozen=True):
    """Affect as a screen shows it."""

    policy: str
    fields: tuple[FieldReading, ...]
    modulation: Modulation
    composition: Composition
    volatility: float  # Change of a field in a minute, on average over fields and window.
    enter: float
    release: float
    quarantined: bool
    quarantines: int  # How often quarantine has begun.
    restrictions: tuple[Restriction, ...]
    failures: float  # The streak of failures, less what successes cleared.
    novelty_worth: float
    # The newest links, oldest first; core.engine.affect.lineage.describe puts one into words.
    lineage: tuple[LineageEntry, ...]
    head: str
    changes: int  # How long the whole lineage is.


class KeptAffect(Struct, frozen=True):
    """An agent's affect at the end of an earlier session in the same project."""

    session: str
    deviations: Vector  # From rest, in the order of FIELDS.
    elapsed: float  # Seconds from then to the start of this session.


class Neighbour(Struct, frozen=True):
    """Another session at work in the same folder, as it last reported."""

    session: str
    at: float  # When it reported; the same report is taken in once.
    deviations: Vector
    outcome: str = ""  # How its work ended, where it did.
