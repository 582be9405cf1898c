"""Antigravity's step logs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from core.agents.calls import Result, agent_report
from core.agents.reader import TranscriptReader
from core.agents.registry import antigravity_conversation
from core.agents.tables import known_pairs
from core.agents.values import decode, items, table, text
from core.logs.format import Format, Sample
from core.logs.lines import seconds

_EXIT = re.compile(r"The command failed with exit code: (-?\d{1,9})")
_COMPLETED = "The command completed successfully"
_REQUEST = re.compile(r"<USER_REQUEST>\s*(.*?)\s*</USER_REQUEST>", re.DOTALL)
_MODEL = re.compile(r"`Model Selection` from .{0,100}? to ([^\n.]{1,80}(?:\.\d[^\n.]{0,60})*)")
_HEAD = 500
_STEPS = {step: tools.split(",") for step, tools in known_pairs("antigravity-steps").items()}
_NAMES = known_pairs("antigravity-arguments")


class AntigravityReader(TranscriptReader):
    """A step of the model that is not an answer is the result of the next call that waits."""

    name = "antigravity"
    untold = ("tokens", "cost")
    gaps = "calls have no ids and are paired with results in order; the model is the selected one"
    # Of steps that neither the person nor the model made.
    kinds = frozenset(("CONVERSATION_HISTORY", "SYSTEM_MESSAGE", "GENERIC", "EPHEMERAL_MESSAGE"))

    def setup(self) -> None:
        self._waiting: list[tuple[str, str]] = []

    def read(self, value: Any) -> None:
        """Add the events of one step."""
        step = self.table(value, "step")
        kind = text(step.get("type"))
        if not kind:
            return
        self.moment(step.get("created_at"))
        content = text(step.get("content"))
        if kind == "USER_INPUT" and (chosen := _MODEL.search(content)):
            self.model = chosen[1].strip()
        if not self.begun:
            self.begin(antigravity_conversation(Path(self.here().file)))
        if kind == "USER_INPUT":
            request = _REQUEST.search(content)
            self.add(self.prompt(request[1] if request else content))
        elif kind == "PLANNER_RESPONSE":
            self._answer(step)
        elif kind == "CHECKPOINT":
            self.add(self.compaction(trigger="auto"))
        elif step.get("source") == "MODEL":
            self._result(kind, step)
        else:
            self.check_kind(kind)

    def _answer(self, step: dict[str, Any]) -> None:
        message = f"line-{self._line}"
        self.add(self.turn(text(step.get("content")), message=message))
        for place, call in self.placed(step.get("tool_calls"), "tool_calls"):
            name, tool = f"{message}/{place}", text(call.get("name"))
            self.calls.begin(name, tool, _opened(call.get("args")), self.now, self.agent, self.here())
            self._waiting.append((name, tool))
            self.delegates(name, tool)

    def _result(self, kind: str, step: dict[str, Any]) -> None:
        status = text(step.get("status"))
        if status == "RUNNING":
            return
        output = text(step.get("content"))
        exited = _EXIT.search(output[:_HEAD])
        code = int(exited[1]) if exited else 0 if output.startswith(_COMPLETED) else None
        stopped = status in ("CANCELED", "CANCELLED")
        result = Result(output, error=status == "ERROR", exit_code=code, rejected=stopped)
        tools = _STEPS.get(kind, ())
        name = next((name for name, tool in self._waiting if tool in tools), "")
        if not name and self._waiting:
            name = self._waiting[0][0]
        if not name:
            if tools:  # The call is missing from the log, and so are its arguments.
                self.add(self.whole_call(f"line-{self._line}", tools[0], {}, result))
            else:
                self.note("result without a call")
            return
        self._waiting = [pair for pair in self._waiting if pair[0] != name]
        use = self.result(name, result)
        if use is not None and use.action == "delegation":
            self.add(agent_report(use, use.id))


def _opened(arguments: Any) -> dict[str, Any]:
    """Arguments under our names; each value is written as JSON inside a text."""
    opened: dict[str, Any] = {}
    for name, value in table(arguments).items():
        inner = decode(value) if isinstance(value, str) else value
        opened[_NAMES.get(name, name)] = value if inner is None else inner
    for chunk in items(opened.get("edits")):
        if isinstance(chunk, dict):
            chunk["old_string"], chunk["new_string"] = (chunk.get("TargetContent"), chunk.get("ReplacementContent"))
    return opened


def _sniff(sample: Sample) -> int:
    """Steps with an index, a source and a type in capitals."""
    for step in sample.records[:8]:
        is_step = "step_index" in step and "source" in step and text(step.get("type")).isupper()
        if is_step and (seconds(step.get("created_at")) is not None or "status" in step):
            return 95
    return 0


FORMATS = (Format("antigravity", "lines", _sniff, AntigravityReader),)
