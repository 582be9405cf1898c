"""Export formats of a session: built-in ones, and those of installed extensions."""

from __future__ import annotations

import re
import unicodedata
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec

from core import events as kinds
from core.agents.words import Words, first_line, telling_line
from core.engine.percept import AXES
from core.export.film import ExportedSession, Moment, Spoken
from core.extension.offers import in_use
from core.live.status import GLYPHS
from core.logs.redact.values import one_line
from core.report.changes import change_line
from core.report.event_words import OUTCOME_SIGNS
from core.report.formatting import bar, count, fraction, short_clock, times, token_amount
from core.report.rollbacks import Rollbacks
from core.report.story import Trouble, troubles, weightiest

ATIF_VERSION = "ATIF-v1.7"  # The newest version whose fields are all used here; readers of v1.8 accept it.


class _Trajectory:
    """The steps of one agent."""

    def __init__(self, name: str, version: str, model: str) -> None:
        self.agent = {"name": name, "version": version} | ({"model_name": model} if model else {})
        self.steps: list[dict[str, Any]] = []
        self.children: list[str] = []
        self.refs: dict[str, dict[str, Any]] = {}

    def step(self, source: str, at: float, message: str = "", **more: Any) -> dict[str, Any]:
        """Add a step."""
        entry = {"step_id": len(self.steps) + 1, "timestamp": _iso(at), "source": source, "message": message}
        self.steps.append({**entry, **{key: value for key, value in more.items() if value}})
        return self.steps[-1]

    def document(self, every: dict[str, _Trajectory], **more: Any) -> dict[str, Any]:
        """Return the trajectory with those of its sub-agents nested."""
        if not self.steps:
            self.step("system", 0.0, "no steps are logged")
        inner = [every[name].document(every, trajectory_id=name) for name in self.children if name in every]
        content = {"schema_version": ATIF_VERSION, **more, "agent": self.agent, "steps": self.steps}
        return {**content, **({"subagent_trajectories": inner} if inner else {})}


def atif(film: ExportedSession) -> bytes:
    """Return one session as a JSON document, redacted and shortened as requested."""
    start = next((one for one in film.events if isinstance(one, kinds.SessionStart) and one.agent == kinds.MAIN), None)
    privacy = film.privacy
    tool = start.tool if start else film.summary.agent
    model = start.model if start else ""
    model = model or next((one.model for one in film.events if isinstance(one, kinds.Turn) and one.model), "")
    version = start.version if start else ""
    every = {kinds.MAIN: _Trajectory(tool or "agent", version or "unknown", privacy.name(model))}
    for event, moment in zip(film.events, film.moments, strict=True):
        agent = privacy.agent(event.agent)
        if agent not in every:
            every[agent] = _Trajectory(agent, "unknown", "")
        _add(event, agent, moment.spoken, every, film)
    facts = {"started": _iso(start.at)} if start else {}
    extra = {"cwd": privacy.name(start.project), "branch": privacy.name(start.branch)} if start else {}
    facts |= {key: value for key, value in extra.items() if value}
    document = every[kinds.MAIN].document(
        every,
        session_id=film.summary.id or "session",
        final_metrics=_final_metrics(film.events),
        **({"extra": facts} if facts else {}),
    )
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def _add(event: kinds.Event, agent: str, words: Spoken, every: dict[str, _Trajectory], film: ExportedSession) -> None:
    own = every[agent]
    match event:
        case kinds.Prompt():
            if event.interrupt:
                own.step("system", event.at, words.text, extra={"interrupt": True})
            else:
                own.step("user", event.at, words.text)
        case kinds.Turn():
            extra = {"stop_reason": event.stop} if event.stop else None
            name = film.privacy.name(event.model)
            own.step("agent", event.at, words.text, model_name=name, metrics=_metrics(event), extra=extra)
        case kinds.ToolUse():
            _call(own, event, words, film)
        case kinds.Compaction():
            managed: dict[str, Any] = {"type": "compaction", "boundary": "replace", "trigger": event.trigger}
            managed |= {"tokens_before": event.tokens_before, "tokens_after": event.tokens_after}
            own.step("system", event.at, "Context compacted.", extra={"context_management": managed})
        case kinds.AgentStart():
            _child(own, event, film.privacy.agent(event.child), every)
        case kinds.AgentEnd():
            ref = own.refs.get(film.privacy.agent(event.child))
            if ref is not None:
                ref["extra"] |= {"ended": _iso(event.at), "outcome": event.outcome}
                ref["extra"] |= {"tool_uses": event.tool_uses, "tokens": event.tokens}
        case kinds.Advice():
            own.step("system", event.at, "Advice from nooscope.", extra={"advice": event.characters})
        case kinds.Rollback():
            own.step("system", event.at, "Prompts rolled back.", extra={"rollback": event.turns})
        case kinds.SessionEnd():
            own.step("system", event.at, "Session ended.", extra={"session_end": event.reason or "ended"})


