"""The open event format: any framework's doings, one plain line each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sample_sessions.stage.deeds import Answered, Deed, Said, Stopped, Usage, Used
from sample_sessions.stage.stage import Stage
from sample_sessions.writers.line import iso, lines

_ACTIONS = {
    "read": "file_read",
    "search": "search",
    "find": "search",
    "edit": "file_edit",
    "write": "file_edit",
    "run": "shell_exec",
    "plan": "plan",
    "web": "search",
}


def write(stage: Stage) -> dict[str, bytes]:
    """The one log."""
    return {f"{stage.program.version}-{stage.session[:8]}.jsonl": lines(_records(stage))}


def _records(stage: Stage) -> Iterator[dict[str, Any]]:
    yield {
        "kind": "session_start",
        "at": iso(stage.start),
        "session": stage.session,
        "tool": stage.program.version,
        "project": stage.world.root,
        "model": stage.program.model,
    }
    for deed in stage.of():
        yield _told(deed, stage)


def _told(deed: Deed, stage: Stage) -> dict[str, Any]:
    match deed:
        case Said():
            return {"kind": "prompt", "at": iso(deed.at), "session": stage.session, "characters": len(deed.text)}
        case Stopped():
            return {"kind": "prompt", "at": iso(deed.at), "session": stage.session, "characters": 0, "interrupt": True}
        case Answered():
            usage = deed.usage
            return {
                "kind": "turn",
                "at": iso(deed.at),
                "session": stage.session,
                "model": stage.program.model,
                "input_tokens": usage.fresh + usage.written,
                "output_tokens": usage.output,
                "cache_read": usage.cached,
                "context_tokens": usage.context,
                "context_window": stage.program.window,
                "stop": "end_turn",
            }
        case Used():
            return _used(deed, stage)
        case _:
            raise ValueError(f"not in this writer: {deed}")


def _used(deed: Used, stage: Stage) -> dict[str, Any]:
    call = deed.call
    empty = call.kind in ("search", "find") and not deed.result
    outcome = "rejected" if deed.refused else "failure" if deed.code else "empty" if empty else "success"
    code = {"exit_code": deed.code} if call.kind == "run" and not deed.refused else {}
    return {
        "at": iso(deed.at),
        "session": stage.session,
        "tool": call.command.partition(" ")[0] if call.kind == "run" else call.kind,
        "action": _ACTIONS[call.kind],
        **({"target": call.path} if call.path else {}),
        "outcome": outcome,
        **code,
        "duration": round(deed.at - deed.asked, 3),
        "tokens": _tokens(deed.usage),
        "context_tokens": deed.usage.context,
        "context_window": stage.program.window,
        "model": stage.program.model,
    }


def _tokens(usage: Usage) -> dict[str, int]:
    return {"input": usage.fresh + usage.written, "output": usage.output, "cache_read": usage.cached}
