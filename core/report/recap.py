"""A moment, or the events between two, in a few lines from the model's readings."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from core.engine.percept import AXES
from core.engine.receptor.readings import HeatmapReading, NodeReading
from core.engine.society.engine import Frame
from core.events import MAIN, AgentStart, Compaction, Event, Prompt, ToolUse, Turn
from core.logs.redact.values import one_line
from core.report.event_words import METHOD_WORDS, firing_words
from core.report.formatting import fraction
from core.timeline.marks import Mark
from core.timeline.timeline import Timeline

_LETTERS_A_TOKEN = 4
_NOTABLE = 0.3  # A peak below this is not worth a sentence.
_HALF = 0.5


def short_clock(seconds: float) -> str:
    """A length of time as 1:02:03."""
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def token_amount(tokens: int) -> str:
    """A number of tokens as 148k."""
    return str(tokens) if tokens < 1000 else f"{tokens / 1000:.3g}k" if tokens < 1e6 else f"{tokens / 1e6:.3g}M"


def token_estimate(text: str) -> int:
    """About how many tokens a text takes."""
    return -(-len(text) // _LETTERS_A_TOKEN)


class Centre(NamedTuple):
    """The branch of the paths where most of the work is."""

    path: str
    share: float  # Of all heat.


def hottest_branch(heatmap: HeatmapReading) -> Centre | None:
    """Return the deepest folder that still has at least half of the heat."""
    total = sum(node.heat for node in heatmap.tree)
    if total <= 0:
        return None
    best = max(heatmap.tree, key=_heat)
    while best.children:
        below = max(best.children, key=_heat)
        if not below.children or below.heat < _HALF * best.heat:
            break
        best = below
    return Centre(best.path, best.heat / total)


def _heat(node: NodeReading) -> float:
    return node.heat


def frame_lines(frame: Frame) -> list[str]:
    """Return a frame in a handful of lines."""
    receptor, mind, story = frame.receptor, frame.mind, frame.story
    lines = [
        f"{one_line(frame.agent)} after {_many(frame.events, 'event')}: {story.state.replace('_', ' ')} "
        f"({receptor.behaviour.short.pattern}), regime {story.regime}, phase {story.phase}, "
        f"governor {story.governor}",
        ", ".join(
            f"{axis.axis} {fraction(axis.value)}/{fraction(axis.threshold)}{'!' if axis.firing else ''}"
            for axis in receptor.axes
        ),
    ]
    if receptor.signals:
        standing = ", ".join(
            f"{signal.name.replace('_', ' ')} {fraction(signal.intensity)}" for signal in receptor.signals
        )
        lines.append(f"signals: {standing}")
    centre = hottest_branch(receptor.heatmap)
    if centre is not None:
        lines.append(f"work in {one_line(centre.path)} ({centre.share:.0%} of it)")
    sleep = mind.sleep
    lines.append(f"context {token_amount(sleep.context_tokens)}, sleep pressure {fraction(sleep.pressure)}")
    if frame.governor.would_halt:
        lines.append(f"governor: {one_line(frame.governor.would_halt)}")
    return lines


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
    lines += [f"{_many(count, what)}{more}" for count, what, more in counted if count]
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
    return f"{_many(len(events), 'event')} in {short_clock(lasted)}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


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
    parts = [
        *_mark_sentences(timeline, marks),
        *_passages(timeline, marks, start, stop),
        *_peak_sentences(timeline, start, stop),
    ]
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
    "regime": (2.5, "regime turns to {}"),
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


def _passages(timeline: Timeline, marks: Iterable[Mark], start: int, stop: int) -> list[_Sentence]:
    """Return the state each agent stayed in longest."""
    states: dict[str, list[Mark]] = {}
    for mark in marks:
        if mark.kind == "state":
            if mark.agent not in states:
                earlier = timeline.marks.before(start, {"state"}, mark.agent)
                earlier_states = [earlier._replace(place=start, at=timeline.time_of(start))] if earlier else []
                states[mark.agent] = earlier_states
            states[mark.agent].append(mark)
    passages = []
    for passage in states.values():
        ends = [*(mark.at for mark in passage[1:]), timeline.time_of(stop)]
        lasted = [max(0.0, end - mark.at) for mark, end in zip(passage, ends, strict=True)]
        longest = max(range(len(passage)), key=lambda place: lasted[place])
        words = f"{passage[longest].name} for {short_clock(lasted[longest])}"
        if len(passage) > 1:
            words += f", the longest of {len(passage)} states"
        passages.append(_Sentence(3.5, passage[longest].place, _mark_line(timeline, passage[longest], words)))
    return passages


def _peak_sentences(timeline: Timeline, start: int, stop: int) -> list[_Sentence]:
    """Return where each axis was highest."""
    track = timeline.tracks.get(MAIN)
    if track is None:
        return []
    first, last = bisect_left(track.indexes, start), bisect_left(track.indexes, stop)
    peaks = []
    for axis in AXES if last > first else ():
        column = track.columns.column(f"axis.{axis}", first, last)
        row = int(column.argmax())
        value = float(column[row])
        if value >= _NOTABLE:
            place = track.indexes[first + row]
            moment = short_clock(timeline.events[place].at - timeline.time_of(1))
            peaks.append(_Sentence(3.0 * value, place, f"{moment} {axis} peaks at {fraction(value)}"))
    return peaks