def _call(own: _Trajectory, use: kinds.ToolUse, words_of_call: Spoken, film: ExportedSession) -> None:
    step = _holder(own, use.at)
    used_ids = {one["tool_call_id"] for one in step.get("tool_calls", ())}
    name = use.id or f"call-{len(used_ids) + 1}"
    while name in used_ids:
        name += "+"
    words = film.privacy.words
    on_file = bool(use.targets) and use.action != "shell_exec"
    arguments = {"path": film.privacy.path(use.targets[0])} if on_file else {}
    if words_of_call.text:
        arguments["input" if on_file else "command"] = words_of_call.text
    call = {"tool_call_id": name, "function_name": use.tool if words else use.action, "arguments": arguments}
    began = use.at if use.duration is None else use.at - use.duration
    call["extra"] = {"timestamp": _iso(began), "action": use.action}
    step.setdefault("tool_calls", []).append(call)
    extra: dict[str, Any] = {"outcome": use.outcome, "timestamp": _iso(use.at), "size": use.size}
    extra |= {} if use.duration is None else {"duration_sec": use.duration}
    extra |= {} if use.exit_code is None else {"exit_code": use.exit_code}
    result = {"source_call_id": name, "content": words_of_call.result, "extra": extra}
    step.setdefault("observation", {"results": []})["results"].append(result)


def _holder(own: _Trajectory, at: float) -> dict[str, Any]:
    """Return the agent's last step, or a new one without a model request."""
    if own.steps and own.steps[-1]["source"] == "agent":
        return own.steps[-1]
    step = own.step("agent", at)
    step["llm_call_count"] = 0
    return step


def _child(own: _Trajectory, event: kinds.AgentStart, name: str, every: dict[str, _Trajectory]) -> None:
    if name in own.refs:
        return
    every.setdefault(name, _Trajectory(event.role or name, "unknown", ""))
    ref = {"trajectory_id": name, "extra": {"started": _iso(event.at), "role": event.role}}
    own.refs[name] = ref
    own.children.append(name)
    results = _holder(own, event.at).setdefault("observation", {"results": []})["results"]
    results.append({"subagent_trajectory_ref": [ref]})


def _metrics(turn: kinds.Turn) -> dict[str, Any]:
    sent = turn.input_tokens + turn.cache_read + turn.cache_write
    metrics: dict[str, Any] = {}
    if sent or turn.output_tokens:
        metrics = {"prompt_tokens": sent, "completion_tokens": turn.output_tokens}
        metrics |= {"cached_tokens": turn.cache_read} if turn.cache_read else {}
        more: dict[str, Any] = {"cache_write_tokens": turn.cache_write} if turn.cache_write else {}
        more |= {} if turn.cost else {"cost_usd": turn.cost}  # Unknown, or part of another step's.
        metrics |= {"extra": more} if more else {}
    return metrics | ({"cost_usd": turn.cost} if turn.cost else {})


def _final_metrics(events: Any) -> dict[str, Any]:
    turns = [one for one in events if isinstance(one, kinds.Turn)]
    return {
        "total_prompt_tokens": sum(one.input_tokens + one.cache_read + one.cache_write for one in turns),
        "total_completion_tokens": sum(one.output_tokens for one in turns),
        "total_cached_tokens": sum(one.cache_read for one in turns),
        "total_cost_usd": sum(one.cost or 0.0 for one in turns),
    }


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


VERSION = 1  # Of the data in the page.
_LINE = 240  # Characters per line of the strip at the top.
_BUDGET = 3_000_000  # Approximate characters of all text in one page.
_SIGNS = {"<": "\\u003c", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def page(film: ExportedSession) -> str:
    """The whole page."""
    style, script = _part("page.css"), _part("page.js")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": escape(page_title(film)),
        "style": style,
        "script": script,
        "data": embedded(data(film)),
    }
    pieces = _part("page.html").split("@@")
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def page_title(film: ExportedSession) -> str:
    """Return a session's title: its agent, project and model."""
    summary, privacy = film.summary, film.privacy
    project = summary.project.rstrip("/").rpartition("/")[2]
    names = (summary.agent, privacy.name(project), privacy.name(", ".join(summary.models[:2])))
    return one_line(" · ".join(name for name in names if name) or "session", 120)


