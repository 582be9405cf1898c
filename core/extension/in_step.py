"""Extensions that take part in the step of a mind: their state is dumped and loaded with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from msgspec.structs import replace

from core.engine.affect.reading import AffectStep
from core.engine.governor.governor import Verdict
from core.engine.mind.readings import Thought
from core.engine.percept import Percept
from core.engine.response.reaction import Firing, Notice, Reaction
from core.engine.response.rules import NoticeKind
from core.engine.society.engine import Engine, Step
from core.engine.state import Stateful, through
from core.events import Event
from core.extension.hooks import FAULTS, Extension, ExtensionState, ordered, standing_of
from core.safe_text import safe
from core.settings import Settings

_LONGEST = 400
_MOST = 8  # Findings of one extension with one event.


class Detection(NamedTuple):
    """A detector's finding: marked on the timeline, and shown to the person."""

    rule: str  # A short name, told as `<extension>.<rule>`.
    text: str
    kind: NoticeKind = "risk"
    weight: float = 0.0  # How strong it is, for the mark.
    cooldown: float = 300.0  # Seconds within which the same rule is not told twice.


class StepExtension(Extension, Stateful):
    """Takes part in every step of every agent's mind; one object serves one agent.

    It may look at nothing but what its hooks are handed and keep nothing but what `STATE` names, so that a
    replay, a seek and a what-if find the same. It changes nothing of the mind; what it finds is added.
    """

    def before_receptor(self, event: Event) -> None:
        """An event is about to be felt."""

    def after_receptor(self, event: Event, percept: Percept) -> None:
        """It was felt."""

    def before_mind(self, event: Event, percept: Percept) -> None:
        """The mind is about to take it in."""

    def after_mind(self, event: Event, thought: Thought) -> None:
        """The mind took it in."""

    def before_governor(self, event: Event, thought: Thought) -> None:
        """The governor is about to weigh it."""

    def after_governor(self, event: Event, verdict: Verdict) -> None:
        """The governor weighed it."""

    def before_affect(self, event: Event, percept: Percept) -> None:
        """Affect is about to follow."""

    def after_affect(self, event: Event, mood: AffectStep) -> None:
        """Affect followed."""

    def before_response(self, event: Event, step: Step) -> None:
        """The response is about to be chosen; of the step only the reaction is still to come."""

    def after_response(self, event: Event, reaction: Reaction) -> None:
        """The response was chosen."""

    def find(self, event: Event, step: Step) -> Iterable[Detection]:
        """Return the findings worth a mark and a message."""
        del event, step
        return ()


StepMaker: TypeAlias = Callable[[], StepExtension]

# Each hook of a step in its order, and which part of the step it is handed; blank for all of it.
_STAGES: tuple[tuple[str, str | None], ...] = (
    ("before_receptor", None),
    ("after_receptor", "percept"),
    ("before_mind", "percept"),
    ("after_mind", "thought"),
    ("before_governor", "thought"),
    ("after_governor", "verdict"),
    ("before_affect", "percept"),
    ("after_affect", "mood"),
    ("before_response", ""),
    ("after_response", "reaction"),
)


