"""The status of a session: whether it needs a person, why, and since when.

What is not known is said as such; silence is never taken for well-being.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from core.events import CONTINUES, MAIN, Action, Matter, Purpose
from core.report.event_words import BYPASSES, mode_words
from core.report.story import Close
from core.report.turn_endings import Ending, TurnEnding
from core.settings import Settings
from core.settings.program import FleetSettings

Word = Literal[
    "needs you", "may need you", "looping", "stuck", "gave up", "working", "idle", "done", "ended", "unreadable"
]
Level: TypeAlias = Literal[0, 1, 2, 3]  # 3 needs a person, 2 is worth a look, 1 is at work, 0 rests.

GLYPHS: dict[Word, str] = {
    "needs you": "▲",
    "may need you": "△",
    "unreadable": "!",
    "looping": "↻",
    "stuck": "✗",
    "gave up": "⊘",
    "idle": "◌",
    "done": "✓",
    "working": "●",
    "ended": "□",
}
# What is said of endings and waits.
STATUS_WORDS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
WORDS: tuple[Word, ...] = tuple(GLYPHS)  # The most pressing first.
_RANK = {word: rank for rank, word in enumerate(WORDS)}
# Actions that take no time of their own.
QUICK_ACTIONS: frozenset[Action] = frozenset(("file_read", "file_edit", "search", "memory_read", "memory_write"))

_AGES = 20 * 365.25 * 86_400  # Seconds no session lasts; an older time comes from a clock that was not set.
# Tools that hand a plan to the person.
_PLANS = frozenset(("ExitPlanMode", "exit_plan_mode", "plan_exit", "ExitSpecMode"))

Process = Literal["", "busy", "gone"]  # What an agent's process says of itself; blank if it says nothing.
Need = Literal["", "question", "plan", "permission", "error"]  # What the person is needed for.


class AgentTrouble(NamedTuple):
    """Something that is wrong with one agent, and since when."""

    since: float
    why: str
    agent: str = MAIN  # Who has it.


class Open(NamedTuple):
    """A call without an answer yet."""

    at: float
    agent: str
    tool: str
    action: Action
    purpose: Purpose = ""


class StatusFacts(Struct, frozen=True):
    """Facts of a session from its log and minds; they and the time decide its status."""

    events: int = 0
    heard: float = 0.0  # When the log last gave a sign of life.
    close: Close = ""
    closed: float = 0.0  # When that was.
    end: str = ""  # Why the session is over, in the log's own words.
    before_end: Close = ""  # Of a session that is over, how the main agent was left before its end.
    turn: float = 0.0  # When the main agent was last set to work; 0 if unknown.
    prompted: float = 0.0  # When the person last prompted the main agent.
    open: tuple[Open, ...] = ()
    asks: AgentTrouble | None = None  # What hooks say it waits for the person with.
    loop: AgentTrouble | None = None
    # How its last turn ended, judged from its words; blank while it runs or if they were not read.
    ending: TurnEnding = TurnEnding("")
    hooked: bool = False  # Its hooks report ahead of its log.
    process: Process = ""
    mode: str = ""  # What the agent may do without asking, in its own word.
    stuck: AgentTrouble | None = None
    flow: float | None = None  # Since when the flow gate fires.
    context: float = 0.0
    turns_left: int | None = None
    running: int = 0  # Sub-agents at work, by the log.
    subagents: int = 0  # Sub-agents seen so far.
    synthetic: bool = False  # The log's times are made up.
    only_failed: bool = False  # Every call of its last turn failed, and there were several.
    untold: tuple[Matter, ...] = ()  # What this kind of log never contains.
    lost: str = ""  # What happened to the log.
    read: float = 1.0  # Share of the log that has been read.
    old: bool = False  # It changed so long ago that it is not read before somebody opens it.


class Limits(NamedTuple):
    """When silence, an open call or a full context is worth a word."""

    idle: float
    asking: frozenset[str]
    fleet: FleetSettings

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        """Return the limits from the settings."""
        notices = settings.response.notices
        return cls(notices.idle, frozenset(notices.asking), settings.screen.fleet)


class Status(Struct, frozen=True):
    """One word for a session, how much it presses, since when, and why."""

    word: Word
    level: Level
    since: float | None
    why: str
    stale: bool = False  # It has stood so for so long that newer ones go first.
    need: Need = ""
    words: str = ""  # The log's own words about that need or the end of the turn: one line, redacted.
    ending: Ending = ""  # How its last turn ended.
    reading: bool = False  # Its log is still being read.
    hooked: bool = False  # The reason is in the words of a hook.
    agent: str = MAIN  # Whose trouble it is.
    tool: str = ""  # The tool of the call that needs the person.

    @property
    def reason(self) -> str:
        """The reason for the word, with a quote from the log if somebody read it."""
        if not self.words:
            return self.why
        quoted = f"“{self.words}”"
        if self.need == "question":
            return f"asks: {quoted}"
        if self.need == "plan":
            return f"shows a plan for you to approve: {quoted}"
        return f"{self.why}: {self.words if self.need == 'permission' else quoted}"

    def wordless(self) -> Status:
        """Return the status without words from the log or a hook."""
        return replace(self, words="", why="it waits for your answer" if self.hooked else self.why)

    @property
    def needs_you(self) -> bool:
        """A question, a plan, a permission or an error waits for the person, for sure or by all signs."""
        return self.word in ("needs you", "may need you")

    @property
    def at_rest(self) -> bool:
        """Its main agent does nothing until somebody speaks to it."""
        return self.word in ("done", "gave up", "ended") or bool(self.ending)

    @property
    def glyph(self) -> str:
        """Return the status's sign, which means the same without colour."""
        return GLYPHS[self.word]

    @property
    def urgency(self) -> tuple[int, bool, int, float]:
        """Sorts the most pressing first; of equals, who has waited longest; of those at rest, the newest."""
        since = self.since or 0.0
        if not self.level:
            return 0, self.stale, 0, -since
        vague = self.word == "may need you" and not self.need and not self.ending
        return -self.level, self.stale, _RANK["gave up" if vague else self.word], since


