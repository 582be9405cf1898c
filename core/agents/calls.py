"""Calls paired with their results."""

from __future__ import annotations

from posixpath import normpath
from typing import Any, NamedTuple

from core.agents.fingerprint import fingerprint
from core.agents.normalizer import Sorted
from core.agents.outcomes import Outcomes, Result
from core.agents.reader import AgentKit
from core.events import MAIN, ToolUse, Where

__all__ = ["Calls", "Result"]


class _Call(NamedTuple):
    tool: str
    kind: Sorted
    at: float
    agent: str
    where: Where | None


class Calls:
    """The open calls of one log; a result closes its call and makes the event."""

    __slots__ = ("_changed", "_done", "_framework", "_kit", "_open", "_orphans", "_outcomes", "_project")

    def __init__(self, kit: AgentKit, framework: str) -> None:
        self._kit = kit
        self._framework = framework
        self._outcomes = Outcomes(kit.normalizer.outcomes)
        self._open: dict[str, _Call] = {}
        self._done: set[str] = set()
        self._orphans: set[str] = set()
        self._changed: dict[str, float] = {}
        self._project = ""

    @property
    def project(self) -> str:
        """The folder that targets are made relative to."""
        return self._project

    @project.setter
    def project(self, folder: str) -> None:
        self._project = folder.replace("\\", "/").rstrip("/")

    def begin(
        self,
        call_id: str,
        tool: str,
        arguments: Any,
        at: float,
        agent: str = MAIN,
        where: Where | None = None,
    ) -> bool:
        """Take in a call; False where it is known already."""
        if call_id in self._open or call_id in self._done:
            return False
        self._open[call_id] = _Call(
            tool, self._kit.normalizer.sort(self._framework, tool, arguments), at, agent, where
        )
        return True

    def settle(self, call_id: str) -> None:
        """Forget a call that is told elsewhere, and its result."""
        if call_id not in self._open:
            self._done.add(call_id)

    def known(self, call_id: str) -> bool:
        """Whether a call of this id was ever taken in."""
        return call_id in self._open or call_id in self._done

    def tool(self, call_id: str) -> str:
        """The tool of an open call; blank where there is none."""
        call = self._open.get(call_id)
        return call.tool if call else ""

    def kind(self, call_id: str) -> Sorted | None:
        """What an open call was sorted as."""
        call = self._open.get(call_id)
        return call.kind if call else None

    def amend(self, call_id: str, kind: Sorted) -> None:
        """Say better what an open call is."""
        call = self._open.get(call_id)
        if call:
            self._open[call_id] = call._replace(kind=kind)

    def end(
        self,
        call_id: str,
        at: float,
        result: Result,
        where: Where | None,
        agent: str | None = None,
        line: int = 0,
    ) -> ToolUse | None:
        """The tool use a result completes; None where its call is unknown or answered already."""
        call = self._open.pop(call_id, None)
        if call is None:
            if call_id not in self._done and call_id not in self._orphans:
                self._kit.diagnostics.note(where.file if where else "", line, "result without a call")
                self._orphans.add(call_id)
            return None
        self._done.add(call_id)
        duration = result.duration
        if duration is None and at >= call.at:
            duration = at - call.at
        return self._use(call_id, call, at, result, where, agent or call.agent, duration)

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
        """The tool use of a log that holds call and result as one."""
        kind = self._kit.normalizer.sort(self._framework, tool, arguments)
        duration = result.duration
        if duration is None and began is not None and at >= began:
            duration = at - began
        return self._use(call_id, _Call(tool, kind, at, agent, where), at, result, where, agent, duration)

    def unanswered(self) -> list[ToolUse]:
        """The calls that got no result so far, in their order."""
        pending = Result(running=True)
        return [
            self._use(call_id, call, call.at, pending, call.where, call.agent, None)
            for call_id, call in self._open.items()
        ]

    def give_up(self) -> list[ToolUse]:
        """The same, no longer waited for."""
        left = self.unanswered()
        self._done.update(self._open)
        self._open.clear()
        return left

    def _use(
        self,
        call_id: str,
        call: _Call,
        at: float,
        result: Result,
        where: Where | None,
        agent: str,
        duration: float | None,
    ) -> ToolUse:
        action, targets, program, purpose, fingerprinted, shape, before, after = call.kind
        outcome = self._outcomes.judge(action, result)
        modified = None
        if targets:
            targets = tuple([self.relative(target) for target in targets])
            modified = self._changed.get(targets[0])
            if outcome == "success" and action in ("file_edit", "memory_write"):
                self._changed.update((target, at) for target in targets)
        text = result.text
        return ToolUse(
            at=at,
            agent=agent,
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
            before=before,
            after=after,
            modified=modified,
        )

    def relative(self, target: str) -> str:
        """A path with forward slashes, relative to the project where it lies in it."""
        if "\\" in target:
            target = target.replace("\\", "/")
        project = self._project
        if project and target.startswith(project) and target[len(project) : len(project) + 1] in ("/", ""):
            target = target[len(project) + 1 :] or "."
        if "./" in target or "//" in target or target.endswith("/"):
            target = normpath(target)
        return target
