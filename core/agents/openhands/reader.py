"""Event streams of OpenHands: V0 lists, evaluation outputs with a run a line, and V1 event folders."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from msgspec import structs

from core.agents.calls import Calls, Result
from core.agents.loose import STEP, LooseReader, amount, code, items, kept, table, text, whole_number, words
from core.events import AgentEnd, AgentStart, Compaction, Event, SessionEnd, ToolUse, Turn, Where
from core.logs.format import Format, Sample
from core.logs.times import seconds

_NO_TOOLS = frozenset(
    (
        *("message", "finish", "system", "null", "initialize", "start", "pause", "resume", "stop", "reject"),
        *("change_agent_state", "condensation", "condensation_request", "recall", "loop_recovery"),
        *("summarize", "add_task", "modify_task"),
    )
)
_NO_RESULTS = frozenset(("null", "agent_state_changed", "recall", "condense", "message", "loop_detection"))
_SILENT_FAILURE = re.compile(
    r"\[?Your proposed edit has introduced new syntax error|\[No exact match found|ERROR:|\[?Error:"
    r"|-+\n\w+(?:Error|Exception)\s+Traceback|Traceback \(most recent call last\)"
)
"""How results that carry no exit code tell that they failed."""


class OpenHandsReader(LooseReader):
    """Actions and the observations they cause, in one list."""

    name = "openhands"
    untold = ("cost",)
    gaps = "times name no zone and are taken as UTC"
    many = True

    def read(self, value: Any, out: list[Event]) -> None:
        """Add the events of a whole list, or of one run of an evaluation."""
        if isinstance(value, list):
            self._run(value, self.session, "", out)
            return
        run = self.table(value, "run")
        history = self.items(run.get("history"), "history")
        issue = table(run.get("issue"))
        number = whole_number(issue.get("number"))
        name = text(run.get("instance_id")) or (f"issue-{number}" if number else "")
        model = text(table(table(run.get("metadata")).get("llm_config")).get("model"))
        self._run(history, name or f"{self.session}-{self._line}", model, out, "/history")

    def _run(self, history: list[Any], name: str, model: str, out: list[Event], root: str = "") -> None:
        """One session. Each run is paired for itself: ids start again."""
        self.calls = Calls(self.kit, self.name)
        self._waiting: list[str] = []
        self._agents = [self.agent]
        self._asked = False
        steps = _flat(history)
        told = [at for _, step in steps if (at := seconds(step.get("timestamp"))) is not None]
        if len(steps) < len(items(history)):
            self.note("event is not an object")
        self.now = told[0] if told else 0.0
        folders = (
            text(table(table(step.get("extras")).get("metadata")).get("working_dir")) for _, step in steps
        )
        folder = next(filter(None, folders), "")
        out.append(self.start(self.now, name, project=folder, model=model, synthetic_time=not told))
        for place, step in steps:
            at = seconds(step.get("timestamp"))
            if at is not None:
                self.now = at
            elif not told and "action" in step:
                self.now += STEP
            where = self.here(f"{root}/{place}")
            if isinstance(step.get("action"), str):
                self._act(step, place, where, out)
            elif isinstance(step.get("observation"), str):
                self._observe(step, where, out)
        out.extend(self.close_all())

    def _act(self, step: dict[str, Any], place: str, where: Where, out: list[Event]) -> None:
        self._answer(table(step.get("tool_call_metadata")), where, out)
        action, source = step["action"], step.get("source")
        arguments = table(step.get("args")) or {
            key: step[key] for key in step if key not in ("action", "source")
        }
        if action == "message" and (source == "user" or (source is None and not self._asked)):
            out.append(self.prompt(self.now, words(arguments.get("content")), where))
        elif action == "condensation":
            out.append(Compaction(at=self.now, agent=self._agents[-1], where=where, trigger="auto"))
        elif action == "finish":
            out.append(SessionEnd(at=self.now, agent=self._agents[-1], where=where, reason="finish"))
        elif action not in _NO_TOOLS and source in (None, "agent"):
            tool = text(arguments.get("name")) if action == "call_tool_mcp" else action
            name = _name(step.get("id"), place)
            given = arguments.get("arguments", arguments) if action == "call_tool_mcp" else arguments
            if self.calls.begin(name, tool or action, given, self.now, self._agents[-1], where):
                self._waiting.append(name)
            if action == "delegate":
                role = text(arguments.get("agent"))
                out.append(
                    AgentStart(at=self.now, agent=self._agents[-1], where=where, child=name, role=role)
                )
                self._agents.append(name)
        self._asked = True

    def _observe(self, step: dict[str, Any], where: Where, out: list[Event]) -> None:
        observation = step["observation"]
        if observation in _NO_RESULTS:
            return
        caused = step.get("cause")
        name = _name(caused, "") if caused is not None else next(iter(self._waiting[-1:]), "")
        if name not in self._waiting:
            if observation != "error":
                self.note("result without a call")
            return
        self._waiting.remove(name)
        delegated = observation == "delegate" and name == self._agents[-1]
        if delegated:
            self._agents.pop()
        use = self.calls.end(name, self.now, _result(step, observation), where, line=self._line)
        kept(use, out)
        if delegated and use is not None:
            out.append(_report(use, name))

    def _answer(self, metadata: dict[str, Any], where: Where, out: list[Event]) -> None:
        response = table(metadata.get("model_response"))
        usage = table(response.get("usage"))
        if not response:
            return
        read = whole_number(usage.get("cache_read_input_tokens"))
        read = read or whole_number(table(usage.get("prompt_tokens_details")).get("cached_tokens"))
        written = whole_number(usage.get("cache_creation_input_tokens"))
        turn = self.kit.models.turn(
            self.now,
            message=text(response.get("id")),
            model=text(response.get("model")),
            input_tokens=max(0, whole_number(usage.get("prompt_tokens")) - read - written),
            output_tokens=whole_number(usage.get("completion_tokens")),
            cache_read=read,
            cache_write=written,
            agent=self._agents[-1],
            where=where,
            said="\n".join(
                words(table(table(choice).get("message")).get("content"))
                for choice in items(response.get("choices"))
            ),
        )
        told = self.usage.once(turn)
        if told is not None:
            out.append(told)


def _flat(history: list[Any]) -> list[tuple[str, dict[str, Any]]]:
    """The events with their places; old evaluations hold them in pairs."""
    flat: list[tuple[str, dict[str, Any]]] = []
    for place, step in enumerate(history):
        if isinstance(step, dict):
            flat.append((str(place), step))
        elif isinstance(step, list):
            flat += [(f"{place}/{part}", item) for part, item in enumerate(step) if isinstance(item, dict)]
    return flat


def _name(value: Any, otherwise: str) -> str:
    return str(value) if isinstance(value, int | str) and not isinstance(value, bool) else otherwise


def _result(step: dict[str, Any], observation: str) -> Result:
    extras = table(step.get("extras"))
    exited = code(table(extras.get("metadata")).get("exit_code"))
    for found in (extras.get("exit_code"), step.get("exit_code")):
        exited = code(found) if exited is None else exited
    told = words(step.get("content"))
    silent = exited is None and bool(_SILENT_FAILURE.match(told[:500].lstrip()))
    running = exited == -1
    return Result(
        text=told,
        error=observation == "error" or silent or extras.get("error") is True,
        exit_code=None if running else exited,
        rejected=observation == "user_rejected",
        running=running,
    )


def _report(use: ToolUse, child: str) -> AgentEnd:
    return AgentEnd(
        at=use.at,
        agent=use.agent,
        where=use.where,
        child=child,
        outcome=use.outcome,
        duration=use.duration,
    )


class TokensUsed(NamedTuple):
    """What a conversation has used so far."""

    model: str = ""
    sent: int = 0
    answered: int = 0
    read: int = 0
    written: int = 0
    cost: float = 0.0


def spent(told: dict[str, Any]) -> TokensUsed:
    """The totals of one of a conversation's models."""
    used = table(told.get("accumulated_token_usage"))
    return TokensUsed(
        text(told.get("model_name")),
        whole_number(used.get("prompt_tokens")),
        whole_number(used.get("completion_tokens")),
        whole_number(used.get("cache_read_tokens")),
        whole_number(used.get("cache_write_tokens")),
        amount(told.get("accumulated_cost")) or 0.0,
    )


