"""Events without the secrets that stand in names: paths, projects, branches, tools, models."""

from __future__ import annotations

from msgspec.structs import replace

from core.events import AgentEnd, AgentStart, Event, SessionEnd, SessionStart, ToolUse, Turn
from core.ingest.redact import redact

_FIELDS: dict[type[Event], tuple[str, ...]] = {
    SessionStart: ("agent", "project", "branch", "model"),
    Turn: ("agent", "model", "stop"),
    ToolUse: ("agent", "tool", "program"),
    AgentStart: ("agent", "child", "role"),
    AgentEnd: ("agent", "child"),
    SessionEnd: ("agent", "reason"),
}
_MOST = 50_000
"""Names remembered at once."""
_SHORTEST = 12
"""Letters a name must have to hold a secret."""

_known: dict[str, str] = {}


def clean(event: Event) -> Event:
    """The same event, its names redacted where they hold a secret."""
    changed: dict[str, object] = {}
    for field in _FIELDS.get(type(event), ()):
        name = getattr(event, field)
        if len(name) >= _SHORTEST and (said := cleaned(name)) is not name:
            changed[field] = said
    if type(event) is ToolUse and event.targets:
        targets = event.targets
        for target in targets:
            if len(target) >= _SHORTEST and cleaned(target) is not target:
                changed["targets"] = tuple(map(cleaned, targets))
                break
    return replace(event, **changed) if changed else event


def cleaned(name: str) -> str:
    """A name as it may be shown; the very same one where nothing had to be hidden."""
    known = _known.get(name)
    if known is None:
        said = redact(name)
        known = name if said == name else said
        if len(_known) >= _MOST:
            _known.clear()
        _known[name] = known
    return name if known == name else known
