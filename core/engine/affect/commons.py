"""Where agents of one session meet: delegation, shared files and broadcast, in rounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from core.engine.affect.affect import Affect
from core.engine.affect.contagion import Channel, Zone
from core.engine.affect.fields import FIELDS
from core.engine.state import Stateful, inner, made, mapped
from core.settings.affect import ContagionSettings

_TOUCHED = 4
"""Targets of one call that count as touched."""


ALONE = (0.0,) * len(FIELDS)
"""What one agent by itself adds to the mean of a session: it can draw nobody along."""


class Peer(NamedTuple):
    """A running agent's affect, and who started it."""

    affect: Affect
    parent: str


class Commons(Stateful):
    """Remember who touched which file last, and pass affect on between those who meet."""

    __slots__ = ("_limit", "_pairs", "_paths", "rounds", "zone")
    STATE = (
        "rounds",
        mapped("_paths"),
        made("_pairs", tuple, lambda pairs: dict.fromkeys(map(tuple, pairs))),
        inner("zone"),
    )

    def __init__(self, settings: ContagionSettings) -> None:
        self._limit = settings.paths
        self._paths: dict[str, str] = {}
        self._pairs: dict[tuple[str, str], None] = {}
        self.zone = Zone(settings)
        self.rounds = 0

    def touch(self, agent: str, targets: tuple[str, ...]) -> None:
        """An agent reads or edits files; it meets whoever was there last."""
        paths = self._paths
        for path in targets[:_TOUCHED]:
            last = paths.pop(path, agent)
            paths[path] = agent
            if last != agent:
                self._pairs[(last, agent) if last < agent else (agent, last)] = None
        while len(paths) > self._limit:
            del paths[next(iter(paths))]

    def round(self, peers: Mapping[str, Peer], caller: str) -> None:
        """Let all running agents show themselves first and receive then; `caller` broadcasts."""
        self.rounds += 1
        pairs, self._pairs = self._pairs, {}
        if len(peers) < 2:
            self.zone.update([ALONE])
            return
        deviations = [peer.affect.deviations for peer in peers.values()]
        self.zone.update(deviations)
        shown = {}
        for (name, peer), deviation in zip(peers.items(), deviations, strict=True):
            emission = peer.affect.show(deviation)
            if emission is not None:
                shown[name] = emission
        factors = self.zone.factors
        if shown:
            for sender, receiver, channel in _meetings(peers, pairs, caller):
                if sender in shown and receiver in peers:
                    peers[receiver].affect.receive(shown[sender], channel, sender, factors)


def _meetings(
    peers: Mapping[str, Peer], pairs: Iterable[tuple[str, str]], caller: str
) -> Iterator[tuple[str, str, Channel]]:
    """Who shows what to whom: along delegation, over files, from the caller to all it did not start."""
    for name, peer in peers.items():
        if peer.parent:
            yield peer.parent, name, "down"
            yield name, peer.parent, "up"
    for one, other in pairs:
        yield one, other, "tree"
        yield other, one, "tree"
    for name, peer in peers.items():
        if name != caller and peer.parent != caller:
            yield caller, name, "broadcast"
