"""The outcome of advice, compared with similar moments without advice."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from core.engine.response.interventions import PastIntervention, sentence_print
from core.engine.society import Society
from core.engine.society.engine import Step
from core.events import Event, ToolUse

FEW_MOMENTS = 20  # Moments on each side below which nothing is concluded.


class AdviceMoment(NamedTuple):
    """A word that was due, whether it was said, and whether the same trouble came again."""

    at: float
    agent: str
    rule: str
    said: bool
    sentence: str
    acts: int  # Acts that followed, as far as they were looked at.
    again: bool  # The same call ended the same way within them.


class AdviceOutcome(NamedTuple):
    """One rule's moments, counted."""

    rule: str
    said: bool
    came_again: int
    stayed_away: int
    too_early: int  # Too few acts have followed.


class _Open:
    __slots__ = ("acts", "again", "trouble", "word")

    def __init__(self, word: PastIntervention, trouble: ToolUse | None) -> None:
        self.word = word
        self.trouble = trouble
        self.acts = 0
        self.again = False


class AdviceFollower:
    """Follows every word that was due for the acts after it."""

    def __init__(self, within: int, sentences: Mapping[int, tuple[str, str]] | None = None) -> None:
        self._within = within
        self._sentences = sentences or {}  # Rule and text of what was said, by fingerprint.
        self._last: dict[str, ToolUse] = {}
        self._open: dict[str, list[_Open]] = {}
        self._done: list[AdviceMoment] = []
        self._said: dict[int, tuple[str, str]] = {}

    def take(self, event: Event, step: Step) -> None:
        """One event and what it did."""
        agent = event.agent
        if isinstance(event, ToolUse) and event.outcome != "pending":
            self._act(event)
            self._last[agent] = event
        for word in step.reaction.interventions:
            if word.fate == "reached":
                call = getattr(event, "call", 0)
                self._said[word.intervention.number] = self._sentences.get(call, ("", ""))
                opened = self._open.get(agent, [])
                self._open[agent] = [one for one in opened if one.word[0] != word.intervention]
            if word.fate in ("reached", "delivered"):
                self._open.setdefault(agent, []).append(_Open(word, self._last.get(agent)))

    def _act(self, use: ToolUse) -> None:
        opened = self._open.get(use.agent)
        if not opened:
            return
        for one in opened:
            one.acts += 1
            one.again = one.again or _same(one.trouble, use)
        self._done += [self._moment(one) for one in opened if one.again or one.acts >= self._within]
        self._open[use.agent] = [one for one in opened if not one.again and one.acts < self._within]

    def _moment(self, one: _Open) -> AdviceMoment:
        intervention = one.word.intervention
        rule, sentence = self._said.get(intervention.number, ("", "")) if one.word.fate == "reached" else ("", "")
        agent = one.trouble.agent if one.trouble is not None else ""
        return AdviceMoment(
            one.word.at,
            agent,
            intervention.sender if intervention.sender != "elsewhere" else rule or intervention.sender,
            one.word.fate == "reached",
            sentence or intervention.message,
            one.acts,
            one.again,
        )

    def moments(self) -> list[AdviceMoment]:
        """All of them in the order they came, those still open too."""
        still = [self._moment(one) for opened in self._open.values() for one in opened]
        return sorted([*self._done, *still], key=lambda moment: moment.at)


def _same(trouble: ToolUse | None, use: ToolUse) -> bool:
    """Nearly the same call with the same end."""
    if trouble is None or use.shape != trouble.shape or use.outcome != trouble.outcome:
        return False
    return use.outcome != "success" or use.result == trouble.result


