"""Tasks of Cline, Roo Code and older Kilo: the conversation with the model, and the panel's messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from core.agents.calls import Result, agent_report
from core.agents.models import joined_words
from core.agents.reader import STEP, TranscriptReader, read_document
from core.agents.tables import known_words
from core.agents.values import TokenCounts, amount, decode, first_number, items, table, text, whole_number, words
from core.agents.words import speech
from core.events import Event, Where
from core.logs.discovery import Found, Listed, listed_session
from core.logs.format import Format, Sample
from core.logs.glimpse import Title
from core.logs.lines import seconds
from core.logs.log_files import is_file, read_log

_COMPACTED = frozenset(("condense_context", "sliding_window_truncation", "condense", "summarize_task", "compaction"))
_FAULTS = frozenset(("error", "diff_error", "clineignore_error", "rooignore_error"))
_SPOKEN = frozenset(("text", "completion_result"))
_PROMPTS = frozenset(("task", "user_feedback"))
_PANEL_TOOLS = frozenset(("tool", "command", "use_mcp_server", "use_subagents", "browser_action_launch"))


def panel_tokens(tokens: dict[str, Any]) -> TokenCounts:
    """Return the tokens of a request, under the names each version gives them."""
    read = first_number(tokens, "cacheReads", "cacheReadTokens", "cached")
    written = first_number(tokens, "cacheWrites", "cacheWriteTokens")
    answered = first_number(tokens, "tokensOut", "outputTokens", "completion")
    sent = whole_number(tokens.get("tokensIn"))
    if not sent:
        all_sent = first_number(tokens, "inputTokens", "prompt")
        sent = all_sent - read - written if all_sent >= read + written else all_sent
    return TokenCounts(sent, answered, read, written)


def panel_requests(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
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
    """Reads a task that has only the panel's messages."""

    def __init__(self, reader: ClineReader) -> None:
        self._reader = reader
        self._open = ""
        # Whether the open call is a command, of which the panel shows what it printed and no exit code.
        self._command = False
        self._said: list[str] = []

    def read(self, listed: list[tuple[str, dict[str, Any]]]) -> None:
        """Add the events of all messages; a call is over when something else is shown after it."""
        requests_left = sum(one.get("say") == "api_req_started" for _, one in listed)
        for number, (pointer, message) in enumerate(listed):
            if message.get("partial") is True:
                continue
            self._reader.moment(message.get("ts"))
            self._reader.enter(pointer)
            kind = text(message.get("say")) or text(message.get("ask"))
            message_text = text(message.get("text"))
            if kind == "command_output":
                self._said.append(message_text)
                continue
            self._over(kind, message_text)
            if kind == "api_req_started":
                requests_left -= 1
                message_text, place = _answer(listed, number + 1)
                said_at = self._reader.enter(place)
                self._reader.enter(pointer)
                self._turn(message, message_text, said_at, last=not requests_left)
            elif number == 0 or kind in _PROMPTS:
                self._reader.add(self._reader.prompt(message_text))
            elif kind in _COMPACTED:
                self._reader.add(self._reader.compaction())
            elif kind in _PANEL_TOOLS:
                self._call(kind, message_text)

    def _over(self, kind: str, message_text: str) -> None:
        if not self._open:
            return
        failed = kind in _FAULTS or kind.endswith("ignore_error")
        output = message_text if failed else "\n".join(self._said)
        untold = self._command and not failed
        result = Result(text=output, error=failed, empty=None if output else False, running=untold)
        self._reader.end(self._open, result)
        self._open, self._said = "", []

    def _call(self, kind: str, message_text: str) -> None:
        facts = table(decode(message_text)) if kind != "command" else {}
        tool = text(facts.get("tool")) or text(facts.get("toolName")) or kind
        options = {key: value for key, value in facts.items() if key != "tool"}
        arguments: Any = {"command": message_text} if kind == "command" else options
        name = f"shown-{self._reader.now}-{self._reader.here().entry}"
        if self._reader.start_call(name, tool, arguments):
            self._open, self._command, self._said = name, kind == "command", []

    def _turn(self, message: dict[str, Any], answer_text: str, said_at: Where, *, last: bool) -> None:
        request = _request(message)
        tokens, cost, model = panel_tokens(request), amount(request.get("cost")), text(request.get("model"))
        name = f"shown-{self._reader.now}"
        turn = self._reader.turn(answer_text, tokens=tokens, message=name, model=model, cost=cost, said_at=said_at)
        self._reader.add(self._reader.usage.update(turn))
        if tokens.output_tokens or not last:
            self._reader.add(self._reader.usage.close(self._reader.agent))


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
    return table(decode(text(message.get("text"))))