def embedded(value: Any) -> str:
    """Return JSON that cannot end the HTML element or script around it."""
    text = msgspec.json.encode(value).decode()
    for sign, code in _SIGNS.items():
        text = text.replace(sign, code)
    return text


def data(film: ExportedSession) -> dict[str, Any]:
    """Return what the page shows, as columns with one entry per event."""
    moments = film.moments
    start = moments[0].at if moments else 0.0
    names = {name: _Names() for name in ("agent", "kind", "state", "regime", "outcome", "status")}
    columns = {
        "at": [round(moment.at - start, 2) for moment in moments],
        "agent": [names["agent"](moment.agent) for moment in moments],
        "kind": [names["kind"](moment.kind) for moment in moments],
        "what": [moment.what for moment in moments],
        "outcome": [names["outcome"](moment.outcome or "") for moment in moments],
        "took": [None if moment.duration is None else round(moment.duration, 2) for moment in moments],
        "axes": [[round(100 * value) for value in moment.axes] for moment in moments],
        "state": [names["state"](moment.state) for moment in moments],
        "regime": [names["regime"](moment.regime) for moment in moments],
        "status": [names["status"](f"{one.status.word}\t{one_line(one.status.why, 200)}") for one in moments],
        "level": [moment.status.level for moment in moments],
        "context": [round(100 * moment.context) for moment in moments],
        "cost": [round(moment.cost, 4) for moment in moments],
        "line": [_line(moment) for moment in moments],
        "asked": [moment.asked for moment in moments],
    }
    return {
        "version": VERSION,
        "title": page_title(film),
        "started": start,
        "madeUp": film.summary.synthetic_time,
        "priced": film.summary.tokens.cost is not None,
        "unpriced": film.summary.tokens.unpriced,
        "level": film.privacy.level,
        "axisNames": AXES,
        "glyphs": GLYPHS,
        "outcome": film.summary.outcome.lines(),
        "ending": [film.ending.word, one_line(film.ending.reason, 200)],
        "names": {name: one.names for name, one in names.items()},
        "columns": columns,
        "marks": [[mark.place, mark.kind, one_line(mark.name, 80)] for mark in film.marks],
        "words": _words(moments) if film.privacy.level == "transcript" else None,
    }


class _Names:
    """Numbers names in order of appearance."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        number = self._numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number


def _line(moment: Moment) -> list[str]:
    """Return an event's text or command as a line, and the error of a failure."""
    text = one_line(first_line(moment.spoken.text), _LINE)
    if moment.outcome != "failure":
        return [text] if text else []
    return [text, one_line(telling_line(moment.spoken.result), _LINE)]


def _words(moments: Sequence[Moment]) -> list[list[str]]:
    """Return all text, shortened evenly if it is too much for one page."""
    total = sum(len(embedded(moment.spoken)) for moment in moments)
    share = min(1.0, _BUDGET / total) if total else 1.0
    rows = []
    for moment in moments:
        texts = [_cut_text(text, share) for text in moment.spoken]
        rows.append(texts if texts[1] else texts[:1] if texts[0] else [])
    return rows


def _cut_text(text: str, share: float) -> str:
    clean = "".join(letter if letter.isprintable() or letter in "\n\t" else " " for letter in text)
    most = int(len(clean) * share)
    return clean if share == 1.0 or len(clean) <= 200 else clean[: max(200, most)] + "…"


def _part(name: str) -> str:
    return files("core.export").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


