"""From events to stimuli: what, out of all that happens, may ask for attention."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias, get_args

from blake3 import blake3
from msgspec.structs import asdict

from core.engine.state import Stateful, grouped, mapped, tabled
from core.events import Action, AgentEnd, Compaction, Event, Prompt, ToolUse, Turn
from core.settings.mind import StimulusSettings

# OwnerMessage, PolicyViolation, ChainConfirmation, PriceAnomaly, PheromoneHit and DreamRequest.
StimulusKind = Literal["owner_message", "policy_violation", "confirmation", "anomaly", "trace", "dream_request"]
STIMULUS_KINDS: tuple[StimulusKind, ...] = get_args(StimulusKind)

Cause = Literal[
    "prompt", "interrupt", "halt", "destructive", "rejected", "failure", "streak", "repeat", "burn", "report", "peer",
    "shift", "test", "build", "commit", "compaction", "context", "deadline",
]  # fmt: skip

# The governor halted, another agent reported, or something meant for the agent was not said in time.
News = Literal["halt", "peer", "deadline"]

SCHEMA = 1  # Enters every pattern: a change of the key fields changes all patterns.

_CALL = 255
_MEMO = 4096
_WORDS = 48


class Stimulus(NamedTuple):
    """One thing that may draw attention."""

    kind: StimulusKind
    cause: Cause
    pattern: bytes  # 16 bytes: equal for stimuli that are alike in kind, tool and coarse target.
    urgency: float
    what: str  # A few words a person understands.
    measure: float = 1.0  # How much of it: characters, failures, times the usual burn, share of the context.
    action: Action | Literal[""] = ""  # Which class of tool it is about; blank where it is about none.


Stimuli: TypeAlias = tuple[Stimulus, ...]


@lru_cache(_MEMO)
def pattern_of(kind: int, tool: str, coarse: str) -> bytes:
    """Hash kind, schema and key fields to 16 bytes; never the exact text."""
    return blake3(bytes((kind, SCHEMA)) + tool.encode() + b"\0" + coarse.encode()).digest(length=16)


def coarse_target(event: ToolUse) -> str:
    """The program of a command, else the folder of the first target."""
    if event.program:
        return event.program
    if not event.targets:
        return ""
    return event.targets[0].rpartition("/")[0] or "."


class StimulusSource(Stateful):
    """Watch the stream and say which events are stimuli."""

    STATE = (
        tabled("_calls", 2), grouped("failed", "_streak", "_failed_action", "_failed_name", "_failed_same"),
        grouped("turns", "_burn", "_burn_turns", "_fresh_context", "_near_told"), mapped("news"), "looping",
    )  # fmt: skip

    def __init__(self, settings: StimulusSettings) -> None:
        self._urgency: dict[str, float] = asdict(settings.urgency)
        self._again = settings.urgency.again
        self._settings = settings
        self._calls: dict[int, tuple[int, int]] = {}
        self._streak = 0
        self._failed_action = ""
        self._failed_name = ""
        self._failed_same = 0
        self._burn = 0.0
        self._burn_turns = 0
        self._fresh_context = True
        self._near_told = False
        self.news: dict[News, float] = {}  # What other rooms reported since the last event, and how much of it.
        self.looping = False  # Whether the last call was a repeat that brought nothing new.

    def report(self, news: News, measure: float = 1.0) -> None:
        """Keep what another room reports; it becomes a stimulus with the next event."""
        self.news[news] = max(measure, self.news.get(news, 0.0))

    def call_pattern(self, event: ToolUse) -> bytes:
        """Return the pattern of a call, whatever its outcome."""
        coarse, targets = event.program, event.targets
        if targets and not coarse:
            coarse = targets[0].rpartition("/")[0] or "."
        return pattern_of(_CALL, event.tool, coarse)

    def update(self, event: Event, context: float, shifted: bool) -> Stimuli:
        """Return what in this event may draw attention; mostly nothing."""
        stimuli: Stimuli
        if type(event) is ToolUse:
            stimuli = self.tool_use(event)
        elif type(event) is Turn:
            burn = event.input_tokens + event.output_tokens + event.cache_write
            stimuli = self.turn(event, burn, context)
        else:
            stimuli = self._rarer(event)
        return self.more(stimuli, shifted) if shifted or self.news else stimuli

    def more(self, stimuli: Stimuli, shifted: bool) -> Stimuli:
        """Return the stimuli an event brings beside itself: news before it, a shift after it."""
        if shifted:
            stimuli = (*stimuli, self._stimulus("trace", "shift", "shift", "", "moved to other paths"))
        stimuli = (*[self._reported(news, measure) for news, measure in self.news.items()], *stimuli)
        self.news = {}
        return stimuli

    def _rarer(self, event: Event) -> Stimuli:
        if type(event) is Prompt:
            return (self._prompt(event),)
        if type(event) is AgentEnd:
            words = "sub-agent failed" if event.outcome == "failure" else "sub-agent done"
            return (self._stimulus("trace", "report", "agent", event.outcome, words),)
        if type(event) is Compaction:
            self._near_told, self._fresh_context = False, True
            words = f"compaction, {event.tokens_before // 1000}k tokens" if event.tokens_before else "compaction"
            return (self._stimulus("dream_request", "compaction", "compaction", event.trigger, words),)
        return ()

    def _prompt(self, event: Prompt) -> Stimulus:
        self._streak = self._failed_same = 0
        self._calls.clear()
        self.looping = False
        if event.interrupt:
            return self._stimulus("owner_message", "interrupt", "prompt", "interrupt", "stopped by the person")
        size = event.characters
        return self._stimulus("owner_message", "prompt", "prompt", "", f"prompt, {size} characters", float(size))

    def _reported(self, news: News, measure: float) -> Stimulus:
        if news == "halt":
            return self._stimulus("policy_violation", "halt", "governor", "", "governor halted")
        if news == "deadline":
            return self._stimulus("policy_violation", "deadline", "queue", "", "advice not given in time")
        return self._stimulus("trace", "peer", "peer", "", "news from another agent", measure)

    def tool_use(self, event: ToolUse) -> Stimuli:
        """Return the stimuli in a call."""
        outcome = event.outcome
        if outcome == "rejected":
            coarse = coarse_target(event)
            return (self._of_call("policy_violation", "rejected", event, coarse, f"{_name(event)} rejected"),)
        repeats = self._repeated(event)
        if event.purpose == "destructive":
            words = f"{_name(event)}, destructive"
            return (self._of_call("policy_violation", "destructive", event, coarse_target(event), words),)
        if outcome == "failure":
            return (self._failure(event, repeats),)
        if outcome != "success":
            return ()
        if self._streak and event.action == self._failed_action:
            self._streak = self._failed_same = 0
        if repeats >= self._settings.repeats:
            urgency = self._urgency["repeat"] + self._again * (repeats - self._settings.repeats)
            words = f"{_name(event)} repeated x{repeats}"
            return (self._anomaly("repeat", event, urgency, words, repeats),)
        purpose = event.purpose
        if purpose == "test" or purpose == "build" or purpose == "commit":
            words = f"{_name(event)}: {_DONE[purpose]}"
            return (self._of_call("confirmation", purpose, event, coarse_target(event), words),)
        return ()

    def _repeated(self, event: ToolUse) -> int:
        """Count equal calls that brought nothing new; waiting and blank results never count."""
        call, result = event.call, event.result
        if not call:
            self.looping = False
            return 0
        calls = self._calls
        last = calls.pop(call, None)
        if last is None:
            times = 1
            if len(calls) >= self._settings.repeat_memory:
                del calls[next(iter(calls))]
        else:
            times = last[1] + 1 if last[0] == result != 0 and event.purpose != "wait" else 1
        calls[call] = (result, times)
        self.looping = times >= self._settings.repeats
        return times

    def _failure(self, event: ToolUse, repeats: int) -> Stimulus:
        name = _name(event)
        self._streak += 1
        self._failed_same = self._failed_same + 1 if name == self._failed_name else 1
        self._failed_name = name
        self._failed_action = event.action
        same, streak = self._failed_same, self._streak
        cause: Cause = "streak" if streak >= self._settings.streak else "failure"
        if cause == "failure" and repeats >= self._settings.repeats:
            cause = "repeat"
        urgency = self._urgency["failure"] + self._again * (max(streak, repeats) - 1)
        words = f"{name} failed" if same == 1 else f"{name} failed x{same}"
        if streak > same and cause == "streak":
            words = f"{words}, {streak} in a row"
        return self._anomaly(cause, event, urgency, words, repeats if cause == "repeat" else streak)

    def turn(self, event: Turn, burn: int, context: float) -> Stimuli:
        """Return the stimuli of an answer with that many new tokens."""
        stimuli: Stimuli = ()
        usual = self._burn
        if self._fresh_context:
            self._fresh_context = False
        elif burn:
            if self._burn_turns >= self._settings.burn_warmup and burn >= max(
                self._settings.burn_floor, usual * self._settings.burn_factor
            ):
                times = burn / usual if usual > 0 else 1.0
                words = f"token use {times:.0f}x normal, {burn // 1000}k in a turn"
                stimuli = (self._stimulus("anomaly", "burn", "burn", event.model, words, times),)
            self._burn = usual + self._settings.burn_smoothing * (burn - usual) if self._burn_turns else float(burn)
            self._burn_turns += 1
        if context < self._settings.context_near:
            self._near_told = False
        elif not self._near_told:
            self._near_told = True
            words = f"context {context:.0%} to compaction"
            stimuli = (*stimuli, self._stimulus("dream_request", "context", "context", "", words, context))
        return stimuli

    def _anomaly(self, cause: Cause, event: ToolUse, urgency: float, words: str, measure: int) -> Stimulus:
        pattern = pattern_of(_BYTES["anomaly"], event.tool, coarse_target(event))
        return Stimulus("anomaly", cause, pattern, min(1.0, urgency), words, float(measure), event.action)

    def _of_call(self, kind: StimulusKind, cause: Cause, event: ToolUse, coarse: str, what: str) -> Stimulus:
        return self._stimulus(kind, cause, event.tool, coarse, what)._replace(action=event.action)

    def _stimulus(
        self, kind: StimulusKind, cause: Cause, tool: str, coarse: str, what: str, measure: float = 1.0
    ) -> Stimulus:
        return Stimulus(kind, cause, pattern_of(_BYTES[kind], tool, coarse), self._urgency[cause], what, measure)


_BYTES: dict[StimulusKind, int] = {kind: number for number, kind in enumerate(STIMULUS_KINDS, start=1)}
_DONE = {"test": "tests pass", "build": "build passes", "commit": "committed"}


def _name(event: ToolUse) -> str:
    name = event.program or event.tool or event.action
    return name if len(name) <= _WORDS else name[: _WORDS - 1] + "…"