_CALL = re.compile(rf"<({'|'.join(known_words('cline-tools'))})>(.*?)</\1>", re.DOTALL)
_FIELD = re.compile(r"<(\w{1,40})>\n?(.*?)\n?</\1>", re.DOTALL)
_RESULT = re.compile(r"\A\[(\w{1,60})(?: for .{0,4000}?)?\] Result:[ \n]?(.*)\Z", re.DOTALL)
_SKIPPED = re.compile(r"\ATool \[(\w{1,60})\] was not executed because")
_EXIT = re.compile(r"\bexit(?:ed with)? code:? (-?\d{1,9})", re.IGNORECASE)
_HEAD = 500
_FAILED = ("The tool execution failed", "<error>", "Error:", "[ERROR]")
_DENIED = "The user denied"


class Called(NamedTuple):
    """One call."""

    id: str
    tool: str
    arguments: Any


class Reply(NamedTuple):
    """The result of one call; without an id it belongs to the waiting call."""

    id: str
    tool: str
    said: str
    error: bool = False
    skipped: bool = False


def called_in(content: Any) -> Iterator[Called]:
    """The calls of an answer: blocks, or in older versions tags in its text."""
    blocks = [table(one) for one in items(content)]
    native = [one for one in blocks if one.get("type") == "tool_use"]
    for one in native:
        yield Called(text(one.get("id")), text(one.get("name")), _arguments(one.get("input")))
    if native:
        return
    content_text = content if isinstance(content, str) else "\n".join(text(one.get("text")) for one in blocks)
    for tool, inner in _CALL.findall(content_text):
        yield Called("", tool, dict(_FIELD.findall(inner)))


def _arguments(arguments: Any) -> Any:
    """The arguments of a call; a list of files or commands in the words of a single one."""
    facts = table(arguments)
    commands = [one for one in items(facts.get("commands")) if isinstance(one, str)]
    if commands and "command" not in facts:
        return {**facts, "command": "\n".join(commands)}
    paths = [text(table(one).get("path")) for one in items(facts.get("files")) if isinstance(one, dict)]
    return {**facts, "paths": list(filter(None, paths))} if any(paths) and "path" not in facts else arguments


def replies(content: Any) -> Iterator[Reply]:
    """The results in a message to the model: blocks with ids, or texts that name their tool."""
    last: Reply | None = None
    for block in [{"text": content}] if isinstance(content, str) else map(table, items(content)):
        if block.get("type") == "tool_result":
            yield _block(block)
            continue
        block_text = text(block.get("text"))
        match, skipped = _RESULT.match(block_text), _SKIPPED.match(block_text)
        if match or skipped:
            if last is not None:
                yield last
            last = (
                Reply("", match[1], match[2]) if match else Reply("", skipped[1], block_text, skipped=True)  # type: ignore[index]
            )
        elif last is not None and not last.said and not block_text.startswith("<environment_details>"):
            last = last._replace(said=block_text)
    if last is not None:
        yield last


def _block(block: dict[str, Any]) -> Reply:
    content = block.get("content")
    opened = decode(content) if isinstance(content, str) and content[:1] in "{[" else None
    parts = [one for one in (items(content) or items(opened) or [opened]) if isinstance(one, dict)]
    failed = any(one.get("success") is False for one in parts)
    results = [text(one.get("result")) or text(one.get("error")) for one in parts if "result" in one or "error" in one]
    output = "\n".join(results) if any(results) else words(content)
    return Reply(
        text(block.get("tool_use_id")), text(block.get("name")), output, block.get("is_error") is True or failed
    )


