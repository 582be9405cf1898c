"""The messages that the panel of Cline and its forks showed: times, costs, and tools by other names."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from core.agents.calls import Result
from core.agents.models import joined_words
from core.agents.reader import TranscriptReader
from core.agents.values import amount, decode, table, text, whole_number
from core.events import Compaction, Event, ToolUse, Where
from core.logs.times import seconds

_COMPACTED = frozenset(
    ("condense_context", "sliding_window_truncation", "condense", "summarize_task", "compaction")
)
_FAULTS = frozenset(("error", "diff_error", "clineignore_error", "rooignore_error"))
_SPOKEN = frozenset(("text", "completion_result"))
_PROMPTS = frozenset(("task", "user_feedback"))
_TOOLS = frozenset(("tool", "command", "use_mcp_server", "use_subagents", "browser_action_launch"))


class PanelReader(TranscriptReader):
    """What the panel needs from its reader."""

    @abstractmethod
    def delegate(self, name: str, tool: str, at: float, where: Where, out: list[Event]) -> None:
        """Add the sub-agent that a call starts, if it starts one."""

    @abstractmethod
    def end_use(self, use: ToolUse, out: list[Event]) -> None:
        """A call that is over, and the sub-agent it started."""


def panel_tokens(tokens: dict[str, Any]) -> tuple[int, int, int, int]:
    """Tokens sent, answered, read from and written to the cache, under the names each version gives them."""
    read = (
        whole_number(tokens.get("cacheReads"))
        or whole_number(tokens.get("cacheReadTokens"))
        or whole_number(tokens.get("cached"))
    )
    written = whole_number(tokens.get("cacheWrites")) or whole_number(tokens.get("cacheWriteTokens"))
    answered = (
        whole_number(tokens.get("tokensOut"))
        or whole_number(tokens.get("outputTokens"))
        or whole_number(tokens.get("completion"))
    )
    sent = whole_number(tokens.get("tokensIn"))
    if not sent:
        all_sent = whole_number(tokens.get("inputTokens")) or whole_number(tokens.get("prompt"))
        sent = max(0, all_sent - read - written) if all_sent >= read + written else all_sent
    return sent, answered, read, written


def requests(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the panel's facts of each request to the model, in order."""
    started = [_request(one) for one in messages if one.get("say") == "api_req_started"]
    return [one for one in started if not one.get("cancelReason")]


def first_time(messages: list[dict[str, Any]]) -> float | None:
    """When the panel began."""
    return next((at for one in messages if (at := seconds(one.get("ts"))) is not None), None)


def message_times(messages: list[dict[str, Any]], panel: list[dict[str, Any]]) -> list[float | None]:
    """A time for each message to or from the model: its own, else that of the request it belongs to."""
    own = [seconds(one.get("ts")) for one in messages]
    if all(at is not None for at in own) or not panel:
        return own
    request_times = [seconds(one.get("ts")) for one in panel if one.get("say") == "api_req_started"]
    times: list[float | None] = []
    number = -1
    for message, at in zip(messages, own, strict=True):
        if message.get("role") == "user":
            number = min(number + 1, len(request_times) - 1)
        guess = request_times[number] if 0 <= number < len(request_times) else first_time(panel)
        times.append(guess if at is None else at)
    return times


class PanelMessages:
    """Reads a task of which only the panel's messages are there."""

    def __init__(self, reader: PanelReader, here: Callable[[str], Where]) -> None:
        self._reader = reader
        self._here = here
        self._open = ""
        self._command = False
        """Whether the open call is a command, of which the panel shows what it printed and no exit code."""
        self._said: list[str] = []

    def read(self, listed: list[tuple[str, dict[str, Any]]], out: list[Event]) -> None:
        """Add the events of all messages; a call is over when something else is shown after it."""
        requests_left = sum(one.get("say") == "api_req_started" for _, one in listed)
        for number, (pointer, message) in enumerate(listed):
            if message.get("partial") is True:
                continue
            at = self._reader.moment(message.get("ts"))
            where = self._here(pointer)
            kind = text(message.get("say")) or text(message.get("ask"))
            message_text = text(message.get("text"))
            if kind == "command_output":
                self._said.append(message_text)
                continue
            self._over(at, where, kind, message_text, out)
            if kind == "api_req_started":
                requests_left -= 1
                message_text, place = _answer(listed, number + 1)
                self._turn(at, message, where, out, message_text, self._here(place), last=not requests_left)
            elif number == 0 or kind in _PROMPTS:
                out.append(self._reader.prompt(at, message_text, where))
            elif kind in _COMPACTED:
                out.append(Compaction(at=at, agent=self._reader.agent, where=where))
            elif kind in _TOOLS:
                self._call(at, kind, message_text, where, out)

    def _over(self, at: float, where: Where, kind: str, message_text: str, out: list[Event]) -> None:
        if not self._open:
            return
        failed = kind in _FAULTS or kind.endswith("ignore_error")
        output = message_text if failed else "\n".join(self._said)
        untold = self._command and not failed
        result = Result(text=output, error=failed, empty=None if output else False, running=untold)
        use = self._reader.calls.end(self._open, at, result, where)
        self._open, self._said = "", []
        if use is not None:
            self._reader.end_use(use, out)

    def _call(self, at: float, kind: str, message_text: str, where: Where, out: list[Event]) -> None:
        facts = table(decode(message_text.encode("utf-8", "surrogatepass"))) if kind != "command" else {}
        tool = text(facts.get("tool")) or text(facts.get("toolName")) or kind
        arguments: Any = (
            {"command": message_text}
            if kind == "command"
            else {k: v for k, v in facts.items() if k != "tool"}
        )
        name = f"shown-{at}-{where.entry}"
        if self._reader.calls.begin(name, tool, arguments, at, self._reader.agent, where):
            self._open, self._command, self._said = name, kind == "command", []
            self._reader.delegate(name, tool, at, where, out)

    def _turn(
        self,
        at: float,
        message: dict[str, Any],
        where: Where,
        out: list[Event],
        answer_text: str,
        said_at: Where,
        *,
        last: bool,
    ) -> None:
        request = _request(message)
        sent, answered, read, written = panel_tokens(request)
        turn = self._reader.kit.models.turn(
            at,
            message=f"shown-{at}",
            model=text(request.get("model")),
            input_tokens=sent,
            output_tokens=answered,
            cache_read=read,
            cache_write=written,
            cost=amount(request.get("cost")),
            agent=self._reader.agent,
            where=where,
            said=answer_text,
            said_at=said_at,
        )
        before = self._reader.usage.update(turn)
        if before is not None:
            out.append(before)
        if answered or not last:
            closed = self._reader.usage.close(self._reader.agent)
            if closed is not None:
                out.append(closed)


def _answer(listed: list[tuple[str, dict[str, Any]]], start: int) -> tuple[str, str]:
    """Return the model's answer to a request from `start` on, and the place of its last words."""
    answer_text, place = "", ""
    for number in range(start, len(listed)):
        pointer, message = listed[number]
        kind = text(message.get("say")) or text(message.get("ask"))
        if kind == "api_req_started":
            break
        if kind in _SPOKEN and message.get("partial") is not True and text(message.get("text")):
            answer_text, place = joined_words(answer_text, text(message.get("text"))), pointer
    return answer_text, place


def _request(message: dict[str, Any]) -> dict[str, Any]:
    return table(decode(text(message.get("text")).encode("utf-8", "surrogatepass")))
