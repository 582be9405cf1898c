"""Tasks of Cline, Roo Code and older Kilo: what was said to the model, and what the panel showed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from core.agents.calls import agent_report
from core.agents.cline import panel
from core.agents.cline.replies import called_in, replies, reply_result
from core.agents.loose import STEP, amount, items, table, text, words
from core.agents.record_words import spoken
from core.events import AgentStart, Compaction, Event, ToolUse, Where
from core.logs.format import Format, Sample
from core.logs.times import seconds
from core.logs.titles import Title

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


class ClineReader(panel.PanelReader):
    """A task is one or two documents: the model's conversation is read, with the panel's times and costs.

    Where only the panel's messages are there, they are read in its stead.
    """

    name = "cline"
    gaps = "with the panel's messages alone, commands have no outcome"

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._facts: dict[str, Any] = {}
        self._held: tuple[list[tuple[str, dict[str, Any]]], Where] | None = None
        self._read = False
        self._waiting: list[str] = []
        self._children: set[str] = set()

    @staticmethod
    def members(folder: Path) -> list[Path]:
        """The documents of a task, in the order they are needed."""
        return [path for name in (HISTORY, API, UI) if (path := folder / name).is_file()]

    def read(self, value: Any, out: list[Event]) -> None:
        """Add the events of one document."""
        if isinstance(value, dict):
            if "messages" in value:
                self._facts = value
                messages = self.placed(value["messages"], "messages")
                listed = [(f"/messages/{place}", one) for place, one in messages]
                self._conversation(listed, [], out)
            else:
                self._facts = value
            return
        listed = [(f"/{place}", one) for place, one in self.placed(value, "messages")]
        if _shown(listed):
            self._panel(listed, out)
        elif _complete(listed):
            self._conversation(listed, [], out)
        else:
            self._held = (listed, self._place)

    def finish(self) -> list[Event]:
        """A conversation without times whose panel never came has made-up ones."""
        out: list[Event] = []
        self._release([], out)
        return out + super().finish()

    def _release(self, shown: list[dict[str, Any]], out: list[Event]) -> None:
        if self._held is None:
            return
        (listed, place), self._held = self._held, None
        here, self._place = self._place, place
        self._conversation(listed, shown, out)
        self._place = here

    def _panel(self, listed: list[tuple[str, dict[str, Any]]], out: list[Event]) -> None:
        if self._held is not None:
            self._release([one for _, one in listed], out)
        elif not self._read:
            self._read = True
            self._begin(panel.first_time([one for _, one in listed]), out)
            panel.PanelMessages(self, self.here).read(listed, out)

    def _begin(self, at: float | None, out: list[Event], model: str = "", place: str = "") -> None:
        facts = self._facts
        name = text(facts.get("sessionId")) or (self.session if not self.begun else "")
        out.append(
            self.start(
                at or 0.0,
                name,
                project=text(facts.get("workspace")) or text(facts.get("cwd")) or place,
                model=model,
                parent=text(facts.get("parentTaskId")),
                synthetic_time=at is None,
            )
        )

    def _conversation(
        self, listed: list[tuple[str, dict[str, Any]]], shown: list[dict[str, Any]], out: list[Event]
    ) -> None:
        self._read = True
        times = panel.message_times([one for _, one in listed], shown)
        told = [at for at in times if at is not None]
        requests = panel.requests(shown)
        model = next(filter(None, (_model(one) for _, one in listed)), "")
        self._begin(told[0] if told else None, out, model, self._workplace(listed))
        self.now = told[0] if told else 0.0
        answers = 0
        for (pointer, message), at in zip(listed, times, strict=True):
            if at is not None:
                before = self.now
                self.now = max(self.moment(at), before)
            elif not told:
                self.now += STEP
            where = self.here(pointer)
            if message.get("role") == "assistant":
                request = requests[answers] if answers < len(requests) else {}
                answers += 1
                self._answer(message, pointer, request, where, out)
            elif message.get("role") == "user":
                self._user(message, pointer, where, out)

    def _workplace(self, listed: list[tuple[str, dict[str, Any]]]) -> str:
        told = text(self._facts.get("system_prompt")) or plain_all(listed[0][1] if listed else {})
        found = _FOLDER.search(told[:200_000])
        return found[1].strip().rstrip(")") if found else ""

    def _answer(
        self, message: dict[str, Any], pointer: str, request: dict[str, Any], where: Where, out: list[Event]
    ) -> None:
        metrics = self.table(message.get("metrics"), "metrics")
        tokens = table(metrics.get("tokens")) or metrics or request
        sent, answered, read, written = panel.panel_tokens(tokens)
        turn = self.kit.models.turn(
            self.now,
            message=text(message.get("id")) or f"{where.entry}@{self.now}",
            model=_model(message),
            input_tokens=sent,
            output_tokens=answered,
            cache_read=read,
            cache_write=written,
            cost=amount(metrics.get("cost")) or amount(request.get("cost")),
            agent=self.agent,
            where=where,
            said=spoken([message], agent=True),
        )
        if (told := self.usage.once(turn)) is not None:
            out.append(told)
        if message.get("isSummary") is True:
            out.append(Compaction(at=self.now, agent=self.agent, where=where))
        self._waiting.clear()
        for number, call in enumerate(called_in(message.get("content"))):
            name = call.id or f"{pointer}/{number}"
            if self.calls.begin(name, call.tool, call.arguments, self.now, self.agent, where):
                self._waiting.append(name)
                self.delegate(name, call.tool, self.now, where, out)

    def delegate(self, name: str, tool: str, at: float, where: Where, out: list[Event]) -> None:
        """The sub-agent that a call starts, where it starts one."""
        kind = self.calls.kind(name)
        if kind is not None and kind.action == "delegation":
            self._children.add(name)
            out.append(AgentStart(at=at, agent=self.agent, where=where, child=name, role=tool))

    def _user(self, message: dict[str, Any], pointer: str, where: Where, out: list[Event]) -> None:
        if message.get("isSummary") is True:
            out.append(Compaction(at=self.now, agent=self.agent, where=where))
            return
        answered = False
        for reply in replies(message.get("content")):
            answered = True
            name = reply.id or self._next(reply.tool)
            if name:
                use = self.calls.end(name, self.now, reply_result(reply), where, line=self._line)
                if use is not None:
                    self._waiting = [other for other in self._waiting if other != name]
                    self.end_use(use, out)
        said = person_said(message.get("content"), first=pointer.endswith("/0"), answered=answered)
        if said:
            out.append(self.prompt(self.now, said, where))

    def _next(self, tool: str) -> str:
        """The call of this tool that waits the longest; else whichever does."""
        for name in self._waiting:
            if self.calls.tool(name) == tool:
                return name
        return self._waiting[0] if self._waiting else ""

    def end_use(self, use: ToolUse, out: list[Event]) -> None:
        """A call that is over, and the sub-agent it started."""
        out.append(use)
        if use.id in self._children:
            self._children.discard(use.id)
            out.append(agent_report(use, use.id))


def person_said(content: Any, *, first: bool, answered: bool) -> str:
    """What the person said in a message to the model, without what the program put beside it."""
    texts = (
        [content] if isinstance(content, str) else [text(table(one).get("text")) for one in items(content)]
    )
    tagged = [found[1] for one in texts for found in _ASKED.findall(one) if not one.startswith(_INJECTED)]
    if tagged:
        return "\n".join(tagged)
    if answered and not first:
        return ""
    native = not any(one.startswith(_INJECTED) for one in texts)
    return "\n".join(one for one in texts if one and not one.startswith(_INJECTED)) if first or native else ""


def first_request(content: Any) -> str:
    """What a first message asks for."""
    return (
        content
        if isinstance(content, str) and "<" not in content[:1]
        else person_said(content, first=True, answered=False)
    )


def plain_all(message: dict[str, Any]) -> str:
    """All the words of a message."""
    return words(message.get("content"))


def _model(message: dict[str, Any]) -> str:
    info = table(message.get("modelInfo"))
    return text(info.get("modelId")) or text(info.get("id"))


def _shown(listed: list[tuple[str, dict[str, Any]]]) -> bool:
    return any(one.get("type") in ("ask", "say") for _, one in listed[:4])


def _complete(listed: list[tuple[str, dict[str, Any]]]) -> bool:
    """Whether a conversation tells its own times and tokens."""
    return all(
        seconds(one.get("ts")) is not None and (one.get("role") != "assistant" or "metrics" in one)
        for _, one in listed
    )


def _sniff(sample: Sample) -> int:
    head = sample.head.lstrip()
    if sample.path.name == UI or (head.startswith(b"[") and re.search(rb'"type"\s*:\s*"(?:say|ask)"', head)):
        return 95 if re.search(rb'"(?:say|ask)"\s*:\s*"\w', head) and b'"ts"' in head else 0
    if sample.path.name == API:
        return 95 if head.startswith(b"[") and b'"role"' in head else 0
    told = b'"modelInfo"' in head or b"<environment_details>" in head
    return 92 if head.startswith(b"[") and b'"role"' in head and told else 0


def _task(sample: Sample) -> int:
    return _sniff(sample) if sample.path.name in (API, UI) else 0


def _lone(sample: Sample) -> int:
    return 0 if sample.path.name in (API, UI) else _sniff(sample)


def _session(sample: Sample) -> int:
    """The newer form: one object with the agent, its session and the messages."""
    document = table(sample.document)
    if document:
        named = "sessionId" in document and "agent" in document
        return 95 if named and isinstance(document.get("messages"), list) else 0
    head = sample.head.lstrip()
    keys = (b'"messages"', b'"sessionId"', b'"agent"', b'"modelInfo"')
    return 90 if head.startswith(b"{") and b"\n{" not in head and all(key in head for key in keys) else 0


def cline_title(document: dict[str, Any]) -> Title | None:
    """What a task's own notes call it."""
    said = text(document.get("task")) or text(document.get("title"))
    return Title(2, said) if said and "role" not in document and "ts" not in document else None


FORMATS = (
    Format("cline", "folder", _task, ClineReader, titles=cline_title),
    Format("cline", "document", _lone, ClineReader),
    Format("cline", "document", _session, ClineReader, id_key=("sessionId",)),
)