_PROMPTS = 12
_FILES = 15
_TROUBLES = 12
_SAID = 600
_LINE_WIDTH = 200
# Characters that Markdown would read as markup.
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~&$]|:(?=//)|(?<=www)\.|@)")
_NOTABLE = 0.3


def report(film: ExportedSession) -> str:
    """Return the whole report in Markdown; log text is never markup."""
    sections = (
        ("", _head(film)),
        ("What was asked", _prompts_part(film)),
        ("What was done", _work_part(film)),
        ("What failed", _failures_part(film)),
        ("How it ended", _ended(film)),
        *([("What came of it", _outcome(film))] if film.summary.outcome.lines() else []),
        ("Figures", _figures(film)),
    )
    lines: list[str] = [f"# {markdown_line(page_title(film), 120)}", ""]
    for name, rows in sections:
        if name:
            lines += [f"## {name}", ""]
        lines += [*rows, ""]
    return "\n".join(lines).rstrip() + "\n"


def markdown_line(text: str, most: int = _LINE_WIDTH) -> str:
    """Return log text as one line with all markup escaped."""
    return _MARKUP.sub(r"\\\1", one_line(text, most))


def _head(film: ExportedSession) -> Iterator[str]:
    summary = film.summary
    if summary.started is None or summary.ended is None:
        yield "No events."
        return
    length = short_clock(summary.ended - summary.started)
    if summary.synthetic_time:
        yield f"The log has no times; {length} estimated from durations."
    else:
        began = datetime.fromtimestamp(summary.started, UTC).strftime("%Y-%m-%d %H:%M")
        yield f"{began} UTC, {length} long, {short_clock(summary.active)} of it active."
    failed = summary.outcomes.get("failure", 0)
    counts = f"{count(summary.prompts, 'prompt')}, {count(summary.tool_uses, 'call')}, {failed:,} failed"
    yield f"{counts}. It ended: **{film.ending.word}**."


def _prompts_part(film: ExportedSession) -> Iterator[str]:
    rollbacks = Rollbacks()
    rollbacks.grow(film.events)
    prompts = [
        (event, moment, ", rolled back" if place in rollbacks.dropped else "")
        for place, (event, moment) in enumerate(zip(film.events, film.moments, strict=True))
        if isinstance(event, kinds.Prompt) and event.agent == kinds.MAIN
    ]
    if not prompts:
        yield "The log has no prompt."
    for number, (event, moment, fate) in enumerate(prompts[:_PROMPTS], 1):
        when = _when(film, moment.at)
        if event.interrupt:
            yield f"{number}. {when} the person stopped it"
        elif moment.spoken.text:
            yield f"{number}. {when} {markdown_line(' '.join(moment.spoken.text.split()), _SAID)}{fate}"
        else:
            yield f"{number}. {when} {event.characters:,} characters{fate}"
    if len(prompts) > _PROMPTS:
        yield f"\nand {len(prompts) - _PROMPTS:,} more."


def _work_part(film: ExportedSession) -> Iterator[str]:
    actions = film.summary.actions
    if not actions:
        yield "No tool was used."
        return
    yield ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in actions.items()) + "."
    edited: Counter[str] = Counter()
    read: Counter[str] = Counter()
    for event in film.events:
        if isinstance(event, kinds.ToolUse) and event.outcome in ("success", "empty"):
            if event.action == "file_edit":
                edited.update(event.targets)
            elif event.action == "file_read":
                read.update(event.targets)
    if edited:
        yield ""
        yield "| file | edits | reads |"
        yield "|---|---:|---:|"
        for path, number in edited.most_common(_FILES):
            yield f"| {markdown_line(film.privacy.path(path))} | {number} | {read.get(path, 0)} |"
        if len(edited) > _FILES:
            yield f"\nand {len(edited) - _FILES:,} more files."
    checks = [e for e in film.events if isinstance(e, kinds.ToolUse) and e.purpose in ("test", "build", "commit")]
    if checks:
        counts = Counter((check.purpose, check.outcome) for check in checks)
        yield ""
        yield ("Checks: " + ", ".join(f"{purpose} {outcome} {n}" for (purpose, outcome), n in counts.items()) + ".")


def _failures_part(film: ExportedSession) -> Iterator[str]:
    commands = {id(one): Words(command=of.spoken.text) for one, of in zip(film.events, film.moments, strict=True)}
    problems = weightiest(troubles(film.events, lambda event: commands[id(event)]))
    if not problems:
        yield "No call failed."
        return
    for trouble in problems[:_TROUBLES]:
        yield from _trouble(film, trouble)
    if len(problems) > _TROUBLES:
        rest = problems[_TROUBLES:]
        open_ = sum(trouble.solved is None for trouble in rest)
        yield f"- and {len(rest):,} more, {open_:,} of them never succeeded afterwards"