def status_json(status: Status) -> dict[str, object]:
    """A status for scripts."""
    words = {"word": status.word, "reason": status.reason, "ending": status.ending, "sentence": status.words}
    return {**words, "since": status.since, "needs_person": status.level == 3}


def status_of(facts: StatusFacts, now: float, limits: Limits) -> Status:
    """Return the status of a session at a moment; `since` is None if the log's clock was never set."""
    status = _status(facts, now, limits)
    unset = status.since is not None and now - status.since > _AGES
    return replace(status, since=None) if unset else status


def _status(facts: StatusFacts, now: float, limits: Limits) -> Status:
    quiet = max(0.0, now - facts.heard)
    stale = quiet >= limits.fleet.left
    if facts.asks is not None:
        old = now - facts.asks.since >= limits.fleet.left and stale
        return Status("needs you", 3, facts.asks.since, facts.asks.why, old, hooked=True)
    if facts.lost:
        return Status("unreadable", 3, facts.heard, facts.lost, stale)
    if facts.old:
        return Status("ended", 0, facts.heard, "not read: last changed long ago; open it to read it")
    if facts.read < 1.0:
        return Status("idle", 2, None, "its log is being read", reading=True)
    if not facts.events:
        if facts.heard and stale:
            return Status("ended", 0, facts.heard, "abandoned: the log has no events")
        return Status("idle", 1, facts.heard or now, "no events yet")
    facts = _without_left_behind(facts, limits)
    if facts.process == "gone":
        return _process_lost(facts, quiet, limits)
    asking = [call for call in facts.open if call.tool in limits.asking]
    if asking and facts.close != "ended":
        first = asking[0]
        need: Need = "plan" if first.tool in _PLANS else "question"
        why = "shows a plan for you to approve" if need == "plan" else "asks you something"
        reason = f"{why} ({first.tool})"
        return Status("needs you", 3, _began(first, facts), reason, stale, need, tool=first.tool)
    return _closed(facts, quiet, limits) or _hanging(facts, now, quiet, limits) or _at_work(facts, limits)


def _without_left_behind(facts: StatusFacts, limits: Limits) -> StatusFacts:
    """Without calls that would wait for the person, if the agent has gone on with a later prompt.

    Before it does, the call may still wait: some agents write a prompt down at once and take it up later.
    """
    if facts.close == "asked":
        return facts
    left = []
    for call in facts.open:
        asks_or_quick = call.tool in limits.asking or call.action in QUICK_ACTIONS
        if not (call.agent == MAIN and call.at < facts.prompted and asks_or_quick):
            left.append(call)
    return facts if len(left) == len(facts.open) else replace(facts, open=tuple(left))


