"""Interventions: sentences for the agent, their delivery and their effect."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from core.engine.percept import AgentState
from core.engine.response.advice import sentence_print
from core.engine.response.method import Deliver, InterventionKind, Source, Window
from core.engine.state import Stateful, custom, tuple_queue
from core.engine.values import Value
from core.settings.response import MemoSettings, QueueSettings

CHARACTERS = 4  # Of one token, roughly.


class MemoLine(NamedTuple):
    """One line of the memo or of the action log."""

    at: float
    method: str
    text: str


class HotMemo:
    """Keep the newest notices and hand them over as text, the newest first."""

    def __init__(self, settings: MemoSettings) -> None:
        self._entries: deque[MemoLine] = deque(maxlen=settings.size)
        self._tokens = settings.tokens

    def add(self, entry: MemoLine) -> None:
        """Add a line; it replaces an older line of the same method."""
        for line in self._entries:
            if line.method == entry.method:
                self._entries.remove(line)
                break
        self._entries.append(entry)

    @property
    def entries(self) -> tuple[MemoLine, ...]:
        """Oldest first."""
        return tuple(self._entries)

    def text(self, tokens: int | None = None) -> str:
        """Return the text for the agent, cut to the budget."""
        room = CHARACTERS * (self._tokens if tokens is None else tokens)
        lines: list[str] = []
        for entry in reversed(self._entries):
            line = entry.text
            if len(line) > room:
                line = line[: room - 1] + "…" if room > 1 else ""
            if not line:
                break
            lines.append(line)
            room -= len(line) + 1
        return "\n".join(lines)

    def dump(self) -> tuple[Any, ...]:
        return tuple(tuple(entry) for entry in self._entries)

    def load(self, state: Sequence[Any]) -> None:
        self._entries.clear()
        self._entries.extend(MemoLine(*entry) for entry in state)


# Its window came and nobody spoke, it reached the agent, past its deadline, or pushed out by others.
Fate = Literal["delivered", "reached", "expired", "displaced"]
_ELSEWHERE = "elsewhere"  # Who sent a sentence that nothing here asked for: other settings, or the person.


_LOOKED_BACK = 8  # Latest interventions that an echo in the log may belong to.


class Intervention(NamedTuple):
    """A sentence that waits for its moment."""

    number: int
    kind: InterventionKind
    window: Window | None  # Of a follow-up only; the others go before the next event.
    source: Source | None  # Of a self-steer only.
    cancel: bool  # Of a steer: stop what the agent is at.
    message: str
    priority: int
    sender: str  # The method that asked for it, or `person`.
    created_at: float
    deadline: float
    state: AgentState  # The agent's when it was asked for.


class PastIntervention(NamedTuple):
    """An intervention as an episode: what was said, its fate, and how the agent was before and after."""

    intervention: Intervention
    fate: Fate
    at: float
    trouble: float  # Frustration when it was said.
    after_state: AgentState | None  # Some acts later; None while they have not come.
    after_trouble: float | None


class QueueReading(Value, frozen=True):
    """The waiting and the past interventions."""

    waiting: tuple[Intervention, ...]
    past: tuple[PastIntervention, ...]  # Oldest first.
    count: int  # Asked for so far.


def _rows(values: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple([tuple(value) for value in values])


def _past_intervention(intervention: Sequence[Any], *episode: Any) -> PastIntervention:
    return PastIntervention(Intervention(*intervention), *episode)


class InterventionQueue(Stateful):
    """Keep interventions by priority until their window opens; each ends as an episode.

    The queue sends nothing: delivering means that this is when it would have been; what did reach the agent
    comes back as an event.
    """

    STATE = (
        "_number",
        custom("waiting", tuple, lambda rows: [Intervention(*row) for row in rows]),
        tuple_queue("_past", _past_intervention),
        custom("open", _rows, lambda rows: [list(row) for row in rows]),
    )

    def __init__(self, settings: QueueSettings) -> None:
        self._settings = settings
        self._past: deque[PastIntervention] = deque(maxlen=settings.kept)
        self.open: list[list[int]] = []  # Of words just said, the number and the acts until their effect is noted.
        self._number = 0
        self.waiting: list[Intervention] = []

    def push(
        self, deliver: Deliver, message: str, sender: str, at: float, state: AgentState, trouble: float
    ) -> Intervention:
        """Queue one; where all places are taken the least urgent, newest one gives way."""
        self._number += 1
        kind = deliver.kind
        intervention = Intervention(
            self._number,
            kind,
            deliver.window if kind == "follow_up" else None,
            deliver.source if kind == "self_steer" else None,
            deliver.cancel and kind == "steer",
            message,
            deliver.priority,
            sender,
            at,
            at + (self._settings.deadline if deliver.deadline is None else deliver.deadline),
            state,
        )
        self.waiting.append(intervention)
        self.waiting.sort(key=lambda one: (-one.priority, one.number))
        while len(self.waiting) > self._settings.size:
            self._end(self.waiting.pop(), "displaced", at, trouble)
        return intervention

    def drain(self, at: float, windows: Sequence[Window], trouble: float) -> tuple[PastIntervention, ...]:
        """Take out what is due: past its deadline, meant for this window, or too urgent for one.

        What was asked for at this very event waits for the next.
        """
        due = [one for one in self.waiting if at > one.deadline or one.window is None or one.window in windows]
        if not due:
            return ()
        numbers = {one.number for one in due}
        self.waiting = [one for one in self.waiting if one.number not in numbers]
        return tuple(self._end(one, "expired" if at > one.deadline else "delivered", at, trouble) for one in due)

    def record_said(self, call: int, at: float, state: AgentState, trouble: float) -> PastIntervention:
        """Record that a sentence reached the agent: the one that waits or was due, else one from elsewhere."""
        for one in self.waiting:
            if sentence_print(one.message) == call:
                self.waiting.remove(one)
                return self._end(one, "reached", at, trouble)
        for place in range(len(self._past) - 1, max(-1, len(self._past) - 1 - _LOOKED_BACK), -1):
            episode = self._past[place]
            if episode.fate == "delivered" and sentence_print(episode.intervention.message) == call:
                self._past[place] = episode = episode._replace(fate="reached", at=at)
                return episode
        self._number += 1
        intervention = Intervention(
            self._number, "steer", None, None, False, "", 0, _ELSEWHERE, at, at + self._settings.deadline, state
        )
        return self._end(intervention, "reached", at, trouble)

    def _end(self, one: Intervention, fate: Fate, at: float, trouble: float) -> PastIntervention:
        episode = PastIntervention(one, fate, at, trouble, None, None)
        self._past.append(episode)
        if fate in ("delivered", "reached"):
            self.open.append([one.number, self._settings.follow])
        return episode

    def follow(self, state: AgentState, trouble: float) -> None:
        """Another act: note how the agent is once enough came after a word."""
        for entry in self.open:
            entry[1] -= 1
        if self.open[0][1] > 0:
            return
        ripe = {number for number, left in self.open if left <= 0}
        self.open = [entry for entry in self.open if entry[1] > 0]
        for place, episode in enumerate(self._past):
            if episode.intervention.number in ripe:
                self._past[place] = episode._replace(after_state=state, after_trouble=trouble)

    def read(self) -> QueueReading:
        return QueueReading(waiting=tuple(self.waiting), past=tuple(self._past), count=self._number)
