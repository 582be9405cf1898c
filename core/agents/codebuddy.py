"""CodeBuddy and WorkBuddy: lines of messages, calls and results."""

from __future__ import annotations

from typing import Any

from core.agents.reader import TranscriptReader, read_result
from core.agents.values import amount, first_number, table, text, without_cached, words
from core.logs.format import Format, Sample

_KINDS = frozenset(("message", "function_call", "function_call_result"))


class CodeBuddyReader(TranscriptReader):
    """Calls and results are lines of their own, joined by `callId`."""

    name = "codebuddy"
    kinds = _KINDS | {"reasoning", "summary", "file-history-snapshot", "ai-title", "custom-title"}

    def read(self, value: Any) -> None:
        """Add the events of one line."""
        line = self.table(value, "line")
        self.check_kind(text(line.get("type")))
        if text(line.get("type")) not in _KINDS:
            return
        self.moment(line.get("timestamp"))
        if not self.begun:
            self.begin(line.get("sessionId"), project=line.get("cwd"))
        name = text(line.get("callId"))
        match line["type"], line.get("role"):
            case "function_call", _:
                self.call(name, text(line.get("name")), line.get("arguments"))
            case "function_call_result", _:
                self.result(name, read_result(line.get("output"), guess=True))
            case "message", "user":
                self.add(self.prompt(words(line.get("content"))))
            case "message", "assistant":
                self._answer(line)

    def _answer(self, line: dict[str, Any]) -> None:
        facts = table(line.get("providerData"))
        usage = table(facts.get("usage")) or table(facts.get("rawUsage"))
        self.model = text(facts.get("model")) or self.model
        sent = first_number(usage, "inputTokens", "input_tokens", "prompt_tokens")
        answered = first_number(usage, "outputTokens", "output_tokens", "completion_tokens")
        tokens = without_cached(sent, answered, first_number(usage, "cachedInputTokens", "cache_read_input_tokens"))
        name, cost = text(line.get("id")), amount(usage.get("cost"))
        self.answer(words(line.get("content")), message=name, tokens=tokens, cost=cost)


def _sniff(sample: Sample) -> int:
    records = sample.records[:12]
    own = [one for one in records if text(one.get("type")) in _KINDS and "sessionId" in one]
    marks = any("providerData" in one or "callId" in one for one in own)
    return 93 if own and marks and not any("payload" in one for one in records) else 0


FORMATS = (Format("codebuddy", "lines", _sniff, CodeBuddyReader),)
