"""Moves through a recording, the record of them, and what happened between two places in words."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from blake3 import blake3

from core.engine.percept import AXES, spell_name
from core.engine.receptor.readings import AxisReading, HeatmapReading
from core.engine.society.engine import Frame
from core.errors import StateError, StoreError
from core.events import MAIN, AgentStart, Compaction, Event, Prompt, ToolUse, Turn, Where
from core.logs.redact.values import one_line
from core.report.event_words import METHOD_WORDS, firing_words
from core.report.formatting import count, fraction, plain, short_clock, token_amount, token_estimate
from core.timeline.keyframes import encode
from core.timeline.marks import Mark
from core.timeline.timeline import Timeline

Direction = Literal["backward", "forward"]
SummaryKind = Literal["none", "structural", "narrative", "custom"]

_ENTRY = re.compile(r"(?:/[^/\d][^/]*)?/(\d{1,9})(?:/|\Z)")
_LINES = 40
_LETTERS = 400


class SummaryPolicy(NamedTuple):
    """How to summarize the events that a move passes over."""

    kind: SummaryKind = "none"
    max_tokens: int = 200  # Of a narrative.
    text: str = ""  # Of a custom one.


NO_SUMMARY = SummaryPolicy()


class Visit(NamedTuple):
    """One move as it is recorded."""

    number: int  # 1 is the first.
    at: float  # The time of the request, as passed in.
    origin: int
    place: int
    node: str  # The requested record; empty if a place was requested.
    direction: Direction
    policy: SummaryKind
    summary: str  # Hash of the summary's lines; empty if there are none.
    previous: str
    hash: str


class ChronoNav:
    """A position in a recording, with every move made."""

    def __init__(self, timeline: Timeline, *, limit: int = 256) -> None:
        self.timeline = timeline
        self.place = len(timeline)
        self.trail = Trail(limit)

    def move(self, place: int, at: float, policy: SummaryPolicy = NO_SUMMARY, node: str = "") -> tuple[str, ...]:
        """Record a move, perhaps to a record of the conversation, and return a summary of the events between."""
        if not 0 <= place <= len(self.timeline):
            raise StateError(f"the recording has {len(self.timeline)} events: there is no event {place}")
        origin, self.place = self.place, place
        summary = tuple(self._summary_lines(min(origin, place), max(origin, place), policy))
        self.trail.add(at, origin, place, node, policy.kind, summary)
        return summary

    def _summary_lines(self, start: int, stop: int, policy: SummaryPolicy) -> Iterable[str]:
        match policy.kind:
            case "structural":
                return structural(self.timeline, start, stop)
            case "narrative":
                return narrative(self.timeline, start, stop, policy.max_tokens)
            case "custom":
                return [one_line(line, _LETTERS) for line in policy.text.splitlines()[:_LINES]]
        return ()


class Trail:
    """The moves of a session, each chained to the previous one; the oldest are dropped."""

    __slots__ = ("_visits", "head")

    def __init__(self, limit: int = 256) -> None:
        self._visits: deque[Visit] = deque(maxlen=max(1, limit))
        self.head = ""  # Hash of the newest move.

    def __len__(self) -> int:
        return len(self._visits)

    @property
    def visits(self) -> tuple[Visit, ...]:
        """Return the recorded moves, oldest first."""
        return tuple(self._visits)

    def add(self, at: float, origin: int, place: int, node: str, policy: SummaryKind, summary: Sequence[str]) -> None:
        """Record one move."""
        direction: Direction = "backward" if place < origin else "forward"
        number = self._visits[-1].number + 1 if self._visits else 1
        summary_hash = blake3("\n".join(summary).encode("utf-8", "replace")).hexdigest(length=16) if summary else ""
        visit = Visit(number, at, origin, place, node, direction, policy, summary_hash, self.head, "")
        visit = visit._replace(hash=_visit_link(visit))
        self._visits.append(visit)
        self.head = visit.hash

    def verify(self) -> Visit | None:
        """Return the first move that was altered, or None."""
        before: Visit | None = None
        for visit in self._visits:
            follows = before is None or (visit.previous, visit.number) == (before.hash, before.number + 1)
            if not follows or _visit_link(visit) != visit.hash:
                return visit
            before = visit
        return before if before is not None and before.hash != self.head else None

    def dump(self) -> tuple[tuple[Any, ...], ...]:
        """Return all moves as plain values."""
        return tuple(tuple(visit) for visit in self._visits)

    def load(self, state: Iterable[Sequence[Any]]) -> None:
        """Load a dumped trail; raises if it was tampered with."""
        try:
            visits = [Visit(*row) for row in state]
        except TypeError as error:
            raise StoreError(f"this is not a record of moves: {error}") from error
        trail = Trail(max(1, len(visits)))
        trail._visits.extend(visits)
        trail.head = visits[-1].hash if visits else ""
        broken = trail.verify()
        if broken is not None:
            raise StoreError(f"the record of moves is damaged at move {broken.number}")
        self._visits.clear()
        self._visits.extend(visits)
        self.head = trail.head


def trail_lines(trail: Trail, start: float) -> list[str]:
    """Return every move in words, oldest first; times count from `start`."""
    return [
        f"{visit.number:>5}  {short_clock(visit.at - start)}  {visit.direction:<8}  "
        f"{visit.origin} -> {visit.place}  {visit.policy:<10}  {visit.hash[:12]}  {plain(visit.node, 40)}".rstrip()
        for visit in trail.visits
    ]


def _visit_link(visit: Visit) -> str:
    return blake3(encode(list(visit[:-1]))).hexdigest()


def record_name(where: Where | None) -> str:
    """Return the name of a line or entry of a log in the trail of moves."""
    return "" if where is None else f"{where.file.rpartition('/')[2]}:{where.entry or where.offset}"


def place_after(events: Sequence[Event], where: Where) -> int:
    """Return the number of events up to a line of a log, an entry of a document or a row of a database."""
    sought = _position(where)
    for place, event in enumerate(events):
        if event.where is None or event.where.file != where.file:
            continue
        position = _position(event.where)
        if sought is None and event.where.entry == where.entry:
            return place + 1
        if sought is not None and position is not None and position > sought:
            return place
    return len(events)


def _position(where: Where) -> tuple[int, int] | None:
    """Return the position of a line in its file or of an entry in its document; None for a database row."""
    if not where.entry:
        return where.offset, 0
    match = _ENTRY.match(where.entry)
    return (where.offset, int(match.group(1))) if match else None


_NOTABLE = 0.3  # A peak below this is not worth a sentence.
_HALF = 0.5


class Centre(NamedTuple):
    """The branch of the paths where most of the work is."""

    path: str
    share: float  # Of all heat.


def hottest_branch(heatmap: HeatmapReading) -> Centre | None:
    """Return the deepest folder that still has at least half of the heat."""
    total = sum(node.heat for node in heatmap.tree)
    if total <= 0:
        return None
    heat = attrgetter("heat")
    best = max(heatmap.tree, key=heat)
    while best.children:
        below = max(best.children, key=heat)
        if not below.children or below.heat < _HALF * best.heat:
            break
        best = below
    return Centre(best.path, best.heat / total)


def frame_lines(frame: Frame) -> list[str]:
    """Return a frame in a handful of lines."""
    receptor, mind, story = frame.receptor, frame.mind, frame.story
    state = f"{story.state.replace('_', ' ')} ({spell_name(receptor.behaviour.short.pattern)})"
    phase = f"regime {story.regime}, phase {story.phase}, governor {story.governor}"
    lines = [f"{one_line(frame.agent)} after {count(frame.events, 'event')}: {state}, {phase}"]
    lines.append(", ".join(map(_axis_words, receptor.axes)))
    if receptor.signals:
        signals = (f"{one.name.replace('_', ' ')} {fraction(one.intensity)}" for one in receptor.signals)
        lines.append(f"signals: {', '.join(signals)}")
    centre = hottest_branch(receptor.heatmap)
    if centre is not None:
        lines.append(f"work in {one_line(centre.path)} ({centre.share:.0%} of it)")
    sleep = mind.sleep
    lines.append(f"context {token_amount(sleep.context_tokens)}, sleep pressure {fraction(sleep.pressure)}")
    if frame.governor.would_halt:
        lines.append(f"governor: {one_line(frame.governor.would_halt)}")
    return lines


def _axis_words(axis: AxisReading) -> str:
    return f"{axis.axis} {fraction(axis.value)}/{fraction(axis.threshold)}{'!' if axis.firing else ''}"


def structural(timeline: Timeline, start: int, stop: int) -> list[str]:
    """Return counts of what happened between two places."""
    events = timeline.events[start:stop]
    kinds = Counter(map(type, events))
    uses = [event for event in events if isinstance(event, ToolUse)]
    failed = sum(event.outcome == "failure" for event in uses)
    files = {path for event in uses for path in event.targets}
    counted = (
        (len(uses), "tool use", f" ({failed} failed)" if failed else ""),
        (len(files), "path", " touched"),
        (kinds[Turn], "turn", ""),
        (kinds[Prompt], "prompt", ""),
        (kinds[Compaction], "compaction", ""),
        (kinds[AgentStart], "sub-agent", " started"),
    )
    lines = [_span(timeline, start, stop, events)]
    lines += [f"{count(number, what)}{more}" for number, what, more in counted if number]
    marks = timeline.marks.between(start, stop)
    for kind, title in (("signal", "signals"), ("method", "methods"), ("halt", "halts"), ("state", "states")):
        names = Counter(mark.name for mark in marks if mark.kind == kind)
        if names:
            signals = ((firing_words(one_line(name)), count) for name, count in names.most_common())
            lines.append(f"{title}: " + ", ".join(f"{name} {count}" for name, count in signals))
    return lines


def _span(timeline: Timeline, start: int, stop: int, events: Sequence[Event]) -> str:
    if not events:
        return "nothing happened in between"
    lasted = timeline.time_of(stop) - timeline.time_of(start)
    return f"{count(len(events), 'event')} in {short_clock(lasted)}"


class _Sentence(NamedTuple):
    weight: float
    place: int
    words: str


def narrative(timeline: Timeline, start: int, stop: int, max_tokens: int) -> list[str]:
    """Return the most important things that happened between two places, in order."""
    events = timeline.events[start:stop]
    left = max_tokens
    opening = _span(timeline, start, stop, events)
    if token_estimate(opening) > left:
        return []
    left -= token_estimate(opening)
    marks = list(timeline.marks.between(start, stop))
    parts = [*_mark_sentences(timeline, marks), *_passages(timeline, marks, start, stop)]
    parts += _peak_sentences(timeline, start, stop)
    chosen: list[_Sentence] = []
    for sentence in sorted(parts, key=lambda each: (-each.weight, each.place, each.words)):
        if token_estimate(sentence.words) <= left:
            chosen.append(sentence)
            left -= token_estimate(sentence.words)
    return [opening, *(each.words for each in sorted(chosen, key=lambda each: (each.place, each.words)))]


# The weight of each kind of mark, and the words of its sentence.
_SENTENCES: dict[str, tuple[float, str]] = {
    "halt": (6.0, "the governor would halt: {}"),
    "quarantine": (5.0, "quarantine {}"),
    "compaction": (4.5, "the context was compacted ({})"),
    "advice": (4.2, "nooscope {}"),
    "signal": (4.0, "signal: {}"),
    "method": (3.0, "nooscope {}"),
    "regime": (2.5, "regime changes to {}"),
    "agent": (2.0, "sub-agent {}"),
    "shift": (1.5, "{}"),
    "dream": (1.0, "dream ({})"),
}


def _mark_sentences(timeline: Timeline, marks: Iterable[Mark]) -> list[_Sentence]:
    """Return one sentence per thing that happened, however often."""
    groups: dict[tuple[str, str, str], list[Mark]] = {}
    for mark in marks:
        if mark.kind in _SENTENCES:
            groups.setdefault((mark.agent, mark.kind, mark.name), []).append(mark)
    return [_sentence(timeline, group) for group in groups.values()]


def _sentence(timeline: Timeline, group: list[Mark]) -> _Sentence:
    first = group[0]
    name = METHOD_WORDS.get(first.name, f"speaks: {first.name}") if first.kind == "method" else first.name
    name = firing_words(name) if first.kind == "signal" else name
    weight, sentence = _SENTENCES[first.kind]
    words = sentence.format(one_line(name).replace("_", " "))
    if len(group) > 1:
        words += f", {len(group)} times"
    if first.kind == "signal":
        words += f", at most {fraction(max(mark.weight for mark in group))} over its threshold"
    return _Sentence(weight, first.place, _mark_line(timeline, first, words))


def _mark_line(timeline: Timeline, mark: Mark, words: str) -> str:
    who = "" if mark.agent == MAIN else f"{one_line(mark.agent)}: "
    return f"{short_clock(mark.at - timeline.time_of(1))} {who}{words}"


def _passages(timeline: Timeline, marks: Iterable[Mark], start: int, stop: int) -> Iterator[_Sentence]:
    """Return the state each agent stayed in longest."""
    states: dict[str, list[Mark]] = {}
    for mark in marks:
        if mark.kind == "state":
            if mark.agent not in states:
                earlier = timeline.marks.before(start, {"state"}, mark.agent)
                states[mark.agent] = [earlier._replace(place=start, at=timeline.time_of(start))] if earlier else []
            states[mark.agent].append(mark)
    for passage in states.values():
        ends = [*(mark.at for mark in passage[1:]), timeline.time_of(stop)]
        lasted = [max(0.0, end - mark.at) for mark, end in zip(passage, ends, strict=True)]
        longest = max(range(len(passage)), key=lambda place: lasted[place])
        words = f"{passage[longest].name} for {short_clock(lasted[longest])}"
        if len(passage) > 1:
            words += f", the longest of {len(passage)} states"
        yield _Sentence(3.5, passage[longest].place, _mark_line(timeline, passage[longest], words))


def _peak_sentences(timeline: Timeline, start: int, stop: int) -> Iterator[_Sentence]:
    """Return where each axis was highest."""
    track = timeline.tracks.get(MAIN)
    if track is None:
        return
    first, last = bisect_left(track.indexes, start), bisect_left(track.indexes, stop)
    for axis in AXES if last > first else ():
        column = track.columns.column(f"axis.{axis}", first, last)
        row = int(column.argmax())
        value = float(column[row])
        if value >= _NOTABLE:
            place = track.indexes[first + row]
            moment = short_clock(timeline.events[place].at - timeline.time_of(1))
            yield _Sentence(3.0 * value, place, f"{moment} {axis} peaks at {fraction(value)}")
