"""Calls paired with their results."""

from __future__ import annotations

import re
from posixpath import normpath
from typing import Any, NamedTuple

from core.agents.normalizer import AgentKit, Sorted
from core.agents.tables import Lists
from core.agents.values import SeenIds, items, table, words
from core.engine.values import fingerprint
from core.events import ADVICE_MARK, MAIN, Action, Advice, AgentEnd, Outcome, Purpose, ToolUse, Where

_HEAD = 300  # How much of an error is searched for a refusal.
_SHORT = 400  # A longer text found something, whatever it begins with.
_EXIT = re.compile(
    r"\A\s*(?:Error:\s*)?(?:Exit code:?|Process exited with code|Command failed with exit code"
    r"|Exit Code:)\s*(-?\d{1,10})\b",
    re.IGNORECASE,
)
# Nothing is expected to come back from these.
_SILENT: frozenset[Action] = frozenset(("file_edit", "memory_write", "plan"))


class Result(NamedTuple):
    """The facts that a log contains about the end of a call."""

    text: str = ""  # The result's text, or its beginning if it is huge.
    error: bool = False  # The log's own error flag.
    exit_code: int | None = None
    rejected: bool = False  # By the person or a policy.
    collateral: bool = False  # It failed only because a call beside it failed.
    empty: bool | None = None  # Nothing was found; None where the log does not say it outright.
    running: bool = False  # It still runs; more will follow.
    duration: float | None = None
    size: int | None = None  # Characters, where the text is only the beginning.


class Outcomes:
    """Judges results by flags first, then by phrases."""

    def __init__(self, lists: Lists) -> None:
        self._rejected = tuple(phrase.lower() for phrase in lists["rejected"])
        self._collateral = tuple(phrase.lower() for phrase in lists["collateral"])
        self._empty = tuple(phrase.lower() for phrase in lists["empty"])

    def judge(self, action: Action, result: Result) -> Outcome:
        """How a call ended."""
        if result.rejected:
            return "rejected"
        if result.collateral:
            return "collateral"
        if result.running:
            return "pending"
        if result.error or result.exit_code:
            return self._failed(action, result)
        if result.empty is not None:
            return "empty" if result.empty else "success"
        if action not in _SILENT and self._nothing(result.text):
            return "empty"
        return "success"

    def _failed(self, action: Action, result: Result) -> Outcome:
        if result.error and result.exit_code is None:
            head = result.text[:_HEAD].lower()
            if any(phrase in head for phrase in self._collateral):
                return "collateral"
            if is_advice(result.text) or any(phrase in head for phrase in self._rejected):
                return "rejected"
        if action == "search" and (result.exit_code == 1 or not result.exit_code) and self._nothing(result.text):
            return "empty"
        return "failure"

    def _nothing(self, text: str) -> bool:
        if len(text) > _SHORT:
            return not text or text.isspace()
        text = text.strip().lower()
        return not text or text.startswith(self._empty)


def exit_code(text: str) -> int | None:
    """Return the exit code at the beginning of a result, or None."""
    match = _EXIT.match(text)
    return int(match.group(1)) if match else None


def cut_exit(output: str, pattern: re.Pattern[str], tail: int) -> tuple[str, int | None]:
    """Return an output without the line at its end that names the exit code, and the code."""
    match = pattern.search(output[-tail:])
    return (output[: len(output) - len(match[0])], int(match[1])) if match else (output, None)


GEMINI_EXIT = re.compile(r"^Exit Code: (-?\d{1,9})\s*$", re.MULTILINE)
_NO_OUTPUT = re.compile(r"^(?:Output|Stdout): \(empty\)\s*$", re.MULTILINE)


def function_result(call: dict[str, Any], status: str) -> Result:
    """Return the result of a call, whose answer is in one part or in several."""
    answer = call.get("result")
    parts = [_answer_of(part) for part in items(answer) or [answer]]
    return shell_result("\n".join(part for part in parts if part) or words(call.get("resultDisplay")), status)


def shell_result(output: str, status: str) -> Result:
    """Return a result, which names the exit code and the emptiness of a command's output in words."""
    exited = GEMINI_EXIT.search(output)
    nothing = _NO_OUTPUT.search(output)
    return Result(
        text="" if nothing and not exited else output,
        error=status == "error",
        exit_code=int(exited.group(1)) if exited else None,
        rejected=status == "cancelled",
        empty=True if nothing and not (exited and int(exited.group(1))) else None,
    )


def _answer_of(part: Any) -> str:
    response = table(table(part).get("functionResponse")).get("response")
    return words(part if response is None else response)


