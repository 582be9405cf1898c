"""OpenHands: conversations of V1 with one event per file or line, event lists of V0 and evaluation outputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec import structs

from core.agents import values
from core.agents.calls import Calls, Result, agent_report
from core.agents.models import ENDED, Usage, failed_turn
from core.agents.reader import LogClock, TranscriptReader, left_untold, read_document
from core.agents.tables import known_pairs, known_pattern, known_words
from core.agents.values import TokenCounts, amount, code, items, table, text, unthought, words
from core.engine.values import fingerprint
from core.events import Event, Matter, Prompt, SessionEnd, Turn, Where
from core.logs.discovery import Found, Listed, extent, listed_session
from core.logs.format import Format, Sample
from core.logs.lines import seconds

# Actions that no answer of the model led to.
_NO_ANSWERS = known_words("openhands-no-answers")
Steps = list[tuple[str, dict[str, Any]]]  # A run's events with their places.


class TokensUsed(NamedTuple):
    """The tokens and cost of a conversation, in total or since the last count."""

    model: str = ""
    sent: int = 0  # Cached ones among them.
    answered: int = 0
    read: int = 0
    written: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> TokenCounts:
        """Its counts without tokens of the cache among those sent."""
        return values.without_cached(self.sent, self.answered, self.read, self.written)

    def since(self, before: TokensUsed) -> TokensUsed:
        """Return the difference to an earlier count."""
        more = (max(0, now - then) for now, then in zip(self[1:], before[1:], strict=True))
        return TokensUsed._make((self.model, *more))

    def most(self, other: TokensUsed) -> TokensUsed:
        """The larger of each."""
        return TokensUsed._make((self.model, *map(max, self[1:], other[1:])))

    def __bool__(self) -> bool:
        return any(self[1:])


def total_usage(metrics: dict[str, Any]) -> TokensUsed:
    """The totals of one of a conversation's models."""
    used = table(metrics.get("accumulated_token_usage"))
    return TokensUsed(
        text(metrics.get("model_name")) or text(used.get("model")),
        *values.token_counts(used, "prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens"),
        amount(metrics.get("accumulated_cost")) or 0.0,
    )


def response_of(step: dict[str, Any]) -> dict[str, Any]:
    """The model's response that an event carries; both an action and its observation do."""
    return table(table(step.get("tool_call_metadata")).get("model_response"))


def answers_used(steps: Steps, metrics: dict[str, Any]) -> dict[str, TokensUsed]:
    """Return what each answer used, by the id of its response or else by its place.

    Newer versions log with each action what was spent so far; a list of costs alone is used only if it has
    one for each answer.
    """
    usages: dict[str, TokensUsed] = {}
    most = TokensUsed()
    for place, step in steps:
        now = total_usage(table(step.get("llm_metrics")))
        used = now.since(most)
        if used:
            usages[text(response_of(step).get("id")) or place] = used
            most = now.most(most)
    if usages:
        return usages
    keys = _answers(steps)
    costs = [_cost(entry) for entry in items(metrics.get("costs"))]
    return dict(zip(keys, costs, strict=True)) if len(keys) == len(costs) else {}


def _answers(steps: Steps) -> list[str]:
    responses = dict.fromkeys(filter(None, (text(response_of(step).get("id")) for _, step in steps)))
    if responses:
        return list(responses)
    acted = [(place, step) for place, step in steps if isinstance(step.get("action"), str)]
    return [
        place
        for number, (place, step) in enumerate(acted)
        if step["action"] not in _NO_ANSWERS
        and (step.get("source") == "agent" or (step.get("source") is None and (number or step["action"] != "message")))
    ]


def _cost(entry: Any) -> TokensUsed:
    facts = table(entry)
    return TokensUsed(text(facts.get("model")), cost=amount(facts.get("cost") if facts else entry) or 0.0)


def survey(agent: str, root: Path, now: float, active_within: float) -> Iterator[Found]:
    """Conversations, each a folder with one file an event."""
    for events in root.glob("*/events"):
        try:
            size, modified, number = extent(events)
        except OSError:
            continue
        one = Listed(events.parent.name, _workspace(events.parent / "base_state.json"), "", None, number)
        yield listed_session(agent, events, one, size, now, active_within, modified)


def _workspace(state: Path) -> str:
    workspace = table(read_document(state)).get("workspace")
    return text(workspace) or text(table(workspace).get("working_dir"))


_STATES: dict[str, Literal["done", "failed", "stopped"]] = known_pairs("openhands-states")