class OpenHandsFolderReader(LooseReader):
    """The events of a V1 conversation, each a file or a line of its own."""

    name = "openhands"
    untold = ("tokens", "model", "cost")

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._answers: set[str] = set()
        self._children: dict[str, list[str]] = {}
        self._totals = TokensUsed()
        self._spent: Turn | None = None

    def read(self, value: Any, out: list[Event]) -> None:
        """Add the events of one file."""
        event = self.table(value, "event")
        kind = text(event.get("kind"))
        at = self.moment(event.get("timestamp"))
        if not self.begun:
            out.append(self.start(at, self.session))
        if kind == "ConversationStateUpdateEvent":
            self._stats(event, at, out)
        elif kind == "MessageEvent" and event.get("source") == "user":
            out.append(self.prompt(at, words(table(event.get("llm_message")).get("content")), self.here()))
        elif kind == "MessageEvent" and event.get("llm_response_id"):
            self._answer(event, at, out)
        elif kind == "ActionEvent":
            self._act(event, at, out)
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            self._observe(event, kind, at, out)
        elif kind == "Condensation":
            out.append(Compaction(at=at, agent=self.agent, where=self.here(), trigger="auto"))
        elif kind in ("PauseEvent", "InterruptEvent"):
            out.append(self.prompt(at, "", self.here(), interrupt=True))

    def finish(self) -> list[Event]:
        """An answer of which only the cost was told, and the calls that never got a result."""
        return [*filter(None, [self._spent]), *super().finish()]

    def held(self) -> list[Event]:
        """The same, for a log that still grows."""
        return [*filter(None, [self._spent]), *super().held()]

    def _stats(self, event: dict[str, Any], at: float, out: list[Event]) -> None:
        """What the conversation has used so far: what is more than before is the next answer's."""
        if event.get("key") != "stats":
            return
        used = table(table(event.get("value")).get("usage_to_metrics")).get("default")
        now = spent(table(used))
        before, self._totals = self._totals, now
        if now.sent <= before.sent and now.answered <= before.answered:
            return
        if self._spent is not None:
            out.append(self._spent)
        read = max(0, now.read - before.read)
        written = max(0, now.written - before.written)
        self._spent = self.kit.models.turn(
            at,
            message=text(event.get("id")),
            model=now.model,
            input_tokens=max(0, now.sent - before.sent - read - written),
            output_tokens=max(0, now.answered - before.answered),
            cache_read=read,
            cache_write=written,
            cost=amount(now.cost - before.cost),
            agent=self.agent,
            where=self.here(),
        )

    def _answer(self, event: dict[str, Any], at: float, out: list[Event]) -> None:
        answer = text(event.get("llm_response_id"))
        if not answer or answer in self._answers:
            return
        self._answers.add(answer)
        told, self._spent = self._spent, None
        if told is None:
            told = self.kit.models.turn(
                at,
                message=answer,
                model="",
                agent=self.agent,
                where=self.here(),
                said=words(event.get("thought")),
            )
        out.append(structs.replace(told, at=at, id=answer, where=self.here()))

    def _act(self, event: dict[str, Any], at: float, out: list[Event]) -> None:
        self._answer(event, at, out)
        action = table(event.get("action"))
        tool = text(event.get("tool_name"))
        call = table(event.get("tool_call"))
        given = {key: item for key, item in action.items() if key != "kind"} or call.get("arguments")
        name = text(event.get("tool_call_id")) or text(event.get("id")) or f"file-{self._line}"
        if not self.calls.begin(name, tool, given, at, self.agent, self.here()):
            return
        if tool == "task":
            children = [name]
        elif tool == "delegate" and action.get("command") == "spawn":
            children = [child for child in items(action.get("ids")) if isinstance(child, str)]
        else:
            self._children[name] = list(table(action.get("tasks"))) if tool == "delegate" else []
            return
        self._children[name] = children if tool == "task" else []
        role = text(action.get("subagent_type"))
        out += [
            AgentStart(at=at, agent=self.agent, where=self.here(), child=child, role=role)
            for child in children
        ]

    def _observe(self, event: dict[str, Any], kind: str, at: float, out: list[Event]) -> None:
        seen = table(event.get("observation"))
        exited = code(seen.get("exit_code"))
        if exited is None:
            exited = code(table(seen.get("metadata")).get("exit_code"))
        failed = seen.get("is_error") is True or bool(text(seen.get("error")))
        running = exited == -1 and not failed
        told = (
            words(seen)
            if kind == "ObservationEvent"
            else text(event.get("error") or event.get("rejection_reason"))
        )
        result = Result(
            text=told,
            error=kind == "AgentErrorEvent" or failed,
            exit_code=None if exited == -1 else exited,
            rejected=kind == "UserRejectObservation",
            running=running,
        )
        name = text(event.get("tool_call_id"))
        use = self.calls.end(name, at, result, self.here(), line=self._line)
        kept(use, out)
        if use is not None:
            out += [_report(use, child) for child in self._children.pop(name, [])]


