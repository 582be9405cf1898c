"""What `nooscope doctor` looks at, a section each."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

Level = Literal["fine", "note", "problem"]


class Finding(NamedTuple):
    """One line of a section."""

    label: str
    text: str
    level: Level = "fine"


class Section(NamedTuple):
    """What was found about one thing, for people and for programs."""

    name: str
    findings: tuple[Finding, ...]
    facts: Any
    """The same as plain data."""

    @property
    def problems(self) -> list[str]:
        """What a person should do something about."""
        return [f"{each.label}: {each.text}" for each in self.findings if each.level == "problem"]