class Course:
    """Follow an agent from a prompt through its work to its rest."""

    def __init__(self) -> None:
        # Readers set it at each prompt, act and end of a turn.
        self.stage: Literal["rests", "asked", "works"] = "rests"

    def enter(self, state: str, at: float, agent: str, where: Where) -> Turn | Prompt | None:
        """Return the event with which a state ends the turn; None if no turn is open, or it continues.

        An agent that waits for the person before it did anything has not started on the prompt yet.
        """
        ending = _STATES.get(state)
        if ending is None or self.stage == "rests" or (ending == "done" and self.stage == "asked"):
            return None
        self.stage = "rests"
        if ending == "stopped":
            return Prompt(at=at, agent=agent, where=where, characters=0, call=fingerprint(""), interrupt=True)
        if ending == "failed":
            return failed_turn(at, agent, where)
        return Turn(at=at, agent=agent, where=where, cost=0.0, stop=ENDED)


# The fields of a turn that come from totals.
_TOLD = ("model", *TokenCounts._fields, "context_tokens", "context_window", "cost")
_ANSWERING = ("default", "agent")  # Names under which the answering model is counted; otherwise it is the first.


class OpenHandsFolderReader(TranscriptReader):
    """The events of a V1 conversation, each a file or a line of its own."""

    name = "openhands"
    kinds = known_words("openhands")

    def setup(self) -> None:
        self._answers: set[str] = set()
        self._children: dict[str, list[str]] = {}
        self._totals: dict[str, TokensUsed] = {}
        self._spent: Turn | None = None
        self._course = Course()

    def read(self, value: Any) -> None:
        """Add the events of one file."""
        event = self.table(value, "event")
        kind = text(event.get("kind"))
        self.check_kind(kind)
        at = self.moment(event.get("timestamp"))
        if not self.begun:
            self.begin("")
        if kind == "ConversationStateUpdateEvent":
            self._state(event)
            self._read_totals(event)
        elif kind == "MessageEvent":
            self._message(event)
        elif kind == "ConversationErrorEvent":
            self._course.stage = "rests"
            self.add(failed_turn(at, self.agent, self.here()))
        elif kind == "ActionEvent":
            self._act(event)
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            self._observe(event, kind)
        elif kind == "Condensation":
            self.add(self.compaction(trigger="auto"))
        elif kind in ("PauseEvent", "InterruptEvent"):
            self._course.stage = "rests"
            self.add(self.prompt("", interrupt=True))

    def own_pending(self) -> Iterable[Event]:
        """Return what was spent and belongs to no answer."""
        return filter(None, [self._spent])

    def _message(self, event: dict[str, Any]) -> None:
        """Read a message; an agent that speaks without a call is done."""
        message_text = words(table(event.get("llm_message")).get("content"))
        if event.get("source") == "user":
            self._course.stage = "asked"
            self.add(self.prompt(message_text))
        elif event.get("source") == "agent" or event.get("llm_response_id"):
            message_text = unthought(message_text)
            self._course.stage = "rests" if message_text else "works"
            self._answer(event, message_text, stop=ENDED if message_text else "")

    def _state(self, event: dict[str, Any]) -> None:
        """Read the status of the conversation, alone or within the full state."""
        value = event.get("value")
        if event.get("key") == "full_state":
            value = table(value).get("execution_status")
        elif event.get("key") != "execution_status":
            return
        if value != "paused":
            self.add(self._course.enter(text(value), self.now, self.agent, self.here()))

    def _read_totals(self, event: dict[str, Any]) -> None:
        """Read the totals; their increase belongs to the next answer."""
        value = table(event.get("value"))
        if event.get("key") == "full_state":
            value = table(value.get("stats"))
        elif event.get("key") != "stats":
            return
        metrics_by_purpose = table(value.get("usage_to_metrics"))
        answering = next((name for name in (*_ANSWERING, *metrics_by_purpose) if name in metrics_by_purpose), "")
        for purpose, metrics in metrics_by_purpose.items():
            now = total_usage(table(metrics))
            used = now.since(self._totals.get(purpose, TokensUsed()))
            self._totals[purpose] = now
            if not (used.sent or used.answered):
                continue
            name, model, tokens, cost = text(event.get("id")), used.model, used.tokens, amount(used.cost)
            if purpose == answering:
                self.add(self._spent)
                self._spent = self.turn("", tokens=tokens, message=name, model=model, cost=cost)
            else:  # not spent on answers, for example on a summary
                self.add(self.total(model, cost, tokens, f"{name}/{purpose}"))

    def _answer(self, event: dict[str, Any], answer_text: str, entry: str = "", stop: str = "") -> None:
        """Add the model's answer, whose words are at `entry` of its event; it may come with several calls.

        Its end is added even if it comes with a later call of the answer.
        """
        answer = text(event.get("llm_response_id"))
        is_repeated = answer in self._answers
        name = f"{answer}/{stop}" if is_repeated and stop else answer
        if name in self._answers or not (answer or answer_text):
            return
        if name:
            self._answers.add(name)
        cost = 0.0 if is_repeated else None
        turn = self.turn(answer_text, message=name, cost=cost, stop=stop, said_at=self.here(entry))
        counted, self._spent = self._spent, None
        if counted is not None:
            turn = structs.replace(turn, **{name: getattr(counted, name) for name in _TOLD})
        self.add(turn)

    def _act(self, event: dict[str, Any]) -> None:
        action = table(event.get("action"))
        tool = text(event.get("tool_name"))
        if tool == "finish" and event.get("action") is not None:
            self._course.stage = "rests"
            self.calls.settle(text(event.get("tool_call_id")))
            self._answer(event, text(action.get("message")).strip(), "/action", ENDED)
            return
        self._course.stage = "works"
        self._answer(event, unthought(words(event.get("thought"))))
        call = table(event.get("tool_call"))
        arguments = {key: item for key, item in action.items() if key != "kind"} or call.get("arguments")
        name = text(event.get("tool_call_id")) or text(event.get("id")) or f"file-{self._line}"
        if not self.calls.begin(name, tool, arguments, self.now, self.agent, self.here()):
            return
        children, reporting = [], []  # The sub-agents that the call starts, and those that end with it.
        if tool == "task":
            children = reporting = [name]
        elif tool == "delegate" and action.get("command") == "spawn":
            children = [child for child in items(action.get("ids")) if isinstance(child, str)]
        elif tool == "delegate":
            reporting = list(table(action.get("tasks")))
        self._children[name] = reporting
        for child in children:
            self.child_started(child, text(action.get("subagent_type")))

    def _observe(self, event: dict[str, Any], kind: str) -> None:
        if event.get("tool_name") == "finish" and kind == "ObservationEvent":
            return
        observation = table(event.get("observation"))
        exited = code(observation.get("exit_code"))
        if exited is None:
            exited = code(table(observation.get("metadata")).get("exit_code"))
        failed = observation.get("is_error") is True or bool(text(observation.get("error")))
        running = exited == -1 and not failed
        problem = text(event.get("error") or event.get("rejection_reason"))
        result = Result(
            text=words(observation) if kind == "ObservationEvent" else problem,
            error=kind == "AgentErrorEvent" or failed,
            exit_code=None if exited == -1 else exited,
            rejected=kind == "UserRejectObservation",
            running=running,
        )
        name = text(event.get("tool_call_id"))
        use = self.result(name, result)
        if use is not None:
            self.add(*(agent_report(use, child) for child in self._children.pop(name, [])))