def _trouble(film: ExportedSession, trouble: Trouble) -> Iterator[str]:
    moment = film.moments[trouble.last]
    command = first_line(moment.spoken.text)
    what = markdown_line(moment.what) + (f": {markdown_line(command)}" if command else "")
    yield f"- {_when(film, film.moments[trouble.first].at)} {what} failed {times(trouble.failures)}"
    error = telling_line(moment.spoken.result)
    if error:
        yield f"  - the error: {markdown_line(error)}"
    if trouble.solved is None:
        yield "  - **never succeeded afterwards** in this session"
        return
    edits = ", ".join(markdown_line(film.privacy.path(path), 80) for path in trouble.edits[:4])
    more = f" and {len(trouble.edits) - 4} more" if len(trouble.edits) > 4 else ""
    after = f" after edits of {edits}{more}" if edits else ", with no edit in between"
    yield f"  - worked at {short_clock(film.moments[trouble.solved].at - _start(film))}{after}"


def _ended(film: ExportedSession) -> Iterator[str]:
    why = markdown_line(film.ending.reason)
    yield f"**{film.ending.word}**" + (f": {why}." if why else ".")
    last = next((m for m in reversed(film.moments) if m.kind == "turn" and m.spoken.text), None)
    if last is not None:
        yield ""
        yield f"> “{markdown_line(' '.join(last.spoken.text.split()), _SAID)}”"


def _outcome(film: ExportedSession) -> Iterator[str]:
    for line in film.summary.outcome.lines():
        yield f"- {markdown_line(line)}"
    for change in film.summary.outcome.changes:
        yield f"  - {markdown_line(change_line(msgspec.structs.replace(change, path=film.privacy.path(change.path))))}"


def _figures(film: ExportedSession) -> Iterator[str]:
    summary = film.summary
    tokens = summary.tokens
    rows: list[tuple[str, str]] = [("cost", _cost(film))]
    if summary.turns:
        amounts = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)
        pairs = zip(map(token_amount, amounts), ("sent", "written", "read from cache", "cached"), strict=True)
        rows.append(("tokens", ", ".join(map(" ".join, pairs))))
    if tokens.context_peak:
        fullest = f"{token_amount(tokens.context_peak)} of {token_amount(tokens.context_window)}"
        rows.append(("fullest context", fullest))
    rows.append(("calls", ", ".join(f"{n:,} {name}" for name, n in summary.outcomes.items()) or "none"))
    rows.append(("compactions", f"{summary.compactions}"))
    if summary.subagents:
        rows.append(("sub-agents", f"{summary.subagents}"))
    signals = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in summary.signals.items())
    rows.append(("signals", signals or "none"))
    peaks = [
        f"{axis} {fraction(peak.value)} at {short_clock(peak.at - _start(film))}"
        for axis in AXES
        if (peak := summary.peaks.get(axis)) is not None and peak.value >= _NOTABLE
    ]
    rows.append(("strongest readings", ", ".join(peaks) or f"none above {fraction(_NOTABLE)}"))
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


WIDTH = 100
HEIGHT = 30
PAUSE = 2.0  # Longest wait between two frames, in seconds.
_LEAST = 0.04
_BAR = 30
_FIRST_FRAME = "\x1b[2J"
_HOME = "\x1b[H"
_REST_OF_LINE = "\x1b[K"
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_EVENTS = HEIGHT - 19


def cast(film: ExportedSession, speed: float = 4.0) -> Iterator[bytes]:
    """Return the lines of the file: a header, then one frame per event."""
    began = film.moments[0].at if film.moments else 0.0
    header: dict[str, object] = {"version": 2, "width": WIDTH, "height": HEIGHT, "timestamp": int(began)}
    header |= {"idle_time_limit": PAUSE, "title": page_title(film)}
    yield msgspec.json.encode(header) + b"\n"
    at = 0.0
    strip = {"asked": "", "doing": "", "failed": "", "said": ""}
    for place, moment in enumerate(film.moments):
        if place:
            wait = max(0.0, moment.at - film.moments[place - 1].at) / speed
            at += min(PAUSE, max(_LEAST, wait))
        _update_strip(strip, moment, film.moments)
        lines = _frame(film, place, strip, moment.at - began)
        opening = _FIRST_FRAME if place == 0 else ""
        text = opening + _HOME + "\r\n".join(line + _REST_OF_LINE for line in lines)
        yield msgspec.json.encode([round(at, 3), "o", text]) + b"\n"


