"""The response: scores the methods, runs those that fire, and keeps their results."""

from __future__ import annotations

from collections import deque

from core.engine.affect.reading import AffectStep
from core.engine.governor.governor import Verdict
from core.engine.mind.mind import Mind
from core.engine.mind.readings import Thought
from core.engine.mind.tiers import BANDS, Band
from core.engine.percept import AXES, NEUTRAL, Percept
from core.engine.receptor import Receptor
from core.engine.receptor.persona import Persona, distribution
from core.engine.response.actions import REGISTRY, CheckpointRequest, Delegates, Scene, advised_delegate
from core.engine.response.interventions import HotMemo, Intervention, InterventionQueue, MemoLine, PastIntervention
from core.engine.response.loops import Loop, LoopDetector
from core.engine.response.outlook import OutlookReading, outlook
from core.engine.response.reaction import QUIET, Firing, Notice, Reaction, ResponseReading
from core.engine.response.rules import (
    CUE_OF,
    NOTHING_LEARNED,
    Cue,
    Deliver,
    Learned,
    Method,
    RuleSet,
    Window,
    built_in,
    cue_deltas,
    fill,
)
from core.engine.response.scoring import ActTally, Scorer, SessionTally, Shot
from core.engine.state import Stateful, inner, mapped, row, tuple_queue
from core.events import ACTIONS, MAIN, Advice, AgentEnd, AgentStart, Event, Prompt, SessionEnd, ToolUse, Turn
from core.settings.response import ResponseEscalationSettings, ResponseSettings


class Escalation(Stateful):
    """Join troubles as independent chances; ask once when they reach the threshold.

    It asks again after the pressure fell well below, or after the person spoke.
    """

    STATE = ("_armed", "pressure")

    def __init__(self, settings: ResponseEscalationSettings) -> None:
        self.weights: dict[Cue, float] = {
            "compound": settings.compound,
            "frustration": settings.frustration,
            "seeking": settings.seeking,
            "uncertainty": settings.uncertainty,
            "fatigue": settings.fatigue,
        }
        self._loop = settings.loop
        self._halt = settings.halt
        self._rearm = settings.rearm
        self._armed = True
        self.pressure = 0.0

    def update(self, calm: float, loop: Loop | None, halted: bool, threshold: float) -> float | None:
        """The pressure where the person should be asked now, else None; `calm` is what signals leave of 1."""
        if halted:
            calm *= 1.0 - self._halt
        if loop is not None:
            press = self._loop * loop.intensity
            calm *= 1.0 - press if press < 1.0 else 0.0
        self.pressure = pressure = 1.0 - calm
        if pressure >= threshold:
            if self._armed and pressure > 0.0:
                self._armed = False
                return pressure
        elif pressure < self._rearm * threshold:
            self._armed = True
        return None

    def answer(self) -> None:
        """The person spoke."""
        self._armed = True


_FRUSTRATION = AXES.index("frustration")
_PERSON = Deliver(kind="steer", priority=255)
_CANCEL = Deliver(kind="steer", priority=255, cancel=True)

_PERSISTENCE = NEUTRAL.persistence
_PATIENCE = 2  # Repetitions that affect may add to the limit of a loop; it may take one away.


