"""Frames of a recording, with a short memory so that going back step by step is cheap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.engine import Frame
from core.events import MAIN
from core.live.status import StatusFacts
from core.live.status_history import StatusHistory
from core.receptor.readings import Why
from core.society import Society, SocietyReading
from core.timeline.timeline import Timeline

_KEPT = 64
_BACK = 8
"""Frames made on the way to one that lies a little before the last."""


class Sight(NamedTuple):
    """All that is to be read from the minds at one moment."""

    frame: Frame
    people: SocietyReading
    why: Sequence[Why]
    agents: tuple[str, ...]
    facts: StatusFacts | None = None
    """What its status follows from, open calls left out; not at the live edge, where the log tells more."""


class Sights:
    """What is to be seen of one recording."""

    def __init__(self, timeline: Timeline, history: StatusHistory | None = None) -> None:
        self.timeline = timeline
        self._history = history or StatusHistory(timeline, timeline.settings.response.notices.final)
        self._kept: dict[tuple[int, str], Sight] = {}
        self._last = 0

    def live(self, at: float, agent: str) -> Sight:
        """At the live edge, decayed to a moment."""
        return _sight(self.timeline.society, agent, at)

    def at(self, index: int, agent: str, later: float = 0.0) -> Sight:
        """After the first `index` events, and so many seconds more."""
        if later > 0.0:
            moment = self.timeline.time_of(index) + later
            return self._sight(index, self.timeline.society_at(index), agent, moment)
        kept = self._kept.get((index, agent))
        if kept is None:
            first = index
            if 0 < self._last - index <= 4 * _BACK:
                first = max(0, index - _BACK)
            for place in range(first, index + 1):
                kept = self._sight(place, self.timeline.society_at(place), agent)
                self._keep(place, agent, kept)
        self._last = index
        assert kept is not None  # noqa: S101
        return kept

    def _keep(self, index: int, agent: str, sight: Sight) -> None:
        if index == len(self.timeline):
            return
        self._kept[index, agent] = sight
        while len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]

    def _sight(self, index: int, society: Society, agent: str, at: float | None = None) -> Sight:
        return _sight(society, agent, at)._replace(facts=self._history.facts(index, society))


def _sight(society: Society, agent: str, at: float | None) -> Sight:
    who = agent if agent in society.agents else MAIN
    receptor = society.engine(who).receptor
    return Sight(
        frame=society.frame(who, at),
        people=society.read(),
        why=receptor.explained(at),
        agents=society.agents,
    )
