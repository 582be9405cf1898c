"""What the person says to Codex: which texts are theirs, and which of two signs repeats the other."""

from __future__ import annotations

import re

from core.agents.fingerprint import fingerprint
from core.logs.titles import asked_of_codex

_ADDED = (
    "<environment_context>",
    "<user_instructions>",
    "<ENVIRONMENT",
    "# AGENTS.md instructions",
    "<turn_aborted>",
)
"""What the program says in the person's name."""
_PICTURED = "[image]"
"""What a prompt without words is taken for."""
_FOLDER = re.compile(r"(?:<cwd>|Current working directory: )([^<\n]{1,1000})")


class Prompts:
    """Let each prompt of a thread through once."""

    __slots__ = ("last",)

    def __init__(self) -> None:
        self.last: tuple[str, int] = ("", 0)
        """The sign by which the last prompt was told, and a fingerprint of its words."""

    def take(self, sign: str, told: str, *, pictured: bool = False) -> str:
        """What the person says; blank where it is not theirs, or told by another sign right before.

        `pictured` says that images come with it.
        """
        if is_added(told):
            return ""
        said = asked_of_codex(told)
        if not said.strip():
            said = _PICTURED if pictured else ""
        if not said:
            return ""
        known = fingerprint(said)
        repeated = self.last[1] == known and self.last[0] != sign
        self.last = ("", 0) if repeated else (sign, known)
        return "" if repeated else said


def is_added(told: str) -> bool:
    """Whether the program put a text into the person's mouth."""
    return told.lstrip().startswith(_ADDED)


def added_folder(told: str) -> str:
    """The folder that such a text names; blank where it names none."""
    found = _FOLDER.search(told[:4000]) if is_added(told) else None
    return found[1] if found else ""
