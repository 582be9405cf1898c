"""The base class of extensions: a name, a layer, dependencies, and hooks that do nothing by default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, get_args

from core.engine.mind.episode import Episode
from core.engine.mind.fabric import MindEvent, Ticked
from core.engine.mind.sleep import Dream
from core.engine.percept import Axis
from core.engine.response.actions import CheckpointRequest
from core.engine.response.reaction import Notice
from core.engine.society import Society
from core.engine.society.engine import Step
from core.events import Action, AgentEnd, AgentStart, Compaction, Event, Prompt, Purpose, ToolUse, Turn
from core.safe_text import safe

Answer = Literal["pass", "ask", "block"]  # From the most lenient to the most restrictive.
ANSWERS: tuple[Answer, ...] = get_args(Answer)
FAULTS = 3  # Faults after which an extension is switched off.
LAYERS = 8  # Layers run from 0 to 7; one may depend on its own layer and on lower ones.


class ToolCall(NamedTuple):
    """A call an agent is about to make, as reported by its hook; its words are redacted."""

    session: str
    tool: str
    action: Action
    purpose: Purpose
    what: str
    targets: tuple[str, ...] = ()


class BranchRun(NamedTuple):
    """A recording that is run again with other settings."""

    events: int
    edits: tuple[tuple[str, Any], ...]


class Fault(NamedTuple):
    """One failure of an extension."""

    extension: str
    hook: str
    words: str
    number: int  # How many it were by then.
    off: bool  # It was the last one: the extension is switched off for this run.

    @property
    def sentence(self) -> str:
        """For the person."""
        end = "; it is switched off until nooscope restarts" if self.off else ""
        return f"extension {self.extension} failed in {self.hook} ({self.words}){end}"


class ExtensionState(NamedTuple):
    """How one extension does."""

    name: str
    layer: int
    about: str
    faults: int
    on: bool
    last: str  # The last fault, in words.


class Extension:
    """Listens to one session; a subclass overrides the hooks it wants, all others cost nothing.

    A hook runs in the thread that follows the session and must be quick; what it raises is counted.
    """

    name: ClassVar[str] = ""
    version: ClassVar[str] = "1"
    layer: ClassVar[int] = LAYERS - 1
    # Names of extensions that run before it and without which it does not run.
    depends_on: ClassVar[tuple[str, ...]] = ()
    about: ClassVar[str] = ""  # One sentence on what it does.
    # Run `on_mind_event` in a thread of its own; what it is too slow for is dropped and counted.
    slow: ClassVar[bool] = False
    essential: ClassVar[bool] = False  # Never switched off for its faults; for what a person must not miss.

    def on_session_start(self, session: str) -> None:
        """A session is followed from here on."""

    def on_session_end(self, session: str) -> None:
        """The agent's log says that the session is over."""

    def on_event(self, event: Event, step: Step, society: Society) -> None:
        """An event was taken in; the step holds what every stage made of it, society is only to be read."""

    def on_prompt(self, prompt: Prompt) -> None:
        """The person asked for something, or interrupted."""

    def on_agent_start(self, started: AgentStart) -> None:
        """A sub-agent was started."""

    def on_agent_end(self, ended: AgentEnd) -> None:
        """A sub-agent came back."""

    def on_turn(self, turn: Turn) -> None:
        """The model answered once: its tokens, its context, its cost."""

    def on_tool_call(self, call: ToolCall) -> Answer:
        """An agent with hooks is about to make a call; it needs `--hooks` and a guarding agent."""
        del call
        return "pass"

    def before_agent_start(self, session: str) -> Iterable[str]:
        """An agent with advising hooks got its first prompt; lines that it is offered beside the playbook."""
        del session
        return ()

    def on_input(self, session: str, words: str) -> str:
        """A sentence of the person's is about to be put before the agent; return what is, blank to keep it back."""
        del session
        return words

    def on_context(self, session: str, words: str) -> str:
        """Advice is about to be given to the agent; return what is, blank to keep it back."""
        del session
        return words

    def after_tick(self, tick: Ticked) -> Mapping[Axis, float]:
        """A tick was run; how far the sensitivity of axes is to move in later sessions, within its bounds."""
        del tick
        return {}

    def on_tool_result(self, use: ToolUse) -> None:
        """A call came back."""

    def on_gamma(self, count: int) -> None:
        """So many gamma ticks (perception) came due."""

    def on_theta(self, tick: Ticked) -> None:
        """A theta tick (thought) was run."""

    def on_delta(self, tick: Ticked) -> None:
        """A delta tick (consolidation) was run."""

    def on_mind_event(self, event: MindEvent) -> None:
        """The mind did something of its own."""

    def on_dream(self, dream: Dream) -> None:
        """A dream cycle ran."""

    def on_compaction(self, compaction: Compaction) -> None:
        """The agent's context was cut."""

    def on_episode(self, episode: Episode) -> None:
        """A stretch of work ended."""

    def on_intervention(self, sentence: str, rule: str) -> Answer:
        """A sentence is about to be said to the agent; anything but `pass` holds it back."""
        del sentence, rule
        return "pass"

    def on_notice(self, notice: Notice) -> None:
        """A word for the person; no extension can hold it back."""

    def on_checkpoint(self, request: CheckpointRequest) -> None:
        """A method asks to keep this moment, or the person keeps it (pattern `person`)."""

    def on_branch(self, branch: BranchRun) -> None:
        """The recording is run again with other settings."""

    def on_model_request(self, purpose: str, provider: str, text: str) -> Answer:
        """Redacted text is about to be sent to a model; anything but `pass` keeps it here."""
        del purpose, provider, text
        return "pass"

    def on_rest(self, society: Society) -> None:
        """Nothing has happened for a while."""

    def on_error(self, fault: Fault) -> None:
        """Another extension failed."""

    def on_shutdown(self, society: Society) -> None:
        """The session is closed."""


