"""Advice for the agent: one short factual sentence at a time, rarely, and never twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from blake3 import blake3

from core.engine.values import fingerprint
from core.events import ADVICE_MARK
from core.safe_text import safe
from core.settings.response import AdviceSettings

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
