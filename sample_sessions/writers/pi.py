"""pi: entries that form a tree, here one without branches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sample_sessions.stage.deeds import Answered, Call, Compacted, Deed, Said, Stopped, Usage, Used
from sample_sessions.stage.dice import Dice
from sample_sessions.stage.stage import Stage
from sample_sessions.writers.line import iso, lines

_PRICES = (3.0, 15.0, 0.3, 3.75)  # US dollars a million tokens: sent, answered, read from cache, written to it.


def write(stage: Stage) -> dict[str, bytes]:
    """The one session."""
    folder = "--" + stage.world.root.strip("/").replace("/", "-") + "--"
    stamp = iso(stage.start).replace(":", "-").replace(".", "-")
    return {f"sessions/{folder}/{stamp}_{stage.session}.jsonl": lines(_Tree(stage).records())}


class _Tree:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._dice = Dice(f"{stage.name}/pi")
        self._last: str | None = None

    def records(self) -> Iterator[dict[str, Any]]:
        stage = self._stage
        yield {
            "type": "session",
            "version": 3,
            "id": stage.session,
            "timestamp": iso(stage.start),
            "cwd": stage.world.root,
        }
        yield self._entry(stage.start, "model_change", provider="anthropic", modelId=stage.program.model)
        for deed in stage.of():
            yield from self._tell(deed)

    def _tell(self, deed: Deed) -> Iterator[dict[str, Any]]:
        match deed:
            case Said():
                yield self._message(deed.at, role="user", content=[{"type": "text", "text": deed.text}])
            case Stopped():
                yield self._answer(deed.at, [], Usage(0, 0, 0, 0), "aborted")
            case Answered():
                yield self._answer(deed.at, [{"type": "text", "text": deed.text}], deed.usage, "stop")
            case Used():
                yield from self._use(deed)
            case Compacted():
                yield self._entry(deed.at, "compaction", summary=deed.summary, tokensBefore=deed.before)
            case _:
                raise ValueError(f"no sub-agents in this writer: {deed}")

    def _use(self, deed: Used) -> Iterator[dict[str, Any]]:
        call = f"toolu_01{self._dice.word(22)}"
        tool, arguments = _asked(deed.call)
        parts: list[dict[str, Any]] = [{"type": "text", "text": deed.thought}] if deed.thought else []
        parts.append({"type": "toolCall", "id": call, "name": tool, "arguments": arguments})
        yield self._answer(deed.asked, parts, deed.usage, "toolUse")
        failed = deed.code != 0
        text = _output(deed)
        if deed.refused:
            text = "Operation aborted"
        elif failed:
            text = f"{text}\n\nCommand exited with code {deed.code}" if tool == "bash" else deed.result
        yield self._message(
            deed.at,
            role="toolResult",
            toolCallId=call,
            toolName=tool,
            content=[{"type": "text", "text": text}],
            isError=failed,
        )

    def _answer(self, at: float, content: list[dict[str, Any]], usage: Usage, stop: str) -> dict[str, Any]:
        counts = (usage.fresh, usage.output, usage.cached, usage.written)
        names = ("input", "output", "cacheRead", "cacheWrite")
        costs = [round(count * price / 1e6, 6) for count, price in zip(counts, _PRICES, strict=True)]
        cost = dict(zip(names, costs, strict=True)) | {"total": round(sum(costs), 6)}
        return self._message(
            at,
            role="assistant",
            content=content,
            api="anthropic-messages",
            provider="anthropic",
            model=self._stage.program.model,
            usage=dict(zip(names, counts, strict=True)) | {"cost": cost},
            stopReason=stop,
        )

    def _message(self, at: float, **message: Any) -> dict[str, Any]:
        return self._entry(at, "message", message=message | {"timestamp": round(at * 1000)})

    def _entry(self, at: float, kind: str, **more: Any) -> dict[str, Any]:
        name = self._dice.word(8, "0123456789abcdef")
        entry = {"type": kind, "id": name, "parentId": self._last, "timestamp": iso(at), **more}
        self._last = name
        return entry


def _asked(call: Call) -> tuple[str, dict[str, Any]]:
    match call.kind:
        case "read":
            return "read", {"path": call.path}
        case "search":
            return "grep", {"pattern": call.pattern, **({"path": call.path} if call.path else {})}
        case "find":
            return "find", {"pattern": call.pattern}
        case "edit":
            return "edit", {"path": call.path, "oldText": call.old, "newText": call.new}
        case "write":
            return "write", {"path": call.path, "content": call.new}
        case "run":
            return "bash", {"command": call.command}
        case "web" | "plan":
            raise ValueError(f"pi has no tool for {call.kind}")


def _output(deed: Used) -> str:
    call = deed.call
    match call.kind:
        case "search":
            return deed.result or "No matches found"
        case "find":
            return deed.result or "No files found matching pattern"
        case "edit":
            return f"Successfully replaced text in {call.path}."
        case "write":
            return f"Successfully wrote {len(call.new)} bytes to {call.path}"
        case _:
            return deed.result
