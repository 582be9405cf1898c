"""Interventions: sentences for the agent, their delivery and their effect, and how rarely advice is given."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from blake3 import blake3

from core.engine.percept import AgentState
from core.engine.response.rules import Deliver, InterventionKind, Source, Window
from core.engine.state import Stateful, custom, tuple_queue
from core.engine.values import Value, fingerprint
from core.events import ADVICE_MARK
from core.safe_text import safe
from core.settings.response import AdviceSettings, MemoSettings, QueueSettings

_LONGEST = 280
_PASSES = ("person", "compaction")


class WaitingWord(Protocol):
    """A word that waits for its moment, as the queue of interventions holds it."""

    @property
    def message(self) -> str: ...
    @property
    def sender(self) -> str: ...
    @property
    def priority(self) -> int: ...
    @property
    def window(self) -> str | None: ...


class Advised(NamedTuple):
    """A sentence to be said, and which method asked for it."""

    sentence: str
    rule: str
    original: str = ""  # The sentence before an extension changed it.


def sentence(message: str) -> str:
    """Return a message as the agent gets it: marked, short, on one line; empty if there is nothing to say."""
    words = " ".join(safe(message).split())
    if not words:
        return ""
    if len(words) > _LONGEST:
        words = words[: _LONGEST - 1].rstrip() + "…"
    return f"{ADVICE_MARK} {words}"


def sentence_print(message: str) -> int:
    """The fingerprint under which a message comes back from the agent's log."""
    return fingerprint(sentence(message))


class Adviser:
    """Chooses for one session: at most one sentence a turn, each rule ever more rarely, none twice.

    A rule that spoke n times stays silent for `rest` x 2^(n-1) acts. What the person wrote passes all of it,
    and so does what was open when the context was cut: there is no flow left to disturb.
    """

    def __init__(self, settings: AdviceSettings) -> None:
        self._settings = settings
        self._acts = 0
        self._turn_open = True
        self._said: dict[int, None] = {}
        self._counts: dict[str, int] = {}
        self._free: dict[str, int] = {}  # From which act on a rule may speak again.

    def act(self) -> None:
        """The agent did something."""
        self._acts += 1

    def turn(self) -> None:
        """The agent's model is about to be asked again by the person."""
        self._turn_open = True

    def choose(self, waiting: Iterable[WaitingWord], *, flow: bool, moments: Iterable[str]) -> Advised | None:
        """The most urgent sentence that may be said at one of these moments; None where silence is better."""
        settings = self._settings
        if settings.level == "off":
            return None
        windows = {None, *moments}
        for one in sorted(waiting, key=lambda word: -word.priority):
            words = sentence(one.message)
            if not words or one.window not in windows or fingerprint(words) in self._said:
                continue
            if one.sender in _PASSES:
                return Advised(words, one.sender)
            urgent = settings.level == "full" or one.priority >= settings.urgent
            if not flow and self._turn_open and urgent and self._acts >= self._free.get(one.sender, 0):
                return Advised(words, one.sender)
        return None

    def repeats(self, message: str) -> bool:
        """Return whether the agent has had this advice before."""
        return sentence_print(message) in self._said

    def withholds(self, advised: Advised, session: str) -> bool:
        """Whether a seeded chance keeps a sentence back, the same for the same session and sentence."""
        share = self._settings.silence
        if not share or advised.rule in _PASSES:
            return False
        digest = blake3(f"{self._settings.seed}\n{session}\n{advised.sentence}".encode()).digest(8)
        return int.from_bytes(digest, "big") < share * 2.0**64

    def record_said(self, advised: Advised) -> None:
        """Record that the advice was delivered."""
        self._said[fingerprint(advised.sentence)] = None
        if advised.original:
            self._said[fingerprint(advised.original)] = None
        while len(self._said) > self._settings.kept:
            del self._said[next(iter(self._said))]
        if advised.rule in _PASSES:
            return
        self._turn_open = False
        count = self._counts[advised.rule] = self._counts.get(advised.rule, 0) + 1
        self._free[advised.rule] = self._acts + self._settings.rest * 2 ** min(count - 1, 16)


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
        custom("open", lambda rows: tuple(map(tuple, rows)), lambda rows: list(map(list, rows))),
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
        """Record that a sentence reached the agent: a waiting or delivered sentence, else a sentence from elsewhere."""
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