class Response(Stateful):
    """The interpretation of one agent's signals; it looks at receptor and mind and touches neither."""

    NAMED = True
    STATE = (
        inner("_scorer"), inner("_escalation"), inner("_memo"), tuple_queue("_log", MemoLine),
        tuple_queue("_checkpoints", CheckpointRequest), mapped("_counts"), "ended", "resolved", "_means", "_band",
        row("_last", Firing), inner("loops"), inner("queue"), inner("tally"), inner("delegates"),
    )  # fmt: skip

    def __init__(
        self,
        settings: ResponseSettings,
        receptor: Receptor,
        mind: Mind,
        *,
        rules: RuleSet | None = None,
        learned: Learned | None = None,
        agent: str = MAIN,
    ) -> None:
        self.rules = built_in() if rules is None else rules
        self._learned = learned or NOTHING_LEARNED
        self._settings = settings
        self._receptor = receptor
        self._mind = mind
        self._scorer = Scorer(settings.scoring, self.rules, cue_deltas(self._learned, settings.learning))
        self._escalation = Escalation(settings.escalation)
        self._ears = {
            name: (self._scorer.floor[cue], self._escalation.weights.get(cue, 0.0)) for name, cue in CUE_OF.items()
        }
        self._ears["flow_active"] = (1.0, 0.0)
        self._memo = HotMemo(settings.memo)
        self._log: deque[MemoLine] = deque(maxlen=settings.actions.log)
        self._checkpoints: deque[CheckpointRequest] = deque(maxlen=settings.memo.size)
        self._agent = agent
        self._final = frozenset(self._settings.notices.final) if agent == MAIN else frozenset()
        self._counts: dict[str, int] = {}
        self.ended = False
        self.resolved = False  # Whether a test passed or a commit succeeded, and nothing has failed since.
        self._means = ""
        self._band: Band = "normal"
        self._last: Firing | None = None
        self.loops = LoopDetector(settings.loops, frozenset(settings.notices.final))
        self.queue = InterventionQueue(settings.queue)
        self.tally = ActTally()
        self.delegates = Delegates()
        self._personas: tuple[Persona, ...] = ()

    def meet(self, personas: tuple[Persona, ...]) -> None:
        """Take the personas that a look ahead may ask."""
        self._personas = personas

    def step(self, event: Event, percept: Percept, thought: Thought, verdict: Verdict, mood: AffectStep) -> Reaction:
        """Process one event and what the other models made of it."""
        lean = mood.modulation.persistence - _PERSISTENCE
        loop = self.loops.update(event, 0 if -0.5 <= lean <= 0.5 else max(-1, min(_PATIENCE, round(lean))))
        tally = self.tally
        tally.time(percept.at, percept.now)
        if thought.ticks.theta:
            tally.sample(percept.axes)
        kind = type(event)
        if kind is Turn:
            self._watch_means(thought)
        if type(event) is Advice:
            frustration = percept.axes[_FRUSTRATION]
            episode = self.queue.record_said(event.call, percept.at, percept.state, frustration)
            return QUIET._replace(interventions=(episode,))
        delivered = self._deliver(event, percept, thought) if self.queue.waiting else ()
        reaction = QUIET
        if kind is ToolUse or kind is Prompt:
            self.ended = False
            tally.patterns[percept.pattern] += 1
            tally.states[percept.state] += 1
            if kind is ToolUse:
                tally.actions[event.action] += 1  # type: ignore[union-attr]
                self._resolve(event)  # type: ignore[arg-type]
            else:
                self._escalation.answer()
            if self.queue.open:
                self.queue.follow(percept.state, percept.axes[_FRUSTRATION])
            if percept.signals or loop is not None or verdict.halted_now or self._means:
                reaction = self._weigh(percept, verdict, mood, loop, True)
            else:
                self._scorer.rest(percept.at, percept.state, ())
            self._means = ""
        elif kind is AgentStart or kind is AgentEnd:
            self.delegates.update(event)  # type: ignore[arg-type]
        elif loop is not None:
            self.ended = self._ends(event)
            reaction = self._weigh(percept, verdict, mood, loop, False)
        elif self._ends(event):
            self.ended = True
            reaction = self._done(event)
        return reaction._replace(interventions=delivered) if delivered else reaction

    def _watch_means(self, thought: Thought) -> None:
        """Keep what an answer says of means that run out, until the next act."""
        if thought.stimulus is not None and thought.stimulus.cause == "context":
            self._means = thought.stimulus.what
        heart = self._mind.heart
        if heart.band != self._band:
            if BANDS.index(heart.band) > BANDS.index(self._band):
                self._means = f"{heart.tiers.used:.0%} of the day's budget is used"
            self._band = heart.band

    def _resolve(self, event: ToolUse) -> None:
        if event.outcome == "failure":
            self.resolved = False
        elif event.purpose in ("test", "commit") and event.outcome in ("success", "empty"):
            self.resolved = True

    def _ends(self, event: Event) -> bool:
        """Whether the agent ends its turn, or the session is over."""
        return type(event) is SessionEnd or (type(event) is Turn and event.stop in self._final)

    def _done(self, event: Event) -> Reaction:
        if self._agent != MAIN:
            return QUIET
        over = type(event) is SessionEnd
        text = "The session is over." if over else "Done, and waiting for you."
        return QUIET._replace(notices=(Notice(event.at, self._agent, "done", "done", text, 0.0),))

    def _weigh(self, percept: Percept, verdict: Verdict, mood: AffectStep, loop: Loop | None, act: bool) -> Reaction:
        """Gather what may be heard and let the methods that fire act; but for an act only a loop is heard."""
        signals = percept.signals
        at, state = percept.at, percept.state
        extra: list[tuple[Cue, float]] = []
        if loop is not None:
            extra.append(("loop", loop.intensity))
        loud = loop is not None
        if act:
            calm = 1.0
            ears = self._ears
            for name, intensity, fresh in signals:
                floor, weight = ears[name]
                if intensity > floor:
                    loud = True
                press = weight * intensity
                calm *= 1.0 - press if press < 1.0 else 0.0
                if fresh:
                    self.tally.fired(name)
            if self._means:
                loud = True
                extra.append(("mortality", 1.0))
            if verdict.halted_now:
                loud = True
                extra.append(("halt", 1.0))
            pressure = self._escalation.update(
                calm, self.loops.current, verdict.state == "HALTED", mood.modulation.escalation_threshold
            )
            if pressure is not None:
                loud = True
                extra.append(("pressure", pressure))
        if not loud:
            self._scorer.rest(at, state, signals)
            return QUIET
        if not act:
            signals = signals[:1] if signals and signals[0][0] == "flow_active" else ()
        shots = self._scorer.update(at, state, signals, extra)
        if not shots:
            return QUIET if loop is None else QUIET._replace(loop=loop)
        return self._fire(shots, percept, verdict, mood, loop)

    def _fire(
        self, shots: list[Shot], percept: Percept, verdict: Verdict, mood: AffectStep, loop: Loop | None
    ) -> Reaction:
        fired: list[Firing] = []
        notices: list[Notice] = []
        checkpoints: list[CheckpointRequest] = []
        at, state, trouble = percept.at, percept.state, percept.axes[_FRUSTRATION]
        heatmap, settings = self._receptor.heatmap, self._settings.actions
        signature = distribution(self.tally.actions, ACTIONS)
        delegates = self.delegates.order(mood.modulation.delegation_preference, percept.failure_rate)
        for method, cue, intensity, score in shots:
            pressure = self._escalation.pressure
            scene = Scene(
                at, self._agent, cue, intensity, percept, verdict, loop, pressure, self._mind, heatmap, settings,
                signature, self._personas, delegates, self._means,
            )  # fmt: skip
            name, reason = method.id, scene.reason()
            text, checkpoint = REGISTRY[method.type](scene, method)
            firing = Firing(at, self._agent, name, method.type, method.mode, cue, state, intensity, score, reason, text)
            self._counts[name] = self._counts.get(name, 0) + 1
            self._last = firing
            fired.append(firing)
            if checkpoint is not None:
                checkpoints.append(checkpoint)
                self._checkpoints.append(checkpoint)
            line = MemoLine(at, name, text)
            if method.mode == "background":
                self._log.append(line)
            else:
                self._memo.add(line)
            notice = self.notice(method, firing) if method.mode == "notify" else None
            deliver = method.action.deliver
            if deliver is not None and mood.quarantined and score < mood.modulation.mutation_acceptance:
                withheld = f"Not sent to the agent while its affect is unsettled: {text}"
                notice = (notice or self.notice(method, firing))._replace(text=withheld)
            elif deliver is not None:
                message = fill(method.action.tell, scene.words()) if method.action.tell else text
                if method.action.tell:
                    message = f"{message} {advised_delegate(scene)}".rstrip()
                self.queue.push(deliver, message, name, at, state, trouble)
            if notice is not None:
                notices.append(notice)
        return Reaction(tuple(fired), tuple(notices), (), loop, tuple(checkpoints))

    def notice(self, method: Method, firing: Firing) -> Notice:
        """Return the notice for the person."""
        rest = self._scorer.cooldown(method.id)
        return Notice(firing.at, firing.agent, method.action.kind, method.id, firing.text, rest)

    def steer(self, message: str, at: float, *, cancel: bool = False) -> Intervention:
        """Queue a sentence of the person's own; `cancel` stops what the agent is about to do."""
        return self.queue.push(_CANCEL if cancel else _PERSON, message, "person", at, "idle", 0.0)

    def _deliver(self, event: Event, percept: Percept, thought: Thought) -> tuple[PastIntervention, ...]:
        windows: list[Window] = []
        if type(event) is Turn or type(event) is Prompt:
            windows.append("decide")
        elif type(event) is ToolUse:
            windows.append("reflect")
        if thought.ticks.theta:
            windows.append("curator")
        if thought.dream is not None:
            windows.append("dream")
        return self.queue.drain(percept.at, windows, percept.axes[_FRUSTRATION])

    def read(self, asks_at: float, preference: float = NEUTRAL.delegation_preference) -> ResponseReading:
        """Return the readings for a screen; affect decides how soon the person is asked, and how work is delegated."""
        return ResponseReading(
            candidates=self._scorer.candidates(),
            memo=self._memo.entries,
            memo_text=self._memo.text(),
            queue=self.queue.read(),
            log=tuple(self._log),
            fired=tuple(self._counts.items()),
            last=self._last,
            loops=self.loops.read(),
            pressure=self._escalation.pressure,
            asks_at=asks_at,
            learned=tuple(self._learned.deltas.items()),
            checkpoints=tuple(self._checkpoints),
            outlook=self.outlook(),
            delegates=self.delegates.order(preference, self._receptor.failure_rate),
        )

    def outlook(self) -> OutlookReading:
        """Whether the run goes worse or better than is usual for its agent."""
        return outlook(self._receptor.facts.read(), self.ended, self._settings.outlook)

    @property
    def notes(self) -> tuple[MemoLine, ...]:
        """The lines of the hot memo, oldest first."""
        return self._memo.entries

    def memo(self, tokens: int | None = None) -> str:
        """Return the memo as text for the agent."""
        return self._memo.text(tokens)

    def session(self) -> SessionTally:
        """The statistics of the session so far."""
        return self.tally.read()
