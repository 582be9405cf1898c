"""How alike two stretches of work are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappush, heappushpop
from math import sqrt
from typing import TypeAlias

from core.mind.episode import Episode, Recalled, Situation
from core.settings.mind_state import EpisodeSettings

_FARTHEST = 2.0 * sqrt(3.0)
"""Between two opposite corners of the mood."""

_Terms: TypeAlias = tuple[Episode, float, float, float, float, float]
"""An episode, its similarity, and what that and its score were made from."""


def _recalled(score: float, terms: _Terms) -> Recalled:
    episode, similarity, regime, affect, task, recency = terms
    return Recalled(episode, score, similarity, regime, affect, task, recency, episode.line())


class Likeness:
    """Weigh the same regime, a near mood and the same task; what is old counts less."""

    __slots__ = ("_affect", "_recency_ticks", "_regime", "_task")

    def __init__(self, settings: EpisodeSettings) -> None:
        whole = settings.regime_weight + settings.affect_weight + settings.task_weight or 1.0
        self._regime = settings.regime_weight / whole
        self._affect = settings.affect_weight / whole
        self._task = settings.task_weight / whole
        self._recency_ticks = float(settings.recency_ticks)

    def compare(self, now: Situation, past: Episode, age: float) -> Recalled:
        """How alike they are, term by term; `age` in ticks."""
        (found,) = self.best(now, [(past, age)], 1)
        return found

    def best(self, now: Situation, past: Sequence[tuple[Episode, float]], most: int) -> list[Recalled]:
        """The most alike of episodes of some age, best first.

        Tasks, which cost most to compare, are left alone where even the same task would not be enough.
        """
        by_regime, by_affect, by_task, ticks = self._regime, self._affect, self._task, self._recency_ticks
        here, length = now.regime, sum([count * count for count in now.task.values()])
        choosy = most < len(past)
        found: list[tuple[float, float, str, int, int, _Terms]] = []
        enough: list[float] = []
        for episode, age in past if most > 0 else ():
            regime = 1.0 if here == episode.regime else 0.0
            affect = nearness(now, episode)
            recency = 1.0 / (1.0 + age / ticks) if age > 0.0 else 1.0
            sure = by_regime * regime + by_affect * affect
            full = choosy and len(enough) >= most
            if full and min(1.0, sure + by_task) * recency < enough[0]:
                continue
            task = cosine(now.task, episode.signature, length)
            similarity = min(1.0, sure + by_task * task)
            score = similarity * recency
            terms = (episode, similarity, regime, affect, task, recency)
            found.append((-score, -episode.until, episode.session, episode.number, len(found), terms))
            if choosy:
                (heappushpop if full else heappush)(enough, score)
        found.sort()
        return [_recalled(-row[0], row[5]) for row in found[:most]]


def nearness(now: Situation, past: Episode) -> float:
    """1 for the same mood, 0 for the opposite corner."""
    pleasure = now.pleasure - past.pleasure
    arousal = now.arousal - past.arousal
    dominance = now.dominance - past.dominance
    distance = sqrt(pleasure * pleasure + arousal * arousal + dominance * dominance)
    return max(0.0, 1.0 - distance / _FARTHEST)


def cosine(now: Mapping[str, int], past: tuple[tuple[str, int], ...], length: int | None = None) -> float:
    """Of two sparse counts, 0 to 1; 0 where either is empty.

    `length` is the sum of the squares of the first, for who has it at hand.
    """
    shared = own = 0
    for key, count in past:
        own += count * count
        if key in now:
            shared += count * now[key]
    if not shared:
        return 0.0
    if length is None:
        length = sum(count * count for count in now.values())
    return min(1.0, shared / sqrt(own * length))


def largest(counts: Mapping[str, int], size: int) -> tuple[tuple[str, int], ...]:
    """The `size` largest counts, in the order of their names."""
    if len(counts) <= size:
        return tuple(sorted(counts.items()))
    return tuple(sorted(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:size]))


def coarse(target: str, depth: int) -> str:
    """The first folders of a path; all outside the project is one place, for it may name a person."""
    if target.startswith(("/", "~", "..")) or target[1:2] == ":":
        return "/"
    folders = target.split("/", depth)
    folders[-1] = ""
    return "/".join(folders) or "./"
