"""Small sessions in the agents' real formats, written for this project, each a story.

This module only reads the index; `python -m sample_sessions` writes the logs and the index again.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from functools import cache
from pathlib import Path
from typing import NamedTuple

from core.errors import UsageError

FOLDER = "logs"
INDEX = "index.json"
HERE = Path(__file__).resolve().parent
FIRST = "stuck"  # The story that is played where none is named.


class Line(NamedTuple):
    """One narrated line."""

    at: float  # Seconds after the session's first event from which it is said.
    agent: str  # Whom it is about.
    text: str
    shows: tuple[str, ...]  # What the engine has shown since the line before, such as `state stuck`.


class Sample(NamedTuple):
    """One story and where its log is."""

    name: str
    title: str
    sentence: str
    notice: str  # What to look at.
    agent: str
    model: str
    project: str
    path: Path
    minutes: float
    speed: float  # How fast it plays well.
    must: tuple[str, ...]  # What the engine shows on default settings, such as `signal flow_active`.
    never: tuple[str, ...]  # What it does not show; `halt` alone stands for any halt.
    narration: tuple[Line, ...]

    def line(self, seconds: float) -> Line:
        """The narrated line at a moment after the session's first event."""
        place = bisect_right(self.narration, seconds, key=lambda line: line.at)
        return self.narration[max(0, place - 1)]


@cache
def samples() -> tuple[Sample, ...]:
    """All stories, in the order they are best watched."""
    entries = json.loads((HERE / INDEX).read_text(encoding="utf-8"))["samples"]
    return tuple(
        Sample(
            **entry
            | {
                "path": HERE / entry["path"],
                "must": tuple(entry["must"]),
                "never": tuple(entry["never"]),
                "narration": tuple(
                    Line(at, agent, text, tuple(shows)) for at, agent, text, shows in entry["narration"]
                ),
            }
        )
        for entry in entries
    )


def find_sample(name: str) -> Sample:
    """The story with this name, or the only one whose name starts like this; UsageError names the choices."""
    matches = [sample for sample in samples() if sample.name == name]
    matches = matches or [sample for sample in samples() if name and sample.name.startswith(name)]
    if len(matches) != 1:
        names = ", ".join(sample.name for sample in matches or samples())
        raise UsageError(f"{name!r} is not a demo; available: {names}")
    return matches[0]
