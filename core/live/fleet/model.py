"""One session of the fleet, driven without a recording: what a row needs, in bounded memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from copy import copy
from pathlib import Path, PurePath

from msgspec.structs import replace

from core.agents.words import NOTHING, WordReader, Words, first_line, word_logs
from core.engine import Step
from core.events import MAIN, Event, Prompt, SessionStart, ToolUse, Turn
from core.live.driver import Driver
from core.live.fleet.row import BUCKETS
from core.live.source import Followed
from core.live.status import Status, StatusFacts
from core.live.status_facts import StatusTracker
from core.logs.lines import is_packed
from core.logs.log_files import open_log
from core.logs.reader import Kit
from core.logs.records import Log
from core.logs.session import LogSession, identities, identity
from core.percept import AXES, Percept
from core.report.cost import Charge, charge_of
from core.report.event_words import OUTCOME_SIGNS, about, kind_of, outcome_of, tool_of
from core.report.formatting import last_words, plain
from core.report.sums import Sum, added, total
from core.society import Society
from core.timeline.run_inputs import InitialStates, RunInputs

_FRUSTRATION, _FLOW = AXES.index("frustration"), AXES.index("flow")
_TURNS = 2000
"""Turns remembered at most for the tokens of the last minutes."""
_MINUTES = 1600
"""Minutes in which something was charged that are remembered: a little more than a day."""
_FADED = 10.0
"""Seconds after which a quiet agent's axes are read again."""
_PIECE = 65_536


