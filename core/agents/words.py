"""The words behind an event, read from its log on demand: prompts, answers, commands, outputs."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from core.agents.models import CALLING, WORDLESS
from core.agents.normalizer import Arguments, script_arguments
from core.agents.tables import read_tables, word_list
from core.agents.values import attached, decode, decode_inner, items, table, text, unthought, words
from core.events import AgentStart, Event, Prompt, ToolUse, Turn, Where
from core.logs.glimpse import person_words
from core.logs.records import Documents
from core.logs.redact.text import redact
from core.logs.redact.values import redact_value
from core.logs.session import LogSession

_DEEPEST = 12
_HOLDERS = (dict, list)
_IDS = ("id", "tool_use_id", "call_id", "callID", "toolCallId", "tool_call_id", "toolUseId", "source_call_id")
_CALLED = ("input", "arguments", "args", "parameters", "rawInput", "toolArgs", "action", "command")
_ANSWERED = word_list("holders-of-results")
_ANSWERS = frozenset(("tool_result", "function_call_output", "custom_tool_call_output", "toolResult"))
_CALLS = frozenset(("tool_use", "toolCall", "function_call", "custom_tool_call", "local_shell_call"))
_THOUGHTS = frozenset(("thinking", "reasoning", "redacted_thinking", "thought"))
_SPOKEN = ("content", "text", "message", "parts", "response", "prompt", "user_input", "last_agent_message", "thought")
_INSIDE = word_list("holders-of-messages")
# Arguments of an action that contain the agent's words, if not the usual ones.
_SAID_WITH: dict[str, tuple[str, ...]] = {"message": ("content",), "think": ()}
_REUSED = re.compile(r"#\d{1,9}\Z")  # What `Calls` adds to an id that a log uses again.
_FENCED = re.compile(r"```([\w-]*)[ \t]*\n(.*?)\n```", re.DOTALL)
_RUN = ("mswea_bash_command", "bash", "sh", "")  # What a fence names whose text an agent runs, the surest first.
# Beginnings of parts that a program adds to the person's text.
_ADDED = ("<system-reminder>", "<ide_opened_file>", "<ide_selection>", "<environment_context>")
# Arguments that name something which runs in the background.
_TASKS = ("task_id", "taskId", "bash_id", "shell_id", "shellId", "agent_id", "agentId")
_ABOUT = word_list("telling-arguments")


def arguments(values: Sequence[Any], event: ToolUse) -> Any:
    """Return the arguments of a call from its records, without named secrets."""
    for record in _about(values, event):
        holder = table(record.get("function")) or _state(record) or _wrapped(record, "toolCall") or record
        for name in _CALLED:
            argument = holder.get(name)
            if argument is not None and text(record.get("type")) not in _ANSWERS:
                script = (record.get("type"), event.tool) == ("custom_tool_call", "exec") and isinstance(argument, str)
                return redact_value(script_arguments(argument) if script else _opened(argument))
        if "toolCallId" in record and (argument := shown_arguments(record)):
            return redact_value(argument)
    for value in values:
        if _update_kind(value).startswith("plan"):
            return next((one for one in _walk(value) if "entries" in one), None)
        fenced = dict(reversed(_FENCED.findall(_plain(table(value).get("content")))))
        command = next((fenced[name] for name in _RUN if name in fenced), None)
        if command is not None:
            return command
    return None


def shown_arguments(call: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of an ACP call without `rawInput`: its edit, its command, its places or its title."""
    edits = [part for part in map(table, items(call.get("content"))) if part.get("type") == "diff"]
    if edits:
        before, after = text(edits[0].get("oldText")), text(edits[0].get("newText"))
        return {"path": text(edits[0].get("path")), "old_string": before, "new_string": after}
    title = text(call.get("title"))
    if call.get("kind") == "execute" and title:
        return {"command": title.strip("`")}
    paths = [text(table(one).get("path")) for one in items(call.get("locations"))]
    return {"paths": paths} if paths else {"title": title} if title else {}