def moments_until(words: Iterable[PastIntervention], calls: Sequence[ToolUse], within: int) -> list[AdviceMoment]:
    """Return the moments known at one place of a recording, from its advice and one agent's calls."""
    times = [call.at for call in calls]
    moments = []
    for one in words:
        if one.fate not in ("reached", "delivered"):
            continue
        place = bisect_right(times, one.at)
        trouble = calls[place - 1] if place else None
        after = calls[place : place + within]
        again = next((number for number, call in enumerate(after, 1) if _same(trouble, call)), 0)
        intervention, was_said = one.intervention, one.fate == "reached"
        acts = again or len(after)
        moments.append(AdviceMoment(one.at, "", intervention.sender, was_said, intervention.message, acts, bool(again)))
    return moments


def follow(
    events: Iterable[Event], society: Society, within: int, sentences: Mapping[int, tuple[str, str]]
) -> list[AdviceMoment]:
    """Run a session through its minds, and follow every word that was due."""
    follower = AdviceFollower(within, sentences)
    for event in events:
        follower.take(event, society.step(event))
    return follower.moments()


def outcomes(moments: Iterable[AdviceMoment], within: int) -> list[AdviceOutcome]:
    """Count outcomes by rule, with and without advice."""
    grouped: dict[tuple[str, bool], list[AdviceMoment]] = {}
    for moment in moments:
        grouped.setdefault((moment.rule, moment.said), []).append(moment)
    return [
        AdviceOutcome(rule, was_said, *outcome_counts(group, was_said, within))
        for (rule, was_said), group in sorted(grouped.items())
    ]


def outcome_counts(moments: Iterable[AdviceMoment], was_said: bool, within: int) -> tuple[int, int, int]:
    """Count how often the trouble returned, stayed away, or is too recent to judge."""
    own = [moment for moment in moments if moment.said is was_said]
    again = sum(moment.again for moment in own)
    early = sum(not moment.again and moment.acts < within for moment in own)
    return again, len(own) - again - early, early


class SilenceTrial(NamedTuple):
    """How often the trouble came again with advice, and when it was withheld at random."""

    said_again: int
    said: int
    withheld_again: int
    withheld: int

    @property
    def sentence(self) -> str:
        """The comparison in words, with an interval, or that it is too early for one."""
        counts = f"{self.said} given, {self.withheld} withheld at random"
        if min(self.said, self.withheld) < FEW_MOMENTS:
            return f"{counts}: too few to say whether advice helps ({FEW_MOMENTS} of each are needed)."
        with_advice, silent = self.said_again / self.said, self.withheld_again / self.withheld
        low, high = _difference(self.said_again, self.said, self.withheld_again, self.withheld)
        verdict = "advice helps" if high < 0 else "advice hurts" if low > 0 else "no effect can be shown"
        return (
            f"{counts}: the trouble came again after {100 * with_advice:.0f} % and {100 * silent:.0f} %: "
            f"{100 * (with_advice - silent):+.0f} points "
            f"(95 % interval {100 * low:+.0f} to {100 * high:+.0f}): {verdict}."
        )


def silence_trial(moments: Iterable[AdviceMoment], withheld: Container[tuple[str, int]], within: int) -> SilenceTrial:
    """Compare sentences that were given with those withheld at random, by rule and fingerprint."""
    counts = [0, 0, 0, 0]
    for moment in moments:
        if not moment.again and moment.acts < within:
            continue
        if moment.said:
            counts[0] += moment.again
            counts[1] += 1
        elif (moment.rule, sentence_print(moment.sentence)) in withheld:
            counts[2] += moment.again
            counts[3] += 1
    return SilenceTrial(*counts)


def _wilson(hits: int, total: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    z, share = 1.96, hits / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z * sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    return middle - half, middle + half


def _difference(hits: int, total: int, other_hits: int, other_total: int) -> tuple[float, float]:
    """Newcombe's 95 % interval of the difference of two shares."""
    share, other = hits / total, other_hits / other_total
    (low, high), (other_low, other_high) = _wilson(hits, total), _wilson(other_hits, other_total)
    below = sqrt((share - low) ** 2 + (other_high - other) ** 2)
    above = sqrt((high - share) ** 2 + (other - other_low) ** 2)
    return share - other - below, share - other + above