class ExtendedEngine(Engine):
    """A mind with extensions in its step; without any, the plain engine is used and nothing is paid.

    Hooks are handed the results of the stages and nothing else, so that they run once all are there.
    """

    __slots__ = ("_counts", "_find", "_order", "_stages", "_states", "troubles")
    STATE = (*Engine.STATE, through("extended", "_take_extended"))

    def __init__(self, settings: Settings, *, extensions: Sequence[StepMaker], **options: Any) -> None:
        super().__init__(settings, **options)
        instances, _ = ordered([make() for make in extensions])
        self._order = instances
        self._counts = dict.fromkeys((one.name for one in self._order), 0)
        self.troubles: dict[str, str] = {}  # What each last failed with; words for the person, no part of the state.
        self._states: dict[str, Any] = {}  # Each one's state after the last step, so that a dump only reads.
        self._wire_layers()
        self._keep_states()

    def _wire_layers(self) -> None:
        on = [one for one in self._order if self._counts[one.name] < FAULTS]
        self._stages = [
            (one, hook, part)
            for hook, part in _STAGES
            for one in on
            if getattr(type(one), hook) is not getattr(StepExtension, hook)
        ]
        self._find = [one for one in on if type(one).find is not StepExtension.find]

    @property
    def faults(self) -> dict[str, int]:
        """How often each extension failed; part of the state, so that a replay fails alike."""
        return dict(self._counts)

    def step(self, event: Event) -> Step:
        step = super().step(event)
        for one, hook, part in self._stages:
            try:
                run = getattr(one, hook)
                if part is None:
                    run(event)
                else:
                    run(event, getattr(step, part) if part else step)
            except Exception as fault:  # noqa: BLE001 an extension may fail in any way
                self._failed(one, fault)
        detections: list[tuple[StepExtension, Detection]] = []
        for one in self._find:
            try:
                detections += [(one, _checked(each)) for each in tuple(one.find(event, step))[:_MOST]]
            except Exception as fault:  # noqa: BLE001 an extension may fail in any way
                self._failed(one, fault)
        self._keep_states()
        return replace(step, reaction=_added(step, event, detections)) if detections else step

    def standing(self) -> tuple[ExtensionState, ...]:
        """How each one does."""
        counts = self._counts
        return tuple(standing_of(one, counts, self.troubles, counts[one.name] < FAULTS) for one in self._order)

    def _failed(self, one: StepExtension, fault: Exception) -> None:
        self.troubles[one.name] = safe(f"{type(fault).__name__}: {fault}").replace("\n", " ")[:160]
        self._counts[one.name] += 1
        if self._counts[one.name] >= FAULTS:
            self._wire_layers()

    @property
    def extended(self) -> dict[str, tuple[int, Any]]:
        """Each extension's faults and state."""
        return {one.name: (self._counts[one.name], self._states[one.name]) for one in self._order}

    def _keep_states(self) -> None:
        """Ask each extension for its state as part of the step; an extension that fails is switched off."""
        for one in self._order:
            self._states[one.name] = None
            if self._counts[one.name] < FAULTS:
                try:
                    self._states[one.name] = one.dump()
                except Exception as fault:  # noqa: BLE001 an extension may fail in any way
                    self._counts[one.name] = FAULTS - 1
                    self._failed(one, fault)

    def _take_extended(self, states: Mapping[str, Sequence[Any]]) -> None:
        for one in self._order:
            count, state = states[one.name]
            if state is not None:
                one.load(state)
            self._counts[one.name] = count if state is not None else FAULTS
            self._states[one.name] = state
        self._wire_layers()


def _checked(finding: Detection) -> Detection:
    """A finding of the right shape, safe to show."""
    rule, text, kind, weight, cooldown = finding
    if kind not in ("needs_you", "risk", "done"):
        raise ValueError(f"a finding is of kind {kind!r}")
    return Detection(safe(str(rule))[:60], safe(str(text))[:_LONGEST], kind, float(weight), float(cooldown))


def _added(step: Step, event: Event, detections: list[tuple[StepExtension, Detection]]) -> Reaction:
    reaction, percept = step.reaction, step.percept
    fired, notices = list(reaction.fired), list(reaction.notices)
    for one, finding in detections:
        rule = f"{one.name}.{finding.rule}"
        fired.append(
            Firing(
                at=event.at,
                agent=event.agent,
                method=rule,
                type="status_notify",
                mode="notify",
                cue="pressure",
                state=percept.state,
                intensity=finding.weight,
                score=finding.weight,
                reason=f"found by the extension {one.name}",
                text=finding.text,
            )
        )
        notices.append(Notice(event.at, event.agent, finding.kind, rule, finding.text, finding.cooldown))
    return reaction._replace(fired=tuple(fired), notices=tuple(notices))