def shown_command(data: dict[str, Any]) -> str:
    """Return the command in the data of a terminal of VS Code, as it was last edited."""
    line = table(data.get("commandLine"))
    return next((text(line[key]) for key in ("userEdited", "toolEdited", "original") if line.get(key)), "")


def answer(values: Sequence[Any], event: ToolUse) -> str:
    """Return the output of a call from the records of its result."""
    for record in _about(values, event):
        if text(record.get("type")) in _CALLS:
            continue
        holder = _state(record) or _wrapped(record, "toolResult") or record
        for name in _ANSWERED:
            output = "" if name == "observation" and "content" in holder else _result_text(holder.get(name))
            if output:
                return output
    for step in map(table, values):
        calls = [table(one).get("tool_call_id") for one in items(step.get("tool_calls"))]
        for call_id, result in zip(calls, items(table(step.get("observation")).get("results")), strict=False):
            if call_id == event.id:
                return _result_text(result)
    return ""


def change(arguments: Any) -> tuple[tuple[str, ...], str, str]:
    """Return the paths of an edit, the removed text and the added text."""
    return _names().edit(arguments)


def gist(arguments: Any, paths: tuple[str, ...]) -> str:
    """The argument a person would name a call by."""
    names = _names()
    command = names.command(arguments) if not isinstance(arguments, dict) or not paths else None
    if command is not None:
        return command if isinstance(command, str) else " ".join(map(str, command))
    targets = paths or names.targets(arguments)
    if targets:
        return " ".join(targets)
    if not isinstance(arguments, dict):
        return text(arguments)
    if about := next(filter(None, (text(arguments.get(name)) for name in _ABOUT)), ""):
        return about
    for inner in arguments.values():
        listed = [item_text for item in items(inner) if (item_text := item if isinstance(item, str) else _item(item))]
        if listed:
            return "\n".join(listed)
    for name in _TASKS:
        if text(arguments.get(name)):
            return f"task {arguments[name]}"
    short = {name: value for name, value in arguments.items() if isinstance(value, str | int | float)}
    return ", ".join(_argument(name, value) for name, value in short.items() if value != "")


def _argument(name: str, value: str | float) -> str:
    """One argument in words."""
    spelled = name.replace("_", " ")
    if isinstance(value, bool):
        return spelled if value else f"no {spelled}"
    return f"{spelled} {value}"


def speech(values: Sequence[Any], *, agent: bool) -> str:
    """Return the words of the agent, or of the person, without thoughts, calls and results."""
    texts = [part_text for value in values if (part_text := _text(value, agent, 0))]
    joined = ("" if any(map(_update_kind, values)) else "\n").join(texts)
    return unthought(joined) if agent else joined


def _update_kind(value: Any) -> str:
    """Return which update of ACP a record contains; blank if it contains none."""
    message = table(table(value).get("message")) or table(value)
    update = table(table(message.get("params")).get("update")) or table(message.get("update"))
    return text(update.get("sessionUpdate"))


def fault_words(values: Iterable[Any]) -> str:
    """Return the message of an error that ended a turn."""
    for value in values:
        for record in _walk(value):
            error = record.get("error")
            inside = table(error)
            candidates = (
                record.get("errorMessage"),
                inside.get("message"),
                table(inside.get("data")).get("message"),
                record.get("reason") if "agent_state" in record or record.get("type") == "goal_status" else None,
                record.get("detail") if record.get("kind") == "ConversationErrorEvent" else None,
                error,
            )
            if message := next((one for one in candidates if isinstance(one, str) and one), ""):
                return message
    return ""


def task(values: Iterable[Any]) -> str:
    """Return the task of a sub-agent from the record that started it."""
    names = ("prompt", "description", "task")
    texts = (text(record.get(name)) for value in values for name in names for record in _walk(value))
    return next(filter(None, texts), "")


def _item(value: Any) -> str:
    """One of several things a call is about: a question, a file, a step of a plan."""
    facts = table(value)
    for name in ("question", "path", "file_path", "command", "content", "step", "text", "title"):
        if text(facts.get(name)):
            state = text(facts.get("status"))
            return f"{facts[name]} ({state.replace('_', ' ')})" if state else text(facts[name])
    return ""