def reply_result(reply: Reply) -> Result:
    """Return the facts in a result's text."""
    head = reply.said[:_HEAD]
    status = text(table(decode(reply.said)).get("status")) if head[:1] == "{" else ""
    shell = reply.tool in ("", "execute_command", "run_commands", "read_command_output", "bash")
    exited = _EXIT.search(head) if shell else None
    return Result(
        text=reply.said,
        error=reply.error or status == "error" or head.startswith(_FAILED) or "The tool execution failed" in head,
        exit_code=int(exited[1]) if exited else None,
        rejected=head.startswith(_DENIED) or status == "denied",
        collateral=reply.skipped or (head.startswith("Tool [") and "was not executed because" in head),
    )


API = "api_conversation_history.json"
UI = "ui_messages.json"
HISTORY = "history_item.json"
_ASKED = re.compile(r"<(task|feedback|user_message|user_input)(?: [^<>]{0,200})?>\s*(.*?)\s*</\1>", re.DOTALL)
_INJECTED = (
    "<environment_details>",
    "[SYSTEM]",
    "[ERROR]",
    "[TASK RESUMPTION]",
    "# TODO LIST",
    "<explicit_instructions",
)
_FOLDER = re.compile(r"(?:Current Working|Working|Current Workspace) Directory:? ?\(?([^\n)]{1,400})")


