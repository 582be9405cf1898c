"""Cut the work into episodes, keep them, and recall the ones most like this moment."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from heapq import heappush, heappushpop
from itertools import chain, product, takewhile
from math import sqrt
from typing import Any, TypeAlias

from msgspec import structs

from core.engine.mind.cortical import REGIMES, SEVERITY, CorticalState, Tier
from core.engine.mind.episode import OUTSIDE, Border, Episode, Heuristic, Recalled, Situation, Verdict, distill
from core.engine.state import Stateful, each, mapped, plain_list
from core.engine.values import Derived, Value
from core.events import ACTIONS, OUTCOMES, PURPOSES, Action, Event, Outcome, Prompt, Purpose, SessionEnd, ToolUse
from core.settings.mind import EpisodeSettings

_FARTHEST = 2.0 * sqrt(3.0)  # Between two opposite corners of the mood.

# An episode, its similarity, and what that and its score were made from.
_Terms: TypeAlias = tuple[Episode, float, float, float, float, float]


def _recalled(score: float, terms: _Terms) -> Recalled:
    episode, similarity, regime, affect, task, recency = terms
    return Recalled(episode, score, similarity, regime, affect, task, recency, episode.line())


class Likeness:
    """Weigh the same regime, a near mood and the same task; what is old counts less."""

    def __init__(self, settings: EpisodeSettings) -> None:
        whole = settings.regime_weight + settings.affect_weight + settings.task_weight or 1.0
        self._regime = settings.regime_weight / whole
        self._affect = settings.affect_weight / whole
        self._task = settings.task_weight / whole
        self._recency_ticks = float(settings.recency_ticks)

    def compare(self, now: Situation, past: Episode, age: float) -> Recalled:
        """How alike they are, term by term; `age` in ticks."""
        (nearest,) = self.best(now, [(past, age)], 1)
        return nearest

    def best(self, now: Situation, past: Sequence[tuple[Episode, float]], most: int) -> list[Recalled]:
        """The most alike of episodes of some age, best first.

        Tasks, which cost most to compare, are left alone where even the same task would not be enough.
        """
        by_regime, by_affect, by_task, ticks = self._regime, self._affect, self._task, self._recency_ticks
        here, length = now.regime, sum([count * count for count in now.task.values()])
        choosy = most < len(past)
        ranking: list[tuple[float, float, str, int, int, _Terms]] = []
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
            ranking.append((-score, -episode.until, episode.session, episode.number, len(ranking), terms))
            if choosy:
                (heappushpop if full else heappush)(enough, score)
        ranking.sort()
        return [_recalled(-row[0], row[5]) for row in ranking[:most]]


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
        return OUTSIDE
    folders = target.split("/", depth)
    folders[-1] = ""
    return "/".join(folders) or "./"


_PROOFS = ("test", "build", "commit")
_ACTION_LETTER: dict[Action, str] = {
    "file_read": "r",
    "file_edit": "e",
    "search": "s",
    "shell_exec": "x",
    "delegation": "d",
    "memory_read": "m",
    "memory_write": "w",
    "plan": "p",
    "other": "o",
}
_OUTCOME_LETTER: dict[Outcome, str] = {
    "success": "+",
    "failure": "-",
    "empty": "0",
    "rejected": "!",
    "collateral": "~",
    "pending": "?",
}
_LETTERS: dict[tuple[Action, Outcome], str] = {
    (action, outcome): letter + mark
    for action, letter in _ACTION_LETTER.items()
    for outcome, mark in _OUTCOME_LETTER.items()
}
_MOST_TARGETS = 4
_PLACES_KEPT = 512


class EpisodesReading(Value, frozen=True):
    """The open episode and what is kept."""

    began_by: Border
    calls: int
    leaning: Verdict  # What the open episode would be called if it ended now.
    task: tuple[tuple[str, int], ...]
    kept: int
    summaries: int
    remembered: int
    last: Episode | None


class Episodes(Stateful):
    """The open episode, the closed ones of this session, and those of saved sessions.

    Saved ones are handed in like settings: they are not part of a dump.
    """

    STATE = (
        "_advised", "_number", "_pattern", "_began_by", "_at", "_calls", "_failures", "_score", mapped("_counts"),
        "_samples", plain_list("_regimes"), plain_list("_affect"), each("_trace", tuple, tuple),
        each("_kept", structs.astuple, lambda row: _episode(row)),
    )  # fmt: skip

    def __init__(self, settings: EpisodeSettings) -> None:
        self._settings = settings
        self._worth = _worth_of(settings)
        self._likeness = Likeness(settings)
        self._kept: deque[Episode] = deque(maxlen=settings.capacity)
        self._past: list[tuple[Episode, int]] = []
        self._places: dict[str, str] = {}
        self._number = 0
        self._pattern = ""
        self._open("start", 0.0)

    def _open(self, began_by: Border, at: float) -> None:
        self._began_by: Border = began_by
        self._advised = ""
        self._at = at
        self._calls = 0
        self._failures = 0
        self._score = 0.0
        self._counts: dict[str, int] = {}
        self._samples = 0
        self._regimes = [0] * len(REGIMES)
        self._affect = [0.0, 0.0, 0.0]
        self._trace: deque[tuple[Action, Outcome]] = deque(maxlen=self._settings.trace_length)

    def update(self, event: Event, pattern: str, state: CorticalState, tick: int) -> Episode | None:
        """Take one event with the pattern it belongs to; the episode it ended, if any."""
        if type(event) is ToolUse:
            ended = None
            if pattern != self._pattern:
                if self._calls >= self._settings.least_calls:
                    ended = self._close("pattern", event.at, tick, state)
                self._pattern = pattern
            if not self._calls and self._began_by == "start":
                self._at = event.at
            self._count(event)
            return ended
        if type(event) is Prompt:
            if event.interrupt and self._calls:
                self._score -= self._settings.setback_weight
            ended = self._close("interrupt" if event.interrupt else "prompt", event.at, tick, state)
            self._began_by = "prompt"
            return ended
        if type(event) is SessionEnd:
            return self._close("session_end", event.at, tick, state)
        return None

    def sample(self, state: CorticalState) -> None:
        """Note regime and mood; once a gamma tick, so that an episode is what it was for most of its time."""
        regime, pleasure, arousal, dominance = state.moment()
        self._samples += 1
        self._regimes[SEVERITY[regime]] += 1
        affect = self._affect
        affect[0] += pleasure
        affect[1] += arousal
        affect[2] += dominance

    def delta(self, at: float, state: CorticalState, tick: int) -> Episode | None:
        """A delta tick ends the open episode, if it holds any call."""
        return self._close("delta", at, tick, state)

    def _count(self, event: ToolUse) -> None:
        action, outcome = event.action, event.outcome
        self._calls += 1
        if outcome == "failure":
            self._failures += 1
        self._score += self._worth[action, outcome, event.purpose]
        counts = self._counts
        counts[action] = counts.get(action, 0) + 1
        for target in event.targets[:_MOST_TARGETS]:
            place = self._places.get(target) or self._place(target)
            count = counts.get(place)
            if count is not None:
                counts[place] = count + 1
            elif len(counts) < self._settings.open_size:
                counts[place] = 1
        self._trace.append((action, outcome))

    def _place(self, target: str) -> str:
        if len(self._places) >= _PLACES_KEPT:
            self._places.clear()
        place = self._places[target] = coarse(target, self._settings.path_depth)
        return place

    def _close(self, ended_by: Border, at: float, tick: int, state: CorticalState) -> Episode | None:
        ended = None
        if self._calls:
            if not self._samples:
                self.sample(state)
            most = max(self._regimes)
            worst = max(place for place, count in enumerate(self._regimes) if count == most)
            pleasure, arousal, dominance = (each / self._samples for each in self._affect)
            ended = Episode(
                self._number,
                tick,
                self._at,
                max(self._at, at),
                REGIMES[worst],
                pleasure,
                arousal,
                dominance,
                max(ACTIONS, key=lambda action: self._counts.get(action, 0)),
                self._verdict(),
                self._began_by,
                ended_by,
                self._calls,
                self._failures,
                largest(self._counts, self._settings.signature_size),
                "".join(map(_LETTERS.__getitem__, self._trace)),
                advised=self._advised,
            )
            self._number += 1
            self._kept.append(ended)
        self._open(ended_by, at)
        return ended

    def _verdict(self) -> Verdict:
        mean = self._score / self._calls if self._calls else 0.0
        if not mean or abs(mean) < self._settings.verdict:
            return "flat"
        return "gain" if mean > 0.0 else "loss"

    @property
    def history(self) -> tuple[Episode, ...]:
        """The closed episodes of this session, oldest first."""
        return tuple(self._kept)

    @property
    def compared(self) -> int:
        """How many episodes a recall looks at."""
        return len(self._kept) + len(self._past)

    def advise(self, rule: str) -> None:
        """Mark the open episode as one in which advice of a rule reached the agent."""
        self._advised = rule

    @property
    def playbook(self) -> tuple[Heuristic, ...]:
        """Return the playbook: how kinds of work in this project mostly ended, from this session and saved episodes."""
        settings = self._settings
        every = [*self._kept, *[episode for episode, _ in self._past]]
        return distill(every, settings.playbook_cases, settings.playbook_share, settings.playbook_size)

    def compress(self, before: int) -> int:
        """Turn every full episode that ended before a tick into a summary; how many there were."""
        done = 0
        size = self._settings.summary_size
        for place, episode in enumerate(self._kept):
            if episode.trace and episode.tick < before:
                signature = largest(dict(episode.signature), size)
                self._kept[place] = structs.replace(episode, signature=signature, trace="")
                done += 1
        return done

    def remember(self, episodes: Iterable[Episode]) -> None:
        """Take the episodes of saved sessions in place of those taken before; only work ages them."""
        newest = sorted(episodes, key=lambda one: (one.until, one.session, one.number), reverse=True)
        newest = newest[: self._settings.remembered]
        last: dict[str, int] = {}
        for one in newest:
            last[one.session] = max(last.get(one.session, 0), one.tick)
        newer: dict[str, int] = {}
        work = 0
        for session, ticks in last.items():
            newer[session] = work
            work += ticks
        self._past = [(one, newer[one.session] + last[one.session] - one.tick) for one in newest]

    def recall(
        self, state: CorticalState, tick: int, k: int | None = None, *, tier: Tier, tokens: int | None = None
    ) -> tuple[Recalled, ...]:
        """The past episodes most like this moment, best first, as many as their lines' budget holds."""
        if tier == "T0":
            return ()
        left = 4 * (self._settings.token_budget if tokens is None else tokens)
        chosen: list[Recalled] = []
        for recollection in self._best(state, tick, self._settings.top_k if k is None else k):
            left -= len(recollection.line) + 1
            if left < 0:
                break
            chosen.append(recollection)
        return tuple(chosen)

    def alike(
        self, state: CorticalState, tick: int, most: int, *, tier: Tier, ahead: int = 1
    ) -> tuple[tuple[Recalled, tuple[Episode, ...]], ...]:
        """Return the past episodes most like this moment, best first, each with the episodes that followed it."""
        nearest = () if tier == "T0" else self._best(state, tick, most)
        steps = range(1, ahead + 1)
        places = {(one.episode.session, one.episode.number + step) for one in nearest for step in steps}
        every = chain(self._kept, [episode for episode, _ in self._past]) if places else ()
        by_key = {key: one for one in every if (key := (one.session, one.number)) in places}
        keys = [[(one.episode.session, one.episode.number + step) for step in steps] for one in nearest]
        return tuple(
            (one, tuple(by_key[key] for key in takewhile(by_key.__contains__, after)))
            for one, after in zip(nearest, keys, strict=True)
        )

    def _best(self, state: CorticalState, tick: int, most: int) -> list[Recalled]:
        now = Situation(*state.moment(), self._counts)
        ages = [(episode, tick - episode.tick) for episode in reversed(self._kept)]
        ages += [(episode, tick + age) for episode, age in self._past]
        return self._likeness.best(now, ages, most)

    def read(self) -> EpisodesReading:
        """The open episode and what is kept."""
        return EpisodesReading(
            self._began_by,
            self._calls,
            self._verdict(),
            largest(self._counts, self._settings.signature_size),
            len(self._kept),
            sum(1 for episode in self._kept if not episode.trace),
            len(self._past),
            self._kept[-1] if self._kept else None,
        )


def _worth(settings: EpisodeSettings) -> dict[tuple[Action, Outcome, Purpose], float]:
    """Return what each call adds to the score of its episode."""
    worth = {}
    for action, outcome, purpose in product(ACTIONS, OUTCOMES, PURPOSES):
        weight = 0.0
        if outcome == "success" or outcome == "empty":
            if purpose in _PROOFS:
                weight = settings.proof_weight
            elif action == "file_edit":
                weight = settings.edit_weight
        elif outcome == "failure":
            weight = -settings.proof_weight if purpose in _PROOFS else -settings.setback_weight
        elif outcome == "rejected":
            weight = -settings.setback_weight
        worth[action, outcome, purpose] = weight
    return worth


_worth_of = Derived(_worth)


def _episode(row: Sequence[Any]) -> Episode:
    fields = list(row)
    place = Episode.__struct_fields__.index("signature")
    fields[place] = tuple((key, count) for key, count in fields[place])
    return Episode(*fields)
