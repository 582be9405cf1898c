"""The minds of one session, followed without a recording: what a row needs, in bounded memory."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from pathlib import Path, PurePath

from core.events import MAIN, Event, SessionStart, ToolUse, Turn
from core.live.fleet.row import BUCKETS
from core.live.status import Facts
from core.live.status_facts import Lookout
from core.logs.door import open_log
from core.logs.follow import Follower
from core.logs.lines import packed
from core.logs.reader import Kit
from core.logs.records import Log
from core.logs.session import LogSession
from core.percept import AXES, Percept
from core.report.event_words import OUTCOME_SIGNS, about, kind_of, outcome_of, tool_of
from core.report.formatting import plain
from core.settings import Settings
from core.timeline.carry_over import Start
from core.timeline.timeline import turned

_FRUSTRATION, _FLOW = AXES.index("frustration"), AXES.index("flow")
_TURNS = 2000
"""Turns remembered at most for the tokens of the last minutes."""
_PATIENCE = 400
"""A look at open calls may take one part in so many of the time."""
_SETTLED = 1.0
"""Seconds of quiet after which open calls are looked at at once."""
_LEAST = 2.0
"""Seconds between two looks at them while the log grows."""
_FADED = 10.0
"""Seconds after which a quiet agent's axes are read anew."""
_PIECE = 65_536


class Model:
    """One session from some place of its logs on."""

    def __init__(
        self,
        session: LogSession | Path,
        kit: Kit,
        settings: Settings,
        start: Start,
    ) -> None:
        self.kit = kit
        self.follower = Follower(session, kit, settings.ingest)
        self._beginning = start.beginning
        self._later = deque(start.later)
        self._count = 0
        self.society = start.beginning.society(start.settings)
        self.lookout = Lookout(settings.response.notices.final)
        self.curve: deque[tuple[int, float]] = deque(maxlen=BUCKETS)
        self.project = self.tool = self.model = ""
        self.last: Event | None = None
        self.lost = ""
        self.fresh = True
        """Something came since `facts` were last taken."""
        self._percept: Percept | None = None
        self._state = ""
        self._part = settings.screen.fleet.span / BUCKETS
        self._stretch = settings.screen.burn
        self._spent: deque[tuple[float, int]] = deque(maxlen=_TURNS)
        self._held: list[Event] = []
        self._unseen = True
        """The log grew since open calls were looked at."""
        self._look_after = 0.0
        self._axes = (0.0, 0.0)
        self._axes_at = 0.0

    @property
    def behind(self) -> bool:
        """There is more to be read at once."""
        return self.follower.behind

    def advance(self, most: int) -> int:
        """Take in what came, at most so many events; how many they were."""
        events = self.follower.poll(most)
        for event in events:
            self._take(event)
        for notice in self.follower.notices():
            self.lost = notice if self._gone(notice) else ""
            self.fresh = True
        if events:
            self.fresh = self._unseen = True
        return len(events)

    def grew(self) -> None:
        """The log gained something, be it no event."""
        self.fresh = self._unseen = True

    def _gone(self, notice: str) -> bool:
        return not notice.endswith(("is back", "anew")) and "packed; reading" not in notice

    def _take(self, event: Event) -> None:
        if self._later:
            self.society = turned(self._beginning, self.society, self._later, self._count)
        self._count += 1
        step = self.society.step(event)
        self.lookout.update(event, step)
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
            if event.model and event.agent == MAIN:
                self.model = event.model
        elif isinstance(event, SessionStart) and event.agent == MAIN:
            self.project, self.tool = event.project or self.project, event.tool or self.tool
            self.model = event.model or self.model
        self.last = event

    def facts(self, now: float, heard: float) -> Facts:
        """What is known at a moment."""
        if self._unseen and not self.behind:
            monotonic = time.monotonic()
            if monotonic >= self._look_after or now - heard >= _SETTLED:
                self._held = self.follower.held()
                cost = time.monotonic() - monotonic
                self._look_after = monotonic + max(_LEAST, _PATIENCE * cost)
                self._unseen = now - heard < _SETTLED
        self.fresh = False
        return self.lookout.facts(self.society, self._held, heard=heard, lost=self.lost)

    @property
    def wants(self) -> bool:
        """Something about it is not known yet."""
        return self.fresh or self._unseen

    def axes(self, now: float) -> tuple[float, float]:
        """Frustration and flow of the main agent: as its last event left them, faded once it is quiet."""
        percept = self._percept
        if percept is None:
            return 0.0, 0.0
        if now - percept.at < _FADED or self.lookout.synthetic:
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
        edge = (self.lookout.last if self.lookout.synthetic else now) - self._stretch
        while self._spent and self._spent[0][0] < edge:
            self._spent.popleft()
        return sum(tokens for _, tokens in self._spent) * 60.0 / self._stretch

    def last_words(self) -> tuple[str, str]:
        """The last event in a few words, and the sign of its outcome."""
        event = self.last
        if event is None:
            return "", ""
        words, path = about(event)
        outcome = outcome_of(event)
        name = tool_of(event) if isinstance(event, ToolUse) else kind_of(event)
        shown = " ".join(part for part in (name, words, PurePath(path).name) if part)
        return plain(shown, 60), OUTCOME_SIGNS.get(outcome, ("", ""))[0]


def cut(session: LogSession, most: int, size: Callable[[Path], int]) -> tuple[LogSession, bool]:
    """The same session with only the end of its long logs, from a line's beginning; whether any was cut."""
    logs = tuple(_end_of(log, most, size) for log in session.logs)
    return session._replace(logs=logs), logs != session.logs


def _end_of(log: Log, most: int, size: Callable[[Path], int]) -> Log:
    whole = size(log.path)
    if whole <= most or not log.whole or log.format.style != "lines" or packed(log.path):
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