_SUMMARY = 600  # Characters at the end of an output that are searched for its own summary.
_CHECKS: frozenset[Purpose] = frozenset(("test", "build"))
# The last lines of checks, of npm's scripts and of Python that failed.
_FAILED_CHECK = re.compile(r"^(?:.*\b[1-9]\d* (?:failed|failures?|failing|errors?)\b.*|FAIL\b.*)\s*\Z", re.M)
_FAILED_SCRIPT = re.compile(r"^npm (?:ERR!|error) .*(?:\n.*){0,2}\s*\Z", re.M)
_FAILED_PYTHON = re.compile(r"^Traceback \(most recent call last\):\n(?:.*\n)+[\w.]+(?:Error|Exception)\b.*\s*\Z", re.M)
# What Git says if it made no commit, and how it reports one.
_NOT_COMMITTED = re.compile(r"^(?:fatal:|author identity unknown)", re.I | re.M)
_COMMITTED = re.compile(r"^\[[^\[\]\n]{1,200} [0-9a-f]{7,40}\] ", re.M)
_SCRIPTS = {"npm": _FAILED_SCRIPT, "python": _FAILED_PYTHON, "python3": _FAILED_PYTHON}


def _hides_failure(text: str, program: str, purpose: Purpose) -> bool:
    """Whether a command that a pipe or `|| true` let succeed says in its last lines that it failed."""
    if purpose == "commit":
        return _NOT_COMMITTED.search(text) is not None and _COMMITTED.search(text) is None
    end = text[-_SUMMARY:]
    ran = _SCRIPTS.get(program)
    return (purpose in _CHECKS and _FAILED_CHECK.search(end) is not None) or (
        ran is not None and ran.search(end if ran is _FAILED_SCRIPT else text[-4 * _SUMMARY :]) is not None
    )


def is_advice(text: str) -> bool:
    """Whether a text is a sentence of ours."""
    return text.startswith(ADVICE_MARK)


# A sentence behind a tool's output, as our OpenCode module, Gemini CLI and Copilot CLI put it there.
_AT_THE_END = re.compile(
    r"\n\n(?:<hook_context>"
    r"|Tool \"[^\"\n]{1,100}\" [a-z]{1,20}\. Additional guidance from \w{1,40} hooks:\n)?"
    r"(\[nooscope\][^\n]{0,400}?)(?:</hook_context>)?\s*\Z"
)
_LONGEST = 700


def split_advice(text: str) -> tuple[str, str]:
    """A tool's output without the sentence of ours at its end, and that sentence or a blank."""
    match = _AT_THE_END.search(text, max(0, len(text) - _LONGEST)) if ADVICE_MARK in text else None
    return (text[: match.start()], match[1]) if match else (text, "")


def said_event(sentence: str, at: float, agent: str = MAIN, where: Where | None = None) -> Advice:
    """The event of a sentence that reached an agent."""
    sentence = sentence.strip()
    return Advice(at=at, agent=agent, where=where, characters=len(sentence), call=fingerprint(sentence))


__all__ = ["Calls", "Result", "agent_report"]


_make = tuple.__new__  # Builds a named tuple without its Python-level constructor: one is made for every call.
# Part of an id that no other call has: the same call after its answer is a repetition.
_UNIQUE = re.compile(r"(?=[A-Za-z]*\d)[0-9A-Za-z]{12,}")
# A name of code in a prompt: it contains an underscore or a capital, or it is beside a dot or a bracket.
_NAME = re.compile(
    r"(?<=\.)[A-Za-z_]\w{3,}|\b[A-Za-z_]\w{3,}(?=\(|\.\w)|\b_*[A-Za-z]\w*?(?:_[A-Za-z0-9]|[a-z0-9][A-Z])\w*"
)
_NAMES = 64  # Names of an agent's prompts that are looked for.
_PROMPT = 8000  # Characters of a prompt that are looked at.
_FIRST, _LAST = 500, 300  # Characters at the ends of a result that are looked at: the fit saw no more.
_DONE = 512  # Answered calls remembered whole; of those before, only their ids.
_HELD = 256  # Results that came before their calls, kept at once; the oldest is given up for another.


class _Call(NamedTuple):
    tool: str
    kind: Sorted
    at: float
    agent: str
    where: Where | None


class _Early(NamedTuple):
    """A result that came before its call."""

    at: float
    result: Result
    where: Where | None
    agent: str | None
    line: int


class _Told(NamedTuple):
    """An answered call, to distinguish a repetition from another call with the same id."""

    call: int
    at: float
    answered: float


