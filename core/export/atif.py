"""A session as an ATIF trajectory, the interchange format that Harbor and others read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from core.events import (
    MAIN,
    Advice,
    AgentEnd,
    AgentStart,
    Compaction,
    Event,
    Prompt,
    SessionEnd,
    SessionStart,
    ToolUse,
    Turn,
)
from core.export.film import ExportedSession, Spoken

VERSION = "ATIF-v1.7"  # The newest version whose fields are all used here; readers of v1.8 accept it.


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
        content = {"schema_version": VERSION, **more, "agent": self.agent, "steps": self.steps}
        return {**content, **({"subagent_trajectories": inner} if inner else {})}


def atif(film: ExportedSession) -> bytes:
    """Return one session as a JSON document, redacted and shortened as requested."""
    start = next((one for one in film.events if isinstance(one, SessionStart) and one.agent == MAIN), None)
    privacy = film.privacy
    tool = start.tool if start else film.summary.agent
    model = start.model if start else ""
    model = model or next((one.model for one in film.events if isinstance(one, Turn) and one.model), "")
    every = {MAIN: _Trajectory(tool or "agent", (start.version if start else "") or "unknown", privacy.name(model))}
    for event, moment in zip(film.events, film.moments, strict=True):
        agent = privacy.agent(event.agent)
        if agent not in every:
            every[agent] = _Trajectory(agent, "unknown", "")
        _add(event, agent, moment.spoken, every, film)
    facts = {"started": _iso(start.at)} if start else {}
    extra = {"cwd": privacy.name(start.project), "branch": privacy.name(start.branch)} if start else {}
    facts |= {key: value for key, value in extra.items() if value}
    document = every[MAIN].document(
        every,
        session_id=film.summary.id or "session",
        final_metrics=_final_metrics(film.events),
        **({"extra": facts} if facts else {}),
    )
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def _add(event: Event, agent: str, words: Spoken, every: dict[str, _Trajectory], film: ExportedSession) -> None:
    own = every[agent]
    match event:
        case Prompt():
            if event.interrupt:
                own.step("system", event.at, words.text, extra={"interrupt": True})
            else:
                own.step("user", event.at, words.text)
        case Turn():
            extra = {"stop_reason": event.stop} if event.stop else None
            name = film.privacy.name(event.model)
            own.step("agent", event.at, words.text, model_name=name, metrics=_metrics(event), extra=extra)
        case ToolUse():
            _call(own, event, words, film)
        case Compaction():
            managed = {
                "type": "compaction",
                "boundary": "replace",
                "trigger": event.trigger,
                "tokens_before": event.tokens_before,
                "tokens_after": event.tokens_after,
            }
            own.step("system", event.at, "Context compacted.", extra={"context_management": managed})
        case AgentStart():
            _child(own, event, film.privacy.agent(event.child), every)
        case AgentEnd():
            ref = own.refs.get(film.privacy.agent(event.child))
            if ref is not None:
                ref["extra"] |= {
                    "ended": _iso(event.at),
                    "outcome": event.outcome,
                    "tool_uses": event.tool_uses,
                    "tokens": event.tokens,
                }
        case Advice():
            own.step("system", event.at, "Advice of nooscope.", extra={"advice": event.characters})
        case SessionEnd():
            own.step("system", event.at, "Session ended.", extra={"session_end": event.reason or "ended"})


def _call(own: _Trajectory, use: ToolUse, words_of_call: Spoken, film: ExportedSession) -> None:
    step = _holder(own, use.at)
    used_ids = {one["tool_call_id"] for one in step.get("tool_calls", ())}
    name = use.id or f"call-{len(used_ids) + 1}"
    while name in used_ids:
        name += "+"
    words = film.privacy.words
    arguments: dict[str, Any] = {"command": words_of_call.text} if words_of_call.text else {}
    if use.targets and use.action != "shell_exec":
        arguments = {
            "path": film.privacy.path(use.targets[0]),
            **({"input": words_of_call.text} if words_of_call.text else {}),
        }
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


def _child(own: _Trajectory, event: AgentStart, name: str, every: dict[str, _Trajectory]) -> None:
    if name in own.refs:
        return
    every.setdefault(name, _Trajectory(event.role or name, "unknown", ""))
    ref = {"trajectory_id": name, "extra": {"started": _iso(event.at), "role": event.role}}
    own.refs[name] = ref
    own.children.append(name)
    results = _holder(own, event.at).setdefault("observation", {"results": []})["results"]
    results.append({"subagent_trajectory_ref": [ref]})


def _metrics(turn: Turn) -> dict[str, Any]:
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
    turns = [one for one in events if isinstance(one, Turn)]
    return {
        "total_prompt_tokens": sum(one.input_tokens + one.cache_read + one.cache_write for one in turns),
        "total_completion_tokens": sum(one.output_tokens for one in turns),
        "total_cached_tokens": sum(one.cache_read for one in turns),
        "total_cost_usd": sum(one.cost or 0.0 for one in turns),
    }


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()
