"""Event streams of OpenHands: V0 lists, evaluation outputs with a run a line, and V1 conversations."""

from __future__ import annotations

import re
from typing import Any, Literal

from msgspec import structs

from core.agents.calls import Calls, Result, agent_report
from core.agents.log_clock import LogClock
from core.agents.loose import (
    STEP,
    LooseReader,
    amount,
    beyond,
    code,
    items,
    kept,
    left_untold,
    table,
    text,
    unthought,
    whole_number,
    words,
)
from core.agents.openhands.spent import Steps, TokensUsed, answers_used, response_of, spent
from core.agents.usage import ENDED, Usage, failed_turn
from core.engine.fingerprint import fingerprint
from core.events import AgentStart, Compaction, Event, Matter, Prompt, SessionEnd, Turn, Where
from core.logs.format import Format, Sample
from core.logs.times import seconds

_STATES: dict[str, Literal["done", "failed", "stopped"]] = {
    "awaiting_user_input": "done",
    "finished": "done",
    "error": "failed",
    "rejected": "failed",
    "stuck": "failed",
    "paused": "stopped",
    "stopped": "stopped",
}


class Course:
    """Follow an agent from a prompt through its work to its rest."""

    __slots__ = ("_stage",)

    def __init__(self) -> None:
        self._stage: Literal["rests", "asked", "works"] = "rests"

    def asked(self) -> None:
        """The person said something."""
        self._stage = "asked"

    def works(self) -> None:
        """The agent said or did something and goes on."""
        self._stage = "works"

    def spoke(self, *, waits: bool) -> None:
        """The agent said something, and waits for the person or goes on."""
        self._stage = "rests" if waits else "works"

    def rests(self) -> None:
        """An event has told that its turn is over."""
        self._stage = "rests"

    def enter(self, state: str, at: float, agent: str, where: Where) -> Turn | Prompt | None:
        """What a state ends the turn with; None where no turn is under way, or it goes on.

        An agent that waits for the person before it did anything has not taken up the prompt yet.
        """
        ending = _STATES.get(state)
        if ending is None or self._stage == "rests" or (ending == "done" and self._stage == "asked"):
            return None
        self._stage = "rests"
        if ending == "stopped":
            return Prompt(at=at, agent=agent, where=where, characters=0, call=fingerprint(""), interrupt=True)
        if ending == "failed":
            return failed_turn(at, agent, where)
        return Turn(at=at, agent=agent, where=where, cost=0.0, stop=ENDED)


_TOLD = (
    *("model", "input_tokens", "output_tokens", "cache_read", "cache_write", "context_tokens"),
    *("context_window", "cost"),
)
"""What the totals tell of an answer."""
_ANSWERING = ("default", "agent")
"""Under which name the model that answers is counted; where it has another, it is the first told."""


class OpenHandsFolderReader(LooseReader):
    """The events of a V1 conversation, each a file or a line of its own."""

    name = "openhands"

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._answers: set[str] = set()
        self._children: dict[str, list[str]] = {}
        self._totals: dict[str, TokensUsed] = {}
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

    def pending_events(self) -> list[Event]:
        """The same, for a log that still grows."""
        return [*filter(None, [self._spent]), *super().pending_events()]

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
        value = table(event.get("value"))
        if event.get("key") == "full_state":
            value = table(value.get("stats"))
        elif event.get("key") != "stats":
            return
        told = table(value.get("usage_to_metrics"))
        answering = next((name for name in _ANSWERING if name in told), next(iter(told), ""))
        for purpose, metrics in told.items():
            now = spent(table(metrics))
            used = now.since(self._totals.get(purpose, TokensUsed()))
            self._totals[purpose] = now
            if not (used.sent or used.answered):
                continue
            name = text(event.get("id"))
            if purpose == answering:
                kept(self._spent, out)
                self._spent = self._turn(name, used, at)
            else:
                kept(self._aside(f"{name}/{purpose}", used), out)

    def _turn(self, name: str, used: TokensUsed, at: float) -> Turn:
        return self.kit.models.turn(
            at,
            message=name,
            model=used.model,
            input_tokens=used.fresh,
            output_tokens=used.answered,
            cache_read=used.read,
            cache_write=used.written,
            cost=amount(used.cost),
            agent=self.agent,
            where=self.here(),
        )

    def _aside(self, name: str, used: TokensUsed) -> Turn | None:
        """What was spent for another purpose than to answer, such as to sum up the conversation."""
        return self.total(
            used.model,
            amount(used.cost),
            sent=used.fresh,
            answered=used.answered,
            read=used.read,
            written=used.written,
            message=name,
        )

    def _answer(
        self, event: dict[str, Any], said: str, at: float, out: list[Event], entry: str = "", stop: str = ""
    ) -> None:
        """What the model said, at `entry` of its event; one answer may come with several calls.

        Its end is told even where it comes with a call that is not the answer's first.
        """
        answer = text(event.get("llm_response_id"))
        told = answer in self._answers
        name = f"{answer}/{stop}" if told and stop else answer
        if name in self._answers or not (answer or said):
            return
        if name:
            self._answers.add(name)
        turn = self.kit.models.turn(
            at,
            message=name,
            model="",
            cost=0.0 if told else None,
            agent=self.agent,
            where=self.here(),
            stop=stop,
            said=said,
            said_at=self.here(entry),
        )
        counted, self._spent = self._spent, None
        if counted is not None:
            turn = structs.replace(turn, **{name: getattr(counted, name) for name in _TOLD})
        out.append(turn)

    def _act(self, event: dict[str, Any], at: float, out: list[Event]) -> None:
        action = table(event.get("action"))
        tool = text(event.get("tool_name"))
        if tool == "finish" and event.get("action") is not None:
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
        if event.get("tool_name") == "finish" and kind == "ObservationEvent":
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
            out += [agent_report(use, child) for child in self._children.pop(name, [])]


