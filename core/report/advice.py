"""The outcome of advice, compared with similar moments without advice."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from core.engine.response.interventions import PastIntervention, sentence_print
from core.engine.society import Society
from core.events import Event, ToolUse

_DUE = ("reached", "delivered")  # Fates of advice that the moment called for.
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
    withheld: bool = False  # It was withheld at random in this session.


class AdviceOutcome(NamedTuple):
    """One rule's moments, counted."""

    rule: str
    said: bool
    came_again: int
    stayed_away: int
    too_early: int  # Too few acts have followed.


def _same(trouble: ToolUse | None, use: ToolUse) -> bool:
    """Nearly the same call with the same end."""
    if trouble is None or use.shape != trouble.shape or use.outcome != trouble.outcome:
        return False
    return use.outcome != "success" or use.result == trouble.result


def moments_until(words: Iterable[PastIntervention], calls: Sequence[ToolUse], within: int) -> list[AdviceMoment]:
    """Return the moments known at one place of a recording, from its advice and one agent's calls."""
    times = [call.at for call in calls]
    return [_moment(one, calls, bisect_right(times, one.at), within) for one in words if one.fate in _DUE]


def _moment(
    word: PastIntervention, calls: Sequence[ToolUse], place: int, within: int, said: tuple[str, str] = ("", "")
) -> AdviceMoment:
    """What followed advice that came after `place` calls; `said` is the rule and text of what reached the agent."""
    trouble = calls[place - 1] if place else None
    after = calls[place : place + within]
    again = next((number for number, call in enumerate(after, 1) if _same(trouble, call)), 0)
    intervention, (rule, sentence) = word.intervention, said
    return AdviceMoment(
        at=word.at,
        agent=trouble.agent if trouble is not None else "",
        rule=rule if rule and intervention.sender == "elsewhere" else intervention.sender,
        said=word.fate == "reached",
        sentence=sentence or intervention.message,
        acts=again or len(after),
        again=bool(again),
    )


def follow(
    events: Iterable[Event],
    society: Society,
    within: int,
    sentences: Mapping[int, tuple[str, str]],
    withheld: Container[tuple[str, int]] = (),
) -> list[AdviceMoment]:
    """Run a session, and return every moment at which advice was due.

    `sentences` are by their fingerprints; `withheld` has the rules and fingerprints withheld in this session.
    """
    calls: dict[str, list[ToolUse]] = {}
    due: dict[tuple[str, int], tuple[PastIntervention, int, tuple[str, str]]] = {}
    for event in events:
        own = calls.setdefault(event.agent, [])
        if isinstance(event, ToolUse) and event.outcome != "pending":
            own.append(event)
        for word in society.step(event).reaction.interventions:
            said = sentences.get(getattr(event, "call", 0), ("", "")) if word.fate == "reached" else ("", "")
            if word.fate in _DUE:
                due[event.agent, word.intervention.number] = word, len(own), said
    moments = [_moment(word, calls[agent], place, within, said) for (agent, _), (word, place, said) in due.items()]
    moments = [
        one._replace(withheld=not one.said and (one.rule, sentence_print(one.sentence)) in withheld) for one in moments
    ]
    return sorted(moments, key=lambda moment: moment.at)


def outcomes(moments: Iterable[AdviceMoment], within: int) -> list[AdviceOutcome]:
    """Count outcomes by rule, with and without advice."""
    grouped: dict[tuple[str, bool], list[AdviceMoment]] = {}
    for moment in moments:
        grouped.setdefault((moment.rule, moment.said), []).append(moment)
    groups = sorted(grouped.items())
    return [AdviceOutcome(rule, said, *outcome_counts(group, said, within)) for (rule, said), group in groups]


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
        shares = f"the trouble came again after {100 * with_advice:.0f}% and {100 * silent:.0f}%"
        interval = f"95% interval {100 * low:+.0f} to {100 * high:+.0f}"
        return f"{counts}: {shares}: {100 * (with_advice - silent):+.0f} points ({interval}): {verdict}."


def silence_trial(moments: Iterable[AdviceMoment], within: int) -> SilenceTrial:
    """Compare sentences that were given with those withheld at random."""
    judged = [moment for moment in moments if moment.again or moment.acts >= within]
    given = [one.again for one in judged if one.said]
    silent = [one.again for one in judged if one.withheld]
    return SilenceTrial(sum(given), len(given), sum(silent), len(silent))


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
