"""The re-run behind what-ifs, sweeps and branches, its firings compared, and the proof of extensions."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import cbor2
from blake3 import blake3
from msgspec.structs import replace

from core.engine.percept import AXES
from core.engine.response.reaction import QUIET
from core.engine.society import Society
from core.engine.society.engine import Engine, Step
from core.engine.values import Derived
from core.errors import StateError
from core.events import MAIN, Event, Prompt
from core.extension.in_step import ExtendedEngine, StepExtension
from core.settings import Settings
from core.settings.layers import Given, Layer, own_values, resolve
from core.store.bookmarks import Label, Verdict
from core.timeline.columns import Columns
from core.timeline.initial_state import InitialState
from core.timeline.marks import Mark, MarkKind
from core.timeline.run import Run, Track
from core.timeline.timeline import SettingsChange, Timeline, apply_due_changes

# Marks that are compared.
FIRINGS: frozenset[MarkKind] = frozenset(("signal", "method", "background", "halt", "quarantine"))


class Pair(NamedTuple):
    """One firing in the actual run and its counterpart in the other."""

    actual: Mark
    other: Mark


class Difference(NamedTuple):
    """Two runs over the same events, firing by firing."""

    kept: tuple[Pair, ...]  # At the same event in both.
    gained: tuple[Mark, ...]  # Only in the other run.
    lost: tuple[Mark, ...]  # Only in the actual run.
    moved: tuple[Pair, ...]  # In both, near each other in time.

    @property
    def equal(self) -> bool:
        """Nothing fired otherwise."""
        return not (self.gained or self.lost or self.moved)

    def table(self) -> dict[str, tuple[int, int, int, int]]:
        """Count firings in both runs, gained, lost and moved, for each name."""
        rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        groups = ([pair.actual for pair in self.kept], self.gained, self.lost, [pair.actual for pair in self.moved])
        for column, group in enumerate(groups):
            for mark in group:
                rows[key_of(mark)][column] += 1
        return {name: (row[0], row[1], row[2], row[3]) for name, row in sorted(rows.items())}


def compare(actual: Iterable[Mark], other: Iterable[Mark], near: float) -> Difference:
    """Pair the firings of two runs; those less than `near` seconds apart count as moved."""
    ours, theirs = _by_name(actual), _by_name(other)
    in_both: list[Pair] = []
    moved: list[Pair] = []
    gained: list[Mark] = []
    lost: list[Mark] = []
    for name in sorted(ours.keys() | theirs.keys()):
        mine, others = ours.get(name, []), theirs.get(name, [])
        places = {mark.place: mark for mark in others}
        same = [mark for mark in mine if mark.place in places]
        in_both += [Pair(mark, places[mark.place]) for mark in same]
        same_places = {mark.place for mark in same}
        left = [mark for mark in mine if mark.place not in same_places]
        right = [mark for mark in others if mark.place not in same_places]
        pairs = _nearest(left, right, near)
        moved += pairs
        paired = {pair.actual.place for pair in pairs}, {pair.other.place for pair in pairs}
        lost += [mark for mark in left if mark.place not in paired[0]]
        gained += [mark for mark in right if mark.place not in paired[1]]
    return Difference(tuple(sorted(in_both)), tuple(sorted(gained)), tuple(sorted(lost)), tuple(sorted(moved)))


def _nearest(left: list[Mark], right: list[Mark], near: float) -> list[Pair]:
    """Pair what is closest first; each firing is used once."""
    close: list[tuple[float, int, int]] = []
    start = 0
    for i, mine in enumerate(left):
        while start < len(right) and right[start].at < mine.at - near:
            start += 1
        for j in range(start, len(right)):
            apart = abs(right[j].at - mine.at)
            if right[j].at > mine.at + near:
                break
            close.append((apart, i, j))
    used_left: set[int] = set()
    used_right: set[int] = set()
    pairs: list[Pair] = []
    for _, i, j in sorted(close):
        if i not in used_left and j not in used_right:
            used_left.add(i)
            used_right.add(j)
            pairs.append(Pair(left[i], right[j]))
    return pairs


def _by_name(marks: Iterable[Mark]) -> dict[tuple[str, str], list[Mark]]:
    groups: dict[tuple[str, str], list[Mark]] = defaultdict(list)
    for mark in marks:
        if mark.kind in FIRINGS:
            groups[mark.agent, key_of(mark)].append(mark)
    return groups


def key_of(mark: Mark) -> str:
    """Return the name under which a firing is counted."""
    return mark.name if mark.kind in ("signal", "method", "background") else f"{mark.kind} {mark.name}"


_NEXT: dict[Verdict | None, Verdict | None] = {None: "right", "right": "wrong", "wrong": None, "missed": None}


def judged_labels(labels: Sequence[Label], timeline: Timeline, index: int, now: float) -> tuple[list[Label], bool, str]:
    """Judge the firings of the event before the playhead: right, then wrong, then not judged.

    Returns the labels, whether to withdraw them, and a sentence if nothing fired.
    """
    marks = [mark for mark in timeline.marks.between(index - 1, index) if mark.kind in FIRINGS]
    if not marks:
        return [], False, "nothing fired at this event"
    standing = {label.key: label.verdict for label in labels}
    judged: list[Label] = []
    verdict: Verdict | None = None
    for number, mark in enumerate(marks):
        label = Label(mark.place, mark.at, "right", key_of(mark), mark.agent, now)
        if number == 0:
            verdict = _NEXT[standing.get(label.key)]
        judged.append(Label(mark.place, mark.at, verdict or "wrong", key_of(mark), mark.agent, now))
    return judged, verdict is None, ""


def missed_label(labels: Sequence[Label], timeline: Timeline, index: int, agent: str, now: float) -> tuple[Label, bool]:
    """A moment at which something should have fired, and whether that is withdrawn."""
    place = max(0, index - 1)
    label = Label(place, timeline.time_of(index), "missed", "", agent, now)
    return label, any(each.key == label.key for each in labels)


# Columns of a run of the receptor alone.
FELT = ("at", *(f"axis.{axis}" for axis in AXES), *(f"threshold.{axis}" for axis in AXES))

_SAMPLES = 1024  # How many times a run of the receptor alone reads the thresholds.


def with_edits(settings: Settings, edits: Mapping[str, Any]) -> Settings:
    """Settings with some of them changed; an edit that does not fit the rest is left out."""
    if not edits:
        return settings
    changed = tuple(Given(name, value) for name, value in edits.items())
    return resolve([Layer("in force", _standing(settings)), Layer("what-if", changed)]).settings


_standing = Derived(own_values)


class Rerun:
    """Events run again through every mechanism, as far as `advance` was called."""

    def __init__(
        self,
        events: Sequence[Event],
        eras: Sequence[SettingsChange],
        initial: InitialState,
        *,
        after: int = 0,
        society: Society | None = None,
        origin: float | None = None,
    ) -> None:
        self.events = events
        self.most = eras[-1].settings.timeline.branch.most  # Events it may run.
        self.eras = eras  # The settings at the start, then every change by the number of events before it.
        self.done = 0  # Events run so far.
        self._initial = initial
        self._after = after  # Events of the recording before the first one.
        self._later = deque(eras[1:])
        self.run = Run(society or self._start(eras[0].settings), origin)

    @property
    def total(self) -> int:
        """Events there are by now, or as many as it may run."""
        return min(len(self.events), self.most)

    @property
    def tracks(self) -> dict[str, Track]:
        """Each agent's readings so far."""
        return self.run.tracks

    def advance(self, events: int) -> bool:
        """Run a number of further events; return False once none are left."""
        run, initial, later, after = self.run, self._initial, self._later, self._after
        stop = min(self.done + events, self.total)
        for number, event in enumerate(self.events[self.done : stop], self.done):
            if later:
                run.society = apply_due_changes(initial, run.society, later, number)
            run.step(after + number, event)
            self.done = number + 1
        return self.done < self.total

    def marks(self) -> list[Mark]:
        """Return the firings so far."""
        return [mark for mark in self.run.marks if mark.kind in FIRINGS]

    def _start(self, settings: Settings) -> Society:
        return self._initial.society(settings)


