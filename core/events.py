"""The events: one vocabulary for every agent's log.

An event carries no content: only shapes, sizes, fingerprints, and where its line stands.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from msgspec import Struct

# What a tool use does. `plan` and `other` (a tool no table knows) move no pattern.
Action = Literal[
    "file_read", "file_edit", "search", "shell_exec", "delegation", "memory_read", "memory_write", "plan", "other"
]

# How a tool use ended. Only failure and empty move emotions; pending has no result in the log.
Outcome = Literal["success", "failure", "empty", "rejected", "collateral", "pending"]

# What a shell command is for, where that matters.
Purpose = Literal["", "test", "build", "commit", "destructive", "wait"]

# What a log may leave untold; a cost that is not told is reckoned from tokens and model where those are.
Matter = Literal["times", "outcomes", "tokens", "model", "cost"]

ACTIONS: tuple[Action, ...] = get_args(Action)
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
MATTERS: tuple[Matter, ...] = get_args(Matter)

ADVICE_MARK = "[nooscope]"  # The start of every sentence nooscope gives to an agent.
CONTINUES = "continues in "  # The start of a session end's reason, before the name of the log with the rest.
MAIN = "main"  # The agent of a session that no other agent started.


class Where(Struct, frozen=True, gc=False):
    """The place of an event's line: bytes of a file, or a named entry of a document or database."""

    file: str
    offset: int = 0
    length: int = 0
    entry: str = ""


class _Base(Struct, frozen=True, kw_only=True, gc=False, tag_field="kind"):
    at: float  # Epoch seconds.
    agent: str = MAIN  # Who did it, unique within the session.
    where: Where | None = None


class SessionStart(_Base, frozen=True, kw_only=True, gc=False, tag="session_start"):
    """An agent's log begins."""

    session: str
    tool: str  # The program that runs the agent, such as claude-code.
    project: str = ""
    branch: str = ""
    version: str = ""
    model: str = ""
    parent: str = ""  # The session this one was forked or resumed from.
    background: bool = False  # It runs without a terminal of its own.
    synthetic_time: bool = False  # The log holds no times; ours are made up from durations or fixed steps.
    untold: tuple[Matter, ...] = ()  # What logs of this kind never tell.


class Prompt(_Base, frozen=True, kw_only=True, gc=False, tag="prompt"):
    """The person speaks."""

    characters: int
    call: int = 0  # Fingerprint of the text.
    names: int = 0  # How many names of code it contains that no prompt before it did.
    interrupt: bool = False  # The person stopped the agent rather than asked for something.
    mode: str = ""  # What the agent may do without asking, in its own word; blank if the log does not say.


class Turn(_Base, frozen=True, kw_only=True, gc=False, tag="turn"):
    """The model answered once."""

    id: str = ""
    model: str = ""
    input_tokens: int = 0  # Tokens sent, cached ones left out.
    output_tokens: int = 0
    cache_read: int = 0
    cache_write: int = 0
    context_tokens: int = 0  # All the model had before it: sent, read from cache and written to cache.
    context_window: int = 0  # The model's whole window; 0 where unknown.
    cost: float | None = None  # US dollars; None where the price is unknown.
    stop: str = ""  # Why the model stopped, in the log's own word.
    checking: int = 0  # How many different phrases of checking its words held.
    doubting: int = 0  # How many different phrases of doubt its words held.
    said: Where | None = None  # The place of the words themselves; None where it said none.
    asked: float | None = None  # When the model was asked; None where the log does not tell.
    mode: str = ""  # What the agent may do without asking, in its own word; blank if the log does not say.

    @property
    def only_ends(self) -> bool:
        """Whether this is no answer, only the end of the agent's turn."""
        return self.cost == 0.0 and not (self.context_tokens or self.output_tokens) and self.said is None


class ToolUse(_Base, frozen=True, kw_only=True, gc=False, tag="tool_use"):
    """A call and its outcome, at the time of its result; `where` is the result's place."""

    called: Where | None = None  # The call's own place, where its record is not the result's.
    id: str = ""
    action: Action = "other"
    tool: str = ""  # The tool's name as the agent wrote it.
    targets: tuple[str, ...] = ()  # Paths, relative to the project where they lie in it, with forward slashes.
    program: str = ""  # Of a shell command, the word that says what runs.
    purpose: Purpose = ""
    outcome: Outcome = "success"
    duration: float | None = None  # Seconds from call to result.
    exit_code: int | None = None
    call: int = 0  # Fingerprint of tool and arguments; equal calls have equal ones.
    shape: int = 0  # The same with numbers, ids and quoted text blanked; near-duplicates share it.
    result: int = 0  # Fingerprint of the result's text; 0 where it is blank.
    size: int = 0  # Characters of the result.
    named: int = 0  # How many names of the prompts come up in the result for the first time.
    before: int = 0  # Of an edit, the fingerprint of the text it took away.
    after: int = 0  # Of an edit, the fingerprint of the text it put there.
    modified: float | None = None  # When the first target last changed on disk, as far as the log tells.


class Compaction(_Base, frozen=True, kw_only=True, gc=False, tag="compaction"):
    """The agent's context was summarised and cut."""

    trigger: str = ""  # auto or manual, where the log says.
    tokens_before: int = 0
    tokens_after: int = 0


class AgentStart(_Base, frozen=True, kw_only=True, gc=False, tag="agent_start"):
    """`agent` starts the sub-agent `child`."""

    child: str
    role: str = ""


class AgentEnd(_Base, frozen=True, kw_only=True, gc=False, tag="agent_end"):
    """The sub-agent `child` reports back to `agent`."""

    child: str
    outcome: Outcome = "success"
    tokens: int = 0
    tool_uses: int = 0
    duration: float | None = None


class Advice(_Base, frozen=True, kw_only=True, gc=False, tag="advice"):
    """A sentence from nooscope, marked as such, reached the agent."""

    characters: int
    call: int = 0  # Fingerprint of the sentence.


class Rollback(_Base, frozen=True, kw_only=True, gc=False, tag="rollback"):
    """The person rolled back prompts: the agent forgot them and all that followed, but what it did stayed done."""

    turns: int = 0  # How many prompts, the newest first.
    kept: Where | None = None  # The end of what it still knows, if the log names it; the file by a part of its name.


class SessionEnd(_Base, frozen=True, kw_only=True, gc=False, tag="session_end"):
    """The log says it is over."""

    reason: str = ""


Event: TypeAlias = (
    SessionStart | Prompt | Turn | ToolUse | Compaction | AgentStart | AgentEnd | Advice | Rollback | SessionEnd
)
EVENT_KINDS: tuple[type[Event], ...] = get_args(Event)
