"""What is known of the rows of a table beyond its type: keys worth offering, and what holds without a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

from core.agents.tables import read_tables
from core.engine.governor.profile import PUBLISHED
from core.engine.response.rules import built_in
from core.errors import SettingsError
from core.events import ToolUse
from core.logs.redact.text import redact
from core.report.formatting import plain
from core.settings.draft import FIGURES, OVERRIDE, TOOL_LIMITS, Drafted, TablePath, shape_of
from core.timeline.timeline import Timeline
from tui.keys import KEYS

_LIMITS: dict[str, str] = {
    "repeat": "response.loops.repeat.times",
    "failing": "response.loops.failing.times",
    "oscillation": "response.loops.oscillation.flips",
}
"""The limit a tool has where it has none of its own; the one detector that is left only asks whether."""


def suggested_keys(name: str, path: TablePath, timeline: Timeline | None) -> tuple[str, ...]:
    """Keys or words a new row below a path could have, the likeliest first."""
    levels = shape_of(name).levels
    words = levels[min(len(path), len(levels) - 1)]
    if words or path:
        return words
    maker = _OFFERS.get(name)
    return maker(timeline) if maker is not None else ()


def usual_value(name: str, path: TablePath, drafted: Drafted) -> Any:
    """What would hold without a row, which is what a new row begins with; None where nothing is known."""
    key = str(path[-1])
    if name == OVERRIDE:
        profile = PUBLISHED.get(drafted.value("governor.profile"))
        return getattr(profile, key) if profile is not None else drafted.value(FIGURES + key)
    if name == TOOL_LIMITS:
        limit = _LIMITS.get(key)
        return drafted.value(limit) if limit else 0
    return None


def _tools(timeline: Timeline | None) -> tuple[str, ...]:
    """Tools and programs of this session, the most used first, then all we know."""
    counted: Counter[str] = Counter()
    for event in timeline.events if timeline is not None else ():
        if isinstance(event, ToolUse):
            counted[event.tool] += 1
            counted[event.program] += 1
    used = [name for name, _ in counted.most_common() if name and plain(redact(name)) == name]
    return tuple(dict.fromkeys((*used, *_our_tools())))


@cache
def _our_tools() -> tuple[str, ...]:
    try:
        tables = read_tables()
    except SettingsError:
        return ()
    return tuple(name for tools in tables.tools.values() for name in tools.names if " " not in name)


def _rules(timeline: Timeline | None) -> tuple[str, ...]:  # noqa: ARG001
    return (*(method.id for method in built_in().methods), "done")


def _key_ids(timeline: Timeline | None) -> tuple[str, ...]:  # noqa: ARG001
    return tuple(KEYS)


_OFFERS: dict[str, Callable[[Timeline | None], tuple[str, ...]]] = {
    TOOL_LIMITS: _tools,
    "response.notices.asking": _tools,
    "response.notices.muted": _rules,
    "screen.keymap": _key_ids,
}