class _ReceptorEngine(Engine):
    """An engine in which only the receptor runs; no other mechanism has an effect on it."""

    __slots__ = ()

    def step(self, event: Event) -> Step:
        return Step(self.receptor.step(event), _NOT_RUN, _NOT_RUN, _NOT_RUN, QUIET)


_NOT_RUN: Any = None


class ReceptorRerun(Rerun):
    """The receptor alone: several times faster, and exact for axes and signals."""

    def __init__(self, events: Sequence[Event], eras: Sequence[SettingsChange], initial: InitialState) -> None:
        super().__init__(events, eras, initial)
        self._marks: list[Mark] = []
        self._every = max(1, len(events) // _SAMPLES)
        self._levels: dict[str, tuple[float, ...]] = {}

    def advance(self, events: int) -> bool:
        tracks, levels, marks, later = self.tracks, self._levels, self._marks, self._later
        stop = min(self.done + events, self.total)
        for place, event in enumerate(self.events[self.done : stop], self.done):
            while later and later[0].after <= place:
                state, settings = self.run.society.dump(), later.popleft().settings
                self.run.society = self._start(settings)
                self.run.society.load(state)
            agent, society = event.agent, self.run.society
            percept = society.step(event).percept
            for name, intensity, fresh in percept.signals:
                if fresh:
                    marks.append(Mark(place, event.at, agent, "signal", name, intensity))
            track = tracks.get(agent)
            if track is None:
                track = tracks[agent] = Track(self.events[0].at)
                track.columns = Columns(FELT)
            if place % self._every == 0 or agent not in levels:
                levels[agent] = society.engine(agent).receptor.levels()[: len(AXES)]
            track.indexes.append(place)
            track.columns.append((percept.at - track.origin, *percept.axes, *levels[agent]))
            self.done = place + 1
        return self.done < self.total

    def marks(self) -> list[Mark]:
        return list(self._marks)

    def _start(self, settings: Settings) -> Society:
        return self._initial.society(settings, _ReceptorEngine)


def rerun_with(timeline: Timeline, edits: Mapping[str, Any], *, whole: bool = True) -> Rerun:
    """Return a re-run of a recording with some settings changed throughout."""
    eras = [era._replace(settings=with_edits(era.settings, edits)) for era in timeline.changes]
    if not whole:
        return ReceptorRerun(timeline.events, eras, timeline.initial)
    return Rerun(timeline.events, eras, timeline.initial, origin=timeline.run.origin)


_CUTS = 7  # Places at which its state is dumped and loaded.


class Proof(NamedTuple):
    """The verdict on an extension."""

    sound: bool
    sentences: tuple[str, ...]


def prove(kind: type[StepExtension], events: Sequence[Event]) -> Proof:
    """Run it twice, and a third time with its state dumped and loaded at several places."""
    settings = Settings()

    def minds() -> Society:
        return Society(settings, make_engine=partial(ExtendedEngine, extensions=[kind]))

    def ran(society: Society, cuts: frozenset[int]) -> tuple[bytes, list[str], int]:
        findings: list[str] = []
        for place, event in enumerate(events):
            if place in cuts:
                state = cbor2.loads(cbor2.dumps(society.dump()))
                society = minds()
                society.load(state)
            fired = society.step(event).reaction.fired
            findings += [f"{place} {one.method} {one.text}" for one in fired if one.method.startswith(f"{kind.name}.")]
        engine = society.engine()
        faults = engine.faults[kind.name] if isinstance(engine, ExtendedEngine) else 0
        return cbor2.dumps(society.dump(), canonical=True), findings, faults

    every = max(1, len(events) // _CUTS)
    first, again = ran(minds(), frozenset()), ran(minds(), frozenset())
    cut = ran(minds(), frozenset(range(every, len(events), every)))
    sentences = [f"{kind.name} {kind.version} on {len(events)} events: {len(first[1])} findings, {first[2]} faults"]
    sentences += [f"  event {line}" for line in first[1][:5]]
    if first != again:
        sentences.append("NOT deterministic: a second run over the same events gives another result")
    elif first != cut:
        sentences.append("its saved state is NOT complete: a run that is saved and loaded midway gives another result")
    else:
        sentences.append("two runs give the same result, and so does a run that is saved and loaded midway")
    sound = first == again == cut and first[2] == 0
    return Proof(sound, tuple(sentences))


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
    """Branch with a message of the person at a place; the agent continues as it did.

    The message is an event of its own, so later firings are one place further on.
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
