"""Whether a run goes worse or better than is usual for its agent, from plain counts and fitted weights."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from math import exp, log, log1p
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from core.engine.receptor.readings import FactsReading
from core.engine.response.tables import OUTLOOK, OUTLOOK_WORDS
from core.settings.response import OutlookSettings

Stage = Literal["too early", "10", "15", "20", "end"]
Direction = Literal["too early", "worse", "usual", "better"]

DIRECTION_WORDS: dict[Direction, str] = {
    "too early": "too early to say",
    "worse": "worse than usual",
    "usual": "as usual",
    "better": "better than usual",
}

USUAL = "usual"  # Beside changed weights, the mean shift of the person's own sessions.

# Words of a session's status, state or regime that a good or usual outlook would contradict, and what is said then.
_TROUBLES = {
    "looping": "it is looping now",
    "stuck": "it is stuck now",
    "trying": "what it tries fails now",
    "gave up": "it gave up",
    "crisis": "its last minutes were a crisis",
}
_LOOKS = {"better": "good", "usual": "usual"}

# From how many actions on each stage holds, the latest first.
STAGES: tuple[tuple[int, Stage], ...] = ((20, "20"), (15, "15"), (10, "10"))

NAMES = "names_seen"  # The share of the names of code in the prompts that came up in results.
PHRASES = ("words_of_checking", "words_of_doubt")  # Counts of what the agent says.
_PACE = STAGES[0][0]  # Counts of a longer run are read at its pace: how many there were in so many of its actions.
# Counts that do not grow with the length of a run.
_STEADY = frozenset(("actions", "since_good_edit", "since_change", "since_run", "edits_recent")) | frozenset(
    ("edits_since_pass", "failures_since_edit", NAMES)
)


class Reason(NamedTuple):
    """One count's contribution to the outlook."""

    name: str
    number: int
    amount: float  # In log-odds; above 0 speaks against the run.
    text: str


class OutlookReading(Struct, frozen=True):
    """The read-out: a shift against what is usual for this agent, never an alarm."""

    stage: Stage
    direction: Direction
    shift: float  # In log-odds of going wrong; 0 is as usual.
    band: float  # How far the shift may be off, as a standard error.
    chance: float | None  # Of going wrong; only where a base rate is known.
    # What supports the direction first, then by weight; counts that only correct others are in the shift and not here.
    reasons: tuple[Reason, ...]
    fitted_on: str  # Runs the weights were fitted on: how many, of what kind, when.

    def words_beside(self, *words: str) -> str:
        """How it goes, without contradicting the status, and then the state and regime, beside it."""
        if "stuck" in words[1:] and words[0] == "working":
            words = ("trying",)
        trouble = next((_TROUBLES[word] for word in words if word in _TROUBLES), "")
        if trouble and self.direction in _LOOKS:
            return f"statistics look {_LOOKS[self.direction]}, but {trouble}"
        return DIRECTION_WORDS[self.direction]

    def sentences_beside(self, *words: str) -> tuple[str, ...]:
        """The read-out in words: how it goes, what counts most, and last the odds and where they come from."""
        if self.stage == "too early":
            return (DIRECTION_WORDS["too early"],)
        chance = () if self.chance is None else (f"{100 * self.chance:.0f}% of such runs go wrong",)
        return (
            self.words_beside(*words),
            *chance,
            *(reason.text for reason in self.reasons),
            f"learned from {self.fitted_on}; {band_words(self)} log-odds of going wrong",
        )


class _Fit(NamedTuple):
    """The weights of one stage."""

    names: tuple[str, ...]
    means: tuple[float, ...]
    weights: tuple[float, ...]  # For the scaled count, its mean taken off.
    band: float
    usual: float = 0.0  # The mean shift of the sessions that a person labelled.


@cache
def _words() -> dict[str, dict[str, str]]:
    """How each count is worded, and whether it speaks against a run or for it."""
    return tomllib.loads(OUTLOOK_WORDS.decode())


@cache
def _fits() -> tuple[dict[str, _Fit], str]:
    return read_fits(tomllib.loads(OUTLOOK.decode()))


def read_fits(table: Mapping[str, Any]) -> tuple[dict[str, _Fit], str]:
    """The weights of every stage, and what they were fitted on."""
    fits = {}
    for stage, rows in table["stage"].items():
        counts: Mapping[str, Mapping[str, float]] = rows["counts"]
        fits[stage] = _Fit(
            tuple(counts),
            tuple(row["mean"] for row in counts.values()),
            tuple(row["weight"] for row in counts.values()),
            float(rows["band"]),
        )
    about = table["about"]
    return fits, f"{about['runs']:,} repairs of Python projects by {about['models']} models, {about['date']}"


