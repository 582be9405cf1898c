"""A session's summary, one moment of it, and two moments, as pages of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from core.engine.mind.readings import MindReading
from core.engine.percept import AXES, spell_name
from core.engine.society.engine import Frame
from core.events import MAIN, Compaction, Event, Prompt, ToolUse, Turn
from core.report.analysis import AgentSummary, Summary
from core.report.compaction import lines
from core.report.event_words import firing_words, task_words
from core.report.formatting import bar, clock, count, fraction, moment, money, plain, share, short, span
from core.report.story import STORY_WORDS

_LABEL = 10
_FIRST = 4
_AGENTS = 12
_INTERVENTIONS = 12


def summary_text(summary: Summary, width: int = 100) -> str:
    """Return the whole report of one session."""
    lines = [_title(summary, width)]
    for label, rows in (
        ("when", _when(summary)),
        *((name, [plain(line, width) for line in answers]) for name, answers in summary.story.sections()),
        ("outcome", [plain(line, width) for line in summary.outcome.lines()]),
        ("tool uses", _tool_uses(summary)),
        ("facts", summary.facts.sentences if summary.facts else ()),
        ("outlook", summary.outlook.sentences_beside(summary.story.status) if summary.outlook else ()),
        ("patterns", [_shares(summary.patterns)]),
        ("states", [_shares(summary.states)]),
        ("regimes", [_shares(summary.regimes)]),
        ("peaks", _peaks(summary)),
        ("signals", _signal_lines(summary)),
        ("loops", _loops(summary, width)),
        ("response", _interventions(summary, width)),
        ("governor", _governor(summary)),
        ("affect", _affect(summary)),
        ("sleep", _sleep_lines(summary)),
        ("kept", _preserved(summary, width)),
        ("paths", _paths(summary, width)),
        ("agents", _agents(summary)),
        ("tokens", _tokens(summary)),
        ("faults", _faults(summary, width)),
    ):
        for number, row in enumerate(row for row in rows if row):
            lines.append(f"  {label if number == 0 else '':<{_LABEL}}{row}".rstrip())
    return "\n".join(lines)


def _title(summary: Summary, width: int) -> str:
    name = Path(summary.project).name if summary.project else ""
    model = plain(summary.models[0], 40) if summary.models else ""
    if len(summary.models) > 1:
        model += f" +{len(summary.models) - 1}"
    parts = [summary.agent or "unknown agent", plain(name, 40), model]
    title = " · ".join(part for part in parts if part)
    return f"{title}  {plain(summary.id, max(8, width - len(title) - 2))}"


def _when(summary: Summary) -> Iterator[str]:
    if summary.started is None or summary.ended is None:
        yield "no events"
        return
    lasted = summary.ended - summary.started
    if summary.synthetic_time:
        yield f"the log has no times; {span(lasted)} estimated from durations"
    else:
        awake = span(min(summary.active, lasted))
        yield f"{moment(summary.started)} UTC, {span(lasted)}, {awake} of it active"


def _tool_uses(summary: Summary) -> Iterator[str]:
    outcomes = ", ".join(f"{number} {STORY_WORDS['outcomes'][name]}" for name, number in summary.outcomes.items())
    yield f"{summary.tool_uses:,}" + (f": {outcomes}" if outcomes else "")
    yield ", ".join(f"{task_words(name)} {number}" for name, number in summary.actions.items())
    taken_back = f" ({summary.rolled_back:,} more rolled back)" if summary.rolled_back else ""
    counts = [count(summary.prompts, "prompt") + taken_back, count(summary.turns, "turn")]
    if summary.interrupts:
        counts.append(count(summary.interrupts, "interrupt"))
    yield ", ".join(counts)


def _shares(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    return "  ".join(f"{spell_name(name)} {share(number, total)}" for name, number in counts.items())


def _peaks(summary: Summary) -> Iterator[str]:
    for axis in AXES:
        peak = summary.peaks.get(axis)
        if peak is not None and peak.value > 0:
            who = "" if peak.agent == MAIN else f"  in {plain(peak.agent, 24)}"
            yield f"{axis:<12}{_bar(peak.value)} {fraction(peak.value)}  at {_place(summary, peak.at)}{who}"


def _bar(value: float, width: int = 16) -> str:
    eighths = round(min(1.0, max(0.0, value)) * width * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (" ▏▎▍▌▋▊▉"[rest] if rest else "")).ljust(width, "·")


def _place(summary: Summary, at: float) -> str:
    return clock(at - (at if summary.started is None else summary.started))


def _signal_lines(summary: Summary) -> Iterator[str]:
    if not summary.signals:
        yield "none"
    for name, number in summary.signals.items():
        times = [_place(summary, firing.at) for firing in summary.firings if firing.name == name]
        more = f" and {number - _FIRST} more" if number > _FIRST else ""
        yield f"{firing_words(name)} x{number}  at {', '.join(times[:_FIRST])}{more}"
    if summary.shifts:
        yield f"{count(summary.shifts, 'context shift')}"


def _loops(summary: Summary, width: int) -> Iterator[str]:
    for loop in summary.loops[:_FIRST]:
        head = f"{_place(summary, loop.at)}{_agent_name(summary, loop.agent)}"
        yield f"{head}  {plain(loop.what, max(20, width - 24))}"
    yield _more(summary.loops, _FIRST)


def _more(rows: Sequence[object], listed: int) -> str:
    """Return how many rows follow those that are listed; an empty text if none do."""
    return f"and {len(rows) - listed} more" if len(rows) > listed else ""


def _interventions(summary: Summary, width: int) -> Iterator[str]:
    """Yield each intervention with time and reason; silent ones are only in the JSON."""
    visible = [each for each in summary.interventions if each.mode != "background"]
    for each in visible[:_INTERVENTIONS]:
        words = firing_words(each.method)
        head = f"{_place(summary, each.at)}{_agent_name(summary, each.agent)}  {words}"
        yield f"{head}: {plain(each.reason, max(20, width - len(head) - 14))}"
    yield _more(visible, _INTERVENTIONS)


def _agent_name(summary: Summary, agent: str) -> str:
    return "" if agent == MAIN else f"  in {_agent_names(summary)[agent]}"


def _agent_names(summary: Summary) -> dict[str, str]:
    """Return a readable name for each agent: its role if known, and its number."""
    names = {MAIN: "main"}
    for number, agent in enumerate((one for one in summary.agents if one.id != MAIN), 1):
        names[agent.id] = f"sub-agent {number}{f' ({plain(agent.role, 24)})' if agent.role else ''}"
    return names


def _governor(summary: Summary) -> Iterator[str]:
    verdict = "would not halt" if not summary.halts else f"would halt {count(len(summary.halts), 'time')}"
    yield f"{count(summary.episodes, 'episode')}, {verdict}"
    for halt in summary.halts[:_FIRST]:
        who = _agent_name(summary, halt.agent).replace("  ", " ")
        yield f"{halt.reason} at {_place(summary, halt.at)}, step {halt.step}{who}"
    yield _more(summary.halts, _FIRST)


def _affect(summary: Summary) -> Iterator[str]:
    names = _agent_names(summary)
    for each in summary.quarantines[:_FIRST]:
        ended = "the end" if each.ended is None else _place(summary, each.ended)
        yield f"quarantined from {_place(summary, each.began)} to {ended} ({names[each.agent]})"


def _sleep_lines(summary: Summary) -> Iterator[str]:
    yield f"pressure up to {100 * summary.sleep_peak:.0f}%, {count(summary.dreams, 'dream')}"
    if summary.compacted_at:
        places = ", ".join(_place(summary, at) for at in summary.compacted_at[:_FIRST])
        more = f" and {summary.compactions - _FIRST} more" if summary.compactions > _FIRST else ""
        yield f"{count(summary.compactions, 'compaction')} at {places}{more}"


def _preserved(summary: Summary, width: int) -> Iterator[str]:
    """Yield what must have survived the last compaction."""
    for preserved in summary.preserved[-1:]:
        for line in lines(preserved):
            yield plain(line, width - 14)


def _paths(summary: Summary, width: int) -> Iterator[str]:
    for leaf in summary.paths[:6]:
        yield f"{leaf.count:>4}  read {leaf.opened}, edited {leaf.modified}  {plain(leaf.path, width - 40)}"


def _agents(summary: Summary) -> Iterator[str]:
    if summary.subagents == 0:
        return
    children: dict[str | None, list[AgentSummary]] = {}
    for agent in summary.agents:
        children.setdefault(agent.parent, []).append(agent)
    yield from islice(_tree(children, _agent_names(summary)), _AGENTS)
    if len(summary.agents) > _AGENTS:
        yield _more(summary.agents, _AGENTS)


def _tree(children: dict[str | None, list[AgentSummary]], names: dict[str, str]) -> Iterator[str]:
    """Yield one row per agent, sub-agents below their parent."""
    waiting = [(agent, "", "") for agent in reversed(children.pop(None, []))]
    while waiting:
        agent, branch, deeper = waiting.pop()
        failed = f", {agent.failures} failed" if agent.failures else ""
        yield f"{branch}{names[agent.id]}: {count(agent.tool_uses, 'tool use')}{failed}"
        below = children.pop(agent.id, [])
        for number, under in enumerate(reversed(below)):
            waiting.append((under, deeper + ("├ " if number else "└ "), deeper + ("│ " if number else "  ")))


def _tokens(summary: Summary) -> Iterator[str]:
    tokens = summary.tokens
    if not summary.turns:
        yield "tokens and cost unknown: not in the log"
        return
    if not tokens.input + tokens.output + tokens.cache_read + tokens.cache_write:
        yield "tokens unknown: not in the log"
    else:
        cached = f"{short(tokens.cache_read)} read from cache, {short(tokens.cache_write)} cached"
        yield f"{short(tokens.input)} sent, {short(tokens.output)} written, {cached}"
    if tokens.context_peak:
        window = f" of {short(tokens.context_window)}" if tokens.context_window else ""
        yield f"context up to {short(tokens.context_peak)}{window}"
    priced = summary.turns - tokens.unpriced
    missing = f", {count(tokens.unpriced, 'turn')} of unknown price" if tokens.unpriced and priced else ""
    yield f"cost {money(tokens.cost or 0.0, priced, tokens.unpriced)}{missing}"


def _faults(summary: Summary, width: int) -> Iterator[str]:
    for reason, number in summary.skipped.reasons.items():
        yield f"{number} x {plain(reason, width - 24)}"
    for first in summary.skipped.first[:3]:
        yield plain(first, width - 14)


_SAME = 0.001  # Figures that differ by no more than this count as equal.
_RISING = 0.02  # Change of an axis that is drawn as a trend.
_MOVED = 0.05  # Distance from its rest at which an affect field is listed.
_READING_WIDTH = 25
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
        yield from ("", model, *(f"  {label:<{_READING_WIDTH}}{text}" for _, label, text in rows))


def difference_page(before: Frame, after: Frame) -> list[str]:
    """Return the readings of the page that differ between two moments; empty if none does."""
    lines = []
    for old, new in zip(before.receptor.axes, after.receptor.axes, strict=True):
        change = new.value - old.value
        firing = "" if old.firing == new.firing else "  began to fire" if new.firing else "  stopped firing"
        if abs(change) >= 0.005 or firing:
            words = f"{fraction(old.value)} → {fraction(new.value)} {'▲' if change > 0 else '▼'}{firing}"
            lines.append(f"{old.axis:<{_READING_WIDTH + 2}}{words}")
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
    changed = (name for name in old | new if name not in old or name not in new or not _equal(old[name], new[name]))
    return [{"name": name, "before": old.get(name), "after": new.get(name)} for name in changed]


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
    gate = "muted by the flow gate" if frame.receptor.gate.firing else "not muted"
    yield "Mind", "advice", "muted: the agent is in flow" if frame.story.flowing else gate
    yield "Mind", "pattern", spell_name(frame.receptor.behaviour.short.pattern)
    yield "Mind", "regime", frame.story.regime
    sleep = mind.sleep
    mode = ", dreams are intensive" if mind.homeostasis.intensive else ""
    yield "Mind", "sleep pressure", f"{100 * sleep.pressure:.0f}%{mode}"
    if sleep.context_tokens:
        turns = f", about {count(sleep.turns_to_compaction, 'turn')} left" if sleep.turns_to_compaction else ""
        yield "Mind", "context", f"{100 * sleep.context:.0f}% of the way to compaction{turns}"
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
        yield "Governor", "would halt", governor.would_halt.removeprefix("would halt here: ").replace("_", " ")
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
    kinds = Counter(map(type, own))
    counts = {"prompt": kinds[Prompt], "answer": kinds[Turn], "call": len(calls), "failure": failures, "edit": edits}
    counts["compaction"] = kinds[Compaction]
    return ", ".join(count(number, noun) for noun, number in counts.items() if number) or "nothing"
