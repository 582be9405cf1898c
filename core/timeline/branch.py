"""Runs that might have been: other settings, a word of the person's, a dream of past episodes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from blake3 import blake3
from msgspec.structs import replace

from core.events import MAIN, Event, Prompt
from core.settings import Settings
from core.timeline.firings import Difference, compare
from core.timeline.rerun import overlaid
from core.timeline.run import Run
from core.timeline.timeline import SettingsChange, Timeline, turned

BranchKind = Literal["sim", "pre_steer", "dream"]
BranchState = Literal["open", "done", "cut", "aborted"]
Progress = Callable[[int, int], bool]
"""Told how many of how many events were run; a False answer cuts the branch short."""

_REPORT = 500


class Cost(NamedTuple):
    """What a branch took."""

    events: int
    most: int


class Branch:
    """One level deep: it grows from the recording, never from another branch, and leaves it untouched."""

    def __init__(
        self,
        timeline: Timeline,
        after: int,
        kind: BranchKind,
        hypothesis: str,
        settings: Settings,
        events: Sequence[Event],
        later: Iterable[SettingsChange] = (),
    ) -> None:
        self.timeline = timeline
        self.after = after
        """Events of the recording before it."""
        self.kind = kind
        self.hypothesis = hypothesis
        self.settings = settings
        self.events = events
        self._later = deque(later)
        """Settings that hold from one of its own events on."""
        self.state: BranchState = "open"
        self.reason = ""
        self._most = timeline.settings.timeline.branch.most
        self._run_events = 0
        origin = timeline.run.origin
        if after:
            society = timeline.loaded(settings, timeline.society_at(after).dump())
        else:
            society = timeline.initial.society(settings)
        self.run = Run(society, origin)
        if after:
            self.run.marks.start(timeline.marks, after)

    @property
    def cost(self) -> Cost:
        """Events run so far, of those it may run."""
        return Cost(self._run_events, min(self._most, len(self.events)))

    def grow(self, progress: Progress | None = None) -> bool:
        """Run to the end; False where it was cut short."""
        run, initial = self.run, self.timeline.initial
        limit = self.cost.most
        for number in range(self._run_events, limit):
            if self._later:
                run.society = turned(initial, run.society, self._later, number)
            run.step(self.after + number, self.events[number])
            self._run_events = number + 1
            if progress is not None and number % _REPORT == 0 and not progress(number + 1, limit):
                self.state = "cut"
                return False
        if progress is not None:
            progress(limit, limit)
        self.state = "done" if limit == len(self.events) else "cut"
        return self.state == "done"

    def difference(self) -> Difference:
        """The branch's firings against those of the recording over the same stretch."""
        if self.kind == "dream":
            actual = []
        else:
            actual = self.timeline.marks.between(self.after, self.after + self._run_events)
        other = [mark for mark in self.run.marks if mark.place >= self.after]
        return compare(actual, other, self.timeline.settings.timeline.branch.near)

    def abort(self, reason: str) -> None:
        """Give the branch up; nothing of it is left."""
        self.state, self.reason = "aborted", reason
        self.events = ()
        self.run = Run(self.timeline.initial.society(self.settings), self.timeline.run.origin)


def copied(timeline: Timeline, progress: Progress | None = None) -> Timeline | None:
    """A recording of one's own with the same events, so that one that grows meanwhile is not looked at twice.

    None where it was cut short.
    """
    first, *later = timeline.changes
    events = list(timeline.events)
    made = Timeline(first.settings, initial=timeline.initial, later=later)
    for number, event in enumerate(events):
        made.add(event)
        if progress is not None and number % _REPORT == 0 and not progress(number, len(events)):
            return None
    return made


def edited(timeline: Timeline, edits: Mapping[str, Any]) -> Branch:
    """What would have happened with some settings changed throughout, all else as it was at each place."""
    first, *later = [era._replace(settings=overlaid(era.settings, edits)) for era in timeline.changes]
    return Branch(timeline, 0, "sim", "", first.settings, timeline.events, later)


def sim(
    timeline: Timeline, settings: Settings, after: int = 0, hypothesis: str = "", until: int | None = None
) -> Branch:
    """What would have happened with other settings from a point on, or between two."""
    return Branch(timeline, after, "sim", hypothesis, settings, timeline.events[after:until])


def pre_steer(timeline: Timeline, words: str, after: int, agent: str = MAIN) -> Branch:
    """What a word of the person's at a point would have done to the mind, the agent going on as it did.

    The steer takes the place of an event of its own, so later firings stand one place further on.
    """
    at = timeline.time_of(after)
    prompt = Prompt(
        at=at, agent=agent, characters=len(words), call=int.from_bytes(blake3(words.encode()).digest(8))
    )
    events = [prompt, *timeline.events[after:]]
    later = [era._replace(after=era.after - after + 1) for era in timeline.changes if era.after > after]
    return Branch(timeline, after, "pre_steer", words, timeline.settings_at(after), events, later)


def dream(timeline: Timeline, seed: int, episodes: int = 4) -> Branch:
    """Past stretches of work, from prompt to prompt, run again in another order."""
    starts = [mark.place for mark in timeline.marks if mark.kind == "prompt"] or [0]
    ends = [*starts[1:], len(timeline)]
    stretches = [timeline.events[start:end] for start, end in zip(starts, ends, strict=True) if end > start]
    growth = timeline.society.engine(MAIN).affect.modulation.branch_growth
    wanted = max(1, round(episodes * growth))
    made: list[Event] = []
    at = timeline.time_of(len(timeline))
    for number in range(wanted if stretches else 0):
        choice = int.from_bytes(blake3(f"{seed}\n{number}".encode()).digest(8)) % len(stretches)
        stretch = stretches[choice]
        shift = at - stretch[0].at
        made += [replace(event, at=event.at + shift) for event in stretch]
        at = max(event.at for event in made)
    return Branch(timeline, len(timeline), "dream", f"seed {seed}", timeline.settings, made)
