"""From telemetry to events: Claude Code's, Codex's and Gemini's own, and the GenAI conventions."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from blake3 import blake3
from msgspec import Struct, structs

from core.agents.calls import Calls, Result
from core.agents.codex.results import read_output
from core.agents.normalizer import AgentKit
from core.agents.open_events import write
from core.agents.values import code, text, whole_number
from core.events import MAIN, Action, AgentEnd, AgentStart, Compaction, Event, Outcome, Prompt, SessionEnd, SessionStart
from core.extras.telemetry.decode import LogRecord, SpanRecord
from core.logs.redact.values import redact_event, redact_name
from core.store.atomic import append

_REFUSED = frozenset(("reject", "rejected", "denied", "abort", "deny"))
_MAIN_NAMES = frozenset(("", MAIN, "/root"))
_SEEN = 20_000  # Calls and answers of a session that were seen, so that none counts twice.


class Session(Struct):
    """The receiver's memory of one session."""

    tool: str
    calls: Calls
    agents: set[str]
    seen: dict[str, None] = {}
    main: str = ""  # The name of the main agent, as spans call it.
    by_logs: bool = False  # Its log records contain the same, so its spans are skipped.

    def first(self, name: str) -> bool:
        """Whether something of this name comes for the first time."""
        if not name:
            return True
        if name in self.seen:
            return False
        self.seen[name] = None
        if len(self.seen) > _SEEN:
            del self.seen[next(iter(self.seen))]
        return True


ReadLog: TypeAlias = Callable[[Session, AgentKit, dict[str, Any], float], list[Event]]
ReadSpan: TypeAlias = Callable[[Session, AgentKit, SpanRecord, float], list[Event]]


def _truth(value: Any) -> bool:
    return value is True or (isinstance(value, str) and value.lower() == "true")


def _number(value: Any) -> int:
    """A count that may be written as text."""
    if isinstance(value, str):
        return int(value) if value.isdecimal() and len(value) < 16 else 0
    return whole_number(value)


def _text(values: Mapping[str, Any], *names: str) -> str:
    """The first text under these names that is not blank."""
    return next((words for name in names if (words := text(values.get(name)))), "")


def _count(values: Mapping[str, Any], *names: str) -> int:
    """The first count under these names that is not 0."""
    return next((number for name in names if (number := _number(values.get(name)))), 0)