_SILENT_FAILURE = re.compile(
    r"\[?Your proposed edit has introduced new syntax error|\[No exact match found|ERROR:|\[?Error:"
    r"|-+\n\w+(?:Error|Exception)\s+Traceback|Traceback \(most recent call last\)"
)
"""How results that carry no exit code tell that they failed."""


def flat_steps(history: list[Any]) -> list[tuple[str, dict[str, Any]]]:
    """The events with their places; old evaluations hold them in pairs."""
    flat: list[tuple[str, dict[str, Any]]] = []
    for place, step in enumerate(history):
        if isinstance(step, dict):
            flat.append((str(place), step))
        elif isinstance(step, list):
            flat += [(f"{place}/{part}", item) for part, item in enumerate(step) if isinstance(item, dict)]
    return flat


def step_words(step: dict[str, Any], arguments: dict[str, Any], response: dict[str, Any]) -> str:
    """What the model said with an action, or by it, from its response or else from the action."""
    answers = [table(table(choice).get("message")) for choice in items(response.get("choices"))]
    spoken = "\n".join(words(answer.get("content")) for answer in answers).strip()
    action, source = step["action"], step.get("source")
    if spoken or action == "think":
        return spoken
    if action == "message":
        return words(arguments.get("content")).strip() if source == "agent" else ""
    if source not in (None, "agent"):
        return ""
    return (text(arguments.get("final_thought")) or text(arguments.get("thought"))).strip()


def step_name(value: Any, otherwise: str) -> str:
    """The id of a step, or another name where it has none."""
    return str(value) if isinstance(value, int | str) and not isinstance(value, bool) else otherwise


def observed_result(step: dict[str, Any], observation: str) -> Result:
    """How an action ended."""
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


def is_list(sample: Sample) -> int:
    """One list of actions and observations."""
    head = sample.head.lstrip()
    told = b'"source"' in head or b'"cause"' in head or b'"args"' in head
    if not head.startswith(b"[") or not told or b'"role"' in head[:200]:
        return 0
    return 90 if b'"observation"' in head or b'"action"' in head else 0


def is_evaluation(sample: Sample) -> int:
    """A run a line, its events in a history."""
    head = sample.head.lstrip()
    if not head.startswith(b"{") or b'"trajectory"' in head[:4096]:
        return 0
    named = b'"git_patch"' in head or b'"test_result"' in head or b'"instruction"' in head
    if not named or b'"history"' not in head:
        return 0
    return 88 if b'"action"' in head or b'"observation"' in head else 40


def is_event_folder(sample: Sample) -> int:
    """An event a file."""
    head = sample.head.lstrip()
    if not head.startswith(b"{") or not re.search(
        rb'"kind"\s*:\s*"\w*(?:Event|Condensation|Observation)', head
    ):
        return 0
    return 88 if b'"timestamp"' in head and b'"source"' in head else 0