def _about(values: Sequence[Any], event: ToolUse) -> Iterator[dict[str, Any]]:
    """The objects that name the call; in a log without ids the only call of its tool, else the records."""
    call_id = _REUSED.sub("", event.id)
    is_named = False
    for value in values if call_id else ():
        for record in _walk(value):
            if call_id in map(record.get, _IDS):
                is_named = True
                yield record
    if is_named:
        return
    alike = [
        record
        for value in values
        for record in _walk(value)
        if record.get("name") == event.tool and "id" not in record and ("input" in record or "args" in record)
    ]
    if len(alike) == 1:
        yield alike[0]
        return
    for value in values:
        for holder in (table(value), *(table(table(value).get(name)) for name in ("args", "action", "message"))):
            if holder and (holder is value or "role" not in holder or "command" in holder):
                yield holder


def _wrapped(record: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the inner value of a request or a response."""
    return table(table(record.get(name)).get("value"))


def _state(record: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a call that contains both its arguments and its result, if there is one."""
    state_text, details = table(record.get("toolSpecificData")), table(record.get("resultDetails"))
    if state_text or details:
        command = shown_command(state_text)
        title = _plain(record.get("pastTenseMessage")) or _plain(record.get("invocationMessage"))
        output = table(state_text.get("terminalCommandOutput")).get("text") or details.get("output")
        return {"input": {"command": command} if command else {"title": title}, "output": output}
    state = table(record.get("state"))
    return state if "input" in state or "output" in state or "error" in state else {}


def _result_text(value: Any) -> str:
    """Return a result's text, wherever it is."""
    opened = redact_value(_opened(value))
    output = words(opened) or _deep(opened, 0)
    return output or (value if isinstance(value, str) else "")


def _deep(value: Any, depth: int) -> str:
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        return "\n".join(part for item in value if (part := words(item) or _deep(item, depth + 1)))
    if isinstance(value, dict):
        inner = [item for item in value.values() if isinstance(item, dict | list)]
        inner_text = next((part for item in inner if (part := words(item) or _deep(item, depth + 1))), "")
        if inner_text:
            return inner_text
        plain = {name: item for name, item in value.items() if isinstance(item, str) and item}
        return "\n".join(f"{name}: {item}" for name, item in plain.items())
    return ""


def _opened(value: Any) -> Any:
    """Arguments and results that are JSON inside a text, opened."""
    return decode_inner(value) if isinstance(value, str) and value[:1] in ("{", "[") else value


def _text(holder: Any, agent: bool, depth: int) -> str:
    if isinstance(holder, str):
        return "" if depth == 0 else holder
    if isinstance(holder, list) and depth == 0:
        return _plain(holder)
    record = table(holder)
    if depth > _DEEPEST or not record or not _is_theirs(text(record.get("role")), agent):
        return ""
    update = text(record.get("sessionUpdate"))
    if update and not update.startswith("agent_message" if agent else "user_message"):
        return ""
    if agent and isinstance(record.get("action"), str) and "observation" not in record:
        return _with_action(record)
    halves = _halves(record)
    if halves is not None:
        return _plain(halves[1] if agent else halves[0])
    inner = (_text(record[name], agent, depth + 1) for name in _INSIDE if isinstance(record.get(name), dict))
    names = ("input",) if record.get("type") == "turn.prompt" else _SPOKEN
    return next(filter(None, chain(inner, (_plain(record.get(name)) for name in names))), "")


def _halves(record: dict[str, Any]) -> tuple[Any, Any] | None:
    """The prompt and the answer of a record with a place for both, as in logs of VS Code, Zed and older Kiro."""
    if "User" in record or "Agent" in record:
        return table(record.get("User")).get("content"), table(record.get("Agent")).get("content")
    if "requestId" in record and "response" in record:
        return record.get("message"), record["response"]
    if isinstance(record.get("user"), dict) and isinstance(record.get("assistant"), dict):
        prompt = table(table(record["user"].get("content")).get("Prompt")).get("prompt")
        answers = map(table, record["assistant"].values())
        return prompt, next((one["content"] for one in answers if one.get("content")), "")
    return None


def _with_action(record: dict[str, Any]) -> str:
    """Return the agent's words with an action of OpenHands, whose content may be a file's."""
    arguments = table(record.get("args")) or record
    names = _SAID_WITH.get(record["action"], ("final_thought", "thought"))
    response = table(table(record.get("tool_call_metadata")).get("model_response"))
    texts = [_plain(arguments.get(name)) for name in names]
    texts += [_text(table(choice).get("message"), True, 1) for choice in items(response.get("choices"))]
    return next(filter(None, texts), "")


def _is_theirs(role: str, agent: bool) -> bool:
    return not role or (role in ("assistant", "model") if agent else role not in ("assistant", "model"))


def _plain(value: Any, depth: int = 0) -> str:
    """The text of a message's content, its thoughts, calls and results left out."""
    if isinstance(value, str):
        return "" if value.lstrip().startswith(_ADDED) else value
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        return "\n".join(part_text for part in value if (part_text := _plain(part, depth + 1)))
    part = table(value)
    kind = text(part.get("type"))
    if kind in _THOUGHTS or kind in _ANSWERS or kind in _CALLS or part.get("thought") is True:
        return ""
    inner_text = text(table(part.get("data")).get("text")) if kind == "text" else ""
    part_text = text(part.get("text")) or text(part.get("Text")) or inner_text
    if part.get("kind") == "text":
        part_text = part_text or text(part.get("data"))
    elif part.get("kind") in (None, "markdownContent"):
        part_text = part_text or text(part.get("value")) or text(table(part.get("content")).get("value"))
    return _plain(part_text, depth + 1) or _plain(items(part.get("content")), depth + 1)


def _walk(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Every object in a value, the outer ones first."""
    if isinstance(value, dict):
        yield value
        for name, inner in value.items():
            if name == "tool_calls" and isinstance(inner, str):
                inner = decode(inner)
            if isinstance(inner, _HOLDERS) and depth < _DEEPEST:
                yield from _walk(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, _HOLDERS) and depth < _DEEPEST:
                yield from _walk(inner, depth + 1)


@cache
def _names() -> Arguments:
    return Arguments(read_tables().lists["arguments"])


_TYPED = re.compile(r"^####[ \t]?", re.MULTILINE)
_PROGRAM = re.compile(r"\A> ?")


def typed_words(plain: str) -> str:
    """Return the typed text."""
    return "\n".join(line.rstrip() for line in _TYPED.sub("", plain).splitlines()).strip()


def answer_words(plain: str) -> str:
    """Return the words of the model or of the program, without thoughts."""
    return unthought(_PROGRAM.sub("", plain))


LONGEST = 20_000  # Characters of one text that are handed out at most; of outputs, the last ones.
_BEGINNING = 64  # Bytes of a log that show whether it contains JSON.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|[@-Z\\-_])")
_REFUSAL_MARKS = re.compile(r"</?tool_use_error>")  # The marks of Claude Code around its own refusals.
# The head of an output of Codex; its exit code and duration are shown beside the call.
CHUNK = re.compile(
    r"\A\s*(?:(?:Chunk ID:|Script \w+) ?.*\n)?(?:Wall time:? .*\n)(?:Process (?:exited|running) .*\n)?"
    r"(?:Original token count: .*\n)?Output:(?:\n+Script error:)?(?:\n|\Z)"
)
# The tail of an output of Copilot CLI, for the same reason.
_SHELL = re.compile(r"\n?<shellId: \d+ completed with exit code -?\d+>\s*\Z")
_TRACEBACK = "Traceback (most recent call last)"
_MARGIN = re.compile(r"^(?:E|>)\s+(?=\S)")  # The margin of test runners before the lines of an error.
_RULE = re.compile(r"([─━═=_*~-])\1{3,}")  # Lines that are drawn beside words.
_NONE = re.compile(r"\b(?:0|no) (?:failed|failures?|errors?)\b|\berror: \(?none\)?\s*$", re.I)
_WRAPPED = re.compile(r"^<([a-z_]+)>(.*\S.*)</\1>$")  # A line that an agent put between marks of its own.
# Signs of the line that explains a failure, the surest first.
_TELLING = (
    re.compile(r"\w(?:Error|Exception)\b|\berror(?:\[\w+\])?:|\bfatal\b|\bpanic|^FAIL(?:ED)?\b|^✗|^✕", re.I),
    re.compile(r"error|fail|exception|assert|expected|not found|denied|cannot|undefined|no such", re.I),
)


class Words(NamedTuple):
    """The words of one event for a person to read, redacted and bounded."""

    said: str = ""  # The prompt's or the answer's text.
    command: str = ""  # The command of a call, or its most telling argument.
    before: str = ""  # The text that an edit removed.
    after: str = ""  # The text that an edit added.
    output: str = ""  # The output of a call, or its end if it is long.
    fault: str = ""  # Why the log could not be read again; blank if it could.


NOTHING = Words()


class WordReader:
    """Reads the words of events; of logs that are one document the last is remembered as decoded.

    A place that an event names is read only inside the session's own logs, where those are handed in.
    """

    def __init__(self, logs: Sequence[Path] | None = None) -> None:
        self.logs = logs
        self._documents = Documents()
        self._last: tuple[Sequence[Path] | None, str, bool] = None, "", False
        self._place: Where | None = None  # The last place in a file that was read, and its bytes.
        self._data = b""
        self._record: tuple[bytes, list[Any]] = b"", []  # The last record that was read, as it was decoded.

    def words(self, event: Event) -> Words:
        """Return the words behind an event; never raises on the content of disk or log."""
        try:
            if isinstance(event, ToolUse):
                return self._call(event)
            if isinstance(event, Prompt):
                values = self.records(event.where)
                prompt_text = speech(values, agent=False) if values else typed_words(self.plain_text(event.where))
                prompt_text = _beginning(person_words(prompt_text))
                return Words(said=prompt_text or ("" if event.interrupt else attached(values)))
            if isinstance(event, AgentStart):
                values = self.records(event.where)
                return Words(said=_beginning(speech(values, agent=False) or task(values)))
            if isinstance(event, Turn) and (event.said or event.stop != "total"):
                return Words(said=_both_ends(self._turn_text(event)))
        except OSError as fault:
            return Words(fault=fault.strerror or str(fault))
        return NOTHING

    def inside(self, where: Where | None) -> bool:
        """Whether a place is in the session's own logs."""
        if where is None:
            return False
        logs, name = self.logs, where.file
        if logs is None:
            return True
        if self._last[0] is not logs or self._last[1] != name:
            file = Path(name)
            inside = any(file.is_relative_to(log) and ".." not in file.relative_to(log).parts for log in logs)
            self._last = logs, name, inside
        return self._last[2]

    def output(self, event: ToolUse) -> str:
        """Return the end of a call's output, not redacted; blank if the log cannot be read."""
        try:
            return _plain_end(self._output(event))
        except OSError:
            return ""

    def arguments(self, event: ToolUse) -> Any:
        """Return the arguments of a call; updates of ACP bring some with the result."""
        call_records = self.records(event.called or event.where)
        call_arguments = arguments(call_records, event)
        if event.called and any(map(_update_kind, call_records)):
            later = arguments(self.records(event.where), event)
            call_arguments = later if later and (not call_arguments or "old_string" in later) else call_arguments
        return call_arguments

    def _call(self, event: ToolUse) -> Words:
        call_arguments = self.arguments(event)
        edits = event.action in ("file_edit", "memory_write")
        paths, before, after = change(call_arguments) if edits else ((), "", "")
        return Words(
            command=_beginning(gist(call_arguments, paths)),
            before=_beginning(before),
            after=_beginning(after),
            output=_end(self._output(event)),
        )

    def _output(self, event: ToolUse) -> str:
        """Return the output of a call as its log has it."""
        if not event.called and event.outcome == "pending":
            return ""
        result_records = self.records(event.where)
        return answer(result_records, event) if result_records else answer_words(self.plain_text(event.where))

    def _turn_text(self, event: Turn) -> str:
        """Return the words of a turn, or of the error that ended it."""
        place = event.said or event.where
        values = self.records(place)
        if not values and (event.said is not None or event.stop == "error"):
            return answer_words(self.plain_text(place))
        answer_text = speech(values, agent=True) if event.said is not None or event.stop == "error" else ""
        return answer_text or (fault_words(values) if event.stop not in ("", CALLING, WORDLESS) else "")

    def records(self, where: Where | None) -> list[Any]:
        """Return the JSON values at a place, one per line."""
        data = self._bytes(where)
        if data != self._record[0]:
            value = decode(data)
            lines = [value] if value is not None else map(decode, data.splitlines())
            self._record = data, [one for one in lines if one is not None]
        return self._record[1]

    def mentions(self, where: Where | None, *choices: Sequence[bytes]) -> bool:
        """Whether the bytes at a place contain one of each of these; nothing is decoded."""
        try:
            data = self._bytes(where)
        except OSError:
            return False
        return all(any(name in data for name in names) for names in choices)

    def _bytes(self, where: Where | None) -> bytes:
        """Return the bytes at a place, which several questions about one event share; none outside the session."""
        if where is None or not self.inside(where):
            return b""
        if where is not self._place or where.entry:
            self._data, self._place = self._documents.raw(where), where
        return self._data

    def plain_text(self, where: Where | None) -> str:
        """Return the text at a place of a log that is not JSON; blank if it is JSON."""
        if where is None or where.entry or not self.inside(where):
            return ""
        beginning = self._documents.raw(Where(where.file, 0, _BEGINNING)).removeprefix(BOM_UTF8).lstrip()
        if beginning.startswith((b"{", b"[")):
            return ""
        return self._documents.raw(where).decode("utf-8", "replace")


def word_logs(session: LogSession) -> tuple[Path, ...]:
    """The logs from which the words of a session's events may be read."""
    return tuple(log.path for log in session.logs)


def words_of(event: Event) -> Words:
    """The words behind one event."""
    return WordReader().words(event)


def telling_line(output: str) -> str:
    """Return the line of an output that best explains a failure, else the last one."""
    plain_output = output.replace("\\n\\n", "\n").replace("\\n", "\n") if "\\n\\n" in output else output
    lines = [_WRAPPED.sub(r"\2", line.strip()) for line in plain_output.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("hint:")] or lines
    for sign in _TELLING:
        for line in reversed(lines) if _TRACEBACK in output else lines:
            if sign.search(line) and not _NONE.search(line):
                return " ".join(_RULE.sub("", _MARGIN.sub("", line)).split()) or line
    return _with_its_head(lines) if lines else ""


def _with_its_head(lines: Sequence[str]) -> str:
    """The last line; of a list of names, the line that announces them and the first."""
    for row in range(len(lines) - 1, -1, -1):
        if lines[row].endswith(":") and row < len(lines) - 1:
            return f"{lines[row]} {lines[row + 1]}"
        if " " in lines[row]:
            break
    return lines[-1]


def first_line(text: str) -> str:
    """Return the first line that is not blank."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _both_ends(text: str) -> str:
    """Return a text, of a long one both ends: what it asks for is at its end."""
    if len(text) <= LONGEST:
        return _beginning(text)
    beginning, end = _beginning(text), redact(_uncoloured(text[-LONGEST * 2 :]))
    return f"{beginning[: LONGEST // 2]}\n{end[-LONGEST // 2 :].rstrip()}"


def _beginning(text: str) -> str:
    return redact(_uncoloured(text[: LONGEST * 2]))[:LONGEST].strip()


def _end(text: str) -> str:
    return redact(_plain_end(text))[-LONGEST:].strip("\n").rstrip()


def _plain_end(text: str) -> str:
    """Return the end of an output without what agents put around it."""
    text = _SHELL.sub("", text)
    return CHUNK.sub("", _REFUSAL_MARKS.sub("", _uncoloured(text[-LONGEST * 2 :])))


def _uncoloured(text: str) -> str:
    """Return a text without escape sequences for colours, which may be inside a secret."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text