def _amount(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if 0 <= number < 1e12 else None


def _duration(value: Any) -> float | None:
    """Milliseconds as seconds."""
    number = _amount(value)
    return None if number is None else number / 1000


def _agent(session: Session, name: str, at: float) -> tuple[str, list[Event]]:
    """The agent of an event; a new sub-agent starts with it."""
    agent = MAIN if name in _MAIN_NAMES else redact_name(name)
    if agent in session.agents:
        return agent, []
    session.agents.add(agent)
    return agent, [AgentStart(at=at, child=agent)]


def _prompt(_: Session, __: AgentKit, values: dict[str, Any], at: float) -> list[Event]:
    prompt = text(values.get("prompt"))
    return [Prompt(at=at, characters=_number(values.get("prompt_length")) or len(prompt))]


def _use(session: Session, name: str, tool: str, arguments: Any, result: Result, at: float, agent: str) -> list[Event]:
    if not session.first(f"use {name}" if name else ""):
        return []
    began = None if result.duration is None else at - result.duration
    return [session.calls.both(name, tool, arguments, began, at, result, None, agent)]


def _tool_result(session: Session, _: AgentKit, values: dict[str, Any], at: float) -> list[Event]:
    """A finished call, in Claude Code's or Gemini's names."""
    agent, events = _agent(session, _text(values, "agent_name", "agent.name"), at)
    tool = _text(values, "tool_name", "function_name")
    arguments: Any = next(
        (values[key] for key in ("tool_input", "arguments", "function_args", "tool_parameters") if values.get(key)), {}
    )
    output = _text(values, "output", "error")
    failed = not _truth(values.get("success", True))
    result = Result(
        text=output,
        error=failed,
        exit_code=code(values.get("exit_code")),
        rejected=text(values.get("decision")).lower() in _REFUSED and failed,
        empty=None if output else False,
        duration=_duration(values.get("duration_ms")),
    )
    input_bytes = arguments.encode() if isinstance(arguments, str) else arguments
    name = _text(values, "tool_use_id", "call_id")
    return [*events, *_use(session, name, tool, input_bytes, result, at, agent)]


def _codex_result(session: Session, _: AgentKit, values: dict[str, Any], at: float) -> list[Event]:
    """A finished call of Codex, which calls it a success when a command ran, however that ended."""
    agent, events = _agent(session, text(values.get("agent_name")), at)
    output = {"output": text(values.get("output")), "success": _truth(values.get("success", True))}
    result = read_output(output).result._replace(running=False)
    if result.duration is None or "duration_ms" in values:
        result = result._replace(duration=_duration(values.get("duration_ms")))
    arguments = text(values.get("arguments")).encode()
    name, tool = text(values.get("call_id")), text(values.get("tool_name"))
    return [*events, *_use(session, name, tool, arguments, result, at, agent)]


def _tool_decision(session: Session, _: AgentKit, values: dict[str, Any], at: float) -> list[Event]:
    """A call that was refused never gets a result."""
    if text(values.get("decision")).lower() not in _REFUSED:
        return []
    name = _text(values, "tool_use_id", "call_id")
    tool = text(values.get("tool_name"))
    return _use(session, name, tool, {}, Result(rejected=True), at, MAIN)


def _api_request(session: Session, kit: AgentKit, values: dict[str, Any], at: float) -> list[Event]:
    name = text(values.get("request_id"))
    if not session.first(f"turn {name}" if name else ""):
        return []
    agent, events = _agent(session, text(values.get("agent.name")), at)
    turn = kit.models.turn(
        at,
        message=name,
        model=text(values.get("model")),
        input_tokens=_number(values.get("input_tokens")),
        output_tokens=_number(values.get("output_tokens")),
        cache_read=_number(values.get("cache_read_tokens")),
        cache_write=_number(values.get("cache_creation_tokens")),
        cost=_amount(values.get("cost_usd")),
        agent=agent,
    )
    return [*events, turn]


def _counted(_: Session, kit: AgentKit, values: dict[str, Any], at: float) -> list[Event]:
    """An answer in Codex's or Gemini's names, whose input includes cached tokens."""
    if "event.kind" in values and values["event.kind"] != "response.completed":
        return []
    whole = _number(values.get("input_token_count"))
    cached = _count(values, "cached_token_count", "cached_content_token_count")
    if not whole and not _number(values.get("output_token_count")):
        return []
    model, sent, written = text(values.get("model")), max(0, whole - cached), _number(values.get("output_token_count"))
    cache_read = min(cached, whole)
    return [kit.models.turn(at, model=model, input_tokens=sent, output_tokens=written, cache_read=cache_read)]


def _compaction(_: Session, __: AgentKit, values: dict[str, Any], at: float) -> list[Event]:
    before = _count(values, "tokens_before", "pre_tokens")
    after = _count(values, "tokens_after", "post_tokens")
    trigger = text(values.get("trigger"))
    trigger_word = trigger if trigger in ("auto", "manual") else ""
    return [Compaction(at=at, trigger=trigger_word, tokens_before=before, tokens_after=after)]


def _agent_start(session: Session, _: AgentKit, values: dict[str, Any], at: float) -> list[Event]:
    return _agent(session, _text(values, "agent_name", "agent.name"), at)[1]


def _agent_finish(session: Session, _: AgentKit, values: dict[str, Any], at: float) -> list[Event]:
    name = redact_name(_text(values, "agent_name", "agent.name"))
    if not name or name not in session.agents or name == MAIN:
        return []
    session.agents.discard(name)
    outcome: Outcome = "success" if _truth(values.get("success", True)) else "failure"
    return [AgentEnd(at=at, child=name, outcome=outcome, duration=_duration(values.get("duration_ms")))]


def _no_events(*_: object) -> list[Event]:
    """What only says that the session is there."""
    return []


LOGS: dict[tuple[str, str], ReadLog] = {
    ("claude_code", "user_prompt"): _prompt,
    ("claude_code", "tool_result"): _tool_result,
    ("claude_code", "tool_decision"): _tool_decision,
    ("claude_code", "api_request"): _api_request,
    ("claude_code", "compaction"): _compaction,
    ("claude_code", "subagent_completed"): _agent_finish,
    ("codex", "conversation_starts"): _no_events,
    ("codex", "user_prompt"): _prompt,
    ("codex", "tool_result"): _codex_result,
    ("codex", "tool_decision"): _tool_decision,
    ("codex", "sse_event"): _counted,
    ("gemini_cli", "config"): _no_events,
    ("gemini_cli", "user_prompt"): _prompt,
    ("gemini_cli", "tool_call"): _tool_result,
    ("gemini_cli", "api_response"): _counted,
    ("gemini_cli", "chat_compression"): _compaction,
    ("gemini_cli", "agent.start"): _agent_start,
    ("gemini_cli", "agent.finish"): _agent_finish,
    ("gemini_cli", "conversation_finished"): lambda *fields: [SessionEnd(at=fields[-1])],
}


def _span_agent(session: Session, span: SpanRecord) -> tuple[str, list[Event]]:
    """The agent whose work a span is; the main one is that of the outermost span, or else the first."""
    session.main = session.main or span.root or span.agent
    return _agent(session, "" if span.agent == session.main else span.agent, span.start or span.end)


def _invocation(session: Session, _: AgentKit, span: SpanRecord, at: float) -> list[Event]:
    """The work of a sub-agent, which is over."""
    agent, events = _span_agent(session, span)
    if agent == MAIN or not session.first(f"span {span.id}"):
        return events
    duration = max(0.0, at - span.start) if span.start else None
    return [*events, AgentEnd(at=at, child=agent, outcome="failure" if span.failed else "success", duration=duration)]


def _chat(session: Session, kit: AgentKit, span: SpanRecord, at: float) -> list[Event]:
    values = span.attributes
    if not session.first(f"span {span.id}"):
        return []
    agent, events = _span_agent(session, span)
    cached = _number(values.get("gen_ai.usage.cache_read.input_tokens"))
    written = _number(values.get("gen_ai.usage.cache_creation.input_tokens"))
    whole = _count(values, "gen_ai.usage.input_tokens", "llm.token_count.prompt")
    reasons = values.get("gen_ai.response.finish_reasons")
    turn = kit.models.turn(
        at,
        message=text(values.get("gen_ai.response.id")) or span.id,
        model=_text(values, "gen_ai.response.model", "gen_ai.request.model", "llm.model_name"),
        input_tokens=max(0, whole - cached - written),
        output_tokens=_count(values, "gen_ai.usage.output_tokens", "llm.token_count.completion"),
        cache_read=cached,
        cache_write=written,
        stop=text(reasons[0]) if isinstance(reasons, list) and reasons else "",
        agent=agent,
    )
    return [*events, turn]


def _execute(session: Session, _: AgentKit, span: SpanRecord, at: float) -> list[Event]:
    values = span.attributes
    tool = _text(values, "gen_ai.tool.name", "tool.name") or span.name.partition(" ")[2]
    arguments = values.get("gen_ai.tool.call.arguments") or values.get("input.value") or {}
    output = _text(values, "gen_ai.tool.call.result", "output.value")
    failed = span.failed or bool(values.get("error.type"))
    duration = max(0.0, at - span.start) if span.start else None
    result = Result(text=output, error=failed, empty=None if output else False, duration=duration)
    input_bytes = arguments.encode() if isinstance(arguments, str) else arguments
    name = text(values.get("gen_ai.tool.call.id")) or span.id
    agent, events = _span_agent(session, span)
    return [*events, *_use(session, name, tool, input_bytes, result, at, agent)]


def _memory_use(session: Session, _: AgentKit, span: SpanRecord, at: float) -> list[Event]:
    """Return the use of an agent's memory, or of a plan, that a span of its own reports."""
    operation = text(span.attributes.get("gen_ai.operation.name"))
    failed = span.failed or bool(span.attributes.get("error.type"))
    result = Result(error=failed, empty=None if failed else False, duration=max(0.0, at - span.start))
    agent, events = _span_agent(session, span)
    uses = _use(session, span.id, operation, {}, result, at, agent)
    return [*events, *(structs.replace(use, action=_OWN_SPANS[operation]) for use in uses)]


# Operations that are spans of their own and not calls of a tool.
_OWN_SPANS: dict[str, Action] = {
    "plan": "plan",
    "retrieval": "search",
    "search_memory": "memory_read",
    **dict.fromkeys(("create_memory", "update_memory", "upsert_memory", "delete_memory"), "memory_write"),
    **dict.fromkeys(("create_memory_store", "delete_memory_store"), "memory_write"),
}
INFERENCE = {"LLM": "chat", "TOOL": "execute_tool", "AGENT": "invoke_agent"}
# The names of spans and attributes are those of open-telemetry/semantic-conventions-genai at revision 002c8a6, which
# continues the pages of semantic conventions v1.41; all of them have Development status.
SPANS: dict[str, ReadSpan] = {
    "chat": _chat,
    "generate_content": _chat,
    "text_completion": _chat,
    "execute_tool": _execute,
    "invoke_agent": _invocation,
    **dict.fromkeys(("invoke_workflow", "create_agent", "embeddings"), _no_events),
    **dict.fromkeys(_OWN_SPANS, _memory_use),
}


def _with_agents(records: Iterable[SpanRecord]) -> list[SpanRecord]:
    """Name the agent of each span: its own, or that of the nearest span around it in the same request."""
    spans = {span.id: span for span in records}
    roots = {span.trace: _agent_name(span) for span in spans.values() if not span.parent}
    named: list[SpanRecord] = []
    for span in spans.values():
        around: SpanRecord | None = span
        name, visited = "", set[str]()
        while around is not None and not name and around.id not in visited:
            visited.add(around.id)
            name, around = _agent_name(around), spans.get(around.parent)
        named.append(span._replace(agent=name, root=roots.get(span.trace, "")))
    return named


def _agent_name(span: SpanRecord) -> str:
    return _text(span.attributes, "gen_ai.agent.name", "gen_ai.agent.id", "agent.name")


_TOOLS = {"claude_code": "claude-code", "codex": "codex", "gemini_cli": "gemini"}
_SESSION = ("session.id", "conversation.id", "gen_ai.conversation.id")
_KEPT = 2000  # Sessions remembered at once.


class TelemetryEvent(NamedTuple):
    """An event and the session it belongs to."""

    session: str
    tool: str
    event: Event


class Intake:
    """Makes events of records; equal records in equal order give equal events."""

    def __init__(self, kit: AgentKit) -> None:
        self._kit = kit
        self._sessions: dict[str, Session] = {}
        self.passed_over = 0  # Records without anything for an event.

    def logs(self, records: Iterable[LogRecord]) -> list[TelemetryEvent]:
        """The events of log records."""
        events: list[TelemetryEvent] = []
        for record in records:
            prefix, _, name = record.name.partition(".")
            if prefix not in _TOOLS:
                service = text(record.resource.get("service.name"))
                prefix, name = ("claude_code" if "claude" in service else "", record.name)
            session = _session_name(record.attributes, record.resource)
            read = LOGS.get((prefix, name))
            if read is None or not session or record.at <= 0:
                self.passed_over += 1
                continue
            state = self._session(session, _TOOLS[prefix], record.at, events)
            state.by_logs = True
            events += _received(session, state, read(state, self._kit, record.attributes, record.at))
        return events

    def spans(self, records: Iterable[SpanRecord]) -> list[TelemetryEvent]:
        """The events of spans in the GenAI or OpenInference conventions."""
        events: list[TelemetryEvent] = []
        for span in sorted(_with_agents(records), key=lambda one: one.end):
            values = span.attributes
            kind = INFERENCE.get(text(values.get("openinference.span.kind")), "")
            operation = text(values.get("gen_ai.operation.name")) or kind
            read = SPANS.get(operation)
            session = _session_name(values, span.resource) or span.trace
            state = self._sessions.get(session)
            if read is None or not session or span.end <= 0 or (state is not None and state.by_logs):
                self.passed_over += 1
                continue
            tool = text(span.resource.get("service.name")) or "genai"
            state = self._session(session, tool, span.start or span.end, events)
            events += _received(session, state, read(state, self._kit, span, span.end))
        return events

    def _session(self, name: str, tool: str, began: float, events: list[TelemetryEvent]) -> Session:
        """Return what is known of a session; a new one starts with an event."""
        session = self._sessions.pop(name, None)
        if session is None:
            session = Session(tool, Calls(self._kit, tool), {MAIN})
            events += _received(name, session, [SessionStart(at=began, session=name, tool=tool)])
            if len(self._sessions) >= _KEPT:
                del self._sessions[next(iter(self._sessions))]
        self._sessions[name] = session
        return session


def _received(name: str, session: Session, events: Iterable[Event]) -> list[TelemetryEvent]:
    return [TelemetryEvent(name, session.tool, redact_event(event)) for event in events]


def _session_name(attributes: dict[str, Any], resource: dict[str, Any]) -> str:
    names = (text(place.get(key)) for place in (attributes, resource) for key in _SESSION)
    return redact_name(next((name for name in names if name), ""))


_FIT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def session_file(folder: Path, session: str) -> Path:
    """Return the file of a session in a folder; an id that is not a safe file name is hashed."""
    safe = _FIT.fullmatch(session) is not None
    name = session if safe else blake3(session.encode("utf-8", "surrogatepass")).hexdigest(length=16)
    return folder / f"{name}.jsonl"


_NEW_SESSIONS = 100  # New sessions, and so files, that one request may begin.


class Inbox:
    """A folder of received sessions, one file each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.written = 0

    def path(self, session: str) -> Path:
        """Return the file of a session."""
        return session_file(self.folder, session)

    def add(self, events: Iterable[TelemetryEvent]) -> int:
        """Append events to their sessions' files, and say how many; raises only `OSError`, and then added
        none."""
        lines: dict[str, list[bytes]] = {}
        for session, _, event in events:
            begins = isinstance(event, SessionStart) and event.agent == MAIN
            if begins and (session in lines or self.path(session).exists()):
                continue
            lines.setdefault(session, []).append(write(event, session) + b"\n")
        new = sum(not self.path(session).exists() for session in lines)
        if new > _NEW_SESSIONS:
            raise OSError(errno.ENOSPC, f"{new:,} new sessions in one request (at most {_NEW_SESSIONS})")
        if lines:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        sizes: dict[Path, int] = {}  # Of the files before, to cut them back to after a fault.
        try:
            for session, session_lines in lines.items():
                path = self.path(session)
                sizes[path] = path.stat().st_size if path.exists() else 0
                append(path, b"".join(session_lines))
        except OSError:
            for path, size in sizes.items():
                with contextlib.suppress(OSError):
                    os.truncate(path, size) if size else path.unlink()
            raise
        count = sum(map(len, lines.values()))
        self.written += count
        return count
