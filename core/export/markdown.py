"""A session as a report that one person sends to another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

from core.agents.words import first_line, telling_line
from core.events import MAIN, Prompt, ToolUse
from core.export.film import ExportedSession
from core.export.html import page_title
from core.logs.event_redaction import one_line
from core.percept import AXES
from core.report.formatting import times
from core.report.recap import figure, short_clock, token_amount
from core.report.troubles import Trouble, troubles

_PROMPTS = 12
_FILES = 15
_TROUBLES = 12
_SAID = 600
_LINE = 200
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~&$]|:(?=//)|(?<=www)\.|@)")
"""Signs that would make a link, a table cell, an element or emphasis of a log's text."""
_NOTABLE = 0.3


def report(film: ExportedSession) -> str:
    """The whole report, in Markdown that shows no text of the log as markup."""
    sections = (
        ("", _head(film)),
        ("What was asked", _asked(film)),
        ("What was done", _done(film)),
        ("What failed", _failed(film)),
        ("How it ended", _ended(film)),
        ("Figures", _figures(film)),
    )
    lines: list[str] = [f"# {said(page_title(film), 120)}", ""]
    for name, rows in sections:
        if name:
            lines += [f"## {name}", ""]
        lines += [*rows, ""]
    return "\n".join(lines).rstrip() + "\n"


def said(text: str, most: int = _LINE) -> str:
    """Text from a log in one line, none of it markup."""
    return _MARKUP.sub(r"\\\1", one_line(text, most))


def _head(film: ExportedSession) -> Iterator[str]:
    summary = film.summary
    if summary.started is None or summary.ended is None:
        yield "No events."
        return
    length = short_clock(summary.ended - summary.started)
    if summary.synthetic_time:
        yield f"The log holds no times; {length} made up from durations."
    else:
        began = datetime.fromtimestamp(summary.started, UTC).strftime("%Y-%m-%d %H:%M")
        yield f"{began} UTC, {length} long, {short_clock(summary.active)} of it active."
    failed = summary.outcomes.get("failure", 0)
    yield (
        f"{_count(summary.prompts, 'prompt')}, {_count(summary.tool_uses, 'call')}, {failed:,} failed. "
        f"It ended: **{film.ending.word}**."
    )


def _asked(film: ExportedSession) -> Iterator[str]:
    asked = [
        (event, moment)
        for event, moment in zip(film.events, film.moments, strict=True)
        if isinstance(event, Prompt) and event.agent == MAIN
    ]
    if not asked:
        yield "The log holds no prompt."
    for number, (event, moment) in enumerate(asked[:_PROMPTS], 1):
        when = _when(film, moment.at)
        if event.interrupt:
            yield f"{number}. {when} the person stopped it"
        elif moment.spoken.text:
            yield f"{number}. {when} {said(' '.join(moment.spoken.text.split()), _SAID)}"
        else:
            yield f"{number}. {when} {event.characters:,} characters"
    if len(asked) > _PROMPTS:
        yield f"\nand {len(asked) - _PROMPTS:,} more."


def _done(film: ExportedSession) -> Iterator[str]:
    actions = film.summary.actions
    if not actions:
        yield "No tool was used."
        return
    yield ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in actions.items()) + "."
    edited: Counter[str] = Counter()
    read: Counter[str] = Counter()
    for event in film.events:
        if isinstance(event, ToolUse) and event.outcome in ("success", "empty"):
            if event.action == "file_edit":
                edited.update(event.targets)
            elif event.action == "file_read":
                read.update(event.targets)
    if edited:
        yield ""
        yield "| file | edits | reads |"
        yield "|---|---:|---:|"
        for path, number in edited.most_common(_FILES):
            yield f"| {said(film.privacy.path(path))} | {number} | {read.get(path, 0)} |"
        if len(edited) > _FILES:
            yield f"\nand {len(edited) - _FILES:,} more files."
    checks = [e for e in film.events if isinstance(e, ToolUse) and e.purpose in ("test", "build", "commit")]
    if checks:
        told = Counter((check.purpose, check.outcome) for check in checks)
        yield ""
        yield (
            "Checks: " + ", ".join(f"{purpose} {outcome} {n}" for (purpose, outcome), n in told.items()) + "."
        )


