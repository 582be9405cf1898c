"""Grok Build: its log of ACP messages with kinds of its own, and the chat history of older versions."""

from __future__ import annotations

from typing import Any

from core.agents.acp import AcpReader, is_message
from core.agents.calls import Result
from core.agents.models import retried_turn
from core.agents.reader import STEP, read_result, sidecar
from core.agents.tables import known_words
from core.agents.values import amount, table, text, whole_number, words
from core.logs.decoding import seconds
from core.logs.format import Format, Sample

_TICKS = 1e10  # Units of its costs in a dollar.
_OWN = "_x.ai/"


class GrokReader(AcpReader):
    """A non-zero exit is still a completed call; waits for the person are not written."""

    name = "grok"
    gaps = "tokens per turn; times in whole seconds; the older chat history has no times"
    kinds = AcpReader.kinds | known_words("grok")

    thoughts = ""  # They are part of the tokens that it counts as output.

    def setup(self) -> None:
        super().setup()
        self._children: dict[str, str] = {}

    def read(self, value: Any) -> None:
        """Add the events of one message, or of one line of chat history."""
        record = self.table(value, "record")
        if "type" in record and "method" not in record:
            self._history(record)
        else:
            super().read(record)

    def _open(self, params: dict[str, Any], *, timed: bool = True) -> None:
        facts = sidecar(self.here().file, "summary.json")
        info = table(facts.get("info"))
        self.model = text(facts.get("current_model_id")) or self.model
        began = seconds(facts.get("created_at"))
        self.now = self.now or began or 0.0
        self.begin(
            self.now,
            text(info.get("id")) or text(params.get("sessionId")),
            project=text(info.get("cwd")),
            branch=text(facts.get("head_branch")),
            parent=text(facts.get("parent_session_id")),
            model=self.model,
            synthetic_time=not timed,
            untold=() if timed else ("times", "tokens", "cost"),
        )

    def _update(self, update: dict[str, Any]) -> None:
        kind = text(update.get("sessionUpdate"))
        match kind:
            case "turn_completed":
                usage = table(update.get("usage"))
                ticks = amount(usage.get("costUsdTicks"))
                cost = None if ticks is None else ticks / _TICKS
                self._turn_over(text(update.get("stop_reason")) or "end_turn", usage, cost)
            case "subagent_spawned":
                child = text(update.get("child_session_id")) or text(update.get("subagent_id"))
                self._children[text(update.get("subagent_id"))] = child
                self.child_started(child, self.now, text(update.get("subagent_type")))
            case "subagent_finished":
                name = text(update.get("subagent_id"))
                self.child_ended(
                    self._children.pop(name, name),
                    self.now,
                    well=not update.get("error") and update.get("status") != "failed",
                    tokens=whole_number(update.get("tokens_used")),
                    tool_uses=whole_number(update.get("tool_calls")),
                )
            case "auto_compact_completed":
                before, after = (whole_number(update.get(f"tokens_{end}")) for end in ("before", "after"))
                where = self.here()
                self.add(self.compaction(self.now, where, trigger="auto", tokens_before=before, tokens_after=after))
            case "retry_state":
                self.add(retried_turn(self.now, self.agent, self.here()))
            case "model_changed":
                self.model = text(update.get("model_id")) or text(update.get("model")) or self.model
            case "task_backgrounded":
                name = text(update.get("tool_call_id"))
                self.result(name, self.now, Result(running=True))
            case _:
                super()._update(update)

    def _history(self, line: dict[str, Any]) -> None:
        """A line of chat history, which has no time."""
        if not self.begun:
            self._open({}, timed=False)
        self.now += STEP
        self.check_kind(text(line.get("type")))
        match line.get("type"):
            case "user" if not line.get("synthetic_reason") or line["synthetic_reason"] == "interjection":
                self.add(self.prompt(self.now, words(line.get("content"))))
            case "assistant":
                calls = self.objects(line.get("tool_calls"), "tool_calls")
                stop = "tool_use" if calls else "end_turn"
                model = text(line.get("model_id")) or self.model
                name = f"line-{self._line}"
                self.answer(self.now, words(line.get("content")), message=name, model=model, stop=stop)
                self.function_calls(calls, name)
            case "tool_result":
                result = read_result(line.get("content"), guess=True)
                self.result(text(line.get("tool_call_id")), self.now, result, timed=False)
            case "backend_tool_call":
                kind = table(line.get("kind"))
                failed = kind.get("status") in ("failed", "error")
                arguments, tool = table(kind.get("action")), text(kind.get("tool_type"))
                name = text(kind.get("id")) or f"line-{self._line}"
                result = Result(error=failed, empty=None if failed else False)
                self.add(self.whole_call(name, tool, arguments, self.now, result))


def _updates(sample: Sample) -> int:
    """Messages in its envelope, or in a file of its name."""
    records = sample.records[:8]
    own = any(text(one.get("method")).startswith(_OWN) for one in sample.records[:32])
    enveloped = any("timestamp" in one and is_message(one) and "jsonrpc" not in one for one in records)
    is_named = sample.path.name == "updates.jsonl" and any(is_message(one) for one in records)
    return 96 if own or is_named or (enveloped and "message" not in records[0]) else 0


def _history(sample: Sample) -> int:
    records = sample.records[:12]
    kinds = {text(one.get("type")) for one in records}
    all_known = kinds <= {"system", "user", "reasoning", "assistant", "tool_result", "backend_tool_call"}
    marks = {"prompt_index", "synthetic_reason", "model_id", "kind"}
    bare = not any({"uuid", "message", "timestamp"} & one.keys() for one in records)
    return 90 if records and all_known and bare and any(marks & one.keys() for one in records) else 0


FORMATS = (
    Format("grok", "lines", _updates, GrokReader),
    Format("grok", "lines", _history, GrokReader, title="Grok's chat history"),
)
