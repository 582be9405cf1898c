"""An episode: one stretch of work, and a recalled past episode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from msgspec import Struct

from core.engine.mind.cortical import Regime
from core.events import Action

Verdict = Literal["gain", "loss", "flat"]

# What begins or ends a stretch of work.
Border = Literal["start", "prompt", "interrupt", "pattern", "delta", "session_end"]

ACTION_WORDS: dict[Action, str] = {
    "file_read": "reading",
    "file_edit": "editing",
    "search": "searching",
    "shell_exec": "running commands",
    "delegation": "delegating",
    "memory_read": "reading notes",
    "memory_write": "writing notes",
    "plan": "planning",
    "other": "other calls",
}
OUTSIDE = "/"  # The place of all that is in no folder of the project, as far as the project is known.
OUTCOME_WORDS: dict[Verdict, str] = {"gain": "with success", "loss": "without success", "flat": "with no clear result"}


class Episode(Struct, frozen=True):
    """A stretch of work as it is remembered: shapes and coarse places, no content."""

    number: int
    tick: int  # The tick at which it ended.
    at: float  # When it began, in epoch seconds.
    until: float
    regime: Regime  # The one it was in for most of its ticks.
    pleasure: float
    arousal: float
    dominance: float
    action: Action  # The most frequent one.
    outcome: Verdict
    began_by: Border
    ended_by: Border
    calls: int
    failures: int
    signature: tuple[tuple[str, int], ...]  # Actions and coarse folders with their counts, in the order of their names.
    trace: str = ""  # Its last calls, two letters each; empty once it is a summary.
    session: str = ""  # Key of the saved session it comes from; empty for this one.
    advised: str = ""  # The rule whose advice reached the agent in it; empty if none did.

    def line(self) -> str:
        """The episode in one line."""
        advice = f", after advice ({self.advised})" if self.advised else ""
        return f"{self.regime}, {self.did()}{advice}"

    def did(self) -> str:
        """Name the main action and its outcome."""
        return f"{ACTION_WORDS[self.action]} {OUTCOME_WORDS[self.outcome]}"


class Situation(NamedTuple):
    """The moment that past episodes are compared with."""

    regime: Regime
    pleasure: float
    arousal: float
    dominance: float
    task: Mapping[str, int]


class Recalled(Struct, frozen=True):
    """A past episode, and why it was recalled."""

    episode: Episode
    score: float  # Similarity times recency.
    similarity: float
    regime: float
    affect: float
    task: float
    recency: float
    line: str


class Heuristic(NamedTuple):
    """One line of the playbook: what a kind of work in this project mostly led to, and on what evidence."""

    what: str
    good: int
    bad: int

    @property
    def share(self) -> float:
        """Share of the cases that went the way the line says."""
        return max(self.good, self.bad) / (self.good + self.bad)

    def line(self) -> str:
        """The heuristic as a sentence."""
        cases = self.good + self.bad
        outcome = "went well" if self.good > self.bad else "failed"
        return f"{self.what} {outcome} {max(self.good, self.bad)} of {cases} times"


def distill(episodes: Iterable[Episode], least: int, share: float, most: int) -> tuple[Heuristic, ...]:
    """Return the heuristics with the most evidence; later episodes that refute one make it disappear."""
    counts: dict[str, list[int]] = {}
    for episode in episodes:
        if episode.outcome == "flat":
            continue
        for what in _features(episode):
            counts.setdefault(what, [0, 0])[episode.outcome == "loss"] += 1
    lines = [Heuristic(what, good, bad) for what, (good, bad) in counts.items() if good + bad >= least]
    lines = [one for one in lines if one.share >= share]
    return tuple(sorted(lines, key=lambda one: (-one.good - one.bad, one.what))[:most])


def _features(episode: Episode) -> Iterator[str]:
    """Name what a playbook counts of an episode: its main action, where, and the advice given in it."""
    folders = [(times, name) for name, times in episode.signature if name not in ACTION_WORDS]
    place = max(folders)[1] if folders else OUTSIDE
    where = "" if place == OUTSIDE else f" in {place}"
    yield f"{ACTION_WORDS[episode.action]}{where}"
    if episode.advised:
        yield f"advice ({episode.advised})"