class ClineReader(TranscriptReader):
    """A task is one or two documents: the model's conversation is read, with the panel's times and costs.

    Where only the panel's messages are there, they are read in its stead.
    """

    name = "cline"
    gaps = "with the panel's messages alone, commands have no outcome"
    # Of blocks in a message.
    kinds = known_words("cline-blocks")

    def setup(self) -> None:
        self._facts: dict[str, Any] = {}
        self._held: tuple[list[tuple[str, dict[str, Any]]], Where] | None = None
        self._read = False
        self._waiting: list[str] = []
        self._children: set[str] = set()

    @staticmethod
    def members(folder: Path) -> list[Path]:
        """The documents of a task, in the order they are needed."""
        return [path for name in (HISTORY, API, UI) if (path := folder / name).is_file()]

    def read(self, value: Any) -> None:
        """Add the events of one document."""
        if isinstance(value, dict):
            self._facts = value
            if "messages" in value:
                messages = self.placed(value["messages"], "messages")
                self._conversation([(f"/messages/{place}", one) for place, one in messages], [])
            return
        listed = [(f"/{place}", one) for place, one in self.placed(value, "messages")]
        if any(one.get("type") in ("ask", "say") for _, one in listed[:4]):
            self._panel(listed)
        elif _complete(listed):
            self._conversation(listed, [])
        else:
            self._held = (listed, self._place)

    def finish(self) -> list[Event]:
        """A conversation without times whose panel never came has made-up ones."""
        self.out = []
        self._release([])
        return self.out + super().finish()

    def _release(self, panel: list[dict[str, Any]]) -> None:
        if self._held is None:
            return
        (listed, place), self._held = self._held, None
        here, self._record = self._record, place
        self.enter()
        self._conversation(listed, panel)
        self._record = here
        self.enter()

    def _panel(self, listed: list[tuple[str, dict[str, Any]]]) -> None:
        if self._held is not None:
            self._release([one for _, one in listed])
        elif not self._read:
            self._read = True
            self._begin(first_time([one for _, one in listed]))
            PanelMessages(self).read(listed)

    def _begin(self, at: float | None, model: str = "", place: str = "") -> None:
        facts = self._facts
        name = text(facts.get("sessionId")) or (self.session if not self.begun else "")
        project, parent = text(facts.get("workspace")) or text(facts.get("cwd")) or place, facts.get("parentTaskId")
        self.begin(name, at=at or 0.0, project=project, model=model, parent=parent, synthetic_time=at is None)

    def _conversation(self, listed: list[tuple[str, dict[str, Any]]], panel: list[dict[str, Any]]) -> None:
        self._read = True
        times = message_times([one for _, one in listed], panel)
        known_times = [at for at in times if at is not None]
        requests = panel_requests(panel)
        model = next(filter(None, (_model(one) for _, one in listed)), "")
        self._begin(known_times[0] if known_times else None, model, self._workplace(listed))
        self.now = known_times[0] if known_times else 0.0
        answers = 0
        for (pointer, message), at in zip(listed, times, strict=True):
            if at is not None:
                before = self.now
                self.now = max(self.moment(at), before)
            elif not known_times:
                self.now += STEP
            self.enter(pointer)
            self.check_parts(items(message.get("content")))
            if message.get("role") == "assistant":
                request = requests[answers] if answers < len(requests) else {}
                answers += 1
                self._answer(message, pointer, request)
            elif message.get("role") == "user":
                self._user_entry(message, pointer)

    def _workplace(self, listed: list[tuple[str, dict[str, Any]]]) -> str:
        instructions = text(self._facts.get("system_prompt")) or words((listed[0][1] if listed else {}).get("content"))
        match = _FOLDER.search(instructions[:200_000])
        return match[1].strip().rstrip(")") if match else ""

    def _answer(self, message: dict[str, Any], pointer: str, request: dict[str, Any]) -> None:
        metrics = self.table(message.get("metrics"), "metrics")
        tokens = panel_tokens(table(metrics.get("tokens")) or metrics or request)
        name = text(message.get("id")) or f"{self.here().entry}@{self.now}"
        model, cost = _model(message), amount(metrics.get("cost")) or amount(request.get("cost"))
        self.answer(speech([message], agent=True), tokens=tokens, message=name, model=model, cost=cost)
        if message.get("isSummary") is True:
            self.add(self.compaction())
        self._waiting.clear()
        for number, call in enumerate(called_in(message.get("content"))):
            name = call.id or f"{pointer}/{number}"
            if self.start_call(name, call.tool, call.arguments):
                self._waiting.append(name)

    def start_call(self, name: str, tool: str, arguments: Any) -> bool:
        """Open a call, add the sub-agent that it may start, and return whether it is new."""
        is_new = self.calls.begin(name, tool, arguments, self.now, self.agent, self.here())
        if is_new and self.delegates(name, tool):
            self._children.add(name)
        return is_new

    def _user_entry(self, message: dict[str, Any], pointer: str) -> None:
        if message.get("isSummary") is True:
            self.add(self.compaction())
            return
        answered = False
        for reply in replies(message.get("content")):
            answered = True
            name = reply.id or self._next(reply.tool)
            if name and self.end(name, reply_result(reply)):
                self._waiting = [other for other in self._waiting if other != name]
        prompt_text = person_said(message.get("content"), first=pointer.endswith("/0"), answered=answered)
        if prompt_text:
            self.add(self.prompt(prompt_text))

    def _next(self, tool: str) -> str:
        """The call of this tool that waits the longest; else whichever does."""
        alike = [name for name in self._waiting if self.calls.tool(name) == tool]
        return next(iter(alike or self._waiting), "")

    def end(self, name: str, result: Result) -> bool:
        """End a call, and the sub-agent that it started; return whether it was open."""
        use = self.result(name, result)
        if use is not None and use.id in self._children:
            self._children.discard(use.id)
            self.add(agent_report(use, use.id))
        return use is not None


def person_said(content: Any, *, first: bool, answered: bool) -> str:
    """Return the person's text in a message to the model, without what the program added."""
    texts = [content] if isinstance(content, str) else [text(table(one).get("text")) for one in items(content)]
    tagged = [pair[1] for one in texts for pair in _ASKED.findall(one) if not one.startswith(_INJECTED)]
    if tagged:
        return "\n".join(tagged)
    if answered and not first:
        return ""
    native = not any(one.startswith(_INJECTED) for one in texts)
    return "\n".join(one for one in texts if one and not one.startswith(_INJECTED)) if first or native else ""


