"""The status of a session: whether it needs a person, why, and since when.

What is not known is said as such; silence is never taken for well-being.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from core.events import MAIN, Action, Matter
from core.report.closing import Close
from core.settings import Settings
from core.settings.fleet import FleetSettings

Word = Literal[
    "needs you",
    "needs you?",
    "looping",
    "would halt",
    "quarantined",
    "stuck",
    "silent?",
    "no log",
    "context full",
    "waiting",
    "done",
    "done?",
    "stopped",
    "reading",
    "working",
    "delegating",
    "flowing",
    "new",
    "left",
    "ended",
    "unread",
]
Level: TypeAlias = Literal[0, 1, 2, 3]
"""3 needs a person, 2 is worth a look, 1 is at work, 0 rests."""

GLYPHS: dict[Word, str] = {
    "needs you": "▲",
    "needs you?": "△",
    "looping": "↻",
    "would halt": "■",
    "quarantined": "▣",
    "stuck": "✗",
    "silent?": "…",
    "no log": "!",
    "context full": "▽",
    "waiting": "◌",
    "done": "✓",
    "done?": "~",
    "stopped": "‖",
    "reading": "↓",
    "working": "●",
    "delegating": "◇",
    "flowing": "◆",
    "new": "·",
    "left": "○",
    "ended": "□",
    "unread": "·",
}
WORDS: tuple[Word, ...] = tuple(GLYPHS)
"""The most pressing first."""
_RANK = {word: rank for rank, word in enumerate(WORDS)}
QUICK_ACTIONS: frozenset[Action] = frozenset(
    ("file_read", "file_edit", "search", "memory_read", "memory_write")
)
"""Actions that take no time of their own."""

_AGES = 20 * 365.25 * 86_400
"""Seconds for which no session goes on: a time that lies further back is that of a clock that was not set."""
_PLANS = frozenset(("ExitPlanMode", "exit_plan_mode", "plan_exit", "ExitSpecMode"))
"""Tools that hand a plan to the person."""

Need = Literal["", "question", "plan", "permission", "error"]
"""What the person is needed for."""


class AgentTrouble(NamedTuple):
    """Something that is wrong with one agent, and since when."""

    since: float
    why: str
    agent: str = MAIN
    """Who has it."""


class Open(NamedTuple):
    """A call without an answer yet."""

    at: float
    agent: str
    tool: str
    action: Action


class StatusFacts(Struct, frozen=True):
    """What the log and the minds tell of a session; a status follows from it and the time."""

    events: int = 0
    heard: float = 0.0
    """When the log last gave a sign of life."""
    close: Close = ""
    closed: float = 0.0
    """When that was."""
    turn: float = 0.0
    """When the main agent was last set to work; 0 where that is not known."""
    prompted: float = 0.0
    """When the person last prompted the main agent."""
    open: tuple[Open, ...] = ()
    asks: AgentTrouble | None = None
    """What hooks say it waits for the person with."""
    loop: AgentTrouble | None = None
    halt: AgentTrouble | None = None
    fuse: bool = False
    """The halt is for the number of steps alone."""
    quarantine: AgentTrouble | None = None
    stuck: AgentTrouble | None = None
    flow: float | None = None
    """Since when the flow gate fires."""
    context: float = 0.0
    turns_left: int | None = None
    running: int = 0
    """Sub-agents at work, as far as the log tells."""
    subagents: int = 0
    """Sub-agents seen so far."""
    synthetic: bool = False
    """The log's times are made up."""
    untold: tuple[Matter, ...] = ()
    """What the log never tells."""
    lost: str = ""
    """What happened to the log."""
    read: float = 1.0
    """Share of the log that has been read."""
    old: bool = False
    """It changed so long ago that it is not read before somebody opens it."""


class Limits(NamedTuple):
    """When silence, an open call or a full context is worth a word."""

    idle: float
    asking: frozenset[str]
    fleet: FleetSettings

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        """Those of the settings."""
        notices = settings.response.notices
        return cls(notices.idle, frozenset(notices.asking), settings.screen.fleet)