def is_stream(sample: Sample) -> int:
    """The same events as lines of one file."""
    lines = sum(1 for record in sample.records[:4] if isinstance(record.get("kind"), str))
    return is_event_folder(sample) and (89 if lines > 1 or sample.path.suffix == ".jsonl" else 0)


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
    gaps = "times name no zone and are taken as UTC; of older versions tokens, model and cost may be missing"
    many = True

    def read(self, value: Any, out: list[Event]) -> None:
        """Add the events of a whole list, or of one run of an evaluation."""
        if isinstance(value, list):
            self._run(value, self.session, "", {}, out)
            return
        run = self.table(value, "run")
        history = self.items(run.get("history"), "history")
        issue = table(run.get("issue"))
        number = whole_number(issue.get("number"))
        name = text(run.get("instance_id")) or (f"issue-{number}" if number else "")
        model = text(table(table(run.get("metadata")).get("llm_config")).get("model"))
        metrics = table(run.get("metrics"))
        self._run(history, name or f"{self.file_name}-{self._line}", model, metrics, out, "/history")

    def _run(
        self,
        history: list[Any],
        name: str,
        model: str,
        metrics: dict[str, Any],
        out: list[Event],
        root: str = "",
    ) -> None:
        """One session. Each run is paired for itself: ids start again."""
        self.calls, self.clock = Calls(self.kit, self.name), LogClock()
        self.usage = Usage(self.kit.models)
        self._waiting: list[str] = []
        self._agents = [self.agent]
        self._asked = False
        self._course = Course()
        steps = flat_steps(history)
        told = [at for _, step in steps if (at := seconds(step.get("timestamp"))) is not None]
        if any(not isinstance(part, dict) for step in history for part in items(step) or [step]):
            self.note("event is not an object")
        self.now = told[0] if told else 0.0
        folders = (
            text(table(table(step.get("extras")).get("metadata")).get("working_dir")) for _, step in steps
        )
        folder = next(filter(None, folders), "")
        self._used = answers_used(steps, metrics)
        in_all = spent(metrics)
        rest = beyond(amount(in_all.cost), sum(used.cost for used in self._used.values()))
        self._summed_up = rest is not None
        begun = len(out)
        out.append(
            self.start(
                self.now,
                name,
                project=folder,
                model=model,
                synthetic_time=not told,
                untold=self._left_untold(steps, in_all, model, timed=bool(told)),
            )
        )
        for place, step in steps:
            at = seconds(step.get("timestamp"))
            if at is not None:
                self.moment(at)
            elif not told and "action" in step:
                self.now += STEP
            where = self.here(f"{root}/{place}")
            if isinstance(step.get("action"), str):
                self._act(step, place, where, out)
            elif isinstance(step.get("observation"), str):
                self._observe(step, where, out)
        out.extend(self.close_all())
        self._sum_up(in_all, rest, out, begun)

    def _left_untold(
        self, steps: Steps, in_all: TokensUsed, model: str, *, timed: bool
    ) -> tuple[Matter, ...]:
        responses = [response for _, step in steps if (response := response_of(step))]
        used = [in_all, *self._used.values()]
        return left_untold(
            times=timed,
            tokens=any(table(response.get("usage")) for response in responses)
            or any(one.sent or one.answered for one in used),
            model=model
            or any(text(response.get("model")) for response in responses)
            or any(one.model for one in used),
            cost=any(one.cost for one in used),
        )

    def _sum_up(self, in_all: TokensUsed, cost: float | None, out: list[Event], begun: int) -> None:
        """Add what a run spent beyond what was told of its answers, before its end."""
        turns = [event for event in out[begun:] if isinstance(event, Turn)]
        total = self.total(
            in_all.model,
            cost,
            sent=max(0, in_all.fresh - sum(turn.input_tokens for turn in turns)),
            answered=max(0, in_all.answered - sum(turn.output_tokens for turn in turns)),
            read=max(0, in_all.read - sum(turn.cache_read for turn in turns)),
            written=max(0, in_all.written - sum(turn.cache_write for turn in turns)),
            message=f"total-{self._line}",
        )
        if total is not None:
            ended = isinstance(out[-1], SessionEnd)
            out.insert(len(out) - ended, structs.replace(total, at=out[-1].at))

    def _act(self, step: dict[str, Any], place: str, where: Where, out: list[Event]) -> None:
        action, source = step["action"], step.get("source")
        arguments = table(step.get("args")) or {
            key: step[key] for key in step if key not in ("action", "source")
        }
        self._answer(step, place, arguments, where, out)
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
        use = self.calls.end(name, self.now, observed_result(step, observation), where, line=self._line)
        kept(use, out)
        if delegated and use is not None:
            out.append(agent_report(use, name))

    def _answer(
        self, step: dict[str, Any], place: str, arguments: dict[str, Any], where: Where, out: list[Event]
    ) -> None:
        """What the model said with an action; logs without its responses tell the words alone."""
        response = response_of(step)
        usage = table(response.get("usage"))
        used = self._used.get(text(response.get("id")) or place)
        said = step_words(step, arguments, response)
        if not response and used is None and not said:
            return
        used = used or TokensUsed()
        waits = step["action"] == "message" and arguments.get("wait_for_response") is True
        read = whole_number(usage.get("cache_read_input_tokens"))
        read = read or whole_number(table(usage.get("prompt_tokens_details")).get("cached_tokens"))
        written = whole_number(usage.get("cache_creation_input_tokens"))
        sent = max(0, whole_number(usage.get("prompt_tokens")) - read - written)
        turn = self.kit.models.turn(
            self.now,
            message=text(response.get("id")) or f"answer-{place}",
            model=text(response.get("model")) or used.model,
            input_tokens=sent if usage else used.fresh,
            output_tokens=whole_number(usage.get("completion_tokens")) if usage else used.answered,
            cache_read=read if usage else used.read,
            cache_write=written if usage else used.written,
            cost=0.0 if self._summed_up and not used.cost else amount(used.cost),
            agent=self._agents[-1],
            where=where,
            stop=ENDED if waits else "",
            said=said,
        )
        kept(self.usage.once(turn), out)


FORMATS = (
    Format("openhands", "document", is_list, OpenHandsReader),
    Format("openhands", "lines", is_evaluation, OpenHandsReader),
    Format("openhands", "folder", is_event_folder, OpenHandsFolderReader),
    Format("openhands", "lines", is_stream, OpenHandsFolderReader),
)
