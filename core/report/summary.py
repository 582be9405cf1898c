"""What went on in a session."""

from __future__ import annotations

from msgspec import Struct, field

from core.engine.receptor.readings import FactsReading
from core.engine.response.outlook import OutlookReading
from core.events import (
    Matter,
)
from core.report.compaction import HotPath, Preserved
from core.report.outcome import SessionOutcome
from core.report.story import SessionStory


class Peak(Struct, frozen=True):
    """The greatest value of an axis, and when."""

    value: float
    at: float
    agent: str


class TokenSummary(Struct):
    """What the models read and wrote."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    context_peak: int = 0
    context_window: int = 0
    cost: float | None = None
    """US dollars of the turns whose price is known; None where no price is."""
    unpriced: int = 0
    """Turns whose price is unknown."""


class FiringSummary(Struct, frozen=True):
    """One thing that fired."""

    at: float
    agent: str
    name: str
    intensity: float


class Halt(Struct, frozen=True):
    """A moment at which the governor would have stopped the agent."""

    at: float
    agent: str
    reason: str
    step: int


class InterventionSummary(Struct, frozen=True):
    """A method that fired: when, why, and what it said."""

    at: float
    agent: str
    method: str
    mode: str
    cue: str
    state: str
    score: float
    reason: str
    text: str


class LoopRecord(Struct, frozen=True):
    """A loop at the moment it was recognised, or had notably grown."""

    at: float
    agent: str
    detector: str
    count: int
    tool: str
    what: str
    began_at: float


class QuarantineSummary(Struct):
    """A stretch in which affect was held back."""

    agent: str
    began: float
    ended: float | None = None


class AgentSummary(Struct):
    """One agent's part."""

    id: str
    parent: str | None = None
    role: str = ""
    events: int = 0
    tool_uses: int = 0
    failures: int = 0
    compactions: int = 0
    first: float | None = None
    last: float | None = None


class Skipped(Struct):
    """What could not be read."""

    total: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    first: list[str] = field(default_factory=list)


class Summary(Struct):
    """The whole session in figures; its field names are the report's JSON and stay as they are."""

    agent: str = ""
    id: str = ""
    path: str = ""
    project: str = ""
    models: list[str] = field(default_factory=list)
    synthetic_time: bool = False
    untold: list[Matter] = field(default_factory=list)
    """What logs of this kind never tell."""
    started: float | None = None
    ended: float | None = None
    active: float = 0.0
    """Subjective seconds of the main agent."""
    events: int = 0
    tool_uses: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    actions: dict[str, int] = field(default_factory=dict)
    prompts: int = 0
    interrupts: int = 0
    turns: int = 0
    compactions: int = 0
    compacted_at: list[float] = field(default_factory=list)
    preserved: list[Preserved] = field(default_factory=list)
    story: SessionStory = field(default_factory=SessionStory)
    """What was asked, done, what failed and how it ended, in words."""
    """What must survive each compaction."""
    subagents: int = 0
    tokens: TokenSummary = field(default_factory=TokenSummary)
    skipped: Skipped = field(default_factory=Skipped)
    signals: dict[str, int] = field(default_factory=dict)
    firings: list[FiringSummary] = field(default_factory=list)
    states: dict[str, int] = field(default_factory=dict)
    patterns: dict[str, int] = field(default_factory=dict)
    regimes: dict[str, int] = field(default_factory=dict)
    peaks: dict[str, Peak] = field(default_factory=dict)
    shifts: int = 0
    dreams: int = 0
    sleep_peak: float = 0.0
    episodes: int = 0
    halts: list[Halt] = field(default_factory=list)
    quarantines: list[QuarantineSummary] = field(default_factory=list)
    interventions: list[InterventionSummary] = field(default_factory=list)
    methods: dict[str, int] = field(default_factory=dict)
    """How often each method fired, listed above or not."""
    loops: list[LoopRecord] = field(default_factory=list)
    agents: list[AgentSummary] = field(default_factory=list)
    paths: list[HotPath] = field(default_factory=list)
    facts: FactsReading | None = None
    """Plain figures of what the main agent did."""
    outcome: SessionOutcome = field(default_factory=SessionOutcome)
    """Commits, pushes, pull requests, changed files, last tests and build."""
    outlook: OutlookReading | None = None
    """Whether the session went worse or better than usual."""
