"""Open events: the format anyone can write for nooscope."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import msgspec
from msgspec import structs

from core.agents.calls import Result
from core.agents.reader import TranscriptReader
from core.agents.values import amount, code, items, table, text, token_counts, whole_number
from core.events import ACTIONS, EVENT_KINDS, OUTCOMES, AgentStart, Event, SessionStart, ToolUse, Turn, Where
from core.logs.format import Format, Sample
from core.logs.lines import seconds
from core.logs.session import identity

_KINDS = {str(kind.__struct_config__.tag): kind for kind in EVENT_KINDS}
# Fingerprints, written as hexadecimal text because many JSON readers lose digits of large numbers.
_PRINTS = ("call", "shape", "result", "before", "after")
_LARGEST = (1 << 64) - 1
_HELD = "held"


def write(event: Event, session: str, words: Mapping[str, Any] | None = None) -> bytes:
    """One event as a line, without its newline, with its words if given; defaults are left out."""
    fields = {name: value for name, value, default in _fields(event) if value != default or name == "session"}
    for name in _PRINTS:
        if name in fields:
            fields[name] = f"{fields[name]:016x}"
    for name in ("where", "called", "said", "kept"):
        place = fields.get(name)
        if isinstance(place, Where):
            parts = zip(Where.__struct_fields__, structs.astuple(place), strict=True)
            fields[name] = {part: value for part, value in parts if value or part == "file"}
    opening = {"kind": event.__struct_config__.tag, "at": event.at}
    if not isinstance(event, SessionStart):
        opening["session"] = session
    return msgspec.json.encode(opening | fields | dict(words or {}))


def _fields(event: Event) -> list[tuple[str, Any, Any]]:
    kind = type(event)
    names, defaults = kind.__struct_fields__, kind.__struct_defaults__
    aligned = (*([msgspec.NODEFAULT] * (len(names) - len(defaults))), *defaults)
    return list(zip(names, structs.astuple(event), aligned, strict=True))


class OpenEventsReader(TranscriptReader):
    """Reads back what `write` wrote to the letter, and makes the best of lines written by hand."""

    name = "nooscope"
    many = True
    interleaved = True

    def setup(self) -> None:
        self._current: str | None = None
        self._agents: set[tuple[str, str]] = set()
        self._number = 0
        self._held: dict[Hashable, Event] = {}

    def read(self, value: Any) -> None:
        """Add the events of one line."""
        line = self.table(value, "line")
        if not line:
            return
        if line.get("kind") == _HELD:
            self._hold(line)
        elif "kind" in line:
            self._whole(line)
        else:
            self._plain(line)

    def finish(self) -> list[Event]:
        """Return the events that were still open at the end."""
        return self.pending_events()

    def pending_events(self) -> list[Event]:
        """Return the open events of the last `held` line that no later event ended."""
        return list(self._held.values())

    def _hold(self, line: dict[str, Any]) -> None:
        events = (self._event(table(each)) for each in items(line.get("events")))
        self._held = {identity(event): event for event in events if event is not None}

    def _whole(self, line: dict[str, Any]) -> None:
        event = self._event(line)
        if event is None:
            return
        if self._held:
            self._held.pop(identity(event), None)
        self._current = event.session if isinstance(event, SessionStart) else text(line.get("session"))
        self.session = self._current or self.session
        self._agents.add((self._current, event.agent))
        if isinstance(event, AgentStart):
            self._agents.add((self._current, event.child))
        self.add(event)

    def _event(self, line: dict[str, Any]) -> Event | None:
        kind = _KINDS.get(text(line.get("kind")))
        if kind is None:
            self.note("event of an unknown kind")
            return None
        fields = dict(line)
        if kind is not SessionStart:
            fields.pop("session", None)
        fields["at"] = seconds(fields.get("at"))
        try:
            for name in _PRINTS:
                if name in fields:
                    fields[name] = _print(fields[name])
            return self._with_own_words(msgspec.convert(fields, kind), line)
        except (msgspec.ValidationError, ValueError, TypeError) as fault:
            self.note(_problem(fault))
            return None

    def _with_own_words(self, event: Event, line: dict[str, Any]) -> Event:
        """Let the words of an event be read from its own line if they are there."""
        if event.where is None and ("text" in line or "input" in line):
            event = structs.replace(event, where=self.here())
            if isinstance(event, Turn) and event.said is None and "text" in line:
                event = structs.replace(event, said=event.where)
        return event

    def _plain(self, line: dict[str, Any]) -> None:
        at = seconds(line.get("at"))
        session = text(line.get("session")) or self._current or self.session
        tool, action = text(line.get("tool")), line.get("action")
        if at is None or not (tool or action):
            self.note("no time" if at is None else "neither tool nor action")
            return
        self.now = at
        agent = text(line.get("agent")) or self.agent
        self._open(line, session, agent)
        self._number += 1
        use = self._use(line, tool, at, agent)
        if action in ACTIONS:
            use = structs.replace(use, action=action)
        elif use.action == "other":
            self.note("unknown tool without a known action")
        self._add_turn(line, agent)
        self.add(use)

    def _open(self, line: dict[str, Any], session: str, agent: str) -> None:
        if session != self._current:
            self._current = session
            self.begin(session, model=line.get("model"))
            self._agents.add((session, self.agent))
        if (session, agent) not in self._agents:
            self._agents.add((session, agent))
            self.child_started(agent, agent=text(line.get("parent")))

    def _use(self, line: dict[str, Any], tool: str, at: float, agent: str) -> ToolUse:
        value = line.get("target")
        targets = [value] if isinstance(value, str) else [one for one in items(value) if isinstance(one, str)]
        outcome = line.get("outcome")
        result = Result(
            exit_code=code(line.get("exit_code")),
            error=outcome == "failure",
            empty=outcome == "empty",
            rejected=outcome == "rejected",
            collateral=outcome == "collateral",
            running=outcome == "pending",
            duration=amount(line.get("duration")),
        )
        name = text(line.get("id")) or f"{self._number}"
        arguments: dict[str, Any] = {"path": targets[0]} if targets else {}
        if len(targets) > 1:
            arguments = {"paths": targets}
        use = self.calls.both(name, tool, arguments, None, at, result, self.here(), agent)
        if outcome is not None and outcome not in OUTCOMES:
            self.note("unknown outcome")
        judged = outcome if outcome in OUTCOMES else use.outcome
        relative = tuple(self.calls.relative(target) for target in targets)
        return structs.replace(use, targets=relative or use.targets, outcome=judged)

    def _add_turn(self, line: dict[str, Any], agent: str) -> None:
        """Add a turn for a line with tokens."""
        tokens, context = line.get("tokens"), whole_number(line.get("context_tokens"))
        if tokens is None and not context:
            return
        counts = token_counts(table(tokens), "input", "output", "cache_read", "cache_write")
        turn = self.turn(
            "",
            tokens=counts if counts.input_tokens else counts._replace(input_tokens=whole_number(tokens)),
            message=f"turn-{self._number}",
            model=line.get("model"),
            window=whole_number(line.get("context_window")),
            agent=agent,
        )
        if context:
            window = turn.context_window if line.get("context_window") else self.kit.models.window(turn.model, context)
            turn = structs.replace(turn, context_tokens=context, context_window=window)
        self.add(turn)


def _print(value: Any) -> int:
    number = int(value, 16) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= _LARGEST:
        raise ValueError("`fingerprint`")
    return number


def _problem(fault: Exception) -> str:
    """Which field is wrong or missing, in the words of the fault."""
    words, _, place = str(fault).partition(" - at ")
    if "missing required field" in words:
        return f"event without {words.split('`')[1]}"
    return f"event with a wrong field: {place.strip('`') or 'a fingerprint'}"


def _sniff(sample: Sample) -> int:
    """Lines with a time, and a kind of ours or a session and a tool."""
    entries = sample.records[:8]
    whole = [entry for entry in entries if text(entry.get("kind")) in _KINDS and "at" in entry]
    plain = [entry for entry in entries if "kind" not in entry and {"at", "session"} <= entry.keys()]
    with_tool = [entry for entry in plain if "tool" in entry or "action" in entry]
    if not entries or len(whole) + len(with_tool) < (len(entries) + 1) // 2:
        return 0
    return 96 if whole else 80


FORMATS = (Format("nooscope", "lines", _sniff, OpenEventsReader),)
