"""CodeBuddy and WorkBuddy: lines of messages, calls and results."""

from __future__ import annotations

from typing import Any

from core.agents.reader import TranscriptReader, read_result
from core.agents.values import amount, table, text, whole_number, without_cached, words
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
        at = self.moment(line.get("timestamp"))
        if not self.begun:
            name, folder = text(line.get("sessionId")), text(line.get("cwd"))
            self.begin(at, name, project=folder)
        name = text(line.get("callId"))
        match line["type"], line.get("role"):
            case "function_call", _:
                self.call(name, text(line.get("name")), line.get("arguments"), at)
            case "function_call_result", _:
                self.result(name, at, read_result(line.get("output"), guess=True))
            case "message", "user":
                self.add(self.prompt(at, words(line.get("content"))))
            case "message", "assistant":
                self._answer(line, at)

    def _answer(self, line: dict[str, Any], at: float) -> None:
        facts = table(line.get("providerData"))
        usage = table(facts.get("usage")) or table(facts.get("rawUsage"))
        self.model = text(facts.get("model")) or self.model
        sent = whole_number(usage.get("inputTokens") or usage.get("input_tokens") or usage.get("prompt_tokens"))
        cached = whole_number(usage.get("cachedInputTokens") or usage.get("cache_read_input_tokens"))
        answered = whole_number(
            usage.get("outputTokens") or usage.get("output_tokens") or usage.get("completion_tokens")
        )
        self.answer(
            at,
            words(line.get("content")),
            message=text(line.get("id")),
            tokens=without_cached(sent, answered, cached),
            cost=amount(usage.get("cost")),
        )


def _sniff(sample: Sample) -> int:
    records = sample.records[:12]
    own = [one for one in records if text(one.get("type")) in _KINDS and "sessionId" in one]
    marks = any("providerData" in one or "callId" in one for one in own)
    return 93 if own and marks and not any("payload" in one for one in records) else 0


FORMATS = (Format("codebuddy", "lines", _sniff, CodeBuddyReader),)
