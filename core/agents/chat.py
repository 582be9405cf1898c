"""Chat completions: messages of any agent that keeps them."""

from __future__ import annotations

import re
from typing import Any

from core.agents.calls import Calls, Result
from core.agents.reader import LogClock, TranscriptReader, left_untold
from core.agents.values import amount, chat_tokens, items, table, text, words
from core.events import Matter
from core.logs.format import Format, Sample
from core.logs.lines import seconds

_CALLED = re.compile(r"<function=([A-Za-z_][\w.-]{0,99})>(.*?)(?=</function>|<function=|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([\w.-]{1,100})>(.*?)(?=</parameter>|<parameter=|\Z)", re.DOTALL)
_EXECUTED = re.compile(r"\s*EXECUTION RESULT of \[([^\]\n]{1,100})\]:?\n?")
_REFUSED = re.compile(r"\[Error occurred in processing last action\]\s*\Z")
_NAMED = re.compile(r"\b[Ff]unction '([\w.-]{1,100})'")
# What a shell tool adds below its output.
_TRAILER = re.compile(
    r"(?:(?:\A|\n)\[(?:The command completed|Command finished|Current working directory|Python interpreter)"
    r"[^\n]*\])+\s*\Z",
    re.IGNORECASE,
)
_EXIT = re.compile(r"(?:exit(?:ed)?(?: with)?(?: exit)? code|Exit Code|<returncode>)[: ]*(-?\d{1,9})\b", re.IGNORECASE)
_FAILED = re.compile(r"\s*(?:ERROR\b|Error:|Error executing|Error calling|Traceback \(most recent call last\))")
_ROLES = frozenset(("system", "developer", "user", "assistant", "tool", "function"))
_NAMES = ("run", "session_id", "conversation_id", "instance_id", "id", "task")


class ChatReader(TranscriptReader):
    """Calls and results are in `tool_calls`, in content parts, or in the text itself."""

    name = "chat"
    gaps = "times, tokens, model and cost only if the messages contain them"
    many = True
    kinds = _ROLES

    def setup(self) -> None:
        self._waiting: dict[str, str] = {}
        self._timed = False
        self._number = 0

    def read(self, value: Any) -> None:
        """Add the events of a run, a list of messages, or one message."""
        if isinstance(value, list):
            self._run({"messages": value})
        elif "messages" in value:
            self._run(value)
        elif "role" in value:
            at = _time(value)
            if not self.begun:
                self._timed = at is not None
                self.begin("", at=at or 0.0, synthetic_time=at is None)
            self._message(value, at)
        else:
            self.note("neither a message nor a run")

    def _run(self, run: dict[str, Any]) -> None:
        self.add(*self.close_all())
        self.calls, self.clock = Calls(self.kit, self.name), LogClock()
        self._waiting.clear()
        self._number = 0
        messages = self.items(run.get("messages"), "messages")
        times = [seconds(at) for at in items(run.get("times"))]
        name = next((value for key in _NAMES if (value := text(run.get(key)))), "")
        if not name and self.many and self.begun:
            name = f"{self.file_name}-{self._line}"
        own = [at for message in messages if (at := _time(table(message))) is not None]
        known_times = own or [at for at in times if at is not None]
        self._timed = bool(known_times)
        self.model = text(run.get("model"))
        self.now = known_times[0] if known_times else 0.0
        untold = _untold(messages, self.model, timed=self._timed)
        self.begin(name, project=run.get("cwd"), synthetic_time=not known_times, untold=untold)
        turns = iter(times)
        for place, message in enumerate(messages):
            if not isinstance(message, dict):
                self.note("message is not an object")
                continue
            at = _time(message)
            if message.get("role") == "assistant":
                turn = next(turns, None)
                at = turn if at is None else at
            self.enter(f"/messages/{place}")
            self._message(message, at)
        self.enter()
        self.add(*self.close_all())

    def _message(self, message: dict[str, Any], at: float | None) -> None:
        self._number += 1
        role = text(message.get("role"))
        self.check_parts(items(message.get("content")))
        self.advance(at, timed=self._timed or role != "assistant")
        if role == "assistant":
            self._answer(message)
        elif role in ("tool", "function"):
            name = text(message.get("tool_call_id")) or text(message.get("name"))
            self._end(name, text(message.get("name")), words(message.get("content")), at)
        elif role == "user":
            self._user_message(message, at)
        else:
            self.check_kind(role)

    def _answer(self, message: dict[str, Any]) -> None:
        self.add(*self.calls.give_up())
        self._waiting.clear()
        usage = table(message.get("usage"))
        tokens, cost, name = chat_tokens(usage), amount(usage.get("cost")), text(message.get("id"))
        said, model = words(message.get("content")), message.get("model")
        self.add(self.turn(said, tokens=tokens, message=name, model=model, cost=cost))
        for call in self.objects(message.get("tool_calls"), "tool_calls"):
            function = self.table(call.get("function"), "function") or call
            self._begin(text(call.get("id")), text(function.get("name")), function.get("arguments"))
        legacy = table(message.get("function_call"))
        if legacy:
            self._begin("", text(legacy.get("name")), legacy.get("arguments"))
        content = message.get("content")
        for part in items(content):
            if table(part).get("type") == "tool_use":
                self._begin(text(part.get("id")), text(part.get("name")), part.get("input"))
        if not message.get("tool_calls"):
            for tool, body in _CALLED.findall(words(content)):
                arguments = {name: value.strip("\n") for name, value in _PARAMETER.findall(body)}
                self._begin("", tool, arguments)

    def _begin(self, name: str, tool: str, arguments: Any) -> None:
        name = name or f"{self._number}/{len(self._waiting)}"
        if self.call(name, tool, arguments):
            self._waiting[name] = tool

    def _user_message(self, message: dict[str, Any], at: float | None) -> None:
        content = message.get("content")
        answers = [part for part in items(content) if table(part).get("type") == "tool_result"]
        for part in answers:
            output, failed = words(part.get("content")), part.get("is_error") is True
            self._end(text(part.get("tool_use_id")), "", output, at, failed=failed)
        prompt_text = words([part for part in items(content) if part not in answers] if answers else content)
        executed = _EXECUTED.match(prompt_text)
        if executed:
            tool = executed.group(1)
            self._end(self._oldest(tool), tool, prompt_text[executed.end() :], at)
        elif _REFUSED.search(prompt_text[-200:]):
            match = _NAMED.search(prompt_text[:1000])
            tool = match.group(1) if match else "invalid"
            self._end(self._oldest(tool), tool, prompt_text, at, failed=True)
        elif prompt_text or not answers:
            self.add(self.prompt(prompt_text))

    def _oldest(self, tool: str) -> str:
        """The call an answer that names only its tool belongs to."""
        names = (name for name, waiting in self._waiting.items() if waiting == tool)
        return next(names, f"answer-{self._number}")

    def _end(self, name: str, tool: str, output: str, at: float | None, *, failed: bool = False) -> None:
        result = _result(output, failed)
        name = name if name in self._waiting else self._by_tool(name, tool)
        if self._waiting.pop(name, None) is not None:
            self.result(name, result, timed=at is not None)
        elif tool:
            self.add(self.whole_call(name, tool, {}, result))
        else:
            self.result(name, result)

    def _by_tool(self, name: str, tool: str) -> str:
        oldest = self._oldest(tool or name)
        return oldest if oldest in self._waiting else name