def _update_strip(strip: dict[str, str], moment: Moment, moments: Sequence[Moment]) -> None:
    text = first_line(moment.spoken.text)
    if moment.kind == "prompt":
        strip["asked"] = text or moment.what
    elif moment.kind == "rollback":
        asked = moments[moment.asked] if moment.asked >= 0 else None
        strip["asked"] = (first_line(asked.spoken.text) or asked.what) if asked else ""
    elif moment.kind == "turn":
        strip["said"] = text or strip["said"]
    elif moment.kind == "tool_use":
        sign = OUTCOME_SIGNS.get(moment.outcome or "", " ")[0]
        strip["doing"] = f"{sign} {moment.what}" + (f"  {text}" if text else "")
        if moment.outcome == "failure":
            error = telling_line(moment.spoken.result)
            strip["failed"] = f"✗ {moment.what}" + (f": {error}" if error else "")


def _frame(film: ExportedSession, place: int, strip: dict[str, str], elapsed: float) -> list[str]:
    moment = film.moments[place]
    status = moment.status
    rows = [
        _row(_BOLD, f" nooscope  {page_title(film)}", f"{short_clock(elapsed)}  ${moment.cost:.2f} "),
        _row(_BOLD if status.level >= 2 else "", f" {status.glyph} {status.word}  {one_line(status.why, 200)}"),
        "",
        *(_row("", f" {name:<7} {one_line(text, 300)}") for name, text in strip.items()),
        _row(_DIM, "─" * WIDTH),
        *(_axis_cell(name, value) for name, value in zip(AXES, moment.axes, strict=True)),
        _axis_cell("context", moment.context),
        _row(_DIM, f" state {moment.state.replace('_', ' ')}, regime {moment.regime}"),
        _row(_DIM, "─" * WIDTH),
    ]
    began = film.moments[0].at
    for number in range(max(0, place - _EVENTS + 1), place + 1):
        each = film.moments[number]
        sign = OUTCOME_SIGNS.get(each.outcome or "", "│" if each.kind == "prompt" else "·")[0]
        pointer = "›" if number == place else " "
        rows.append(_row("", f"{pointer}{short_clock(each.at - began):>8} {sign} {each.what}"))
    rows += [""] * (HEIGHT - 1 - len(rows))
    done = (place + 1) * (WIDTH - 2) // len(film.moments)
    rows.append(_row("", " " + "━" * done + "─" * (WIDTH - 2 - done)))
    return rows[:HEIGHT]


def _axis_cell(name: str, value: float) -> str:
    return _row("", f" {name:<12} {bar(value, _BAR)} {fraction(value)}")


def _row(style: str, left: str, right: str = "") -> str:
    """Return one line cut to the terminal's width in columns."""
    room = WIDTH - len(right)
    text = fitted(left, room - 1 if right else room)
    gap = " " * (room - columns(text)) if right else ""
    return f"{style}{text}{gap}{right}{_PLAIN}" if style else text + gap + right


def columns(text: str) -> int:
    """Return the columns a text takes in a terminal."""
    return sum(_wide(letter) for letter in text)


def fitted(text: str, room: int) -> str:
    """Return as much of a text as fits, with an ellipsis if cut."""
    if columns(text) <= room:
        return text
    used, lines = 0, []
    for letter in text:
        used += _wide(letter)
        if used > room - 1:
            break
        lines.append(letter)
    return "".join(lines) + "…"


def _wide(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


class Exporter(NamedTuple):
    """One format: its `--format` name, a sentence, and the function that writes it."""

    name: str
    about: str
    write: Callable[[ExportedSession], bytes]  # Receives a session that is already redacted as requested.


BUILT_IN = (
    Exporter("html", "one page that plays the session", lambda film: page(film).encode("utf-8", "replace")),
    Exporter("cast", "asciinema", lambda film: b"".join(cast(film))),
    Exporter("markdown", "a report", lambda film: report(film).encode("utf-8", "replace")),
    Exporter("atif", "an ATIF trajectory, which Harbor and others read", atif),
)
TAKEN = frozenset(("events", "otlp", *(one.name for one in BUILT_IN)))


def _fits(value: object) -> str:
    if not isinstance(value, Exporter):
        return "it is not an Exporter (core.export.exporters)"
    return f"there is already a format {value.name}" if value.name in TAKEN else ""


def exporters() -> tuple[dict[str, Exporter], tuple[str, ...]]:
    """Return all formats by name, and problems of those left out."""
    extensions = in_use("exporter", _fits)
    every = (*BUILT_IN, *(one.value for one in extensions.used))
    return {one.name: one for one in every}, extensions.complaints
