"""Event streams of OpenHands: V0 lists, evaluation outputs with a run a line, and V1 event folders."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import structs

from core.agents.calls import Calls, Result
from core.agents.loose import (
    STEP,
    LooseReader,
    amount,
    code,
    items,
    kept,
    table,
    text,
    unthought,
    whole_number,
    words,
)
from core.agents.openhands.course import ENDED, Course
from core.agents.openhands.sniff import is_evaluation, is_folder, is_list, is_stream
from core.agents.openhands.steps import flat_steps, step_name, step_result, step_words
from core.agents.usage import failed_turn
from core.events import AgentEnd, AgentStart, Compaction, Event, SessionEnd, ToolUse, Turn, Where
from core.logs.format import Format
from core.logs.times import seconds

_NO_TOOLS = frozenset(
    (
        *("message", "finish", "system", "null", "initialize", "start", "pause", "resume", "stop", "reject"),
        *("change_agent_state", "condensation", "condensation_request", "recall", "loop_recovery"),
        *("summarize", "add_task", "modify_task"),
    )
)
_NO_RESULTS = frozenset(("null", "agent_state_changed", "recall", "condense", "message", "loop_detection"))


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
        self._course = Course()
        steps = flat_steps(history)
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
        action, source = step["action"], step.get("source")
        arguments = table(step.get("args")) or {
            key: step[key] for key in step if key not in ("action", "source")
        }
        self._answer(step, arguments, where, out)
        if action == "message" and (source == "user" or (source is None and not self._asked)):
            self._course.asked()
            out.append(self.prompt(self.now, words(arguments.get("content")), where))
        elif action == "message" and source == "agent":
            self._course.spoke(waits=arguments.get("wait_for_response") is True)
        elif action == "condensation":
            out.append(Compaction(at=self.now, agent=self._agents[-1], where=where, trigger="auto"))
        elif action == "finish":
            self._course.rests()
            out.append(SessionEnd(at=self.now, agent=self._agents[-1], where=where, reason="finish"))
        elif action not in _NO_TOOLS and source in (None, "agent"):
            self._course.works()
            tool = text(arguments.get("name")) if action == "call_tool_mcp" else action
            name = step_name(step.get("id"), place)
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
        if observation == "agent_state_changed":
            state = text(table(step.get("extras")).get("agent_state"))
            kept(self._course.enter(state, self.now, self._agents[-1], where), out)
        if observation in _NO_RESULTS:
            return
        caused = step.get("cause")
        name = step_name(caused, "") if caused is not None else next(iter(self._waiting[-1:]), "")
        if name not in self._waiting:
            if observation != "error":
                self.note("result without a call")
            return
        self._waiting.remove(name)
        delegated = observation == "delegate" and name == self._agents[-1]
        if delegated:
            self._agents.pop()
        use = self.calls.end(name, self.now, step_result(step, observation), where, line=self._line)
        kept(use, out)
        if delegated and use is not None:
            out.append(_report(use, name))

    def _answer(
        self, step: dict[str, Any], arguments: dict[str, Any], where: Where, out: list[Event]
    ) -> None:
        """What the model said with an action; logs without its responses tell the words alone."""
        response = table(table(step.get("tool_call_metadata")).get("model_response"))
        usage = table(response.get("usage"))
        said = step_words(step, arguments, response)
        if not response and not said:
            return
        waits = step["action"] == "message" and arguments.get("wait_for_response") is True
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
            stop=ENDED if waits else "",
            said=said,
        )
        kept(self.usage.once(turn), out)


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


_TOLD = (
    *("model", "input_tokens", "output_tokens", "cache_read", "cache_write", "context_tokens"),
    *("context_window", "cost"),
)
"""What the totals tell of an answer."""


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
        self._course = Course()

    def read(self, value: Any, out: list[Event]) -> None:
        """Add the events of one file."""
        event = self.table(value, "event")
        kind = text(event.get("kind"))
        at = self.moment(event.get("timestamp"))
        if not self.begun:
            out.append(self.start(at, self.session))
        if kind == "ConversationStateUpdateEvent":
            self._state(event, at, out)
            self._stats(event, at, out)
        elif kind == "MessageEvent":
            self._message(event, at, out)
        elif kind == "ConversationErrorEvent":
            self._course.rests()
            out.append(failed_turn(at, self.agent, self.here()))
        elif kind == "ActionEvent":
            self._act(event, at, out)
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            self._observe(event, kind, at, out)
        elif kind == "Condensation":
            out.append(Compaction(at=at, agent=self.agent, where=self.here(), trigger="auto"))
        elif kind in ("PauseEvent", "InterruptEvent"):
            self._course.rests()
            out.append(self.prompt(at, "", self.here(), interrupt=True))

    def finish(self) -> list[Event]:
        """An answer of which only the cost was told, and the calls that never got a result."""
        return [*filter(None, [self._spent]), *super().finish()]

    def held(self) -> list[Event]:
        """The same, for a log that still grows."""
        return [*filter(None, [self._spent]), *super().held()]

    def _message(self, event: dict[str, Any], at: float, out: list[Event]) -> None:
        """What the person or the agent says; an agent that says something and calls nothing is done."""
        said = words(table(event.get("llm_message")).get("content"))
        if event.get("source") == "user":
            self._course.asked()
            out.append(self.prompt(at, said, self.here()))
        elif event.get("source") == "agent" or event.get("llm_response_id"):
            said = unthought(said)
            self._course.spoke(waits=bool(said))
            self._answer(event, said, at, out, stop=ENDED if said else "")

    def _state(self, event: dict[str, Any], at: float, out: list[Event]) -> None:
        """How the conversation stands now, told alone or with everything else."""
        value = event.get("value")
        if event.get("key") == "full_state":
            value = table(value).get("execution_status")
        elif event.get("key") != "execution_status":
            return
        if value != "paused":
            kept(self._course.enter(text(value), at, self.agent, self.here()), out)

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

    def _answer(
        self, event: dict[str, Any], said: str, at: float, out: list[Event], entry: str = "", stop: str = ""
    ) -> None:
        """What the model said, at `entry` of its event; one answer may come with several calls."""
        answer = text(event.get("llm_response_id"))
        if answer in self._answers or not (answer or said):
            return
        if answer:
            self._answers.add(answer)
        turn = self.kit.models.turn(
            at,
            message=answer,
            model="",
            agent=self.agent,
            where=self.here(),
            stop=stop,
            said=said,
            said_at=self.here(entry),
        )
        spent, self._spent = self._spent, None
        if spent is not None:
            told = {name: getattr(spent, name) for name in _TOLD}
            turn = structs.replace(turn, **told)
        out.append(turn)

    def _act(self, event: dict[str, Any], at: float, out: list[Event]) -> None:
        action = table(event.get("action"))
        tool = text(event.get("tool_name"))
        if tool == "finish":
            self._course.rests()
            self.calls.settle(text(event.get("tool_call_id")))
            self._answer(event, text(action.get("message")).strip(), at, out, "/action", ENDED)
            return
        self._course.works()
        self._answer(event, unthought(words(event.get("thought"))), at, out)
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
        if event.get("tool_name") == "finish":
            return
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


FORMATS = (
    Format("openhands", "document", is_list, OpenHandsReader),
    Format("openhands", "lines", is_evaluation, OpenHandsReader),
    Format("openhands", "folder", is_folder, OpenHandsFolderReader),
    Format("openhands", "lines", is_stream, OpenHandsFolderReader),
)