def left_out_scores() -> dict[str, list[float]]:
    """The AUC of every stage and its interval, on tasks that were left out of the fit."""
    stages = tomllib.loads(OUTLOOK.decode())["stage"]
    return {stage: [rows["auc"], *rows["auc_interval"]] for stage, rows in stages.items()}


def stage_of(actions: int, ended: bool) -> Stage:
    """Return the stage, and so the weights, after that many actions."""
    if ended and actions:
        return "end"
    return next((stage for least, stage in STAGES if actions >= least), "too early")


def stage_fit(stage: str, settings: OutlookSettings) -> _Fit:
    """The weights of a stage, with what the person's own labels changed."""
    fit = _fits()[0][stage]
    own = settings.weights.get(stage)
    if not own:
        return fit
    weights = tuple([weight + own.get(name, 0.0) for name, weight in zip(fit.names, fit.weights, strict=True)])
    return fit._replace(weights=weights, usual=own.get(USUAL, 0.0))


def scaled(name: str, number: float, actions: int, asked: int) -> float:
    """A count as the weights expect it, at the pace of a long run: the tenth phrase says more than the tenth call."""
    if name == NAMES:
        return float((number + 0.9) / (asked + 2.0))
    if actions > _PACE and name not in _STEADY:
        number *= _PACE / actions
    return float(number**0.7) if name in PHRASES else log1p(number)


def shift_of(facts: Any, fit: _Fit) -> float:
    """The shift alone, in log-odds."""
    return (
        sum(
            weight * (scaled(name, getattr(facts, name), facts.actions, facts.names_asked) - mean)
            for name, mean, weight in zip(fit.names, fit.means, fit.weights, strict=True)
        )
        - fit.usual
    )


def outlook(facts: FactsReading, ended: bool, settings: OutlookSettings) -> OutlookReading:
    """Return the outlook of this run from its plain counts."""
    fitted_on = _fits()[1] + (" and from your labels" if settings.weights else "")
    stage = stage_of(facts.actions, ended)
    if stage == "too early":
        return OutlookReading(stage, "too early", 0.0, 0.0, None, (), fitted_on)
    fit = stage_fit(stage, settings)
    reasons = []
    # What few words of doubt and names that came up add. Agents differ in what they say and people in what they name,
    # so that by themselves these make no run better than usual, unless the usual of the agent is known.
    silence = 0.0
    own = settings.own_shift or fit.usual
    for name, mean, weight in zip(fit.names, fit.means, fit.weights, strict=True):
        number = getattr(facts, name)
        above = scaled(name, number, facts.actions, facts.names_asked) - mean
        amount = weight * above
        if name == NAMES and not facts.names_asked:
            continue
        if name in ("words_of_doubt", NAMES) and not own:
            silence += min(0.0, amount)
        if abs(amount) >= settings.telling and _follows(name, number, above, amount):
            words = _words()[name]["one" if number == 1 else "many"].format(n=number or "no", of=facts.names_asked)
            than = "more" if above > 0.0 else "fewer"
            usual = "usual for its length" if facts.actions > _PACE and name not in _STEADY else "usual"
            word = "worse" if amount > 0.0 else "better"
            reasons.append(Reason(name, number, amount, f"{words}, {than} than {usual}: {word}"))
    shift = shift_of(facts, fit) - settings.own_shift
    direction: Direction = "worse" if shift > settings.usual else "usual"
    if shift - silence < -settings.usual:
        direction = "better"
    reasons.sort(key=lambda reason: (direction != "usual" and reason.amount * shift < 0.0, -abs(reason.amount)))
    return OutlookReading(
        stage, direction, shift, fit.band, chance(shift, settings.base_rate), tuple(reasons[:6]), fitted_on
    )


def _follows(name: str, number: int, above: float, amount: float) -> bool:
    """Whether a person can follow a reason; of a count that only corrects others the sign is wrong."""
    speaks = _words()[name].get("speaks")
    if speaks == "against":
        return (above > 0.0) == (amount > 0.0)
    if speaks == "for" or not number:
        return (above > 0.0) != (amount > 0.0)
    return True


def chance(shift: float, base_rate: float) -> float | None:
    """The chance of going wrong; None where the agent's own share of runs that do is not known."""
    if not 0.0 < base_rate < 1.0:
        return None
    odds = log(base_rate / (1.0 - base_rate)) + shift
    return 1.0 / (1.0 + exp(-odds))


def band_words(reading: OutlookReading) -> str:
    """The shift and its band, such as `+0.6 (0.3 to 0.9)`."""
    low, high = reading.shift - reading.band, reading.shift + reading.band
    return f"{reading.shift:+.1f} ({low:+.1f} to {high:+.1f})"
