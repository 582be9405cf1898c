"""Names and values that a terminal would obey, and what must not be left of them."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

from msgspec.structs import replace

from bench.workload import session
from core.agents.open_events import write
from core.events import AgentStart, Event, SessionStart, ToolUse, Turn

HOSTILE = "\x1b]0;owned\x07\x1b[31m\x9b2J\x7f\u202erow\u2066\u200b\u200d\ufeff\u2028\rq" + "\u0301" * 12 + "\U000e0041"
"""Escapes of both lengths, a turn of direction, no width, ends of lines, a heap of marks, a tag."""
_BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
MOST_MARKS = 3


def harm(text: str) -> list[str]:
    """What in a text a terminal would obey or a person could not see; line ends and tabs are fine."""
    found = [
        f"U+{ord(char):04X}"
        for char in text
        if char not in "\n\t"
        and (unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") or unicodedata.bidirectional(char) in _BIDI)
    ]
    marks = 0
    for char in text:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks > MOST_MARKS:
            found.append("too many marks")
    return found


def events(number: int = 120) -> list[Event]:
    """A session in which every name is hostile."""
    made: list[Event] = []
    for event in session(number, agents=2):
        if isinstance(event, SessionStart):
            event = replace(event, project=f"/p/{HOSTILE}", branch=HOSTILE, model=HOSTILE)
        elif isinstance(event, Turn):
            event = replace(event, model=HOSTILE, stop=HOSTILE)
        elif isinstance(event, ToolUse):
            event = replace(event, tool=f"t{HOSTILE}", program=HOSTILE, targets=(f"/p/{HOSTILE}/a.py",))
        elif isinstance(event, AgentStart):
            event = replace(event, role=HOSTILE)
        made.append(event)
    return made


def log_at(folder: Path) -> Path:
    """Such a session as a log, in a folder and a file of hostile names."""
    place = folder / f"folder{HOSTILE}"
    place.mkdir(parents=True)
    path = place / f"log{HOSTILE}.jsonl"
    path.write_bytes(b"".join(write(event, f"id{HOSTILE}") + b"\n" for event in events()))
    return path


def conversation_at(folder: Path, good: Path) -> Path:
    """A conversation whose messages have hostile names."""
    path = folder / f"talk{HOSTILE}.jsonl"
    lines = []
    for line in good.read_text().splitlines():
        told = json.loads(line)
        for name in ("uuid", "parentUuid", "sessionId", "cwd", "gitBranch"):
            if told.get(name):
                told[name] += HOSTILE
        lines.append(json.dumps(told))
    path.write_text("\n".join(lines) + "\n")
    return path


def settings_at(project: Path, config: Path) -> None:
    """Files of settings, rules, policies, profiles and themes with hostile keys and values."""
    said = json.dumps(HOSTILE)
    for folder in (project, config):
        folder.mkdir(parents=True, exist_ok=True)
    word = _toml()
    tables = f'["sect{word}"]\n"key{word}" = "{word}"\n[screen]\ntheme = "{word}"\n[receptor]\n"{word}" = 1\n'
    (config / "config.toml").write_text(tables + f'[response.notices]\nmuted = ["{word}"]\n')
    (project / ".nooscope.toml").write_text(tables)
    for path in (config / "receptor-rules.json", project / ".nooscope-rules.json"):
        path.write_text(f'{{"methods": [{{"name": {said}, {said}: {said}}}], {said}: 1}}')
    for place in (config / "profiles", project / ".nooscope" / "profiles", config / "themes", config / "policies"):
        place.mkdir(parents=True)
        (place / f"{HOSTILE}.toml").write_text(f'name = "{word}"\nsentence = "{word}"\n"{word}" = 2\n')
        (place / f"{HOSTILE}.json").write_text(f"{{{said}: {said}}}")


def _toml() -> str:
    return "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in HOSTILE)