def _list(sample: Sample) -> int:
    head = sample.head.lstrip()
    told = b'"source"' in head or b'"cause"' in head or b'"args"' in head
    if not head.startswith(b"[") or not told or b'"role"' in head[:200]:
        return 0
    return 90 if b'"observation"' in head or b'"action"' in head else 0


def _evaluation(sample: Sample) -> int:
    head = sample.head.lstrip()
    if not head.startswith(b"{") or b'"trajectory"' in head[:4096]:
        return 0
    named = b'"git_patch"' in head or b'"test_result"' in head or b'"instruction"' in head
    if not named or b'"history"' not in head:
        return 0
    return 88 if b'"action"' in head or b'"observation"' in head else 40


def _folder(sample: Sample) -> int:
    head = sample.head.lstrip()
    if not head.startswith(b"{") or not re.search(
        rb'"kind"\s*:\s*"\w*(?:Event|Condensation|Observation)', head
    ):
        return 0
    return 88 if b'"timestamp"' in head and b'"source"' in head else 0


def _stream(sample: Sample) -> int:
    """The same events as lines of one file."""
    lines = sum(1 for record in sample.records[:4] if isinstance(record.get("kind"), str))
    return _folder(sample) and (89 if lines > 1 or sample.path.suffix == ".jsonl" else 0)


FORMATS = (
    Format("openhands", "document", _list, OpenHandsReader),
    Format("openhands", "lines", _evaluation, OpenHandsReader),
    Format("openhands", "folder", _folder, OpenHandsFolderReader),
    Format("openhands", "lines", _stream, OpenHandsFolderReader),
)
