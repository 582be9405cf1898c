"""The salience queue: stimuli are scored on arrival and fade with every gamma tick."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from heapq import nsmallest
from math import exp, log
from typing import Any, NamedTuple

from msgspec.structs import asdict

from core.engine.mind.cortical import REGIMES, Regime
from core.engine.mind.stimulus import STIMULUS_KINDS, Stimulus, StimulusKind
from core.engine.state import Stateful, each, mapped, plain_list, tabled
from core.engine.values import Derived
from core.events import ACTIONS
from core.settings.mind import HabituationSettings, RelevanceSettings, SalienceSettings


class PatternExposure(NamedTuple):
    """How used the mind is to one pattern."""

    what: str
    exposures: float  # Effective exposures, faded since last seen.
    attenuation: float  # Share of novelty the next occurrence would keep.


class Habituation(Stateful):
    """Attenuate novelty hyperbolically in a continuously fading exposure count.

    Memory is bounded by the number of patterns kept: the longest unseen goes first.
    """

    STATE = ("_collected", tabled("_exposures", 3))

    def __init__(self, settings: HabituationSettings) -> None:
        self._half_life = settings.half_life
        self._floor = settings.floor
        self._forgetting = settings.forgetting
        self._collect_every = settings.collect_every
        self._faded = settings.faded
        self._most = settings.patterns
        self._least_absence = settings.forgetting * log(1.0 / settings.faded)
        self._exposures: dict[bytes, tuple[float, int, str]] = {}
        self._collected = 0

    def __len__(self) -> int:
        return len(self._exposures)

    def observe(self, pattern: bytes, tick: int, what: str = "") -> float:
        """Count one occurrence and return the share of novelty it keeps, floor..1."""
        exposures = self._exposures
        exposure = exposures.pop(pattern, None)
        if exposure is None:
            exposures[pattern] = (1.0, tick, what)
            if len(exposures) > self._most:
                del exposures[next(iter(exposures))]
            return 1.0
        count, last, _ = exposure
        if tick > last:
            count *= exp((last - tick) / self._forgetting)
        exposures[pattern] = (count + 1.0, tick, what)
        attenuation = self._half_life / (self._half_life + count)
        return attenuation if attenuation > self._floor else self._floor

    def count(self, pattern: bytes, tick: int) -> float:
        """Effective exposures of a pattern at a tick."""
        exposure = self._exposures.get(pattern)
        return 0.0 if exposure is None else exposure[0] * exp(min(0, exposure[1] - tick) / self._forgetting)

    def reset_pattern(self, pattern: bytes) -> None:
        """Dishabituate: the next occurrence is fully novel."""
        self._exposures.pop(pattern, None)

    def tick(self, tick: int) -> None:
        """Clean up when enough gamma ticks have passed."""
        if tick - self._collected >= self._collect_every:
            self.collect(tick)

    def collect(self, tick: int) -> int:
        """Drop what has faded, looking only at what was long unseen; return how many patterns went."""
        self._collected = tick
        forgetting, faded = self._forgetting, self._faded
        expired = []
        for pattern, (count, last, _) in self._exposures.items():
            if last > tick - self._least_absence:
                break
            if count * exp((last - tick) / forgetting) < faded:
                expired.append(pattern)
        for pattern in expired:
            del self._exposures[pattern]
        return len(expired)

    def most_familiar(self, tick: int, limit: int) -> tuple[PatternExposure, ...]:
        """The patterns the mind is most used to, at a tick."""
        counted = nsmallest(limit, [(-self.count(pattern, tick), pattern) for pattern in self._exposures])
        return tuple(
            PatternExposure(
                self._exposures[pattern][2], -less, max(self._floor, self._half_life / (self._half_life - less))
            )
            for less, pattern in counted
        )


class Item(NamedTuple):
    """One stimulus waiting for attention, with the three terms of its score."""

    id: int
    stimulus: Stimulus
    at: float  # Epoch seconds.
    now: float  # Subjective seconds.
    novelty: float
    relevance: float
    urgency: float
    score: float  # On arrival.
    promoted: bool
    faded: float  # The running decay of its class when it arrived.


@Derived
def relevance_table(settings: RelevanceSettings) -> dict[tuple[StimulusKind, Regime], float]:
    """Relevance by kind and regime."""
    values = asdict(settings)
    return {
        (kind, regime): values.get(f"{kind}_{regime}", values[kind]) for kind in STIMULUS_KINDS for regime in REGIMES
    }


def _item(row: Sequence[Any]) -> Item:
    number, stimulus, *rest = row
    return Item(number, Stimulus(*stimulus), *rest)


EVEN_TRUST = 0.5  # Trust at which no class of tool weighs more or less than its kind.


class Salience(Stateful):
    """A bounded queue of stimuli, strongest first.

    Decay is kept as two running sums, one for promoted items and one for the rest,
    so that a tick costs the same however long the queue is.
    """

    STATE = (
        "_next",
        plain_list("_faded"),
        mapped("_usual"),
        each("_items", lambda item: (item[0], tuple(item[1]), *item[2:]), _item),
    )

    def __init__(self, settings: SalienceSettings) -> None:
        self._weights = (settings.novelty_weight, settings.relevance_weight, settings.urgency_weight)
        self._smoothing = settings.smoothing
        self._decay = log(settings.decay)
        self._expiry = settings.expiry
        self._top = settings.top
        self._distinct = settings.distinct
        self._length = settings.length
        self._relevance = relevance_table(settings.relevance)
        shell, edit, look = settings.trust_shell, settings.trust_edit, settings.trust_look
        self._trust: dict[str, float] = dict.fromkeys(ACTIONS, look)
        self._trust |= {"shell_exec": shell, "file_edit": edit}
        self._usual: dict[str, float] = {}
        self._items: deque[Item] = deque()
        self._faded = [0.0, 0.0]
        self._next = 1

    def __len__(self) -> int:
        return len(self._items)

    def push(
        self,
        stimulus: Stimulus,
        attenuation: float,
        regime: Regime,
        at: float,
        now: float,
        threshold: float,
        trust: float = EVEN_TRUST,
    ) -> Item:
        """Score a stimulus and let it wait; `attenuation` is what habituation leaves of its novelty.

        The more trust a call needs, the more what its class of tool does matters.
        """
        kind, urgency = stimulus.kind, stimulus.urgency
        usual = self._usual.get(kind)
        if usual is None:
            novelty = attenuation
            self._usual[kind] = urgency
        else:
            novelty = abs(urgency - usual) * attenuation
            self._usual[kind] = usual + self._smoothing * (urgency - usual)
        relevance = self._relevance[kind, regime]
        if trust != EVEN_TRUST and stimulus.action:
            weight = self._trust.get(stimulus.action, 0.0)
            relevance = min(1.0, relevance * (1.0 + weight * 2.0 * (trust - EVEN_TRUST)))
        weights = self._weights
        score = novelty * weights[0] + relevance * weights[1] + urgency * weights[2]
        promoted = score >= threshold
        item = Item(self._next, stimulus, at, now, novelty, relevance, urgency, score, promoted, self._faded[promoted])
        self._next += 1
        self._items.append(item)
        if len(self._items) > self._length:
            self._evict(now)
        return item

    def tick(self, ticks: int, unpromoted_decay: float, now: float) -> None:
        """Let gamma ticks pass; unpromoted items fade by a factor faster or slower, expired ones go."""
        decay, faded = ticks * self._decay, self._faded
        faded[1] += decay
        faded[0] += decay * unpromoted_decay
        if self._items and self._items[0].now <= now - self._expiry:
            self.drop_expired(now)

    def drop_expired(self, now: float) -> int:
        """Drop items that waited too long in subjective time; items are in order of arrival."""
        items, before = self._items, len(self._items)
        oldest = now - self._expiry
        while items and items[0].now <= oldest:
            items.popleft()
        return before - len(items)

    def score(self, item: Item, ticks: int = 0, unpromoted_decay: float = 1.0) -> float:
        """Return what is left of an item's score, now or some gamma ticks later."""
        later = ticks * self._decay if item.promoted else ticks * self._decay * unpromoted_decay
        return item.score * exp(self._faded[item.promoted] - item.faded + later)

    def waiting(self, now: float) -> int:
        """How many have not expired."""
        oldest = now - self._expiry
        return sum([1 for item in self._items if item.now > oldest])

    def ranked(self, now: float, ticks: int = 0, unpromoted_decay: float = 1.0) -> list[tuple[float, Item]]:
        """All that has not expired, strongest first, older first among equals."""
        oldest = now - self._expiry
        scored = [(self.score(i, ticks, unpromoted_decay), i) for i in self._items if i.now > oldest]
        scored.sort(key=_order)
        return scored

    def top(self, now: float, ticks: int = 0, unpromoted_decay: float = 1.0) -> list[tuple[float, Item, int]]:
        """The winners of attention with their scores, and how often their pattern is queued."""
        ranked = self.ranked(now, ticks, unpromoted_decay)
        if not self._distinct:
            return [(score, item, 1) for score, item in ranked[: self._top]]
        times: dict[bytes, int] = {}
        first: list[tuple[float, Item]] = []
        for score, item in ranked:
            pattern = item.stimulus.pattern
            if pattern not in times:
                first.append((score, item))
            times[pattern] = times.get(pattern, 0) + 1
        return [(score, item, times[item.stimulus.pattern]) for score, item in first[: self._top]]

    def dishabituate(self, habituation: Habituation) -> int:
        """After a change of regime every queued pattern is news again."""
        patterns = dict.fromkeys(item.stimulus.pattern for item in self._items)
        for pattern in patterns:
            habituation.reset_pattern(pattern)
        return len(patterns)

    def rebalance(self) -> int:
        """Set each kind's usual urgency to the mean of what still waits; return how many kinds moved."""
        waiting: dict[StimulusKind, list[float]] = {}
        for item in self._items:
            waiting.setdefault(item.stimulus.kind, []).append(item.urgency)
        moved = 0
        for kind, urgencies in waiting.items():
            usual = sum(urgencies) / len(urgencies)
            moved += usual != self._usual.get(kind)
            self._usual[kind] = usual
        return moved

    def _evict(self, now: float) -> None:
        """Make room: first the expired, then the quarter that was weakest on arrival.

        What waits decides what is news again after a change of regime, and so must not depend on affect.
        """
        self.drop_expired(now)
        if len(self._items) > self._length:
            strongest = sorted(((i.score, i) for i in self._items), key=_order)[: self._length * 3 // 4]
            self._items = deque(sorted((item for _, item in strongest), key=lambda item: item.id))


def _order(pair: tuple[float, Item]) -> tuple[float, int]:
    return (-pair[0], pair[1].id)
