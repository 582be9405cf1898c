"""Every mechanism of the model: where it is computed, what it changes, where it is seen, and its proof."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.docs import real
from bench.docs.tables import table
from core.engine.mind.fabric import MIND_EVENTS

ROOT = Path(__file__).resolve().parents[2]


class Mechanism(NamedTuple):
    """One row; `computed` and `proof` are looked up, so that neither can name what is not there."""

    part: str
    name: str
    computed: str  # `module:name` in core.
    changes: str
    seen: str
    proof: str  # `file::test` below tests.
    shown: str = ""  # Label in real.json of what shows it in a session.
    otherwise: str = ""  # How to see what no log shows by itself.

    def real_sessions(self) -> str:
        """How many real sessions show it and by what, with one of them."""
        if not self.shown:
            return self.otherwise
        number, log = real.shown()[self.shown]
        return f"{number}: {self.shown}, as in `{log}`"


MECHANISMS = tuple(
    Mechanism(**row) for row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["mechanism"]
)


def missing(mechanism: Mechanism) -> list[str]:
    """What a row names and does not exist."""
    found = []
    module, _, name = mechanism.computed.partition(":")
    try:
        thing: object = importlib.import_module(f"core.{module}")
        for part in name.split("."):
            thing = getattr(thing, part)
    except (ImportError, AttributeError):
        found.append(mechanism.computed)
    file, _, test = mechanism.proof.partition("::")
    path = ROOT / "tests" / file
    if not path.is_file() or (test and f"def {test}(" not in path.read_text("utf-8")):
        found.append(mechanism.proof)
    if mechanism.shown not in real.shown() and not mechanism.otherwise:
        found.append(mechanism.shown or "what shows it")
    return found


def mechanisms() -> str:
    """All of them as a table; a row that names what is not there is an error."""
    lost = [f"{each.name}: {what}" for each in MECHANISMS for what in missing(each)]
    if lost:
        raise ValueError(f"mechanisms that name what does not exist: {'; '.join(lost)}")
    return table(
        (
            "part",
            "mechanism",
            "computed in",
            "what it changes",
            "where it is seen",
            f"real sessions, of {real.count()}",
            "proof",
        ),
        (
            (
                each.part,
                each.name,
                f"`core.{each.computed.replace(':', '.')}`",
                each.changes,
                each.seen,
                each.real_sessions(),
                f"`{each.proof.rpartition('::')[2].rpartition('/')[2]}`",
            )
            for each in MECHANISMS
        ),
    )


_DOCUMENT_EVENTS: tuple[tuple[str, str], ...] = (
    ("HeartbeatTick", "Ticked"),
    ("ToolCall", "ToolCalled"),
    ("ToolResult", "ToolReturned"),
    ("AffectUpdate", "AffectUpdated"),
    ("VitalityUpdate", "VitalityUpdated"),
    ("PhaseTransition", "PhaseChanged"),
    ("PositionOpened", "FileOpened"),
    ("PositionClosed", "none: no log reports that an agent is done with a file"),
    ("ThinkingStart", "ThinkingStarted"),
    ("ThinkingEnd", "ThinkingEnded"),
    ("TurnStart", "TurnStarted"),
    ("TurnEnd", "TurnEnded"),
    ("ModelSelected", "ModelSelected"),
    ("SleepPressureThreshold", "SleepDue"),
    ("HabituationDecay", "Habituated"),
    ("HomeostasisIntervention", "Regulated"),
    ("CompensationRollback", "CompensationRollback"),
    ("StateSnapshotCreated", "StateSnapshotCreated"),
    ("PolicyTripwire", "PolicyTripped"),
    ("OwnerMessage", "OwnerSpoke"),
    ("ChainConfirmation", "WorkConfirmed"),
    ("PheromoneSpike", "TraceSeen"),
    ("DreamRequest", "DreamRequested"),
    ("Shutdown", "SessionOver"),
)


def fabric_events() -> str:
    """The kinds of events on the fabric, each with what it says."""
    return table(
        ("event", "what it says", "fields"),
        (
            (f"`{kind.__name__}`", (kind.__doc__ or "").splitlines()[0], ", ".join(kind.__struct_fields__[1:]))
            for kind in MIND_EVENTS
        ),
    )


def document_events() -> str:
    """The events the documents name, and what each is here."""
    known = {kind.__name__ for kind in MIND_EVENTS}
    lost = [ours for _, ours in _DOCUMENT_EVENTS if ours.split(";")[0] not in known and "none:" not in ours]
    if lost:
        raise ValueError(f"events that do not exist: {', '.join(lost)}")
    return table(("named in the documents", "here"), _DOCUMENT_EVENTS)


TABLES: dict[str, Callable[..., str]] = {"mechanisms": mechanisms, "fabric": fabric_events, "named": document_events}
