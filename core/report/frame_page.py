"""One moment of a session as a page, and two moments as the readings that differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

from core.engine.mind import MindReading
from core.engine.society.engine import Frame
from core.events import Compaction, Event, Prompt, ToolUse, Turn
from core.report.formatting import bar, count, fraction, short, span

_SAME = 0.001  # Figures that differ by no more than this count as equal.
_RISING = 0.02  # Change of an axis that is drawn as a trend.
_MOVED = 0.05  # Distance from its rest at which an affect field is listed.
_LABEL = 25
_LESSONS = 3  # Lines of the playbook on the page.


def frame_page(frame: Frame) -> list[str]:
    """Return the readings of one moment: the axes as a table, then each model by its name."""
    lines = [f"{'axis':<12} {'':<12} {'value':>6} {'fires at':>9} {'normal':>7}"]
    for axis in frame.receptor.axes:
        trend = "▲" if axis.trend > _RISING else "▼" if axis.trend < -_RISING else " "
        firing = "fires" if axis.firing and not axis.held else "held" if axis.held else ""
        figures = f"{fraction(axis.value):>6} {fraction(axis.threshold):>9} {fraction(axis.baseline):>7}"
        lines.append(f"{axis.axis:<12} {bar(axis.value, 12)} {figures} {trend} {firing}".rstrip())
    return [*lines, *_by_model((*_readings(frame), *_affect_readings(frame, moved=_MOVED)))]


def _by_model(readings: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Yield a line for each reading, below the name of its model."""
    for model, rows in groupby(readings, key=itemgetter(0)):
        yield from ("", model, *(f"  {label:<{_LABEL}}{text}" for _, label, text in rows))


def difference_page(before: Frame, after: Frame) -> list[str]:
    """Return the readings of the page that differ between two moments; empty if none does."""
    lines = []
    for old, new in zip(before.receptor.axes, after.receptor.axes, strict=True):
        change = new.value - old.value
        firing = "" if old.firing == new.firing else "  began to fire" if new.firing else "  stopped firing"
        if abs(change) >= 0.005 or firing:
            sign = "▲" if change > 0 else "▼"
            lines.append(f"{old.axis:<{_LABEL + 2}}{fraction(old.value)} → {fraction(new.value)} {sign}{firing}")
    earlier, later = (
        {(name, label): text for name, label, text in (*_readings(one), *_affect_readings(one, moved=0.0))}
        for one in (before, after)
    )
    both = {key: (earlier.get(key, "none"), later.get(key, "none")) for key in later | earlier}
    changed = ((*key, f"{old_text} → {new_text}") for key, (old_text, new_text) in both.items() if old_text != new_text)
    lines += _by_model(changed)
    return lines[1:] if lines[:1] == [""] else lines


def difference(before: Frame, after: Frame) -> list[dict[str, Any]]:
    """Return every reading that differs, by its full name."""
    old = dict(_leaves(msgspec.to_builtins(before), ""))
    new = dict(_leaves(msgspec.to_builtins(after), ""))
    return [
        {"name": name, "before": old.get(name), "after": new.get(name)}
        for name in [*old, *(name for name in new if name not in old)]
        if name not in old or name not in new or not _equal(old[name], new[name])
    ]


def _tick_readings(mind: MindReading) -> Iterator[tuple[str, str, str]]:
    """Yield whether the agent executes, the nine steps of the last tick, and the playbook."""
    if not mind.executing:
        yield "Mind", "mode", "not executing: commands fail and no confidence is left"
    for number, (step, did) in enumerate(mind.heartbeat, 1):
        yield "Last tick", f"{number} {step}", did
    for number, line in enumerate(mind.playbook[:_LESSONS], 1):
        yield "Playbook of this project", f"line {number}", line


def _readings(frame: Frame) -> Iterator[tuple[str, str, str]]:
    """Yield model, label and text of each reading a person can use."""
    mind, governor, response = frame.mind, frame.governor, frame.response
    yield "Mind", "state", frame.story.state.replace("_", " ")
    yield "Mind", "advice", "muted: the agent is in flow" if frame.story.flowing else "not muted"
    yield "Mind", "pattern", frame.receptor.behaviour.short.pattern.replace("_", " ")
    yield "Mind", "regime", frame.story.regime
    sleep = mind.sleep
    yield "Mind", "sleep pressure", f"{100 * sleep.pressure:.0f} %"
    if sleep.context_tokens:
        turns = f", about {count(sleep.turns_to_compaction, 'turn')} left" if sleep.turns_to_compaction else ""
        yield "Mind", "context", f"{100 * sleep.context:.0f} % of the way to compaction{turns}"
    if sleep.compactions:
        yield "Mind", "compactions", str(sleep.compactions)
    if mind.tiers.total_tokens:
        yield "Mind", "tokens", short(mind.tiers.total_tokens)
    if mind.salience:
        top = mind.salience[0]
        yield "Mind", "draws attention", f"{top.what} ({fraction(top.score)}, {span(top.age)} ago)"
    yield from _tick_readings(mind)
    yield "Governor", "state", frame.story.governor
    yield "Governor", "steps", f"{governor.step} since the prompt, {governor.stagnant} without progress"
    for name, budget in zip(governor.budgets._fields, governor.budgets, strict=True):
        yield "Governor", f"{name} budget", fraction(budget)
    if governor.would_halt:
        yield "Governor", "would halt", governor.would_halt.replace("_", " ")
    if response.loops.current is not None:
        yield "Response", "loop", response.loops.current.what
    yield "Response", "pressure to ask you", f"{fraction(response.pressure)} (asks at {fraction(response.asks_at)})"


def _affect_readings(frame: Frame, *, moved: float) -> Iterator[tuple[str, str, str]]:
    """Yield the fields of affect that are at least so far from rest."""
    for field in frame.affect.fields:
        if abs(field.magnitude - field.rest) >= moved:
            figures = f"{fraction(field.magnitude)} (rests at {fraction(field.rest)})"
            yield "Affect", field.name.replace("_", " "), figures
    if frame.affect.quarantined:
        yield "Affect", "quarantined", "yes: too volatile to be used"


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for number, item in enumerate(value):
            yield from _leaves(item, f"{name}[{_label(item, number)}]")
    else:
        yield name, value


def _label(item: Any, number: int) -> str:
    """Return a row's own name, so that rows that move are still compared, else its number."""
    if isinstance(item, Mapping):
        for key in ("axis", "name", "field", "path", "id"):
            if isinstance(item.get(key), str | int):
                return str(item[key])
    return str(number)


def _equal(old: Any, new: Any) -> bool:
    if isinstance(old, float) and isinstance(new, float):
        return abs(old - new) <= _SAME
    return bool(old == new)


def between(events: Sequence[Event], agent: str) -> str:
    """Count what one agent did in a stretch of events."""
    own = [event for event in events if event.agent == agent]
    calls = [event for event in own if isinstance(event, ToolUse)]
    failures = sum(call.outcome == "failure" for call in calls)
    edits = sum(call.action == "file_edit" and call.outcome == "success" for call in calls)
    counts = (
        (sum(isinstance(event, Prompt) for event in own), "prompt"),
        (sum(isinstance(event, Turn) for event in own), "answer"),
        (len(calls), "call"),
        (failures, "failure"),
        (edits, "edit"),
        (sum(isinstance(event, Compaction) for event in own), "compaction"),
    )
    return ", ".join(count(number, noun) for number, noun in counts if number) or "nothing"