def _began(call: Open, facts: StatusFacts) -> float:
    unset = facts.heard - call.at > _AGES
    return facts.heard if facts.synthetic or unset else call.at


def _closed(facts: StatusFacts, quiet: float, limits: Limits) -> Status | None:
    """The status of a session whose turn is over, unless sub-agents still work."""
    ending, sentence, _ = facts.ending
    if facts.close == "ended" and facts.end.startswith(CONTINUES):
        return Status("ended", 0, facts.closed, f"the run {facts.end}")
    if facts.close == "ended":
        how = STATUS_WORDS["how_it_ended"].get(ending) or STATUS_WORDS["before_the_end"].get(facts.before_end, "")
        trouble = _was(facts) if facts.before_end in ("asked", "tool", "retry") else ""
        why = f"the session is over{how or trouble}"
        word: Word = "gave up" if ending == "gave up" else "ended"
        return Status(word, 0, facts.closed, why, words=sentence if how else "", ending=ending)
    if facts.close == "failed":
        why = "an error stopped it; it resumes when you answer"
        return Status("needs you", 3, facts.closed, why, quiet >= limits.fleet.left, "error")
    if facts.close not in ("done", "stopped", "rolled back"):
        return None
    if facts.running and ending not in ("question", "cut off") and quiet < limits.fleet.silent:
        return None if quiet < limits.idle else Status("idle", 1, facts.closed, _on_sub_agents(facts))
    if facts.close == "done":
        return _finished(facts, quiet, limits, sure=True)
    level: Level = 2 if quiet < limits.fleet.news else 0
    return Status("ended", level, facts.closed, f"{facts.close} by you")


def _waiting_on(facts: StatusFacts) -> str:
    """Return what a turn waits for, if it ended with a wait."""
    text = facts.ending.sentence.lower()
    return next((thing for word, thing in STATUS_WORDS["waited_on"].items() if word in text), "something it started")


def _finished(facts: StatusFacts, quiet: float, limits: Limits, *, sure: bool) -> Status:
    """The status after a turn's last words; `sure` if the log marks the end of a turn."""
    ending, sentence, optional = facts.ending
    stale = quiet >= limits.fleet.left
    level: Level = 2 if quiet < limits.fleet.news else 0
    since = facts.closed
    if ending == "question" or (ending == "offer" and not optional):
        word: Word = "needs you" if sure and ending == "question" else "may need you"
        why = "asks you something" if ending == "question" else "finished, and offers to go on"
        need: Need = "question" if ending == "question" else ""
        return Status(word, 3 if ending == "question" else level, since, why, stale, need, sentence, ending)
    if ending == "cut off":
        why = "its answer was cut off at the length limit"
        return Status("may need you", 3, since, why, stale, words=sentence, ending=ending)
    if ending == "partial" and facts.only_failed:
        return Status("may need you", 3, since, "finished, but every call failed", stale, words=sentence, ending=ending)
    if ending == "waiting":
        on = _waiting_on(facts)
        if quiet < limits.fleet.left:
            return Status("idle", 1, since, f"waiting on {on}", words=sentence, ending=ending)
        return Status("ended", 0, since, f"ended while it waited on {on}", words=sentence, ending=ending)
    if ending == "gave up":
        return Status("gave up", 2 if not stale else 0, since, "could not do it", words=sentence, ending=ending)
    if ending in ("partial", "offer"):
        why = "finished in part" if ending == "partial" else "finished, with an offer"
        return Status("done", level, since, why, words=sentence, ending=ending)
    why = "finished, waiting for you" if sure else "answered (this log does not mark the end of a turn)"
    return Status("done", level, since, why, ending=ending)


def _process_lost(facts: StatusFacts, quiet: float, limits: Limits) -> Status:
    """The status of a session whose process was killed."""
    if facts.close == "said":
        return _finished(facts, quiet, limits, sure=False)
    status = _closed(replace(facts, running=0), quiet, limits)
    level: Level = 2 if quiet < limits.fleet.news else 0
    why = f"its process is gone: {_stopped_at(facts, next(iter(facts.open), None))}"
    return status or Status("ended", level, facts.heard, why)


