"""Try an extension of the step on a recorded session: does a replay find the same, from any place?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import cbor2

from core.engine.society import Society
from core.events import Event
from core.extension.in_step import ExtendedEngine, StepExtension
from core.settings import Settings

_CUTS = 7
"""Places at which its state is dumped and loaded."""


class Proof(NamedTuple):
    """The verdict on an extension."""

    sound: bool
    sentences: tuple[str, ...]


def prove(kind: type[StepExtension], events: Sequence[Event]) -> Proof:
    """Run it twice, and a third time with its state dumped and loaded at several places."""
    settings = Settings()

    def minds() -> Society:
        return Society(settings, make_engine=partial(ExtendedEngine, extensions=[kind]))

    def ran(society: Society, cuts: frozenset[int]) -> tuple[bytes, list[str], int]:
        findings: list[str] = []
        for place, event in enumerate(events):
            if place in cuts:
                state = cbor2.loads(cbor2.dumps(society.dump()))
                society = minds()
                society.load(state)
            fired = society.step(event).reaction.fired
            findings += [
                f"{place} {one.method} {one.text}" for one in fired if one.method.startswith(f"{kind.name}.")
            ]
        engine = society.engine()
        faults = engine.faults[kind.name] if isinstance(engine, ExtendedEngine) else 0
        return cbor2.dumps(society.dump(), canonical=True), findings, faults

    every = max(1, len(events) // _CUTS)
    first, again = ran(minds(), frozenset()), ran(minds(), frozenset())
    cut = ran(minds(), frozenset(range(every, len(events), every)))
    sentences = [
        f"{kind.name} {kind.version} on {len(events)} events: {len(first[1])} findings, {first[2]} faults"
    ]
    sentences += [f"  event {line}" for line in first[1][:5]]
    if first != again:
        sentences.append("NOT deterministic: a second run over the same events ends otherwise")
    elif first != cut:
        sentences.append("its state is NOT whole: with dump and load in between it ends otherwise")
    else:
        sentences.append("two runs end alike, and so does one that is dumped and loaded on the way")
    sound = first == again == cut and first[2] == 0
    return Proof(sound, tuple(sentences))
