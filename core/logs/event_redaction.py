"""Events without the secrets that stand in names: paths, projects, branches, tools, models."""

from __future__ import annotations

from msgspec.structs import replace

from core.events import (
    Advice,
    AgentEnd,
    AgentStart,
    Compaction,
    Event,
    Prompt,
    SessionEnd,
    SessionStart,
    ToolUse,
    Turn,
)
from core.logs.redaction import redact, redact_torn
from core.safe_text import safe

_FIELDS: dict[type[Event], tuple[str, ...]] = {
    SessionStart: ("agent", "tool", "project", "branch", "version", "model"),
    Prompt: ("agent",),
    Turn: ("agent", "model", "stop"),
    ToolUse: ("agent", "tool", "program"),
    Compaction: ("agent", "trigger"),
    Advice: ("agent",),
    AgentStart: ("agent", "child", "role"),
    AgentEnd: ("agent", "child"),
    SessionEnd: ("agent", "reason"),
}
_MOST = 50_000
"""Names remembered at once."""
_SHORTEST = 12
"""Letters a name must have to hold a secret."""

_LOOK = 8
"""How many times what is shown is looked at, so that a secret across the cut is seen as one."""

_known: dict[str, str] = {}
_harmless: set[str] = {""}
"""Names that hold none, as nearly all do."""


def clean(event: Event) -> Event:
    """The same event, its names redacted where they hold a secret."""
    harmless = _harmless
    if type(event) is ToolUse:
        if event.tool in harmless and event.program in harmless and event.agent in harmless:
            for target in event.targets:
                if target not in harmless:
                    break
            else:
                return event
    elif (
        type(event) is Turn and event.model in harmless and event.stop in harmless and event.agent in harmless
    ):
        return event
    return _cleaned(event)


def _cleaned(event: Event) -> Event:
    changed: dict[str, object] = {}
    for field in _FIELDS.get(type(event), ()):
        name = getattr(event, field)
        if (said := cleaned(name)) != name:
            changed[field] = said
    if type(event) is ToolUse:
        targets = tuple(map(cleaned, event.targets))
        if targets != event.targets:
            changed["targets"] = targets
    return replace(event, **changed) if changed else event


def cleaned(name: str) -> str:
    """A name as it may be shown."""
    if name in _harmless:
        return name
    said = _known.get(name)
    if said is None:
        said = redact(name) if len(name) >= _SHORTEST else name
        if len(_known) + len(_harmless) >= _MOST:
            _known.clear()
            _harmless.clear()
        if said == name:
            _harmless.add(name)
        else:
            _known[name] = said
    return said


def one_line(text: str, most: int = 120) -> str:
    """Text from a log as a person may see it: one line, safe for a terminal, without secrets."""
    start = text[: most * _LOOK]
    hidden = redact_torn(start) if len(text) >= most * _LOOK else redact(start)
    return safe(hidden)[:most].strip()