class Status(Struct, frozen=True):
    """One word for a session, how much it presses, since when, and why."""

    word: Word
    level: Level
    since: float | None
    why: str
    stale: bool = False
    """It has stood so for so long that newer ones go first."""
    need: Need = ""
    words: str = ""
    """What the log says of that need: the question, the plan, the call, the error; redacted, one line."""
    hooked: bool = False
    """The reason is in the words of a hook."""
    agent: str = MAIN
    """Whose trouble it is."""
    tool: str = ""
    """Of the call that needs the person, where a call does."""

    @property
    def reason(self) -> str:
        """Why it stands so, in the log's own words where somebody read them."""
        if not self.words:
            return self.why
        quoted = f"“{self.words}”"
        if self.need == "question":
            return f"asks: {quoted}"
        if self.need == "plan":
            return f"has a plan for you to approve: {quoted}"
        if self.need == "error":
            return f"an error ended its turn: {quoted}"
        return f"{self.why}: {self.words}"

    def wordless(self) -> Status:
        """The same without what the log or a hook says in words."""
        return replace(self, words="", why="it waits for your answer" if self.hooked else self.why)

    @property
    def needs_you(self) -> bool:
        """A question, a plan, a permission or an error waits for the person, for sure or by all signs."""
        return self.word in ("needs you", "needs you?")

    @property
    def at_rest(self) -> bool:
        """Its main agent does nothing until somebody speaks to it."""
        return self.word in ("done", "done?", "stopped", "left", "ended")

    @property
    def glyph(self) -> str:
        """The same without colour."""
        return GLYPHS[self.word]

    @property
    def urgency(self) -> tuple[int, bool, int, float]:
        """Sorts the most pressing first; of equals, who has waited longest; of those at rest, the newest."""
        since = self.since or 0.0
        if not self.level:
            return 0, self.stale, 0, -since
        return -self.level, self.stale, _RANK[self.word], since


def status_of(facts: StatusFacts, now: float, limits: Limits) -> Status:
    """The status of a session at a moment; since when is not said where the log's clock was never set."""
    stands = _status(facts, now, limits)
    unset = stands.since is not None and now - stands.since > _AGES
    return replace(stands, since=None) if unset else stands


def _status(facts: StatusFacts, now: float, limits: Limits) -> Status:
    quiet = max(0.0, now - facts.heard)
    stale = quiet >= limits.fleet.left
    if facts.asks is not None:
        old = now - facts.asks.since >= limits.fleet.left and stale
        return Status("needs you", 3, facts.asks.since, facts.asks.why, old, hooked=True)
    if facts.lost:
        return Status("no log", 3, facts.heard, facts.lost, stale)
    if facts.old:
        return Status("unread", 0, facts.heard, "not read: it has been still for long; opening it reads it")
    if facts.read < 1.0:
        return Status("reading", 2, None, "its log is being read")
    if not facts.events:
        return Status("new", 1, facts.heard or now, "no events yet")
    facts = _without_left_behind(facts, limits)
    asking = [call for call in facts.open if call.tool in limits.asking]
    if asking and facts.close != "ended":
        first = asking[0]
        need: Need = "plan" if first.tool in _PLANS else "question"
        why = "has a plan for you to approve" if need == "plan" else "asks you something"
        said = f"{why} ({first.tool})"
        return Status("needs you", 3, _began(first, facts), said, stale, need, tool=first.tool)
    return _closed(facts, quiet, limits) or _hanging(facts, now, quiet, limits) or _at_work(facts, limits)


def _without_left_behind(facts: StatusFacts, limits: Limits) -> StatusFacts:
    """Without calls that would wait for the person, if the agent has gone on with a later prompt.

    Before it does, the call may still wait: some agents write a prompt down at once and take it up later.
    """
    if facts.close == "asked":
        return facts
    left = [
        call
        for call in facts.open
        if not (
            call.agent == MAIN
            and call.at < facts.prompted
            and (call.tool in limits.asking or call.action in QUICK_ACTIONS)
        )
    ]
    return facts if len(left) == len(facts.open) else replace(facts, open=tuple(left))


def _began(call: Open, facts: StatusFacts) -> float:
    unset = facts.heard - call.at > _AGES
    return facts.heard if facts.synthetic or unset else call.at


