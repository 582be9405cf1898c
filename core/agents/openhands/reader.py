"""Event lists of OpenHands V0 and evaluation outputs, one run per line."""

from __future__ import annotations

import re
from typing import Any

from msgspec import structs

from core.agents.calls import Calls, Result, agent_report
from core.agents.models import ENDED, Usage
from core.agents.openhands.conversation import (
    Course,
    OpenHandsFolderReader,
    Steps,
    TokensUsed,
    answers_used,
    response_of,
    total_usage,
)
from core.agents.reader import STEP, LogClock, TranscriptReader, left_untold
from core.agents.tables import known_words
from core.agents.values import TokenCounts, amount, beyond, chat_tokens, code, items, table, text, whole_number, words
from core.events import AgentStart, Compaction, Matter, SessionEnd, Turn, Where
from core.logs.decoding import seconds
from core.logs.format import Format, Sample

# Signs of failure in results without an exit code.
_SILENT_FAILURE = re.compile(
    r"\[?Your proposed edit has introduced new syntax error|\[No exact match found|ERROR:|\[?Error:"
    r"|-+\n\w+(?:Error|Exception)\s+Traceback|Traceback \(most recent call last\)"
)


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
        number = whole_number(issue.get("number"))
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
        rest = beyond(amount(in_all.cost), sum(used.cost for used in self._used.values()))
        self._summed_up = rest is not None
        start = len(self.out)
        self.begin(
            self.now,
            name,
            project=folder,
            model=model,
            synthetic_time=not known_times,
            untold=self._left_untold(steps, in_all, model, timed=bool(known_times)),
        )
        for place, step in steps:
            at = seconds(step.get("timestamp"))
            if at is not None:
                self.moment(at)
            elif not known_times and "action" in step:
                self.now += STEP
            where = self.here(f"{root}/{place}")
            if isinstance(step.get("action"), str):
                self._act(step, place, where)
            elif isinstance(step.get("observation"), str):
                self._observe(step, where)
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
        total = self.total(
            in_all.model,
            cost,
            TokenCounts(
                max(0, in_all.fresh - sum(turn.input_tokens for turn in turns)),
                max(0, in_all.answered - sum(turn.output_tokens for turn in turns)),
                max(0, in_all.read - sum(turn.cache_read for turn in turns)),
                max(0, in_all.written - sum(turn.cache_write for turn in turns)),
            ),
            message=f"total-{self._line}",
        )
        if total is not None:
            last = self.out[-1]
            ended = isinstance(last, SessionEnd)
            self.out.insert(len(self.out) - ended, structs.replace(total, at=last.at))

    def _act(self, step: dict[str, Any], place: str, where: Where) -> None:
        action, source = step["action"], step.get("source")
        arguments = table(step.get("args")) or {key: step[key] for key in step if key not in ("action", "source")}
        self._answer(step, place, arguments, where)
        if action == "message" and (source == "user" or (source is None and not self._asked)):
            self._course.stage = "asked"
            self.add(self.prompt(self.now, words(arguments.get("content")), where))
        elif action == "message" and source == "agent":
            self._course.stage = "rests" if arguments.get("wait_for_response") is True else "works"
        elif action == "condensation":
            self.add(Compaction(at=self.now, agent=self._agents[-1], where=where, trigger="auto"))
        elif action == "finish":
            self._course.stage = "rests"
            self.add(SessionEnd(at=self.now, agent=self._agents[-1], where=where, reason="finish"))
        elif action not in _NO_TOOLS and source in (None, "agent"):
            self._course.stage = "works"
            tool = text(arguments.get("name")) if action == "call_tool_mcp" else action
            name = step_name(step.get("id"), place)
            tool_arguments = arguments.get("arguments", arguments) if action == "call_tool_mcp" else arguments
            if self.calls.begin(name, tool or action, tool_arguments, self.now, self._agents[-1], where):
                self._waiting.append(name)
            if action == "delegate":
                role = text(arguments.get("agent"))
                self.add(AgentStart(at=self.now, agent=self._agents[-1], where=where, child=name, role=role))
                self._agents.append(name)
        self._asked = True

    def _observe(self, step: dict[str, Any], where: Where) -> None:
        observation = step["observation"]
        if observation == "agent_state_changed":
            state = text(table(step.get("extras")).get("agent_state"))
            self.add(self._course.enter(state, self.now, self._agents[-1], where))
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
        self.add(use)
        if delegated and use is not None:
            self.add(agent_report(use, name))

    def _answer(self, step: dict[str, Any], place: str, arguments: dict[str, Any], where: Where) -> None:
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
            self.now,
            answer_text,
            where,
            tokens=chat_tokens(usage) if usage else used.tokens,
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
