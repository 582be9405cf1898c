"""How much of a session another person may see."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Literal

from msgspec.structs import replace

from core.events import MAIN, ToolUse
from core.live.status import Status
from core.timeline.marks import Mark

Level = Literal["strict", "excerpts", "transcript"]
"""No words and no names; the prompt, command and error in a line each; all words."""

_EXCERPT = 400
_TRANSCRIPT = 4000
_SUFFIX = 6
"""Letters of a file's ending that may stand in a strict export."""
_WORDLESS = {
    "needs you": "it waits for an answer",
    "may need you": "it may wait for an answer or a permission",
    "looping": "repeats itself without progress",
    "stuck": "keeps failing",
    "gave up": "says that it could not do it",
    "idle": "nothing happens for a while",
    "done": "finished its turn",
    "ended": "the session is over",
    "unreadable": "the log cannot be read",
}


class Privacy:
    """What is shown of words and names; a strict one numbers every name instead."""

    def __init__(self, level: Level = "excerpts") -> None:
        self.level: Level = level
        self.words = level != "strict"
        self.longest = _TRANSCRIPT if level == "transcript" else _EXCERPT
        self._paths: dict[str, str] = {}
        self._agents: dict[str, str] = {MAIN: MAIN}

    def path(self, path: str) -> str:
        """A path, or a number and its ending in its place."""
        if self.words:
            return path
        replacement = self._paths.get(path)
        if replacement is None:
            suffix = PurePosixPath(path).suffix
            shown_suffix = (
                suffix if suffix[1:].isalnum() and suffix.isascii() and len(suffix) <= _SUFFIX else ""
            )
            replacement = self._paths[path] = f"file-{len(self._paths) + 1}{shown_suffix}"
        return replacement

    def agent(self, agent: str) -> str:
        """An agent's name, or a number in its place."""
        if self.words:
            return agent
        return self._agents.setdefault(agent, f"sub-agent-{len(self._agents)}")

    def tool(self, use: ToolUse) -> str:
        """What was used: tool and program, or only what kind of thing it was."""
        if self.words:
            return f"{use.tool or use.action} {use.program}".strip()
        return " ".join(part for part in (use.action.replace("_", " "), use.purpose) if part)

    def name(self, name: str) -> str:
        """A model's, project's or branch's name, where names are shown."""
        return name if self.words else ""

    def status(self, status: Status) -> Status:
        """A status whose reason quotes nothing where words are left out."""
        return status if self.words else replace(status, why=_WORDLESS.get(status.word, ""), words="")

    def marks(self, marks: Iterable[Mark]) -> list[Mark]:
        """Marks with their agents' names as they may be shown."""
        return [
            mark._replace(
                agent=self.agent(mark.agent),
                name=mark.name if self.words or mark.kind != "agent" else "agent",
            )
            for mark in marks
        ]