def _failed(film: ExportedSession) -> Iterator[str]:
    found = troubles(film.events)
    if not found:
        yield "No call failed."
        return
    found.sort(key=lambda trouble: (trouble.solved is not None, -trouble.failures, trouble.first))
    for trouble in found[:_TROUBLES]:
        yield from _trouble(film, trouble)
    if len(found) > _TROUBLES:
        rest = found[_TROUBLES:]
        open_ = sum(trouble.solved is None for trouble in rest)
        yield f"- and {len(rest):,} more, {open_:,} of them not seen to work again"


def _trouble(film: ExportedSession, trouble: Trouble) -> Iterator[str]:
    moment = film.moments[trouble.last]
    command = first_line(moment.spoken.text)
    what = said(moment.what) + (f": {said(command)}" if command else "")
    yield f"- {_when(film, film.moments[trouble.first].at)} {what} failed {times(trouble.failures)}"
    error = telling_line(moment.spoken.result)
    if error:
        yield f"  - the error: {said(error)}"
    if trouble.solved is None:
        yield "  - **not seen to work again** in this session"
        return
    edits = ", ".join(said(film.privacy.path(path), 80) for path in trouble.edits[:4])
    more = f" and {len(trouble.edits) - 4} more" if len(trouble.edits) > 4 else ""
    after = f" after edits of {edits}{more}" if edits else ", with no edit in between"
    yield f"  - worked at {short_clock(film.moments[trouble.solved].at - _start(film))}{after}"


def _ended(film: ExportedSession) -> Iterator[str]:
    why = said(film.ending.why)
    yield f"**{film.ending.word}**" + (f": {why}." if why else ".")
    last = next((m for m in reversed(film.moments) if m.kind == "turn" and m.spoken.text), None)
    if last is not None:
        yield ""
        yield f"> “{said(' '.join(last.spoken.text.split()), _SAID)}”"


def _figures(film: ExportedSession) -> Iterator[str]:
    summary = film.summary
    tokens = summary.tokens
    rows: list[tuple[str, str]] = [("cost", _cost(film))]
    if summary.turns:
        rows.append(
            (
                "tokens",
                f"{token_amount(tokens.input)} sent, {token_amount(tokens.output)} written, "
                f"{token_amount(tokens.cache_read)} read from cache, "
                f"{token_amount(tokens.cache_write)} cached",
            )
        )
    if tokens.context_peak:
        rows.append(
            (
                "fullest context",
                f"{token_amount(tokens.context_peak)} of {token_amount(tokens.context_window)}",
            )
        )
    rows.append(("calls", ", ".join(f"{n:,} {name}" for name, n in summary.outcomes.items()) or "none"))
    rows.append(("compactions", f"{summary.compactions}"))
    if summary.subagents:
        rows.append(("sub-agents", f"{summary.subagents}"))
    signals = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in summary.signals.items())
    rows.append(("signals", signals or "none"))
    peaks = [
        f"{axis} {figure(peak.value)} at {short_clock(peak.at - _start(film))}"
        for axis in AXES
        if (peak := summary.peaks.get(axis)) is not None and peak.value >= _NOTABLE
    ]
    rows.append(("strongest readings", ", ".join(peaks) or f"none above {figure(_NOTABLE)}"))
    rows.append(("loops", f"{len(summary.loops)}"))
    rows.append(("would halt", times(len(summary.halts)) if summary.halts else "never"))
    yield "| | |"
    yield "|---|---|"
    for name, value in rows:
        yield f"| {name} | {value} |"


def _cost(film: ExportedSession) -> str:
    tokens = film.summary.tokens
    if tokens.cost is None:
        return "unknown"
    return f"at least ${tokens.cost:.2f}" if tokens.unpriced else f"${tokens.cost:.2f}"


def _start(film: ExportedSession) -> float:
    return film.moments[0].at if film.moments else 0.0


def _when(film: ExportedSession, at: float) -> str:
    return f"`{short_clock(at - _start(film))}`"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
