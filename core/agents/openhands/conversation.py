"""Conversations of OpenHands V1: one event per file or line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec import structs

from core.agents.calls import Result, agent_report
from core.agents.models import ENDED, failed_turn
from core.agents.reader import TranscriptReader
from core.agents.tables import known_words
from core.agents.values import TokenCounts, amount, code, decode, items, table, text, token_counts, unthought, words
from core.engine.values import fingerprint
from core.events import AgentStart, Event, Prompt, Turn, Where
from core.logs.discovery import Found, extent
from core.logs.log_files import read_log

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
        return TokenCounts(self.fresh, self.answered, self.read, self.written)

    def since(self, before: TokensUsed) -> TokensUsed:
        """Return the difference to an earlier count."""
        more = (max(0, now - then) for now, then in zip(self[1:], before[1:], strict=True))
        return TokensUsed._make((self.model, *more))

    def most(self, other: TokensUsed) -> TokensUsed:
        """The larger of each."""
        return TokensUsed._make((self.model, *map(max, self[1:], other[1:])))

    @property
    def fresh(self) -> int:
        """Tokens sent, cached ones left out."""
        return max(0, self.sent - self.read - self.written)

    def __bool__(self) -> bool:
        return any(self[1:])


def total_usage(metrics: dict[str, Any]) -> TokensUsed:
    """The totals of one of a conversation's models."""
    used = table(metrics.get("accumulated_token_usage"))
    return TokensUsed(
        text(metrics.get("model_name")) or text(used.get("model")),
        *token_counts(used, "prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens"),
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
        yield Found(
            agent=agent,
            session=events.parent.name,
            project=_workspace(events.parent / "base_state.json"),
            path=events,
            paths=(events,),
            modified=modified,
            size=size,
            events=number,
            active=now - modified <= active_within,
        )


def _workspace(state: Path) -> str:
    try:
        workspace = table(decode(read_log(state))).get("workspace")
    except OSError:
        return ""
    return text(workspace) or text(table(workspace).get("working_dir"))


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

    def __init__(self) -> None:
        self.stage: Literal["rests", "asked", "works"] = (
            "rests"  # Readers set it at each prompt, act and end of a turn.
        )

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
_TOLD = (
    *("model", "input_tokens", "output_tokens", "cache_read", "cache_write", "context_tokens"),
    *("context_window", "cost"),
)
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
            self.begin(at, self.session)
        if kind == "ConversationStateUpdateEvent":
            self._state(event, at)
            self._read_totals(event, at)
        elif kind == "MessageEvent":
            self._message(event, at)
        elif kind == "ConversationErrorEvent":
            self._course.stage = "rests"
            self.add(failed_turn(at, self.agent, self.here()))
        elif kind == "ActionEvent":
            self._act(event, at)
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            self._observe(event, kind, at)
        elif kind == "Condensation":
            self.add(self.compaction(at, trigger="auto"))
        elif kind in ("PauseEvent", "InterruptEvent"):
            self._course.stage = "rests"
            self.add(self.prompt(at, "", interrupt=True))

    def own_pending(self) -> Iterable[Event]:
        """Return what was spent and belongs to no answer."""
        return filter(None, [self._spent])

    def _message(self, event: dict[str, Any], at: float) -> None:
        """Read a message; an agent that speaks without a call is done."""
        message_text = words(table(event.get("llm_message")).get("content"))
        if event.get("source") == "user":
            self._course.stage = "asked"
            self.add(self.prompt(at, message_text))
        elif event.get("source") == "agent" or event.get("llm_response_id"):
            message_text = unthought(message_text)
            self._course.stage = "rests" if message_text else "works"
            self._answer(event, message_text, at, stop=ENDED if message_text else "")

    def _state(self, event: dict[str, Any], at: float) -> None:
        """Read the status of the conversation, alone or within the full state."""
        value = event.get("value")
        if event.get("key") == "full_state":
            value = table(value).get("execution_status")
        elif event.get("key") != "execution_status":
            return
        if value != "paused":
            self.add(self._course.enter(text(value), at, self.agent, self.here()))

    def _read_totals(self, event: dict[str, Any], at: float) -> None:
        """Read the totals; their increase belongs to the next answer."""
        value = table(event.get("value"))
        if event.get("key") == "full_state":
            value = table(value.get("stats"))
        elif event.get("key") != "stats":
            return
        metrics_by_purpose = table(value.get("usage_to_metrics"))
        answering = next(
            (name for name in _ANSWERING if name in metrics_by_purpose), next(iter(metrics_by_purpose), "")
        )
        for purpose, metrics in metrics_by_purpose.items():
            now = total_usage(table(metrics))
            used = now.since(self._totals.get(purpose, TokensUsed()))
            self._totals[purpose] = now
            if not (used.sent or used.answered):
                continue
            name, model, tokens, cost = text(event.get("id")), used.model, used.tokens, amount(used.cost)
            if purpose == answering:
                self.add(self._spent)
                self._spent = self.turn(at, "", tokens=tokens, message=name, model=model, cost=cost)
            else:  # not spent on answers, for example on a summary
                self.add(self.total(model, cost, tokens, f"{name}/{purpose}"))

    def _answer(self, event: dict[str, Any], answer_text: str, at: float, entry: str = "", stop: str = "") -> None:
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
        turn = self.turn(at, answer_text, message=name, cost=cost, stop=stop, said_at=self.here(entry))
        counted, self._spent = self._spent, None
        if counted is not None:
            turn = structs.replace(turn, **{name: getattr(counted, name) for name in _TOLD})
        self.add(turn)

    def _act(self, event: dict[str, Any], at: float) -> None:
        action = table(event.get("action"))
        tool = text(event.get("tool_name"))
        if tool == "finish" and event.get("action") is not None:
            self._course.stage = "rests"
            self.calls.settle(text(event.get("tool_call_id")))
            self._answer(event, text(action.get("message")).strip(), at, "/action", ENDED)
            return
        self._course.stage = "works"
        self._answer(event, unthought(words(event.get("thought"))), at)
        call = table(event.get("tool_call"))
        arguments = {key: item for key, item in action.items() if key != "kind"} or call.get("arguments")
        name = text(event.get("tool_call_id")) or text(event.get("id")) or f"file-{self._line}"
        if not self.calls.begin(name, tool, arguments, at, self.agent, self.here()):
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
        self.add(
            *[AgentStart(at=at, agent=self.agent, where=self.here(), child=child, role=role) for child in children]
        )

    def _observe(self, event: dict[str, Any], kind: str, at: float) -> None:
        if event.get("tool_name") == "finish" and kind == "ObservationEvent":
            return
        observation = table(event.get("observation"))
        exited = code(observation.get("exit_code"))
        if exited is None:
            exited = code(table(observation.get("metadata")).get("exit_code"))
        failed = observation.get("is_error") is True or bool(text(observation.get("error")))
        running = exited == -1 and not failed
        output = (
            words(observation)
            if kind == "ObservationEvent"
            else text(event.get("error") or event.get("rejection_reason"))
        )
        result = Result(
            text=output,
            error=kind == "AgentErrorEvent" or failed,
            exit_code=None if exited == -1 else exited,
            rejected=kind == "UserRejectObservation",
            running=running,
        )
        name = text(event.get("tool_call_id"))
        use = self.result(name, at, result)
        if use is not None:
            self.add(*(agent_report(use, child) for child in self._children.pop(name, [])))
