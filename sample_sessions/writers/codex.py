"""Codex CLI: one rollout, everything read and searched by the shell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sample_sessions.stage.deeds import Answered, Call, Compacted, Deed, Said, Stopped, Usage, Used
from sample_sessions.stage.dice import Dice
from sample_sessions.stage.stage import Stage
from sample_sessions.writers.line import day, iso, lines


def write(stage: Stage) -> dict[str, bytes]:
    """The rollout of the one thread."""
    name = f"rollout-{day(stage.start, '%Y-%m-%dT%H-%M-%S')}-{stage.session}.jsonl"
    return {f"sessions/{day(stage.start, '%Y/%m/%d')}/{name}": lines(_Rollout(stage).records())}


class _Rollout:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._root = stage.world.root
        self._dice = Dice(f"{stage.name}/codex")
        self._total = Usage(0, 0, 0, 0)

    def records(self) -> Iterator[dict[str, Any]]:
        stage = self._stage
        yield _line(
            stage.start,
            "session_meta",
            id=stage.session,
            timestamp=iso(stage.start),
            cwd=self._root,
            originator="codex_cli_rs",
            cli_version=stage.program.version,
            source="cli",
            git={"branch": "main"},
        )
        about = f"<environment_context>\n  <cwd>{self._root}</cwd>\n  <shell>bash</shell>\n</environment_context>"
        yield _item(stage.start, type="message", role="user", content=[{"type": "input_text", "text": about}])
        for deed in stage.of():
            yield from self._tell(deed)

    def _tell(self, deed: Deed) -> Iterator[dict[str, Any]]:
        match deed:
            case Said():
                yield _item(deed.at, type="message", role="user", content=[{"type": "input_text", "text": deed.text}])
                yield _event(deed.at, type="user_message", message=deed.text, kind="plain")
                yield _line(
                    deed.at,
                    "turn_context",
                    cwd=self._root,
                    approval_policy="on-request",
                    sandbox_policy={"mode": "workspace-write"},
                    model=self._stage.program.model,
                    effort="medium",
                    summary="auto",
                )
            case Stopped():
                yield _event(deed.at, type="turn_aborted", reason="interrupted")
            case Answered():
                yield _event(deed.at, type="agent_message", message=deed.text)
                yield _item(
                    deed.at, type="message", role="assistant", content=[{"type": "output_text", "text": deed.text}]
                )
                yield self._tokens(deed.at, deed.usage)
            case Used():
                yield from self._use(deed)
            case Compacted():
                yield _line(deed.at, "compacted", message=deed.summary)
                yield _event(deed.at, type="context_compacted")
            case _:
                raise ValueError(f"no sub-agents in this writer: {deed}")

    def _use(self, deed: Used) -> Iterator[dict[str, Any]]:
        if deed.thought:
            summary = [{"type": "summary_text", "text": f"**{deed.thought}**"}]
            yield _event(deed.asked - 0.4, type="agent_reasoning", text=f"**{deed.thought}**")
            yield _item(deed.asked - 0.3, type="reasoning", summary=summary, content=None, encrypted_content=None)
        call = f"call_{self._dice.word(24)}"
        kind = deed.call.kind
        if kind in ("edit", "write"):
            patch = _patch(deed.call)
            yield _item(
                deed.asked, type="custom_tool_call", status="completed", call_id=call, name="apply_patch", input=patch
            )
            yield self._tokens(deed.asked, deed.usage)
            done = f"Success. Updated the following files:\n{'M' if kind == 'edit' else 'A'} {deed.call.path}\n"
            facts = {"exit_code": deed.code, "duration_seconds": 0.0}
            output = json.dumps({"output": deed.result if deed.code else done, "metadata": facts})
            yield _item(deed.at, type="custom_tool_call_output", call_id=call, output=output)
            return
        tool, arguments = _asked(deed.call, self._root)
        yield _item(deed.asked, type="function_call", name=tool, arguments=json.dumps(arguments), call_id=call)
        yield self._tokens(deed.asked, deed.usage)
        yield _item(deed.at, type="function_call_output", call_id=call, output=_output(deed))

    def _tokens(self, at: float, usage: Usage) -> dict[str, Any]:
        self._total = Usage(*(had + got for had, got in zip(self._total, usage, strict=True)))
        info = {
            "total_token_usage": _counted(self._total),
            "last_token_usage": _counted(usage),
            "model_context_window": self._stage.program.window,
        }
        return _event(at, type="token_count", info=info, rate_limits=None)


def _line(at: float, kind: str, /, **payload: Any) -> dict[str, Any]:
    return {"timestamp": iso(at), "type": kind, "payload": payload}


def _item(at: float, /, **payload: Any) -> dict[str, Any]:
    return _line(at, "response_item", **payload)


def _event(at: float, /, **payload: Any) -> dict[str, Any]:
    return _line(at, "event_msg", **payload)


def _counted(usage: Usage) -> dict[str, int]:
    thought = usage.output // 3
    return {
        "input_tokens": usage.context,
        "cached_input_tokens": usage.cached,
        "output_tokens": usage.output,
        "reasoning_output_tokens": thought,
        "total_tokens": usage.context + usage.output,
    }


def _asked(call: Call, root: str) -> tuple[str, dict[str, Any]]:
    match call.kind:
        case "plan":
            steps = [
                {"step": step.lstrip("✓"), "status": "completed" if step.startswith("✓") else "pending"}
                for step in call.steps
            ]
            return "update_plan", {"plan": steps}
        case "read":
            command = f"sed -n '1,220p' {call.path}"
        case "search":
            command = f"rg -n '{call.pattern}' {call.path}".rstrip()
        case "find":
            command = f"rg --files -g '{call.pattern}'"
        case _:
            command = call.command
    return "shell_command", {"command": command, "workdir": root, "timeout_ms": 120_000}


def _output(deed: Used) -> str:
    if deed.call.kind == "plan":
        return "Plan updated"
    if deed.refused:
        return "exec command rejected by user"
    code = deed.code or (1 if deed.call.kind in ("search", "find") and not deed.result else 0)
    return f"Exit code: {code}\nWall time: {deed.at - deed.asked:.1f} seconds\nOutput:\n{deed.result}\n"


def _patch(call: Call) -> str:
    if call.kind == "write":
        body = [f"*** Add File: {call.path}", *(f"+{row}" for row in call.new.split("\n"))]
    else:
        removed = [f"-{row}" for row in call.old.split("\n")]
        added = [f"+{row}" for row in call.new.split("\n")]
        body = [f"*** Update File: {call.path}", "@@", *removed, *added]
    return "\n".join(["*** Begin Patch", *body, "*** End Patch"])