def _stopped_at(facts: StatusFacts, call: Open | None) -> str:
    """Where a log stops mid-task, and the trouble before that."""
    where = f"with {call.tool} open" if call else STATUS_WORDS["stopped_at"].get(facts.close, "mid-task")
    return f"the log stops {where}{_was(facts)}"


def _hanging(facts: StatusFacts, now: float, quiet: float, limits: Limits) -> Status | None:
    """The status of a session from which nothing comes although something should."""
    fleet = limits.fleet
    if facts.process == "busy" and quiet < fleet.left:
        return None
    hint = "" if facts.hooked else "; `nooscope hooks install` reports permission prompts at once"
    answered = facts.closed if facts.close == "said" else -1.0
    quick = [call for call in facts.open if call.action in QUICK_ACTIONS and call.at >= answered]
    asks = mode_words(facts.mode) != BYPASSES
    if quick and asks and now - _began(quick[0], facts) >= fleet.quick and quiet < fleet.left:
        why = f"{quick[0].tool} may be asking for permission (unusually slow)"
        began = _began(quick[0], facts)
        return Status("may need you", 3, began, why, need="permission", tool=quick[0].tool)
    if quiet < limits.idle:
        return None
    was = _was(facts)
    # A quick call that an answer follows has lost its result; any other may still run.
    call = next((call for call in facts.open if call.action not in QUICK_ACTIONS or call.at >= answered), None)
    if call is None and facts.close == "said":
        return _finished(facts, quiet, limits, sure=False)
    if quiet >= fleet.left:
        return Status("ended", 0, facts.heard, f"abandoned: {_stopped_at(facts, call)}")
    if call is None:
        if quiet >= fleet.silent:
            why = "long silence although its turn is not over: the agent may have died"
            return Status("may need you", 3, facts.heard, why + was)
        doing = "trying again after an error" if facts.close == "retry" else "thinking, or no answer yet"
        return Status("idle", 2, facts.heard, f"waiting on the service: {doing}{was}")
    if quiet >= fleet.silent:
        why = f"nothing since {call.tool} began: it runs, hangs or asks for permission{hint}"
        return Status("may need you", 3, facts.heard, why + was)
    return _trouble(facts, limits) or Status(
        "idle", 2, _began(call, facts), f"waiting on {_on_what(call)}, or for your permission{hint}"
    )


def _on_what(call: Open) -> str:
    """Return what an open call makes the agent wait for."""
    if call.action == "delegation":
        return f"a sub-agent ({call.tool})"
    if call.action == "shell_exec":
        return f"{STATUS_WORDS['commands'].get(call.purpose, 'a command')} ({call.tool})"
    return call.tool


def _on_sub_agents(facts: StatusFacts) -> str:
    return f"waiting on {facts.running} sub-agent{'s' if facts.running > 1 else ''}"


def _was(facts: StatusFacts) -> str:
    """The trouble before the silence."""
    if facts.loop is not None:
        return f"; it was looping ({facts.loop.why})"
    return "; it was stuck" if facts.stuck is not None else ""


def _trouble(facts: StatusFacts, limits: Limits) -> Status | None:
    if facts.loop is not None:
        return _troubled("looping", 3, facts.loop)
    if facts.stuck is not None:
        return _troubled("stuck", 3, facts.stuck)
    if facts.context >= limits.fleet.context:
        turns = "turn" if facts.turns_left == 1 else "turns"
        left = "" if facts.turns_left is None else f", about {facts.turns_left} {turns} left"
        why = f"context {100 * facts.context:.0f}% of the way to compaction{left}"
        return Status("working", 2, None, why)
    return None


def _troubled(word: Word, level: Level, trouble: AgentTrouble) -> Status:
    return Status(word, level, trouble.since, trouble.why, agent=trouble.agent)


def _at_work(facts: StatusFacts, limits: Limits) -> Status:
    trouble = _trouble(facts, limits)
    if trouble is not None:
        return trouble
    since = facts.turn or facts.closed
    if facts.running:
        return Status("working", 1, facts.closed, _on_sub_agents(facts))
    if facts.open:
        return Status("working", 1, since, f"running {_on_what(facts.open[0])}")
    doing = {"asked": "thinking about your prompt", "retry": "trying again after a service error"}
    return Status("working", 1, since, doing.get(facts.close, "thinking"))