def _result(output: str, failed: bool) -> Result:
    exits = _EXIT.findall(output[-400:]) if "code" in output[-400:].lower() else _EXIT.findall(output[:100])
    exited = int(exits[-1]) if exits else None
    running = exited == -1
    trailer = _TRAILER.search(output[-1000:])
    return Result(
        text=output[: -len(trailer.group(0))] if trailer else output,
        error=failed or (exited is None and bool(_FAILED.match(output[:200]))),
        exit_code=None if running else exited,
        running=running,
    )


def _untold(messages: list[Any], model: str, *, timed: bool) -> tuple[Matter, ...]:
    """Return the matters that no message of a run contains."""
    objects = [table(message) for message in messages]
    return left_untold(
        times=timed,
        tokens=any(table(message.get("usage")) for message in objects),
        model=model or any(text(message.get("model")) for message in objects),
        cost=any("cost" in table(message.get("usage")) for message in objects),
    )


def _time(message: dict[str, Any]) -> float | None:
    keys = ("timestamp", "created_at", "created", "time")
    return next((at for key in keys if (at := seconds(message.get(key))) is not None), None)


def _is_message(value: Any) -> bool:
    message = table(value)
    return text(message.get("role")) in _ROLES and ("content" in message or "tool_calls" in message)


def _runs(sample: Sample) -> int:
    """Recognize messages or runs, one per line."""
    entries = sample.records[:8]
    plain = [entry for entry in entries if _is_message(entry) and not {"type", "message", "uuid"} & entry.keys()]
    if entries and len(plain) == len(entries):
        return 60
    several = len(entries) > 1 or sample.document is None
    if entries and several and all(_is_run(entry) for entry in entries):
        return 60
    line = sample.head.partition(b"\n")[0]
    is_named = b'"run"' in line[:400] or b'"times"' in line or b'"resolved"' in line[:1000]
    return 50 if is_named and _conversation(line) else 0


def _document(sample: Sample) -> int:
    """One object or list of messages."""
    value = sample.document
    if isinstance(value, list):
        return 45 if value and all(_is_message(item) for item in value[:8]) else 0
    if isinstance(value, dict):
        return 45 if _is_run(value) else 0
    return 30 if _conversation(sample.head.lstrip()) else 0


def _is_run(value: dict[str, Any]) -> bool:
    messages = value.get("messages")
    return isinstance(messages, list) and bool(messages) and all(_is_message(item) for item in messages[:4])


def _conversation(head: bytes) -> bool:
    """Whether the beginning of a long run or list shows messages."""
    match = re.search(rb'(?:"messages"\s*:\s*|\A)\[\s*\{[^{}\[\]]{0,200}?"role"\s*:\s*"(\w+)"', head)
    return match is not None and match.group(1).decode() in _ROLES


FORMATS = (Format("chat", "lines", _runs, ChatReader), Format("chat", "document", _document, ChatReader))
