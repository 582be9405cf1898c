"""OpenHands: one list of actions and the observations they cause."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sample_sessions.stage.deeds import Answered, Call, Deed, Said, Usage, Used
from sample_sessions.stage.dice import Dice
from sample_sessions.stage.stage import Stage
from sample_sessions.writers.line import day, line


def write(stage: Stage) -> dict[str, bytes]:
    """The trajectory."""
    body = b",\n".join(line(event) for event in _Trajectory(stage).records())
    return {f"trajectories/{stage.session}.json": b"[" + body + b"]\n"}


class _Trajectory:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._dice = Dice(f"{stage.name}/openhands")
        self._number = 0

    def records(self) -> Iterator[dict[str, Any]]:
        for deed in self._stage.of():
            yield from self._tell(deed)

    def _tell(self, deed: Deed) -> Iterator[dict[str, Any]]:
        match deed:
            case Said():
                yield self._event(
                    deed.at,
                    "user",
                    message=deed.text,
                    action="message",
                    args={"content": deed.text, "image_urls": None, "wait_for_response": False},
                )
            case Answered():
                metadata = self._metadata("finish", deed.at, deed.usage)
                yield self._event(
                    deed.at,
                    "agent",
                    message=deed.text,
                    action="finish",
                    tool_call_metadata=metadata,
                    args={"outputs": {}, "thought": deed.text},
                )
            case Used():
                yield from self._use(deed)
            case _:
                raise ValueError(f"not in this writer: {deed}")

    def _use(self, deed: Used) -> Iterator[dict[str, Any]]:
        root = self._stage.world.root
        action, function, arguments = _asked(deed.call, root)
        metadata = self._metadata(function, deed.asked, deed.usage)
        arguments["thought"] = deed.thought
        cause = self._number
        yield self._event(
            deed.asked, "agent", message="", action=action, tool_call_metadata=metadata, args=arguments, timeout=120
        )
        code = deed.code or (1 if deed.call.kind in ("search", "find") and not deed.result else 0)
        extras: dict[str, Any] = {"path": arguments["path"], "impl_source": "oh_aci"} if "path" in arguments else {}
        if action == "run":
            shell = {"exit_code": code, "pid": -1, "username": "dev", "hostname": "sandbox", "working_dir": root}
            extras = {"command": arguments["command"], "metadata": shell, "hidden": False}
        failed = bool(deed.code) and action != "run"
        written = deed.call.kind in ("edit", "write") and not failed
        content = f"The file {arguments['path']} has been edited." if written else deed.result
        yield self._event(
            deed.at,
            "agent",
            message="",
            cause=cause,
            observation="error" if failed else action,
            tool_call_metadata=metadata,
            content=content,
            extras=extras,
        )

    def _event(self, at: float, source: str, **more: Any) -> dict[str, Any]:
        number, self._number = self._number, self._number + 1
        return {"id": number, "timestamp": day(at, "%Y-%m-%dT%H:%M:%S.%f"), "source": source, **more}

    def _metadata(self, function: str, at: float, usage: Usage) -> dict[str, Any]:
        return {
            "function_name": function,
            "tool_call_id": f"toolu_01{self._dice.word(22)}",
            "model_response": {
                "id": f"chatcmpl-{self._dice.uuid()}",
                "created": int(at),
                "model": self._stage.program.model,
                "object": "chat.completion",
                "usage": {
                    "completion_tokens": usage.output,
                    "prompt_tokens": usage.context,
                    "total_tokens": usage.context + usage.output,
                    "cache_creation_input_tokens": usage.written,
                    "cache_read_input_tokens": usage.cached,
                },
            },
            "total_calls_in_response": 1,
        }


def _asked(call: Call, root: str) -> tuple[str, str, dict[str, Any]]:
    """The action, the model's name for it, and its arguments."""
    path = f"{root}/{call.path}"
    match call.kind:
        case "read":
            return "read", "str_replace_editor", {"path": path, "start": 0, "end": -1}
        case "edit":
            edit = {"path": path, "command": "str_replace", "old_str": call.old, "new_str": call.new}
            return "edit", "str_replace_editor", edit
        case "write":
            return "edit", "str_replace_editor", {"path": path, "command": "create", "file_text": call.new}
        case "search":
            return "run", "execute_bash", {"command": f"grep -rn '{call.pattern}' {call.path or '.'}"}
        case "find":
            return "run", "execute_bash", {"command": f"find . -name '{call.pattern}'"}
        case "run":
            return "run", "execute_bash", {"command": call.command}
        case "web" | "plan":
            raise ValueError(f"not in this writer: {call.kind}")
