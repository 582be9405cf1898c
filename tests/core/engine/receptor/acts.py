"""Short ways to write down what an agent does."""

from __future__ import annotations

from core.events import Action, Event, Outcome, Prompt, ToolUse
from core.settings.receptor import ReceptorSettings

START = 1_700_000_000.0
DEFAULTS = ReceptorSettings()


def tuned(**changes: object) -> ReceptorSettings:
    """Return the built-in settings with some changes."""
    return ReceptorSettings.parse(changes)


LETTERS: dict[str, tuple[Action, Outcome]] = {
    "r": ("file_read", "success"),
    "g": ("search", "success"),
    "o": ("search", "empty"),
    "e": ("file_edit", "success"),
    "b": ("shell_exec", "success"),
    "f": ("shell_exec", "failure"),
    "a": ("delegation", "success"),
    "m": ("memory_read", "success"),
    "x": ("memory_read", "empty"),
    "w": ("memory_write", "success"),
    "p": ("plan", "success"),
    "?": ("other", "success"),
}
"""One letter an act: read, grep, (zer)o found, edit, bash, failing bash, agent, memory, ..."""


def spell(letters: str, gap: float = 5.0, start: float = START) -> list[Event]:
    """The acts a word spells, evenly apart; a capital P is a short prompt."""
    acts: list[Event] = []
    for number, letter in enumerate(letters):
        at = start + number * gap
        if letter == "P":
            acts.append(Prompt(at=at, characters=10))
        else:
            action, outcome = LETTERS[letter]
            acts.append(ToolUse(at=at, action=action, outcome=outcome))
    return acts


def touch(path: str, at: float = START, action: Action = "file_read", outcome: Outcome = "success") -> ToolUse:
    """One tool use on one path."""
    return ToolUse(at=at, action=action, outcome=outcome, targets=(path,))
