"""Mistral Vibe: messages without times, and the facts of the session in a file beside them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from core.agents.calls import Result
from core.agents.models import CALLING, ENDED
from core.agents.reader import STEP, TranscriptReader, sidecar
from core.agents.values import amount, table, text, token_counts, words
from core.events import Event
from core.logs.format import Companion, Format, Sample
from core.logs.lines import seconds
from core.logs.log_files import is_file

MESSAGES = "messages.jsonl"
_EXIT = re.compile(r"(?:Return code|returncode): (-?\d{1,9})")
_STOPPED = ("<vibe_stop_event>", "<user_cancellation>")


class VibeReader(TranscriptReader):
    """A call and its result are written together, after any question to the person."""

    name = "mistral-vibe"
    untold = ("times",)
    gaps = "tokens and cost per session, once it is over"
    kinds = frozenset(("user", "assistant", "tool", "system"))  # Roles of messages.

    def setup(self) -> None:
        self._file = ""

    def read(self, value: Any) -> None:
        """Add the events of one message."""
        message = self.table(value, "message")
        if not self.begun:
            self._open()
        self.now += STEP
        content = words(message.get("content"))
        self.check_kind(text(message.get("role")))
        match message.get("role"):
            case "user" if message.get("injected") is not True:
                if content:
                    self.add(self.prompt(content))
            case "assistant":
                self._answer(message, content)
            case "tool":
                self.result(text(message.get("tool_call_id")), _result(content), timed=False)

    def _open(self) -> None:
        self._file = self.here().file
        facts = sidecar(self._file, "meta.json")
        config = table(facts.get("config"))
        self.model = text(facts.get("model")) or text(config.get("active_model"))
        self.now = seconds(facts.get("start_time")) or 0.0
        name = Path(self._file).parent.name if Path(self._file).name == MESSAGES else ""
        project = table(facts.get("environment")).get("working_directory")
        branch, parent = facts.get("git_branch"), facts.get("parent_session_id")
        self.begin(name, project=project, branch=branch, parent=parent, synthetic_time=True)

    def _answer(self, message: dict[str, Any], answer_text: str) -> None:
        calls = self.objects(message.get("tool_calls"), "tool_calls")
        self.answer(answer_text, message=text(message.get("message_id")), stop=CALLING if calls else ENDED)
        self.function_calls(calls, f"line-{self._line}")

    def finish(self) -> list[Event]:
        """The calls without a result, and what the session spent as a whole."""
        stats = table(sidecar(self._file, "meta.json").get("stats")) if self.begun else {}
        tokens = token_counts(stats, "session_prompt_tokens", "session_completion_tokens")
        prices = [amount(stats.get(f"{way}_price_per_million")) for way in ("input", "output")]
        cost = None
        if prices[0] is not None and prices[1] is not None:
            cost = (tokens.input_tokens * prices[0] + tokens.output_tokens * prices[1]) / 1e6
        return [*super().finish(), *filter(None, [self.total(self.model, cost, tokens)])]


def vibe_children(path: Path) -> list[Companion]:
    """The logs of sub-agents, below the main one's folder."""
    folders = sorted((path.parent / "agents").glob("*"))
    return [Companion(one.name, one / MESSAGES) for one in folders if is_file(one / MESSAGES)]


def _result(output: str) -> Result:
    exited = _EXIT.search(output[-200:])
    return Result(
        text=output,
        error=output.startswith("<tool_error>"),
        exit_code=int(exited[1]) if exited else None,
        rejected=any(mark in output[:200] for mark in _STOPPED),
    )


def _sniff(sample: Sample) -> int:
    """Chat messages that say of themselves whether the program put them in, or beside a file of facts."""
    entries = sample.records[:6]
    chat = bool(entries) and all("role" in one for one in entries) and entries[0]["role"] in ("user", "assistant")
    if not chat or any("_ts" in one for one in entries):
        return 0
    marked = any("injected" in one and "timestamp" not in one for one in entries)
    return 90 if marked else 80 if "message_id" in entries[0] and sample.path.name == MESSAGES else 0


FORMATS = (Format("mistral-vibe", "lines", _sniff, VibeReader, vibe_children),)