def _closed(facts: StatusFacts, quiet: float, limits: Limits) -> Status | None:
    """It ended its turn, or the person did, and nobody works on behind its back."""
    if facts.close == "ended":
        return Status("ended", 0, facts.closed, f"the session is over{_was(facts)}")
    if facts.close == "failed":
        why = "an error ended its turn; it goes on when you answer"
        return Status("needs you", 3, facts.closed, why, quiet >= limits.fleet.left, "error")
    if facts.close not in ("done", "stopped"):
        return None
    if facts.running and facts.heard > facts.closed and quiet < limits.idle:
        return None
    level: Level = 2 if quiet < limits.fleet.news else 0
    if facts.close == "done":
        return Status("done", level, facts.closed, "it ended its turn and waits for a prompt")
    return Status("stopped", level, facts.closed, "you stopped it; it waits for a prompt")


def _hanging(facts: StatusFacts, now: float, quiet: float, limits: Limits) -> Status | None:
    """Nothing comes although something should."""
    fleet = limits.fleet
    quick = [call for call in facts.open if call.action in QUICK_ACTIONS]
    if quick and now - _began(quick[0], facts) >= fleet.quick and quiet < fleet.left:
        why = f"{quick[0].tool} takes unusually long; it may ask for permission"
        began = _began(quick[0], facts)
        return Status("needs you?", 3, began, why, need="permission", tool=quick[0].tool)
    if quiet < limits.idle:
        return None
    was = _was(facts)
    call = facts.open[0] if facts.open else None
    if call is None and facts.close == "said":
        level: Level = 2 if quiet < fleet.news else 0
        why = "it answered; this log does not say whether it is done"
        return Status("done?", level, facts.closed, why + was)
    if quiet >= fleet.left:
        with_what = f"with {call.tool} open" if call else "amid its work"
        return Status("left", 0, facts.heard, f"the log ends {with_what}{was}")
    if call is None:
        why = "no word, and no call is open: the model may think, or the agent has died"
        return Status("silent?", 3 if quiet >= fleet.silent else 2, facts.heard, why + was)
    if quiet >= fleet.silent:
        why = f"no word since {call.tool} began: it runs, hangs or asks for permission"
        return Status("silent?", 3, facts.heard, why + was)
    return _trouble(facts, limits) or Status(
        "waiting", 2, _began(call, facts), f"on {call.tool}: it runs, or asks for permission"
    )


def _was(facts: StatusFacts) -> str:
    """What was wrong before the silence."""
    for trouble, words in (
        (facts.loop, "looping"),
        (facts.halt, "about to be halted"),
        (facts.quarantine, "quarantined"),
        (facts.stuck, "stuck"),
    ):
        if trouble is not None:
            return f"; it was {words} ({trouble.why})" if words == "looping" else f"; it was {words}"
    return ""


def _trouble(facts: StatusFacts, limits: Limits) -> Status | None:
    if (loop := facts.loop) is not None:
        stuck = facts.stuck is not None and facts.stuck.agent == loop.agent
        return _troubled("looping", 3, loop._replace(why=f"stuck: {loop.why}") if stuck else loop)
    if facts.halt is not None and not facts.fuse:
        return _troubled("would halt", 3, facts.halt)
    if facts.quarantine is not None:
        return _troubled("quarantined", 3, facts.quarantine)
    if facts.stuck is not None:
        return _troubled("stuck", 3, facts.stuck)
    if facts.context >= limits.fleet.context:
        turns = "turn" if facts.turns_left == 1 else "turns"
        left = "" if facts.turns_left is None else f", about {facts.turns_left} {turns} left"
        why = f"context {100 * facts.context:.0f}% of the way to compaction{left}"
        return Status("context full", 2, None, why)
    if facts.halt is not None:
        return _troubled("would halt", 2, facts.halt)
    return None


def _troubled(word: Word, level: Level, trouble: AgentTrouble) -> Status:
    return Status(word, level, trouble.since, trouble.why, agent=trouble.agent)


def _at_work(facts: StatusFacts, limits: Limits) -> Status:
    trouble = _trouble(facts, limits)
    if trouble is not None:
        return trouble
    if facts.flow is not None:
        return Status("flowing", 1, facts.flow, "steady work, and little fails")
    if facts.running:
        subs = "sub-agent" if facts.running == 1 else "sub-agents"
        return Status("delegating", 1, facts.closed, f"waits on {facts.running} {subs} at work")
    since = facts.turn or facts.closed
    if facts.open:
        return Status("working", 1, since, f"busy with {facts.open[0].tool}")
    why = "it took your prompt" if facts.close == "asked" else "the model decides what comes next"
    return Status("working", 1, since, why)
