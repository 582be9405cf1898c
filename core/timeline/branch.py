"""Runs that might have been: other settings, a word of the person's, a dream of past episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from blake3 import blake3
from msgspec.structs import replace

from core.errors import StateError
from core.events import MAIN, Event, Prompt
from core.settings import Settings
from core.timeline.firings import Difference, compare
from core.timeline.rerun import Rerun
from core.timeline.run import Run
from core.timeline.timeline import SettingsChange, Timeline

BranchKind = Literal["sim", "pre_steer", "dream"]
BranchState = Literal["open", "done", "cut", "aborted"]
Progress = Callable[[int, int], bool]  # Receives how many of how many events were run; False cuts the branch short.

_REPORT = 500


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
        self.after = after  # Events of the recording before it.
        self.kind = kind
        self.hypothesis = hypothesis
        self.settings = settings
        self.events = events
        self.state: BranchState = "open"
        self.reason = ""
        society = timeline.loaded(settings, timeline.society_at(after).dump()) if after else None
        eras = [SettingsChange(0, settings), *later]
        self._rerun = Rerun(events, eras, timeline.initial, after=after, society=society, origin=timeline.run.origin)
        self.run = self._rerun.run
        if after:
            self.run.marks.start(timeline.marks, after)

    @property
    def cost(self) -> int:
        """Events run so far."""
        return self._rerun.done

    def grow(self, progress: Progress | None = None) -> bool:
        """Run to the end; return False if it was cut short."""
        rerun, limit = self._rerun, self._rerun.total
        while rerun.done < limit:
            rerun.advance(min(_REPORT, limit - rerun.done))
            if progress is not None and not progress(rerun.done, limit) and rerun.done < limit:
                self.state = "cut"
                return False
        self.state = "done" if limit == len(self.events) else "cut"
        return self.state == "done"

    def difference(self) -> Difference:
        """The branch's firings against those of the recording over the same stretch."""
        actual = [] if self.kind == "dream" else self.timeline.marks.between(self.after, self.after + self._rerun.done)
        other = [mark for mark in self.run.marks if mark.place >= self.after]
        return compare(actual, other, self.timeline.settings.timeline.branch.near)

    def abort(self, reason: str) -> None:
        """Give the branch up; nothing of it is left."""
        self.state, self.reason = "aborted", reason
        self.events = ()
        self.run = Run(self.timeline.initial.society(self.settings), self.timeline.run.origin)


def check_commit(timeline: Timeline, tried: int) -> None:
    """Raise if the session has moved on since the settings were tried."""
    later, most = len(timeline) - tried, timeline.settings.timeline.branch.most
    if later > 0 and tried >= most:
        raise StateError(f"the trial ended at its limit of {most} events; timeline.branch.most allows more")
    if later > 0:
        raise StateError(f"the session moved on: {later} events came since these settings were tried; look again")


def copy_recording(timeline: Timeline, progress: Progress | None = None) -> Timeline | None:
    """Return a copy of a recording, so that a growing one is not read twice; None if it was cut short."""
    first, *later = timeline.changes
    events = list(timeline.events)
    copy = Timeline(first.settings, initial=timeline.initial, later=later)
    for number, event in enumerate(events):
        copy.add(event)
        if progress is not None and number % _REPORT == 0 and not progress(number, len(events)):
            return None
    return copy


def sim(
    timeline: Timeline, settings: Settings, after: int = 0, hypothesis: str = "", until: int | None = None
) -> Branch:
    """Branch with other settings from a place on, or between two places."""
    return Branch(timeline, after, "sim", hypothesis, settings, timeline.events[after:until])


def pre_steer(timeline: Timeline, words: str, after: int, agent: str = MAIN) -> Branch:
    """Branch with a message of the person at a place;

    the agent continues as it did. The message is an event of its own, so later firings are one place further
    on.
    """
    at = timeline.time_of(after)
    prompt = Prompt(at=at, agent=agent, characters=len(words), call=int.from_bytes(blake3(words.encode()).digest(8)))
    events = [prompt, *timeline.events[after:]]
    later = [era._replace(after=era.after - after + 1) for era in timeline.changes if era.after > after]
    return Branch(timeline, after, "pre_steer", words, timeline.settings_at(after), events, later)


def dream(timeline: Timeline, seed: int, episodes: int = 4) -> Branch:
    """Past stretches of work, from prompt to prompt, run again in another order."""
    starts = [mark.place for mark in timeline.marks if mark.kind == "prompt"] or [0]
    ends = [*starts[1:], len(timeline)]
    stretches = [timeline.events[start:end] for start, end in zip(starts, ends, strict=True) if end > start]
    growth = timeline.society.engine(MAIN).affect.modulation.branch_growth
    count = max(1, round(episodes * growth))
    events: list[Event] = []
    at = timeline.time_of(len(timeline))
    for number in range(count if stretches else 0):
        choice = int.from_bytes(blake3(f"{seed}\n{number}".encode()).digest(8)) % len(stretches)
        stretch = stretches[choice]
        shift = at - stretch[0].at
        events += [replace(event, at=event.at + shift) for event in stretch]
        at = max(event.at for event in events)
    return Branch(timeline, len(timeline), "dream", f"seed {seed}", timeline.settings, events)