class Calls:
    """The open calls of one log; a result closes its call and completes the event.

    A result that comes before its call waits for it. An id that a log reuses for another call gets a number:
    its results belong to the newest open call with that id.
    """

    def __init__(self, kit: AgentKit, framework: str) -> None:
        self._kit = kit
        self._framework = framework
        self._outcomes = Outcomes(kit.normalizer.outcomes)
        self._open: dict[str, _Call] = {}
        self._done: dict[str, _Told] = {}  # The newest answered calls.
        self._older = SeenIds()  # The ids of the answered calls before.
        self._older_until = 0.0  # When the last of those was answered.
        self._settled = SeenIds()  # The ids of calls that another log contains, or that were given up.
        self._early: dict[str, _Early] = {}
        self._joined: list[str] = []
        self._again: dict[str, int] = {}
        self._changed: dict[str, float] = {}
        self._names: dict[str, dict[str, bool]] = {}  # By agent: names of its prompts, and whether they came up.
        self._project = ""

    @property
    def project(self) -> str:
        """The folder that targets are made relative to."""
        return self._project

    @project.setter
    def project(self, folder: str) -> None:
        self._project = folder.replace("\\", "/").rstrip("/")

    def look_for_names(self, prompt: str, agent: str = MAIN) -> int:
        """Look for the names of code in a prompt from now on; return how many are new."""
        names = self._names.setdefault(agent, {})
        before = len(names)
        for match in _NAME.finditer(prompt[:_PROMPT]):
            if len(names) < _NAMES and len(match[0]) > 3:
                names.setdefault(match[0], False)
        return len(names) - before

    def _new_names(self, result: str, agent: str) -> int:
        names = self._names.get(agent)
        if not names or not result:
            return 0
        if len(result) > _FIRST + _LAST:
            result = f"{result[:_FIRST]}\n{result[-_LAST:]}"
        new = [name for name, came_up in names.items() if not came_up and name in result]
        for name in new:
            names[name] = True
        return len(new)

    def begin(
        self, call_id: str, tool: str, arguments: Any, at: float, agent: str = MAIN, where: Where | None = None
    ) -> bool:
        """Open a call and return whether it is new."""
        kind = self._kit.normalizer.sort(self._framework, tool, arguments)
        call = _make(_Call, (tool, kind, at, agent, where))
        if self.is_known(call_id):
            if not self._another(call_id, call):
                return False
            self._again[call_id] = self._again.get(call_id, 1) + 1
        self._open[self._key(call_id) if self._again else call_id] = call
        if call_id in self._early:
            self._joined.append(call_id)
        return True

    def _another(self, call_id: str, call: _Call) -> bool:
        """Whether a call whose id was used before is another one: other arguments, or a plain id after its answer."""
        open_call = self._open.get(self._key(call_id))
        if open_call is not None:
            return open_call.kind.call != call.kind.call
        key = self._key(call_id)
        answered = self._done.get(key)
        if key in self._settled or (answered is None and key not in self._older):
            return False
        if answered is not None and answered.call != call.kind.call:
            return True
        return call.at > (answered.answered if answered else self._older_until) and not _UNIQUE.search(call_id)

    def _key(self, call_id: str) -> str:
        """Return the key of the newest call with an id."""
        again = self._again.get(call_id, 1) if self._again else 1
        return call_id if again == 1 else f"{call_id}#{again}"

    def _newest(self, call_id: str) -> str:
        """Return the key of the newest open call with an id; the id itself if none is open."""
        if self._again:
            for number in range(self._again.get(call_id, 1), 1, -1):
                if f"{call_id}#{number}" in self._open:
                    return f"{call_id}#{number}"
        return call_id

    def settle(self, call_id: str) -> None:
        """Ignore a call that another log contains, and its result."""
        if call_id not in self._open:
            self._settled.add(call_id)

    def is_known(self, call_id: str) -> bool:
        """Whether a call of this id was ever taken in."""
        return call_id in self._open or call_id in self._done or call_id in self._older or call_id in self._settled

    def tool(self, call_id: str) -> str:
        """Return the tool of an open call; blank if there is none."""
        call = self._open.get(self._newest(call_id) if self._again else call_id)
        return call.tool if call else ""

    def kind(self, call_id: str) -> Sorted | None:
        """Return how an open call was sorted."""
        call = self._open.get(self._newest(call_id))
        return call.kind if call else None

    def amend(self, call_id: str, kind: Sorted, tool: str = "") -> None:
        """Say better what an open call is."""
        key = self._newest(call_id)
        call = self._open.get(key)
        if call:
            self._open[key] = call._replace(kind=kind, tool=tool or call.tool)

    def end(
        self, call_id: str, at: float, result: Result, where: Where | None, agent: str | None = None, line: int = 0
    ) -> ToolUse | None:
        """Return the tool use that a result completes; None if its call is missing or already answered."""
        key = self._newest(call_id) if self._again else call_id
        call = self._open.pop(key, None)
        if call is None:
            if call_id not in self._early and not self.is_known(call_id):
                if len(self._early) >= _HELD:
                    self._give_up_call(next(iter(self._early)))
                self._early[call_id] = _Early(at, result, where, agent, line)
            return None
        self._done[key] = _make(_Told, (call.kind.call, call.at, at))
        if len(self._done) > _DONE:
            oldest = next(iter(self._done))
            self._older_until = max(self._older_until, self._done.pop(oldest).answered)
            self._older.add(oldest)
        duration = result.duration
        if duration is None and at >= call.at:
            duration = at - call.at
        return self._use(key, call._replace(agent=agent) if agent else call, at, result, where, duration)

    def joined(self) -> list[ToolUse]:
        """The tool uses of calls whose results had come before them."""
        if not self._joined:
            return []
        names, self._joined = self._joined, []
        early = [(name, self._early.pop(name)) for name in names if name in self._early]
        uses = [self.end(name, one.at, one.result, one.where, one.agent, one.line) for name, one in early]
        return [use for use in uses if use is not None]

    def _give_up_call(self, call_id: str) -> None:
        early = self._early.pop(call_id)
        self._settled.add(call_id)
        file = early.where.file if early.where else ""
        self._kit.diagnostics.note(file, early.line, "result without a call")

    def both(
        self,
        call_id: str,
        tool: str,
        arguments: Any,
        began: float | None,
        at: float,
        result: Result,
        where: Where | None,
        agent: str = MAIN,
    ) -> ToolUse:
        """Return the tool use of a record that contains both call and result."""
        kind = self._kit.normalizer.sort(self._framework, tool, arguments)
        duration = result.duration
        if duration is None and began is not None and at >= began:
            duration = at - began
        return self._use(call_id, _Call(tool, kind, at, agent, where), at, result, where, duration)

    def unanswered(self) -> list[ToolUse]:
        """The calls that got no result so far, in their order."""
        pending, calls = Result(running=True), self._open.items()
        return [self._use(call_id, call, call.at, pending, call.where, None) for call_id, call in calls]

    def give_up(self) -> list[ToolUse]:
        """Return the calls without a result and close them."""
        left = self.unanswered()
        for call_id in self._open:
            self._settled.add(call_id)
        self._open.clear()
        return left

    def finish(self) -> list[ToolUse]:
        """The calls that got no result; results whose calls never came are counted."""
        for call_id in list(self._early):
            self._give_up_call(call_id)
        return self.unanswered()

    def _use(
        self, call_id: str, call: _Call, at: float, result: Result, where: Where | None, duration: float | None
    ) -> ToolUse:
        action, targets, program, purpose, fingerprinted, shape, before, after = call.kind
        outcome = self._outcomes.judge(action, result)
        if outcome == "success" and action == "shell_exec" and result.size is None:
            outcome = "failure" if _hides_failure(result.text, program, purpose) else outcome
        modified = None
        if targets:
            relative = self.relative
            targets = (relative(targets[0]),) if len(targets) == 1 else tuple([relative(path) for path in targets])
            modified = self._changed.get(targets[0])
            if outcome == "success" and action in ("file_edit", "memory_write"):
                self._changed.update((target, at) for target in targets)
        text = result.text
        return ToolUse(
            at=at,
            agent=call.agent,
            where=where,
            called=call.where if call.where != where else None,
            id=call_id,
            action=action,
            tool=call.tool,
            targets=targets,
            program=program,
            purpose=purpose,
            outcome=outcome,
            duration=duration,
            exit_code=result.exit_code,
            call=fingerprinted,
            shape=shape,
            result=fingerprint(text) if text else 0,
            size=len(text) if result.size is None else result.size,
            named=self._new_names(text, call.agent),
            before=before,
            after=after,
            modified=modified,
        )

    def relative(self, target: str) -> str:
        """Return a path with forward slashes, relative to the project if it is inside."""
        if "\\" in target:
            target = target.replace("\\", "/")
        project = self._project
        if project and target.startswith(project) and target[len(project) : len(project) + 1] in ("/", ""):
            target = target[len(project) + 1 :] or "."
        if "./" in target or "//" in target or target.endswith("/"):
            target = normpath(target)
        return target


def agent_report(use: ToolUse, child: str, parent: str = "") -> AgentEnd:
    """Return the report of a sub-agent: the result of the call that started it."""
    return AgentEnd(
        at=use.at, agent=parent or use.agent, where=use.where, child=child, outcome=use.outcome, duration=use.duration
    )