def standing_of(one: Extension, faults: Mapping[str, int], last: Mapping[str, str], on: bool) -> ExtensionState:
    """Return how an extension does, given the faults and the last fault of each by name."""
    return ExtensionState(one.name, one.layer, one.about, faults.get(one.name, 0), on, last.get(one.name, ""))


HOOKS: tuple[str, ...] = tuple(name for name in vars(Extension) if name.startswith(("on_", "before_", "after_")))


E = TypeVar("E", bound=Extension)


def ordered(extensions: Iterable[E]) -> tuple[list[E], list[str]]:
    """Return the extensions that fit together, dependencies and lower layers first, and why others do not fit."""
    complaints: list[str] = []
    by_name: dict[str, E] = {}
    for one in extensions:
        wrong = _wrong(one, by_name)
        if wrong:
            complaints.append(f"extension {safe(one.name) or type(one).__name__} is ignored: {wrong}")
        else:
            by_name[one.name] = one
    while lost := _unmet(by_name):
        for name, why in lost.items():
            complaints.append(f"extension {name} is ignored: {why}")
            del by_name[name]
    placed: list[E] = []
    there: set[str] = set()
    waiting = sorted(by_name.values(), key=lambda one: (one.layer, one.name))
    while waiting:
        ready = [one for one in waiting if there.issuperset(one.depends_on)]
        if not ready:
            names = ", ".join(one.name for one in waiting)
            complaints.append(f"extensions {names} are ignored: they depend on each other in a circle")
            break
        placed.append(ready[0])
        there.add(ready[0].name)
        waiting.remove(ready[0])
    return placed, complaints


def _wrong(one: Extension, by_name: dict[str, E]) -> str:
    if not one.name or not one.name.replace("-", "").replace(".", "").isalnum():
        return "its name may contain only letters, digits, dots and dashes"
    if one.name in by_name:
        return "another extension has the same name"
    if one.layer not in range(LAYERS):
        return f"its layer is {one.layer}; it must be 0 to {LAYERS - 1}"
    return ""


def _unmet(by_name: dict[str, E]) -> dict[str, str]:
    unmet: dict[str, str] = {}
    for name, one in by_name.items():
        for needed in one.depends_on:
            below = by_name.get(needed)
            if below is None:
                unmet[name] = f"it depends on {safe(needed)}, which is not installed"
            elif below.layer > one.layer:
                unmet[name] = f"it is in layer {one.layer} and depends on {needed} in layer {below.layer}"
    return unmet