def first_request(content: Any) -> str:
    """Return the request in a first message."""
    if isinstance(content, str) and not content.startswith("<"):
        return content
    return person_said(content, first=True, answered=False)


def _model(message: dict[str, Any]) -> str:
    info = table(message.get("modelInfo"))
    return text(info.get("modelId")) or text(info.get("id"))


def _complete(listed: list[tuple[str, dict[str, Any]]]) -> bool:
    """Whether a conversation has its own times and tokens."""
    return all(
        seconds(one.get("ts")) is not None and (one.get("role") != "assistant" or "metrics" in one) for _, one in listed
    )


def _sniff(sample: Sample) -> int:
    head = sample.head.lstrip()
    if sample.path.name == UI or (head.startswith(b"[") and re.search(rb'"type"\s*:\s*"(?:say|ask)"', head)):
        return 95 if re.search(rb'"(?:say|ask)"\s*:\s*"\w', head) and b'"ts"' in head else 0
    if sample.path.name == API:
        return 95 if head.startswith(b"[") and b'"role"' in head else 0
    has_details = b'"modelInfo"' in head or b"<environment_details>" in head
    return 92 if head.startswith(b"[") and b'"role"' in head and has_details else 0


def _task(sample: Sample) -> int:
    return _sniff(sample) if sample.path.name in (API, UI) else 0


def _lone(sample: Sample) -> int:
    return 0 if sample.path.name in (API, UI) else _sniff(sample)


def _session(sample: Sample) -> int:
    """The newer form: one object with the agent, its session and the messages."""
    document = table(sample.document)
    if document:
        has_names = "sessionId" in document and "agent" in document
        return 95 if has_names and isinstance(document.get("messages"), list) else 0
    head = sample.head.lstrip()
    keys = (b'"messages"', b'"sessionId"', b'"agent"', b'"modelInfo"')
    return 90 if head.startswith(b"{") and b"\n{" not in head and all(key in head for key in keys) else 0


def cline_title(document: dict[str, Any]) -> Title | None:
    """Return the title in a task's own notes."""
    title = text(document.get("task")) or text(document.get("title"))
    return Title(2, title) if title and "role" not in document and "ts" not in document else None


FORMATS = (
    Format("cline", "folder", _task, ClineReader, titles=cline_title),
    Format("cline", "document", _lone, ClineReader),
    Format("cline", "document", _session, ClineReader, id_key=("sessionId",)),
)


def survey(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """Every task below a root, and every session of the newer form."""
    for place in root.iterdir():
        main = next((place / name for name in (API, UI, f"{place.name}.messages.json") if is_file(place / name)), None)
        if main is None:
            continue
        try:
            yield _describe_task(agent, place, main, now, active_within)
        except OSError:
            continue


def _describe_task(agent: str, place: Path, main: Path, now: float, active_within: float) -> Found:
    names = (main.name, UI, "history_item.json", f"{place.name}.json")
    paths = [place / name for name in dict.fromkeys(names) if is_file(place / name)]
    statuses = [path.stat() for path in paths]
    facts = _facts(paths[1:])
    value = decode(read_log(main))
    messages = items(value) or items(table(value).get("messages"))
    modified = max(status.st_mtime for status in statuses)
    last = _last(messages) or _last(items(read_document(place / UI)))
    project = text(facts.get("workspace") or facts.get("cwd"))
    title = text(facts.get("task") or facts.get("title")) or _first_prompt(messages)
    number = sum(max(1, len(items(table(one).get("content")))) for one in messages)
    size, whole = sum(status.st_size for status in statuses), main if table(value) else place
    one = Listed(place.name, project, title, last, number)
    return listed_session(agent, whole, one, size, now, active_within, modified)


def _facts(paths: list[Path]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for path in paths:
        if path.name != UI:
            facts.update(table(read_document(path)))
    return facts


def _last(messages: list[Any]) -> float | None:
    return next((at for one in reversed(messages) if (at := seconds(table(one).get("ts"))) is not None), None)


def _first_prompt(messages: list[Any]) -> str:
    first = table(next(iter(messages), None))
    return first_request(text(first.get("text")) or first.get("content"))