class SessionModel:
    """One session from some place of its logs on."""

    def __init__(
        self,
        session: LogSession | Path,
        kit: Kit,
        initial_states: InitialStates,
        inputs: RunInputs,
        changed: float,
    ) -> None:
        settings = initial_states.settings
        self.kit = kit
        self.driver = Driver(Followed(session, kit, settings), initial_states, inputs=inputs, changed=changed)
        self.curve: deque[tuple[int, float]] = deque(maxlen=BUCKETS)
        self.project = self.tool = self.model = ""
        self.last: Event | None = None
        self._shown: Event | None = None
        """The last one that is more than the end of a turn, which says nothing of its own."""
        self.fresh = True
        """Something came since `facts` were last taken."""
        self._percept: Percept | None = None
        self._state = ""
        self._part = settings.screen.fleet.span / BUCKETS
        self._stretch = settings.screen.burn
        self._spent: deque[tuple[float, int]] = deque(maxlen=_TURNS)
        self._axes = (0.0, 0.0)
        self._axes_at = 0.0
        self._cost = Sum()
        self._charges: deque[Charge] = deque(maxlen=_MINUTES)
        copied = session.copied if isinstance(session, LogSession) else ()
        self._told = identities(copied, kit, settings.ingest.lines) if copied else set()
        """Turns of the sessions it was forked from, which are charged there."""
        self._last_call: ToolUse | None = None
        self._calls = 0
        self.failures = 0

    @property
    def behind(self) -> bool:
        """There is more to be read at once."""
        return self.driver.source.behind

    @property
    def society(self) -> Society:
        """The minds as the last event left them."""
        return self.driver.society

    @property
    def tracker(self) -> StatusTracker:
        """How its last turn closed, and since when it is in trouble."""
        return self.driver.tracker

    def advance(self, most: int) -> None:
        """Take in what came, at most so many events."""
        before = self.driver.changed
        for event, step in self.driver.poll(most):
            self._take(event, step)
            self.fresh = True
        if self.driver.log_notices() or self.driver.changed > before:
            self.fresh = True

    def _take(self, event: Event, step: Step) -> None:
        percept = step.percept
        number = int(event.at // self._part)
        frustration = percept.axes[_FRUSTRATION]
        curve = self.curve
        if curve and curve[-1][0] >= number:
            if frustration > curve[-1][1]:
                curve[-1] = (curve[-1][0], frustration)
        else:
            curve.append((number, frustration))
        if event.agent == MAIN:
            self._percept = percept
            self._state = self.society.engine(MAIN).story(step).state
        if isinstance(event, Turn):
            self._spent.append((event.at, event.input_tokens + event.cache_write + event.output_tokens))
            self._charge(event)
            if event.model and event.agent == MAIN:
                self.model = event.model
        elif isinstance(event, SessionStart) and event.agent == MAIN:
            self.project, self.tool = event.project or self.project, event.tool or self.tool
            self.model = event.model or self.model
        elif isinstance(event, ToolUse):
            self._calls += 1
            self.failures += event.outcome == "failure"
            self._last_call = event
        self.last = event
        if not (isinstance(event, Turn) and event.only_ends and event.stop != "error"):
            self._shown = event

    def _charge(self, turn: Turn) -> None:
        if self._told and identity(turn) in self._told:
            return
        charge = charge_of(turn)
        self._cost.add(charge)
        last = self._charges[-1] if self._charges else None
        if last is not None and last.minute == charge.minute and last.sub == charge.sub:
            last.add(charge)
        else:
            self._charges.append(charge)

    @property
    def calls(self) -> int:
        """Calls so far, those without a result among them."""
        return self._calls + sum([type(one) is ToolUse for one in self.driver.begun()])

    def cost(self) -> tuple[Sum, tuple[Charge, ...]]:
        """What all turns cost, the one that is still being written among them; and by minute, lately."""
        begun = [charge_of(event) for event in self.driver.held() if isinstance(event, Turn)]
        charges = (*(copy(charge) for charge in self._charges), *begun)
        return total((self._cost, added(begun))), charges

    def facts(self, heard: float) -> StatusFacts:
        """What is known now."""
        self.fresh = False
        return self.driver.facts(heard)

    def worded(self, status: Status) -> Status:
        """A status with the words of what the person is needed for."""
        words = self.driver.need_words(status)
        return replace(status, words=words) if words else status

    def axes(self, now: float) -> tuple[float, float]:
        """Frustration and flow of the main agent: as its last event left them, faded once it is quiet."""
        percept = self._percept
        if percept is None:
            return 0.0, 0.0
        if now - percept.at < _FADED or self.tracker.synthetic:
            return percept.axes[_FRUSTRATION], percept.axes[_FLOW]
        if not self._axes_at <= now < self._axes_at + _FADED or self._axes_at < percept.at:
            values = self.society.engine(MAIN).receptor.read(now).axes
            self._axes = values[_FRUSTRATION].value, values[_FLOW].value
            self._axes_at = now
        return self._axes

    @property
    def mood(self) -> tuple[str, str]:
        """State and pattern of the main agent."""
        percept = self._percept
        return ("", "") if percept is None else (self._state, percept.pattern)

    def burn(self, now: float) -> float:
        """Tokens a minute, all agents together."""
        edge = (self.tracker.last if self.tracker.synthetic else now) - self._stretch
        while self._spent and self._spent[0][0] < edge:
            self._spent.popleft()
        return sum(tokens for _, tokens in self._spent) * 60.0 / self._stretch

    def _words_of(self, event: Event) -> Words:
        """The words of an event, read from the session's own logs where they are near."""
        session = self.driver.source.session
        if session is None or not _is_near(event):
            return NOTHING
        return WordReader(word_logs(session)).words(event)

    def last_words(self) -> tuple[str, str]:
        """The last event in a few words, and the sign of its outcome."""
        event = self._shown
        if event is None:
            return "", ""
        if isinstance(event, Prompt) and event.interrupt:
            return "you stopped it", ""
        read = self._words_of(event)
        if isinstance(event, Turn) and not read.said and self._last_call is not None:
            event = self._last_call
            read = self._words_of(event)
        if isinstance(event, Turn | Prompt) and read.said:
            who = "said" if isinstance(event, Turn) else "asked"
            return plain(f"{who} “{last_words(read.said) if who == 'said' else first_line(read.said)}”"), ""
        words, path = about(event)
        outcome = outcome_of(event)
        name = tool_of(event) if isinstance(event, ToolUse) else kind_of(event)
        said = first_line(read.command)
        said = said.replace(f"{self.project}/", "") if self.project else said
        shown = " ".join(part for part in (name, said or f"{words} {PurePath(path).name}".strip()) if part)
        return plain(shown, 120), OUTCOME_SIGNS.get(outcome, ("", ""))[0]


def _is_near(event: Event) -> bool:
    """Whether an event's words are one line of a log away."""
    place = event.where
    if isinstance(event, ToolUse):
        place = event.called or place
    elif isinstance(event, Turn):
        place = event.said or place
    return place is not None and not place.entry


def cut(session: LogSession, most: int, size: Callable[[Path], int]) -> tuple[LogSession, bool]:
    """The same session with only the end of its long logs, from a line's beginning; whether any was cut."""
    logs = tuple(_end_of(log, most, size) for log in session.logs)
    return session._replace(logs=logs), logs != session.logs


def _end_of(log: Log, most: int, size: Callable[[Path], int]) -> Log:
    whole = size(log.path)
    if whole <= most or not log.whole or log.format.style != "lines" or is_packed(log.path):
        return log
    try:
        with open_log(log.path) as stream:
            place = stream.seek(whole - most)
            while piece := stream.read(_PIECE):
                found = piece.find(b"\n")
                if found >= 0:
                    return log._replace(start=place + found + 1)
                place += len(piece)
    except OSError:
        pass
    return log
