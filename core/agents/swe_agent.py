"""Trajectories of SWE-agent and of mini-swe-agent."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from typing import Any

from msgspec import structs

from core.agents.calls import Result
from core.agents.reader import STEP, RunReader, left_untold
from core.agents.tables import known_pattern
from core.agents.values import amount, beyond, chat_tokens, code, decode_inner, table, text, token_counts, words
from core.logs.format import Format, Sample
from core.logs.lines import seconds

_FENCED = re.compile(r"```[\w-]*\n(.*?)\n?```", re.DOTALL)
_FAILED = known_pattern("swe-agent-failures", re.MULTILINE)
_EDIT_FAILED = re.compile(r"introduced new syntax error|No replacement was performed|TIMED OUT|^ERROR:", re.MULTILINE)
_NOTHING = "did not produce any output"
_VIEWERS = frozenset(("open", "goto", "scroll_up", "scroll_down", "view_file", "filemap"))
_WRITERS = frozenset(("edit", "insert", "create", "edit_anthropic", "str_replace_editor"))
_FINDERS = frozenset(("search_dir", "search_file", "find_file"))
_OWN = _VIEWERS | _WRITERS | _FINDERS  # The program's own tools; any other word begins a shell command.
# Names in the place of a model that are not models.
_NO_MODELS = frozenset(("replay", "human", "human_thought", "instant_empty_submit"))


class SweAgentReader(RunReader):
    """Makes up times from execution times, or in fixed steps, and marks them as made up."""

    name = "swe-agent"
    untold = ("times",)
    gaps = "outcomes judged by the text of a result; tokens and cost per run; often no model"

    def read(self, value: Any) -> None:
        """Add the events of the whole document."""
        document = self.table(value, "document")
        steps = self.placed(document.get("trajectory"), "trajectory")
        history = self.placed(document.get("history"), "history")
        states = [_state(step) for _, step in steps]
        info = self.table(document.get("info"), "info")
        folder = next((path for state in states if (path := text(state.get("working_dir")))), "")
        self.model = _model(document.get("replay_config"))
        stats = table(info.get("model_stats"))
        self._spent = self.total(self.model, _cost(stats), token_counts(stats, "tokens_sent", "tokens_received"))
        counted = amount(stats.get("tokens_sent")) or amount(stats.get("tokens_received"))
        untold = left_untold(times=False, tokens=counted, model=self.model, cost=_cost(stats))
        name = document.get("instance_id")
        self.begin(name, project=folder, synthetic_time=True, untold=untold)
        self._add_task(history)
        if steps:
            opened = ""
            for (place, step), state in zip(steps, states, strict=True):
                self.enter(f"/trajectory/{place}")
                # A state is of before or after its step, by version; an edit leaves the file in view open.
                shown = text(state.get("open_file"))
                opened = shown if shown not in ("", "n/a") else opened
                self._step(place, _step_action(step), words(step.get("observation")), step, opened)
        else:
            self._read_history(history)
        self.enter()
        self.end_run(info.get("exit_status"))

    def _add_task(self, history: list[tuple[int, dict[str, Any]]]) -> None:
        """Add the task: the messages before the first answer, without demonstrations."""
        for place, message in history:
            if message.get("is_demo"):
                continue
            if message.get("role") == "assistant":
                return
            if message.get("role") == "user":
                self.enter(f"/history/{place}")
                self.add(self.prompt(words(message.get("content"))))

    def _read_history(self, history: list[tuple[int, dict[str, Any]]]) -> None:
        """Add the steps of a document that contains only the conversation."""
        messages = [(place, item) for place, item in history if not item.get("is_demo")]
        for number, (place, message) in enumerate(messages):
            if message.get("role") != "assistant":
                continue
            answer = messages[number + 1][1] if number + 1 < len(messages) else {}
            self.enter(f"/history/{place}")
            observed = words(answer.get("content")) if answer.get("role") in ("user", "tool") else None
            self._step(place, _step_action(message), observed, message, "")

    def _step(self, place: int, action: str, observed: str | None, step: dict[str, Any], opened: str) -> None:
        lasted = amount(step.get("execution_time"))
        self.now += STEP if lasted is None else max(lasted, 0.001)
        tool, arguments = called(action, "" if opened == "n/a" else opened)
        answer_text = words(step.get("thought")) or words(step.get("content"))
        cost = 0.0 if self._spent is not None and self._spent.cost is not None else None
        self.add(self.turn(answer_text, message=f"turn-{place}", cost=cost))
        result = Result(running=True) if observed is None else step_result(tool, action, observed)
        name = tool if tool in _OWN else "bash"
        use = self.whole_call(f"step-{place}", name, arguments, result._replace(duration=lasted))
        self.add(structs.replace(use, tool=tool))


def step_result(tool: str, action: str, observed: str) -> Result:
    """Return how a step ended, from its text."""
    failing = _EDIT_FAILED if tool in _WRITERS or tool in _VIEWERS else _FAILED
    nothing = _NOTHING in observed[:500] or not observed.strip()
    failed = not action.strip() or bool(failing.search(observed))
    return Result(text=observed, error=failed, empty=nothing or None)


def called(action: str, opened: str = "") -> tuple[str, dict[str, Any]]:
    """The tool an action names by its first word, and its arguments; `opened` is the file in view."""
    bare = action.strip()
    tool = bare.split(None, 1)[0] if bare else ""
    if tool not in _OWN:
        return tool, {"command": bare}
    try:
        operands = shlex.split(bare)[1:] if len(bare) < 100_000 else bare.split()[1:]
    except ValueError:
        operands = bare.partition("\n")[0].split()[1:]
    if tool == "str_replace_editor":
        return tool, _editor(operands)
    if tool in _FINDERS:
        return tool, {"pattern": operands[0] if operands else "", "path": operands[1] if len(operands) > 1 else ""}
    if tool in ("open", "create", "view_file", "filemap"):
        return tool, {"path": operands[0] if operands else opened, "line": operands[1] if len(operands) > 1 else ""}
    if tool in ("goto", "scroll_up", "scroll_down"):
        return tool, {"path": opened, "line": operands[0] if operands else ""}
    return tool, _edit(bare, operands, opened)


def _edit(bare: str, operands: list[str], opened: str) -> dict[str, Any]:
    first, _, body = bare.partition("\n")
    lines = re.match(r"(?:edit|insert)\s+(\d+:?\d*)\s*$", first)
    if lines:
        return {"path": opened, "lines": lines.group(1), "new_str": body.removesuffix("end_of_edit")}
    return {
        "path": opened,
        "old_str": operands[0] if len(operands) > 1 else "",
        "new_str": operands[1] if len(operands) > 1 else "".join(operands[:1]),
    }


def _editor(operands: list[str]) -> dict[str, Any]:
    arguments: dict[str, Any] = dict(zip(("command", "path"), operands, strict=False))
    for flag, value in pairwise(operands[2:]):
        if flag.startswith("--"):
            arguments[flag[2:]] = value
    return arguments


def _step_action(step: dict[str, Any]) -> str:
    action = step.get("action")
    if isinstance(action, str):
        return action
    fenced = _FENCED.findall(words(step.get("content")))
    return text(fenced[-1]) if fenced else ""


def _model(config: Any) -> str:
    """The model that the settings of a run name, which newer versions write as a text."""
    agent = table(table(decode_inner(config)).get("agent"))
    name = text(table(agent.get("model")).get("name"))
    return "" if name in _NO_MODELS else name


def _cost(stats: dict[str, Any]) -> float | None:
    """Return the cost of a run; with a shared limit, the total is that of all runs so far."""
    return amount(stats.get("instance_cost")) or amount(stats.get("total_cost"))


def _state(step: dict[str, Any]) -> dict[str, Any]:
    return table(decode_inner(step.get("state")))


def _sniff(sample: Sample) -> int:
    """A trajectory of actions and observations, or a history of an agent's messages."""
    head = sample.head
    if not head.lstrip().startswith(b"{") or b'"mini_version"' in head:
        return 0
    if b'"trajectory"' in head and b'"observation"' in head and b'"action"' in head:
        return 90
    has_fields = b'"exit_status"' in head or b'"model_stats"' in head or b'"is_demo"' in head
    if b'"history"' in head and b'"role"' in head and b'"agent"' in head:
        return 80 if has_fields or b'"thought"' in head else 55
    return 0


