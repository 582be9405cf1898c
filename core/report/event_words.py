"""What a person reads of one event without its words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

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
from core.report.formatting import count, short

OUTCOME_SIGNS: dict[str, tuple[str, str]] = {
    "success": ("✓", "confidence"),
    "failure": ("✗", "frustration"),
    "empty": ("∅", "seeking"),
    "rejected": ("⊘", "alert"),
    "collateral": ("~", "quiet"),
    "pending": ("…", "quiet"),
}
"""Glyph and ink of each outcome."""

METHOD_WORDS: dict[str, str] = {
    "action_logger": "noted in silence",
    "ask_person": "would ask you",
    "context_snapshot": "notes the context",
    "engram_probe": "recalls when stuck",
    "engram_probe_light": "recalls the like",
    "fatigue_warning": "warns: long stretch",
    "frustration_alert": "warns: failures",
    "future_probe": "asks what is next",
    "halt_alert": "warns: halt",
    "loop_alert": "warns: loop",
    "path_suggest": "names its files",
    "push_reminder": "reminds: commit",
}
"""What each built-in method does, in words."""

SIGNAL_WORDS: dict[str, str] = {
    "flow_active": "flow begins",
    "compound_frustration_seeking": "struggles and searches",
    "frustration_spike": "frustration",
    "seeking_spike": "seeking",
    "uncertainty_spike": "uncertainty",
    "confidence_sustained": "confidence",
    "fatigue_rising": "fatigue",
}
"""What each signal says, in words."""

KINDS: dict[type, str] = {
    SessionStart: "session start",
    Prompt: "prompt",
    Turn: "turn",
    Compaction: "compaction",
    AgentStart: "agent start",
    AgentEnd: "agent end",
    Advice: "advice",
    SessionEnd: "session end",
}


def kind_of(event: Event) -> str:
    """A tool use by what it does, everything else by what it is."""
    return event.action.replace("_", " ") if isinstance(event, ToolUse) else KINDS[type(event)]


def firing_words(name: str) -> str:
    """What a signal or a method is called on a screen, with what is said after its name."""
    first, space, rest = name.partition(" ")
    words = SIGNAL_WORDS.get(first) or METHOD_WORDS.get(first)
    if words is None:
        words = f"would halt: {first.lower()}" if first.isupper() else first.replace("_", " ")
    return f"{words}{space}{rest}"


def outcome_of(event: Event) -> str:
    """How it ended, where it is something that ends."""
    return event.outcome if isinstance(event, ToolUse | AgentEnd) else ""


def tool_of(event: Event) -> str:
    """The tool or model that did it."""
    if isinstance(event, ToolUse):
        return tool_words(event.tool)
    if isinstance(event, SessionStart):
        return event.tool
    return event.model if isinstance(event, Turn) else ""


def tool_words(tool: str) -> str:
    """A tool's name without what its server is plugged in by: `mcp__plugin_web_web__take_shot` as its end."""
    parts = tool.split("__")
    if len(parts) < 3 or parts[0] != "mcp":
        return tool
    server = parts[1].removeprefix("plugin_").rpartition("_")[2]
    return f"{server} {'_'.join(parts[2:]).replace('_', ' ')}".strip()


def about(event: Event, names: Mapping[str, str] = MappingProxyType({})) -> tuple[str, str]:
    """What it was about, in words, and the first path it went to; to be made plain before they are shown.

    `names` says what agents are called.
    """
    if isinstance(event, ToolUse):
        return _deed(event), event.targets[0] if event.targets else ""
    if isinstance(event, Advice):
        return f"told the agent, {count(event.characters, 'character')}", ""
    if isinstance(event, Prompt):
        return "stopped the agent" if event.interrupt else count(event.characters, "character"), ""
    if isinstance(event, Turn):
        sent = event.context_tokens or event.input_tokens + event.cache_read + event.cache_write
        if not sent + event.output_tokens:
            return "tokens unknown", ""
        return f"{short(sent)} in, {short(event.output_tokens)} out", ""
    if isinstance(event, Compaction):
        before, after = event.tokens_before, event.tokens_after
        cut = f"{short(before)} → {short(after) if after else '?'}" if before else ""
        return " ".join(part for part in (event.trigger, cut) if part), ""
    if isinstance(event, AgentStart):
        return names.get(event.child) or f"{event.child} {event.role}".strip(), ""
    if isinstance(event, AgentEnd):
        return f"{names.get(event.child, event.child)} reports, {count(event.tool_uses, 'tool use')}", ""
    return "", event.project if isinstance(event, SessionStart) else ""


def _deed(event: ToolUse) -> str:
    words = event.program
    if event.purpose and event.purpose != words:
        words += f" ({event.purpose})" if words else event.purpose
    if event.exit_code:
        words += f" exit {event.exit_code}"
    if len(event.targets) > 1:
        words += f" +{len(event.targets) - 1}"
    return words.strip()


def touches(event: Event, path: str) -> bool:
    """Whether a tool use went to a path or to something below it."""
    if not isinstance(event, ToolUse):
        return False
    below = path.rstrip("/") + "/"
    return any(target == path or target.startswith(below) for target in event.targets)