# Signs of failure in results without an exit code.
_SILENT_FAILURE = known_pattern("openhands-failures")


def flat_steps(history: list[Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the events with their places; old evaluations have them in pairs."""
    flat: list[tuple[str, dict[str, Any]]] = []
    for place, step in enumerate(history):
        if isinstance(step, dict):
            flat.append((str(place), step))
        elif isinstance(step, list):
            flat += [(f"{place}/{part}", item) for part, item in enumerate(step) if isinstance(item, dict)]
    return flat


def step_words(step: dict[str, Any], arguments: dict[str, Any], response: dict[str, Any]) -> str:
    """Return the model's words with an action, from its response or from the action."""
    answers = [table(table(choice).get("message")) for choice in items(response.get("choices"))]
    answer_text = "\n".join(words(answer.get("content")) for answer in answers).strip()
    action, source = step["action"], step.get("source")
    if answer_text or action == "think":
        return answer_text
    if action == "message":
        return words(arguments.get("content")).strip() if source == "agent" else ""
    if source not in (None, "agent"):
        return ""
    return (text(arguments.get("final_thought")) or text(arguments.get("thought"))).strip()


def step_name(value: Any, otherwise: str) -> str:
    """Return the id of a step, or another name if it has none."""
    return str(value) if isinstance(value, int | str) and not isinstance(value, bool) else otherwise


def observed_result(step: dict[str, Any], observation: str) -> Result:
    """How an action ended."""
    extras = table(step.get("extras"))
    exited = code(table(extras.get("metadata")).get("exit_code"))
    for value in (extras.get("exit_code"), step.get("exit_code")):
        exited = code(value) if exited is None else exited
    output = words(step.get("content"))
    silent = exited is None and bool(_SILENT_FAILURE.match(output[:500].lstrip()))
    running = exited == -1
    return Result(
        text=output,
        error=observation == "error" or silent or extras.get("error") is True,
        exit_code=None if running else exited,
        rejected=observation == "user_rejected",
        running=running,
    )


def is_list(sample: Sample) -> int:
    """One list of actions and observations."""
    head = sample.head.lstrip()
    has_fields = b'"source"' in head or b'"cause"' in head or b'"args"' in head
    if not head.startswith(b"[") or not has_fields or b'"role"' in head[:200]:
        return 0
    return 90 if b'"observation"' in head or b'"action"' in head else 0


def is_evaluation(sample: Sample) -> int:
    """A run a line, its events in a history."""
    head = sample.head.lstrip()
    if not head.startswith(b"{") or b'"trajectory"' in head[:4096]:
        return 0
    has_fields = b'"git_patch"' in head or b'"test_result"' in head or b'"instruction"' in head
    if not has_fields or b'"history"' not in head:
        return 0
    return 88 if b'"action"' in head or b'"observation"' in head else 40


def is_event_folder(sample: Sample) -> int:
    """An event a file."""
    head = sample.head.lstrip()
    if not head.startswith(b"{") or not re.search(rb'"kind"\s*:\s*"\w*(?:Event|Condensation|Observation)', head):
        return 0
    return 88 if b'"timestamp"' in head and b'"source"' in head else 0


def is_stream(sample: Sample) -> int:
    """Recognize the events of a conversation as lines of one file."""
    lines = sum(1 for record in sample.records[:4] if isinstance(record.get("kind"), str))
    return is_event_folder(sample) and (89 if lines > 1 or sample.path.suffix == ".jsonl" else 0)


_NO_TOOLS = known_words("openhands-no-tools")
_NO_RESULTS = frozenset(("null", "agent_state_changed", "recall", "condense", "message", "loop_detection"))


class OpenHandsReader(TranscriptReader):
    """Actions and the observations they cause, in one list."""

    name = "openhands"
    gaps = "times have no zone and are read as UTC; older versions may lack tokens, model and cost"
    many = True

    def read(self, value: Any) -> None:
        """Add the events of a whole list, or of one run of an evaluation."""
        if isinstance(value, list):
            self._run(value, self.session, "", {})
            return
        run = self.table(value, "run")
        history = self.items(run.get("history"), "history")
        issue = table(run.get("issue"))
        number = values.whole_number(issue.get("number"))
        name = text(run.get("instance_id")) or (f"issue-{number}" if number else "")
        model = text(table(table(run.get("metadata")).get("llm_config")).get("model"))
        metrics = table(run.get("metrics"))
        self._run(history, name or f"{self.file_name}-{self._line}", model, metrics, "/history")

    def _run(self, history: list[Any], name: str, model: str, metrics: dict[str, Any], root: str = "") -> None:
        """One session. Each run is paired for itself: ids start again."""
        self.calls, self.clock = Calls(self.kit, self.name), LogClock()
        self.usage = Usage(self.kit.models)
        self._waiting: list[str] = []
        self._agents = [self.agent]
        self._asked = False
        self._course = Course()
        steps = flat_steps(history)
        known_times = [at for _, step in steps if (at := seconds(step.get("timestamp"))) is not None]
        if any(not isinstance(part, dict) for step in history for part in items(step) or [step]):
            self.note("event is not an object")
        self.now = known_times[0] if known_times else 0.0
        folders = (text(table(table(step.get("extras")).get("metadata")).get("working_dir")) for _, step in steps)
        folder = next(filter(None, folders), "")
        self._used = answers_used(steps, metrics)
        in_all = total_usage(metrics)
        rest = values.beyond(amount(in_all.cost), sum(used.cost for used in self._used.values()))
        self._summed_up = rest is not None
        start = len(self.out)
        untold = self._left_untold(steps, in_all, model, timed=bool(known_times))
        self.begin(name, project=folder, model=model, synthetic_time=not known_times, untold=untold)
        for place, step in steps:
            self.advance(seconds(step.get("timestamp")), timed=bool(known_times) or "action" not in step)
            self.enter(f"{root}/{place}")
            if isinstance(step.get("action"), str):
                self._act(step, place)
            elif isinstance(step.get("observation"), str):
                self._observe(step)
        self.enter()
        self.add(*self.close_all())
        self._add_totals(in_all, rest, start)

    def _left_untold(self, steps: Steps, in_all: TokensUsed, model: str, *, timed: bool) -> tuple[Matter, ...]:
        responses = [response for _, step in steps if (response := response_of(step))]
        used = [in_all, *self._used.values()]
        return left_untold(
            times=timed,
            tokens=any(table(response.get("usage")) for response in responses)
            or any(one.sent or one.answered for one in used),
            model=model or any(text(response.get("model")) for response in responses) or any(one.model for one in used),
            cost=any(one.cost for one in used),
        )

    def _add_totals(self, in_all: TokensUsed, cost: float | None, start: int) -> None:
        """Add what a run spent beyond its answers, before its end."""
        turns = [event for event in self.out[start:] if isinstance(event, Turn)]
        counted = [sum(getattr(turn, name) for turn in turns) for name in TokenCounts._fields]
        total = self.total(in_all.model, cost, in_all.tokens.since(counted), f"total-{self._line}")
        if total is not None:
            last = self.out[-1]
            ended = isinstance(last, SessionEnd)
            self.out.insert(len(self.out) - ended, structs.replace(total, at=last.at))

    def _act(self, step: dict[str, Any], place: str) -> None:
        action, source = step["action"], step.get("source")
        arguments = table(step.get("args")) or {key: step[key] for key in step if key not in ("action", "source")}
        self._answer(step, place, arguments)
        if action == "message" and (source == "user" or (source is None and not self._asked)):
            self._course.stage = "asked"
            self.add(self.prompt(words(arguments.get("content"))))
        elif action == "message" and source == "agent":
            self._course.stage = "rests" if arguments.get("wait_for_response") is True else "works"
        elif action == "condensation":
            self.add(self.compaction(self._agents[-1], trigger="auto"))
        elif action == "finish":
            self._course.stage = "rests"
            self.add(SessionEnd(at=self.now, agent=self._agents[-1], where=self.here(), reason="finish"))
        elif action not in _NO_TOOLS and source in (None, "agent"):
            self._course.stage = "works"
            tool = text(arguments.get("name")) if action == "call_tool_mcp" else action
            name = step_name(step.get("id"), place)
            tool_arguments = arguments.get("arguments", arguments) if action == "call_tool_mcp" else arguments
            if self.calls.begin(name, tool or action, tool_arguments, self.now, self._agents[-1], self.here()):
                self._waiting.append(name)
            if action == "delegate":
                self.child_started(name, text(arguments.get("agent")), agent=self._agents[-1])
                self._agents.append(name)
        self._asked = True

    def _observe(self, step: dict[str, Any]) -> None:
        observation = step["observation"]
        if observation == "agent_state_changed":
            state = text(table(step.get("extras")).get("agent_state"))
            self.add(self._course.enter(state, self.now, self._agents[-1], self.here()))
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
        use = self.result(name, observed_result(step, observation))
        if delegated and use is not None:
            self.add(agent_report(use, name))

    def _answer(self, step: dict[str, Any], place: str, arguments: dict[str, Any]) -> None:
        """Add the model's answer to an action; logs without responses have only its words."""
        response = response_of(step)
        usage = table(response.get("usage"))
        used = self._used.get(text(response.get("id")) or place)
        answer_text = step_words(step, arguments, response)
        if not response and used is None and not answer_text:
            return
        used = used or TokensUsed()
        waits = step["action"] == "message" and arguments.get("wait_for_response") is True
        self.answer(
            answer_text,
            tokens=values.chat_tokens(usage) if usage else used.tokens,
            message=text(response.get("id")) or f"answer-{place}",
            model=text(response.get("model")) or used.model,
            cost=0.0 if self._summed_up and not used.cost else amount(used.cost),
            agent=self._agents[-1],
            stop=ENDED if waits else "",
        )


FORMATS = (
    Format("openhands", "document", is_list, OpenHandsReader),
    Format("openhands", "lines", is_evaluation, OpenHandsReader),
    Format("openhands", "folder", is_event_folder, OpenHandsFolderReader),
    Format("openhands", "lines", is_stream, OpenHandsFolderReader),
)