FORMATS = (Format("swe-agent", "document", _sniff, SweAgentReader, id_key=("instance_id",)),)


_MINI_FENCED = re.compile(r"```(?:bash|mswea_bash_command)\s*\n(.*?)\n```", re.DOTALL)
_RETURNED = re.compile(r"<returncode>\s*(-?\d{1,9})\s*</returncode>")
_OUTPUT = re.compile(r"<output>\n?(.*?)\n?</output>", re.DOTALL)
_TIMED_OUT = re.compile(r"timed out and has been killed|<exception>")
_REJECTED = re.compile(r"\ACommand not executed\b|user rejected your command", re.IGNORECASE)


class MiniSweAgentReader(RunReader):
    """An answer without exactly one command is not a call; the program then asks again."""

    name = "mini-swe-agent"
    gaps = "in older versions a result has the time of the next answer"

    def setup(self) -> None:
        self._waiting: list[str] = []

    def read(self, value: Any) -> None:
        """Add the events of the whole document."""
        document = self.table(value, "document")
        info = self.table(document.get("info"), "info")
        config = table(info.get("config"))
        messages = self.placed(document.get("messages"), "messages")
        times = [_message_time(message) for _, message in messages]
        known_times = [at for at in times if at is not None]
        self.now = known_times[0] if known_times else 0.0
        self.model = text(table(config.get("model")).get("model_name"))
        project, version = table(config.get("environment")).get("cwd"), info.get("mini_version")
        name, synthetic = document.get("instance_id"), not known_times
        self.begin(name, project=project, version=version, synthetic_time=synthetic)
        told_of_answers = sum(_message_cost(message) or 0.0 for _, message in messages)
        all_of_it = amount(table(info.get("model_stats")).get("instance_cost"))
        self._spent = self.total(self.model, rest) if (rest := beyond(all_of_it, told_of_answers)) else None
        answered = False
        for (place, message), at in zip(messages, times, strict=True):
            self.enter(f"/messages/{place}")
            role = message.get("role")
            if role == "assistant":
                answered = True
                self.advance(at, timed=bool(known_times))
                self._answer(place, message)
            elif role in ("user", "tool", "exit") and answered:
                self.advance(at, timed=True)
                last = place == messages[-1][0]
                self._observe(message, last or role == "exit")
            elif role == "user":
                self.add(self.prompt(words(message.get("content"))))
        self.enter()
        self.end_run(info.get("exit_status"))

    def _answer(self, place: int, message: dict[str, Any]) -> None:
        self.add(*self.calls.give_up())
        self._waiting.clear()
        extra = table(message.get("extra"))
        answer_text = words(message.get("content"))
        cost = _message_cost(message)
        if cost is None and self._spent is not None:
            cost = 0.0
        response = table(extra.get("response"))
        name, tokens = text(response.get("id")) or f"turn-{place}", chat_tokens(table(response.get("usage")))
        self.add(self.turn(answer_text, tokens=tokens, message=name, model=response.get("model"), cost=cost))
        actions = extra.get("actions")
        if isinstance(actions, list):
            for number, action in enumerate(self.objects(actions, "actions")):
                name = text(action.get("tool_call_id")) or f"{place}/{number}"
                self._call(name, text(action.get("command") or action.get("action")))
            return
        commands = _MINI_FENCED.findall(answer_text)
        if len(commands) == 1:
            self._call(str(place), commands[0])

    def _call(self, name: str, command: str) -> None:
        if self.call(name, "bash", {"command": command}):
            self._waiting.append(name)

    def _observe(self, message: dict[str, Any], last: bool) -> None:
        call_id = text(message.get("tool_call_id"))
        name = call_id if call_id in self._waiting else next(iter(self._waiting), "")
        if not name:
            return
        self._waiting.remove(name)
        output = words(message.get("content"))
        extra = table(message.get("extra"))
        returned = _RETURNED.search(output[:500])
        exited = code(extra.get("returncode"))
        if returned and exited is None:
            exited = int(returned.group(1))
        inner = _OUTPUT.search(output)
        failed = bool(_TIMED_OUT.search(output[:2000])) and exited is None
        rejected = bool(_REJECTED.search(output[:200]))
        if exited is None and not failed and not last and not rejected:
            self.note("answer without a return code")
        result = Result(inner.group(1) if inner else output, error=failed, exit_code=exited, rejected=rejected)
        self.result(name, result, timed=_message_time(message) is not None)


def _message_cost(message: dict[str, Any]) -> float | None:
    """Return the logged cost of an answer."""
    extra = table(message.get("extra"))
    return amount(table(table(extra.get("response")).get("usage")).get("cost")) or amount(extra.get("cost"))


def _message_time(message: dict[str, Any]) -> float | None:
    extra = table(message.get("extra"))
    values = (extra.get("timestamp"), table(extra.get("response")).get("created"), message.get("timestamp"))
    return next((at for value in values if (at := seconds(value)) is not None), None)


def _mini_sniff(sample: Sample) -> int:
    """The name of the trajectory's format, or return codes in a conversation."""
    head = sample.head
    if not head.lstrip().startswith(b"{"):
        return 0
    if b'"mini_version"' in head or b'"mini-swe-agent-' in head:
        return 97
    return 85 if b'"messages"' in head and b"<returncode>" in head else 0


MINI = (Format("mini-swe-agent", "document", _mini_sniff, MiniSweAgentReader, id_key=("instance_id",)),)
