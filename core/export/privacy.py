"""How much of a session another person may see."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Literal

from msgspec.structs import replace

from core.events import MAIN, ToolUse
from core.live.status import Status
from core.timeline.marks import Mark

# No text and no names; one line each of prompt, command and error; all text.
Level = Literal["strict", "excerpts", "transcript"]

_EXCERPT = 400
_TRANSCRIPT = 4000
_SUFFIX = 6  # Maximum length of a file suffix in a strict export.
_WORDLESS = {
    "needs you": "it is waiting for an answer",
    "may need you": "it may be waiting for an answer or a permission",
    "looping": "repeats itself without progress",
    "stuck": "keeps failing",
    "gave up": "says that it could not do it",
    "idle": "nothing happens for a while",
    "done": "finished its turn",
    "ended": "the session is over",
    "unreadable": "the log cannot be read",
}


class Privacy:
    """How much of text and names is shown; strict mode replaces every name by a number."""

    def __init__(self, level: Level = "excerpts") -> None:
        self.level: Level = level
        self.words = level != "strict"
        self.longest = _TRANSCRIPT if level == "transcript" else _EXCERPT
        self._paths: dict[str, str] = {}
        self._agents: dict[str, str] = {MAIN: MAIN}

    def path(self, path: str) -> str:
        """Return a path, or a number with its suffix."""
        if self.words:
            return path
        replacement = self._paths.get(path)
        if replacement is None:
            suffix = PurePosixPath(path).suffix
            shown_suffix = suffix if suffix[1:].isalnum() and suffix.isascii() and len(suffix) <= _SUFFIX else ""
            replacement = self._paths[path] = f"file-{len(self._paths) + 1}{shown_suffix}"
        return replacement

    def agent(self, agent: str) -> str:
        """Return an agent's name, or a number."""
        if self.words:
            return agent
        return self._agents.setdefault(agent, f"sub-agent-{len(self._agents)}")

    def tool(self, use: ToolUse) -> str:
        """Return tool and program, or only the kind of call."""
        if self.words:
            return f"{use.tool or use.action} {use.program}".strip()
        return " ".join(part for part in (use.action.replace("_", " "), use.purpose) if part)

    def name(self, name: str) -> str:
        """Return a name if names are shown."""
        return name if self.words else ""

    def status(self, status: Status) -> Status:
        """Return a status whose reason quotes nothing if text is left out."""
        return status if self.words else replace(status, why=_WORDLESS.get(status.word, ""), words="")

    def marks(self, marks: Iterable[Mark]) -> list[Mark]:
        """Return marks with agents' names as they may be shown."""
        return [
            mark._replace(
                agent=self.agent(mark.agent), name=mark.name if self.words or mark.kind != "agent" else "agent"
            )
            for mark in marks
        ]
