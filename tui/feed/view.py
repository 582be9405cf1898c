"""The view: everything the screen shows at one moment, one immutable value for all panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from core.engine.receptor.readings import Why
from core.engine.society import SocietyReading
from core.engine.society.engine import Frame
from core.events import MAIN, Matter
from core.extension.hooks import ExtensionState
from core.live.bus import SubscriberReading
from core.live.hook_signs import HookSigns
from core.live.status import Status
from core.logs.follow import is_late
from core.report.agents import agent_names
from core.report.compaction import Preserved
from core.report.cost import Spent
from core.report.now import Now
from core.report.sums import DaySpent

Mode = Literal["live", "paused", "replay"]


class Subject(Struct, frozen=True):
    """The session that is shown."""

    session: str = ""
    tool: str = ""  # The program that runs the agent.
    project: str = ""
    model: str = ""
    path: str = ""
    synthetic_time: bool = False
    untold: tuple[Matter, ...] = ()  # What its log never tells.
    title: str = ""  # What the session is called, or what was asked first; words of the log.


class View(Struct, frozen=True):
    """The playhead, and all that is to be seen there."""

    frame: Frame
    people: SocietyReading
    why: Sequence[Why] = ()  # What makes up each axis, in the order of AXES; worked out when a panel looks at it.
    subject: Subject = Subject()
    agent: str = MAIN
    agents: tuple[str, ...] = (MAIN,)
    names: Mapping[str, str] = field(default_factory=dict)  # What each agent of the whole recording is called.
    index: int = 0  # Events before the playhead.
    total: int = 0  # Events recorded so far.
    start: float = 0.0
    at: float = 0.0  # The moment shown.
    end: float = 0.0
    mode: Mode = "replay"
    playing: bool = False
    speed: float = 1.0
    now: Now = Now()  # What is going on there; without its words where nobody looks at them.
    logs: tuple[Path, ...] = ()  # The session's own files; no place outside them is read.
    word_logs: tuple[Path, ...] = ()  # Those of them in which words stand.
    words: bool = True  # Words of the log may be shown; False for a screen that others see.
    day: DaySpent | None = None  # What all agents cost today, where there is a budget.
    spent: Spent = Spent()
    burn: float = 0.0  # Tokens a minute, lately.
    status: Status | None = None  # How the session stands at the moment shown.
    others: int = 0  # Other sessions that need the person.
    newer: str = ""  # A session that works in the same folder while this one rests: its agent and status.
    edge: Status | None = None  # How it stands now, where another moment is shown and it needs a person now.
    # What the session's hooks tell now, wherever the playhead is; None where none has called.
    hooks: HookSigns | None = None
    in_flight: tuple[str, ...] = ()  # Tools called and not yet answered.
    loading: float | None = None  # Share of the log read so far, while it is being read.
    behind: int = 0  # About how many events are written and not read yet, once all that was there at first is.
    skipped: int = 0  # Lines that could not be read.
    preserved: Preserved | None = None  # What stood when the agent's context was last cut before the playhead.
    notice: str = ""  # A notice for the person, such as a log that is gone.
    extensions: tuple[ExtensionState, ...] = ()  # Who listens to the session, in the order they run.
    bus: tuple[SubscriberReading, ...] = ()  # Who reads the event bus.
    what_if: bool = False  # The session as it would have been under the changed settings of the bench.
    narrator: bool = False  # A model may be asked to put facts into prose.

    @property
    def status_needs_you(self) -> bool:
        """The session on the screen needs the person."""
        return self.status is not None and self.status.needs_you

    @property
    def late(self) -> bool:
        """Whether the newest view is further behind than is usual for a busy log."""
        return is_late(self.behind)


def names_of(view: View) -> Mapping[str, str]:
    """Return the name of each agent, the same at every place of the recording."""
    return view.names or agent_names(view.people.agents)


def running_agents(view: View) -> int:
    """How many agents are at work; nobody is while the session rests, or before it began."""
    status = view.status
    idle = status is not None and (status.at_rest or not view.index)
    return 0 if idle else view.people.running
