"""SWE-agent's trajectories."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from typing import Any

from msgspec import structs

from core.agents.calls import Result
from core.agents.reader import STEP, RunReader, left_untold
from core.agents.values import amount, decode, table, text, token_counts, words
from core.events import Where
from core.logs.format import Format, Sample

_FENCED = re.compile(r"```[\w-]*\n(.*?)\n?```", re.DOTALL)
_FAILED = re.compile(
    r"^Traceback \(most recent call last\)|: command not found\s*$|^\s*(?:bash: )?syntax error near"
    r"|introduced new syntax error|No replacement was performed|TIMED OUT|timed out and (?:was|has been)",
    re.MULTILINE,
)
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

    def setup(self) -> None:
        self._model = ""

    def read(self, value: Any) -> None:
        """Add the events of the whole document."""
        document = self.table(value, "document")
        steps = self.placed(document.get("trajectory"), "trajectory")
        history = self.placed(document.get("history"), "history")
        states = [_state(step) for _, step in steps]
        info = self.table(document.get("info"), "info")
        folder = next((path for state in states if (path := text(state.get("working_dir")))), "")
        self._model = _model(document.get("replay_config"))
        stats = table(info.get("model_stats"))
        self._spent = self.total(self._model, _cost(stats), token_counts(stats, "tokens_sent", "tokens_received"))
        self.begin(
            0.0,
            text(document.get("instance_id")) or self.session,
            project=folder,
            model=self._model,
            synthetic_time=True,
            untold=left_untold(
                times=False,
                tokens=amount(stats.get("tokens_sent")) or amount(stats.get("tokens_received")),
                model=self._model,
                cost=_cost(stats),
            ),
        )
        self._add_task(history)
        if steps:
            opened = ""
            for (place, step), state in zip(steps, states, strict=True):
                where = self.here(f"/trajectory/{place}")
                self._step(place, _step_action(step), words(step.get("observation")), step, opened, where)
                opened = text(state.get("open_file"))
        else:
            self._read_history(history)
        self.end_run(info.get("exit_status"))

    def _add_task(self, history: list[tuple[int, dict[str, Any]]]) -> None:
        """Add the task: the messages before the first answer, without demonstrations."""
        for place, message in history:
            if message.get("is_demo"):
                continue
            if message.get("role") == "assistant":
                return
            if message.get("role") == "user":
                prompt_text = words(message.get("content"))
                self.add(self.prompt(self.now, prompt_text, self.here(f"/history/{place}")))

    def _read_history(self, history: list[tuple[int, dict[str, Any]]]) -> None:
        """Add the steps of a document that contains only the conversation."""
        messages = [(place, item) for place, item in history if not item.get("is_demo")]
        for number, (place, message) in enumerate(messages):
            if message.get("role") != "assistant":
                continue
            answer = messages[number + 1][1] if number + 1 < len(messages) else None
            where = self.here(f"/history/{place}")
            if answer is not None and answer.get("role") in ("user", "tool"):
                self._step(place, _step_action(message), words(answer.get("content")), message, "", where)
            else:
                self._step(place, _step_action(message), None, message, "", where)

    def _step(
        self, place: int, action: str, observed: str | None, step: dict[str, Any], opened: str, where: Where
    ) -> None:
        lasted = amount(step.get("execution_time"))
        self.now += STEP if lasted is None else max(lasted, 0.001)
        tool, arguments = called(action, "" if opened == "n/a" else opened)
        self.add(
            self.turn(
                self.now,
                words(step.get("thought")) or words(step.get("content")),
                where,
                message=f"turn-{place}",
                model=self._model,
                cost=0.0 if self._spent is not None and self._spent.cost is not None else None,
            )
        )
        result = Result(running=True) if observed is None else step_result(tool, action, observed)
        use = self.calls.both(
            f"step-{place}",
            tool if tool in _OWN else "bash",
            arguments,
            None,
            self.now,
            result._replace(duration=lasted),
            where,
            self.agent,
        )
        self.add(use if tool in _OWN else structs.replace(use, tool=tool))


def step_result(tool: str, action: str, observed: str) -> Result:
    """Return how a step ended, from its text."""
    failing = _EDIT_FAILED if tool in _WRITERS or tool in _VIEWERS else _FAILED
    nothing = _NOTHING in observed[:500] or not observed.strip()
    return Result(
        text=observed, error=not action.strip() or bool(failing.search(observed)), empty=True if nothing else None
    )


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
    settings = table(decode(config.encode("utf-8", "replace")) if isinstance(config, str) else config)
    name = text(table(table(settings.get("agent")).get("model")).get("name"))
    return "" if name in _NO_MODELS else name


def _cost(stats: dict[str, Any]) -> float | None:
    """Return the cost of a run; with a shared limit, the total is that of all runs so far."""
    return amount(stats.get("instance_cost")) or amount(stats.get("total_cost"))


def _state(step: dict[str, Any]) -> dict[str, Any]:
    state = step.get("state")
    return table(decode(state.encode("utf-8", "replace")) if isinstance(state, str) else state)


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
