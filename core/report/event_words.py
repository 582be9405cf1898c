"""Events, signals, episodes and the mind's own events in words, and which of them a transcript shows."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from core.agents.words import Words
from core.engine.mind.episode import ACTION_WORDS, OUTCOME_WORDS, Episode
from core.engine.mind.fabric import MindEvent
from core.engine.mind.sleep import Dream
from core.engine.percept import Cause
from core.events import Advice, AgentEnd, AgentStart, Compaction, Event, Prompt, Rollback, SessionStart, ToolUse, Turn
from core.report.formatting import count, moment, plain, short
from core.safe_text import safe_json_bytes

# Glyph and ink of each outcome.
OUTCOME_SIGNS: dict[str, tuple[str, str]] = {
    "success": ("✓", "confidence"),
    "failure": ("✗", "frustration"),
    "empty": ("∅", "seeking"),
    "rejected": ("⊘", "alert"),
    "collateral": ("~", "quiet"),
    "pending": ("…", "quiet"),
}

# What marks say, by their kind and name; of marks without a name under `kind`.
MARKS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("marks.toml").read_text("utf-8"))
METHOD_WORDS = {name: row["says"] for name, row in MARKS["method"].items()}
SIGNAL_WORDS = {name: row["says"] for name, row in MARKS["signal"].items()}
CAUSE_WORDS: Mapping[str, Sequence[str]] = MARKS["cause"]
BYPASSES = "bypasses permissions"


def kind_of(event: Event) -> str:
    """A tool use by what it does, everything else by what it is."""
    kind = event.action if isinstance(event, ToolUse) else str(event.__struct_config__.tag)
    return kind.replace("_", " ")


def firing_words(name: str) -> str:
    """Return the words for a signal or a method, and what is said after its name."""
    first, space, rest = name.partition(" ")
    words = SIGNAL_WORDS.get(first) or METHOD_WORDS.get(first)
    if words is None:
        words = f"would halt: {first.lower()}" if first.isupper() else first.replace("_", " ")
    return f"{words}{space}{rest}"


def cause_words(causes: Iterable[Cause]) -> str:
    """Return what moved the axes of a signal, such as `3 passing commands, an edit`."""
    words = []
    for source, number in causes:
        one, several = CAUSE_WORDS[source]
        words.append(one if number == 1 else f"{number or ''} {several}".lstrip())
    return ", ".join(words)


def mode_words(mode: str) -> str:
    """Return what an agent may do without asking, in words; blank if it asks as usual."""
    return str(MARKS["mode"].get(mode, plain(mode, 40)))


def outcome_of(event: Event) -> str:
    """Return how the event ended, if it can end."""
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
    """Return the event's subject in words, and its first path; both still have to be made plain.

    `names` says what agents are called.
    """
    if isinstance(event, ToolUse):
        return _deed_words(event), event.targets[0] if event.targets else ""
    if isinstance(event, Advice):
        return f"message to the agent, {count(event.characters, 'character')}", ""
    if isinstance(event, Prompt):
        return "stopped the agent" if event.interrupt else count(event.characters, "character"), ""
    if isinstance(event, Rollback):
        return f"you rolled back {count(event.turns, 'prompt')}" if event.turns else "you rolled back prompts", ""
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
    if isinstance(event, SessionStart):
        return "in the background" if event.background else "", event.project
    return "", ""


def _deed_words(event: ToolUse) -> str:
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


def episode_name(episode: Episode) -> str:
    """Describe a stretch of work in a few words."""
    places = [name for name, _ in sorted(episode.signature, key=lambda one: -one[1]) if "/" in name or "." in name]
    where = f" in {plain(places[0], 40)}" if places else ""
    did = ACTION_WORDS[episode.action]
    end = "" if episode.outcome == "flat" else OUTCOME_WORDS[episode.outcome]
    failed = f", {episode.failures} of {episode.calls} failed" if episode.failures else ""
    return f"{did}{where}{' ' + end if end else ''}{failed}"


def task_words(name: str) -> str:
    """Return what a stretch of work was about: a folder, or an action in words."""
    return next((words for action, words in ACTION_WORDS.items() if action == name), name)


def dream_sentence(dream: Dream) -> str:
    """Describe a dream."""
    why = "the agent's context was compacted" if dream.reason == "compaction" else "sleep pressure was high"
    counted = (
        (dream.compressed, "episode", "summed up"),
        (dream.expired, "stale item", "dropped"),
        (dream.forgotten, "faded habit", "forgotten"),
    )
    parts = [f"{count(number, what)} {how}" for number, what, how in counted if number]
    did = ", ".join(parts) or "there was nothing to clean up"
    return f"Because {why}: {did}."


_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def mind_line(agent: str, event: MindEvent) -> str:
    """Describe one thing the mind did."""
    who = "" if agent == "main" else f" {plain(agent, 40)}"
    return f"{moment(event.at)}{who}  · {event_name(event)}: {plain(event_facts(event), 200)}"


def event_name(event: MindEvent) -> str:
    """Return the kind of event in words, such as `signal fired`."""
    return _CAPITAL.sub(" ", type(event).__name__).lower()


def event_facts(event: MindEvent) -> str:
    """Return its figures, without its time."""
    fields = msgspec.structs.asdict(event)
    fields.pop("at")
    return ", ".join(f"{key.replace('_', ' ')} {_value_text(value)}" for key, value in fields.items() if value != "")


def mind_json(number: int, agent: str, event: MindEvent) -> bytes:
    """Return it as one JSON line."""
    fields = {"number": number, "agent": agent, "event": type(event).__name__, **msgspec.structs.asdict(event)}
    return safe_json_bytes(msgspec.json.encode(fields))


def _value_text(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else "unknown" if value is None else str(value)


class TranscriptFilter(NamedTuple):
    """Which entries are shown; empty fields accept all."""

    failed: bool = False  # Only calls that failed or were rejected.
    prompts: bool = False  # Only what the person and the agent say.
    path: str = ""  # This path and all below it.
    tool: str = ""
    agent: str = ""
    text: str = ""  # Characters that must occur in the log's text or the event's names.


ALL = TranscriptFilter()


def is_entry(event: Event) -> bool:
    """Whether an event is part of the transcript; an answer without text is not."""
    return not isinstance(event, Turn) or event.said is not None


def fits(event: Event, filters: TranscriptFilter) -> bool:
    """Whether a filter accepts an entry, ignoring its text."""
    if filters.failed and outcome_of(event) not in ("failure", "rejected"):
        return False
    if filters.prompts and not isinstance(event, Prompt | Turn):
        return False
    if filters.agent and event.agent != filters.agent:
        return False
    if filters.tool and not (isinstance(event, ToolUse) and event.tool == filters.tool):
        return False
    return not filters.path or touches(event, filters.path)


def holds(event: Event, words: Words, text: str) -> bool:
    """Whether an event's text or names contain these characters, ignoring case."""
    words_about, path = about(event)
    targets = " ".join(event.targets) if isinstance(event, ToolUse) else path
    names = (event.agent, kind_of(event), tool_of(event), words_about, outcome_of(event), targets)
    letters = text.casefold()
    return any(letters in text_part.casefold() for text_part in (*words[:5], *names))


def entries(events: Sequence[Event], start: int, stop: int, filters: TranscriptFilter) -> list[int]:
    """Return the places of entries that a filter accepts, ignoring its text."""
    return [place for place in range(start, stop) if is_entry(events[place]) and fits(events[place], filters)]


def insert_in_order(places: list[int], place: int, events: Sequence[Event]) -> None:
    """Insert a place in reading order: an agent's words before the calls that they announce.

    A turn is told once it is over, when its first calls may have been answered already.
    """
    event, row = events[place], len(places)
    if isinstance(event, Turn):
        while row and _announces(event, events[places[row - 1]]):
            row -= 1
    places.insert(row, place)


def _announces(turn: Turn, other: Event) -> bool:
    if not isinstance(other, ToolUse) or turn.agent != other.agent:
        return False
    words, call = turn.said, other.called or other.where
    return words is not None and call is not None and words.file == call.file and words.offset <= call.offset
