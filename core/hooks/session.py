"""One session with hooks: the state of its log, and what hooks report ahead of it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from core.agents.calls import Calls, Result, exit_code, said_event
from core.agents.normalizer import AgentKit
from core.engine.percept import AXES
from core.engine.response.interventions import Advised, Adviser, Intervention, MemoLine, sentence
from core.engine.response.permits import Standing
from core.engine.society import Society
from core.engine.society.engine import Step
from core.engine.values import fingerprint
from core.events import MAIN, Action, Advice, Compaction, Event, Prompt, SessionEnd, SessionStart, ToolUse, Turn
from core.hooks.agent_answers import AgentHooks, HookCall, HookMode
from core.hooks.limits import SessionUse, Spent, figures_json
from core.live.driver import Driver, with_short_ring
from core.live.hook_signs import HookAsk, HookEndedCall, HookOpenCall, HookSigns, PermitQuestion, StatusFigures
from core.live.source import Followed
from core.live.status import Limits, StatusFacts, status_of
from core.live.status_facts import StatusTracker
from core.logs.redact.values import one_line, redact_event, redact_name
from core.report.compaction import Preserved, Preserver, handover
from core.report.plan_limits import PlanLimit
from core.settings import Settings
from core.timeline import initial_state, keyframes, opening, run_inputs

_ENDED = 32  # Calls remembered to have ended.
_OPEN = 256  # Open calls remembered: the end of some is never reported.


class AheadOfLog:
    """Calls that are open, calls that ended, and what waits for the person."""

    def __init__(self, asking: frozenset[str]) -> None:
        self._asking = asking  # Tools that put a question to the person.
        self._open: dict[str, tuple[HookOpenCall, int]] = {}  # Each with the fingerprint of its arguments.
        self._ended: dict[str, HookEndedCall] = {}
        self._asks: dict[str, HookAsk] = {}  # By what it is about.

    @property
    def open(self) -> tuple[HookOpenCall, ...]:
        """Calls begun and not ended."""
        return tuple(one for one, _ in self._open.values())

    @property
    def ended(self) -> tuple[HookEndedCall, ...]:
        """Calls that ended and are not in the log yet."""
        return tuple(self._ended.values())

    @property
    def asks(self) -> tuple[HookAsk, ...]:
        """Requests that wait for the person."""
        return tuple(self._asks.values())

    def begin(self, call: HookCall, at: float, action: Action) -> None:
        """A call is about to be made."""
        self._open[_name_of(call)] = HookOpenCall(call.id, at, call.agent, call.tool, action), _print_of(call)
        if len(self._open) > _OPEN:
            del self._open[next(iter(self._open))]

    def drop(self, call: HookCall) -> None:
        """A call was denied and is not made."""
        self._open.pop(_name_of(call), None)

    def end(self, call: HookCall, use: ToolUse, *, logged: bool) -> None:
        """End a call; nothing is kept if the log has it already."""
        self._open.pop(_name_of(call), None)
        if not use.id or logged:
            return
        tool, program, targets = redact_name(use.tool), redact_name(use.program), tuple(map(redact_name, use.targets))
        self._ended[use.id] = HookEndedCall(use.id, use.at, use.agent, tool, use.action, use.outcome, program, targets)
        if len(self._ended) > _ENDED:
            del self._ended[next(iter(self._ended))]

    def stop(self, agent: str) -> None:
        """An agent's turn is over, and with it what it had open."""
        self._open = {key: one for key, one in self._open.items() if one[0].agent != agent}

    def clear(self) -> None:
        """The session is over."""
        self._open.clear()

    def logged(self, call: str) -> None:
        """Drop a call that is complete in the log."""
        self._open.pop(call, None)
        self._ended.pop(call, None)
        self._asks.pop(call, None)

    def update_asks(self, call: HookCall, at: float) -> None:
        """Update the requests that wait for the person; other calls and agents do not answer them.

        At a prompt, the log contains everything before it.
        """
        if call.moment == "prompt":
            self._ended.clear()
        # A question of the agent's own that is open says by itself what waits.
        questions = (one for one, _ in self._open.values() if one.agent == call.agent and one.tool in self._asking)
        if call.moment in ("permission", "attention") and any(questions):
            return
        if call.moment == "permission":
            about = call.id or self._open_call_id(call)
            self._asks.pop(call.agent, None)
            why = f"{call.tool or 'it'} asks for permission"
            self._asks.setdefault(about or call.agent, HookAsk(at, why, call.agent, about))
        elif call.moment == "attention":
            if not any(ask.agent == call.agent for ask in self._asks.values()):
                self._asks[call.agent] = HookAsk(at, one_line(call.said, 80) or "it is waiting for you", call.agent)
        else:
            self._asks.pop(call.agent, None)
            if call.moment == "after_tool":
                self._asks.pop(call.id, None)
            elif call.moment != "before_tool":
                self._asks = {key: ask for key, ask in self._asks.items() if ask.agent != call.agent}
            if call.moment == "stop" and call.failed:
                why = f"an error stopped it: {one_line(call.said, 80) or 'unknown'}"
                self._asks[call.agent] = HookAsk(at, why, call.agent)

    def answered(self, call: HookCall) -> None:
        """A permission prompt was answered: it no longer waits, though the call may still run."""
        for about in (call.id or self._open_call_id(call), call.agent):
            self._asks.pop(about, None)

    def _open_call_id(self, call: HookCall) -> str:
        """The id of the open call that this tool and these arguments belong to."""
        arguments_print = _print_of(call)
        key = call.agent, call.tool, arguments_print
        calls = (one.id for one, arguments in self._open.values() if (one.agent, one.tool, arguments) == key)
        return next(calls, "")


def _name_of(call: HookCall) -> str:
    """Under which name an open call is kept; an agent that names none has its arguments."""
    return call.id or f"{call.agent} {call.tool} {_print_of(call)}"


def _print_of(call: HookCall) -> int:
    return fingerprint(repr(call.arguments))


_KNOWN = 1000  # Calls and prompts remembered, so that none is counted twice.
_FAILURES = 200
_SPAN = 60.0  # Seconds within which equal prompts of hook and log are one.
_SLACK = 1.0  # Seconds by which the log's clock may be behind that of the hooks.
_PENDING = 64  # Events of hooks that may wait for their log.
_LATE = 1  # Acts for which a word may come late.
_FRESH = 120.0  # Seconds after which a word that waits is history.
_NOTED = 600.0  # Seconds for which a line of the hot memo may be sent with a prompt.
_KEPT_FOR_IT = 200  # Priority of what was open when the context was cut: as urgent as a loop.
_AT_ONCE = 50  # Events of a log that are read at once.
_OWN_TOOLS = "mcp__nooscope__"  # Our own MCP tools, which are not the agent's work.
_BEFORE = {"batch": ("decide", "reflect"), "prompt": ("decide",), "after_tool": ("decide", "reflect")}


class HookedSession:
    """One session with hooks: its log, followed as on the screen, and the calls that hooks report before the log does.

    The state of the minds is that of the log. What only hooks told so far is applied to a copy, which lasts
    until the log tells it too. A session without a log that may be read has the hooks alone.
    """

    def __init__(
        self,
        hooks: AgentHooks,
        session: str,
        kit: AgentKit,
        settings: Settings,
        start: Callable[[str, str, str], run_inputs.RunInputs] | None = None,
        within: Callable[[Path], bool] = lambda _: False,
    ) -> None:
        self._kit = kit
        self._settings = settings
        self._start = start  # Returns the initial state and settings for a session, agent and project.
        self._within = within  # Whether a log lies where its agent keeps logs.
        self.framework = hooks.framework
        self._calls = Calls(kit, hooks.framework)
        self._limits = Limits.of(settings)
        self.name = session
        self.agent = hooks.name
        self.driver: Driver | None = None  # Follows its log, as for the screen.
        self._tracker = StatusTracker(settings.response.notices.final)
        self._own: Society | None = None  # The minds, if there is no log.
        self._pending: list[Event] = []  # Events from hooks that are not in the log yet.
        self._steers: list[Intervention] = []  # Sentences of the person's own that were not said yet.
        self._ahead_minds: Society | None = None  # A copy of the log's minds that took in what is pending.
        self.adviser = Adviser(settings.response.advice)
        self.mode: HookMode = "observe"
        self.answers = False
        self.reachable = True  # Its prompts can be answered now; of Codex, while its daemon runs.
        self.figures = StatusFigures()  # Those of its status line.
        self._known: dict[object, None] = {}  # Keys of events that were counted.
        self._first = 0.0  # When a hook first called.
        # Calls by agent that were in the log before their hook call came, which may have no id.
        self._unclaimed: Counter[str] = Counter()
        self.ahead = AheadOfLog(self._limits.asking)
        self._flow = self._quarantined = False
        self._heard = 0.0
        self.project = ""
        self.reading = False  # Its log is being read for the first time.
        self._acts = 0
        # Words whose moment came with the log's own lines, and after how many acts.
        self._due: deque[tuple[int, Intervention]] = deque(maxlen=_FAILURES)
        self._preserver = Preserver(1)
        self._cut_at = -2.0 * _FRESH  # When the context was last cut.
        self._expected = 0.0  # Chance that the call begun last fails, as such calls did before.
        self._failures: deque[tuple[float, tuple[str, ...], str]] = deque(maxlen=_FAILURES)
        self._tokens = 0
        self.use = SessionUse()
        self.on_plan = True  # A plan pays for it, as far as is known; a status line without limits says otherwise.
        self.limits: tuple[PlanLimit, ...] = ()
        self.warning = ""

    @property
    def society(self) -> Society:
        """The minds with everything known: those of the log, plus pending events of hooks."""
        if self._ahead_minds is not None:
            return self._ahead_minds
        if self.driver is not None:
            return self.driver.society
        if self._own is None:
            self._own = self._inputs.initial.society(with_short_ring(self._inputs.settings))
        return self._own

    @cached_property
    def _inputs(self) -> run_inputs.RunInputs:
        """The initial state and settings, the same as on the screen."""
        if self._start is None:
            return run_inputs.RunInputs(self._settings, initial_state.InitialState(opening.seed_of(self.name)))
        return self._start(self.name, self.framework, self.project)

    def step(self, call: HookCall, at: float) -> None:
        """Process a hook call; it becomes an event at once."""
        self._heard = at
        self._first = self._first or at
        if call.project and not self.project:
            self.project = self._calls.project = call.project
        if call.transcript and self.driver is None and self._own is None and self._within(Path(call.transcript)):
            source = Followed(Path(call.transcript), self._kit, self._settings)
            states = run_inputs.InitialStates(self._settings)
            self.driver = Driver(source, states, inputs=self._inputs, hooks=lambda _: self.signs())
            self.reading = True
        self.ahead.update_asks(call, at)
        if call.compacted and call.agent == MAIN and not self.reading:
            self._hand_over(self._preserver.now(self.society, at))
        event = self._event(call, at)
        if event is not None:
            self._go_ahead(event)

    def _go_ahead(self, event: Event) -> None:
        """Process an event of a hook, unless the log has it already."""
        if any(key in self._known for key in _keys(event)):
            return
        if isinstance(event, ToolUse) and not event.id and self._unclaimed[event.agent]:
            self._unclaimed[event.agent] -= 1
            return
        event = redact_event(event)
        if self.driver is None:
            self._know(event)
            self._preserver.before(event, self.society, "")
            step = self.society.step(event)
            self._tracker.update(event, step)
            self._react(event, step)
        elif not isinstance(event, Turn | SessionEnd):  # a log tells these by itself
            self._pending = [*self._pending, event][-_PENDING:]
            if not self.reading:
                self._react(event, self._society_ahead().step(event))

    def _society_ahead(self) -> Society:
        """The copy of the log's minds that is ahead of the log."""
        if self._ahead_minds is None and self.driver is not None:
            inputs, minds = self.driver.inputs, self.driver.society
            self._ahead_minds = inputs.initial.resumed(minds.settings, keyframes.unpack(keyframes.pack(minds.dump())))
            for one in self._steers:
                self._ahead_minds.engine(MAIN).response.steer(one.message, one.created_at, cancel=one.cancel)
        return self.society

    def _event(self, call: HookCall, at: float) -> Event | None:
        match call.moment:
            case "prompt":
                names = self._calls.look_for_names(call.said, call.agent)
                characters, text = len(call.said), fingerprint(call.said)
                return Prompt(at=at, agent=call.agent, characters=characters, call=text, names=names)
            case "before_tool" if not call.tool.startswith(_OWN_TOOLS):
                kind = self._kit.normalizer.sort(self.framework, call.tool, call.arguments)
                self.ahead.begin(call, at, kind.action)
                forecast = self.society.engine(MAIN).mind.heart.forecast
                self._expected = forecast.expect(kind.action, kind.program or call.tool)
            case "after_tool":
                code = exit_code(call.result) if call.failed else None
                result = Result(call.result, call.failed, code, call.interrupted, duration=call.duration, empty=None)
                use = self._calls.both(call.id, call.tool, call.arguments, None, at, result, None, call.agent)
                ours = call.tool.startswith(_OWN_TOOLS)
                self.ahead.end(call, use, logged=ours or ("tool", use.id) in self._known)
                return use
            case "stop":
                self.ahead.stop(call.agent)
                if call.agent == MAIN and not call.background:
                    return Turn(at=at, agent=call.agent, stop="end_turn", id=f"stop-{at:.3f}")
            case "session_end":
                self.ahead.clear()
                return SessionEnd(at=at, agent=call.agent, reason=call.said)
        return None

    def catch_up(self) -> bool:
        """Read a little of the log, and return whether there is more."""
        driver = self.driver
        if driver is None:
            return False
        events = 0
        try:
            for event, step in driver.poll(_AT_ONCE):
                events += 1
                self._ahead_minds = None
                if isinstance(event, ToolUse) and event.outcome != "pending":
                    self.ahead.logged(event.id)
                was_pending = self._was_pending(event)
                self._know(event)
                if not driver.is_retaken(event) and (self.reading or not was_pending):
                    self._react(event, step)
        except Exception:
            self._own, self.driver = self.society, None
            self.reading = False
            raise
        more = bool(events) and driver.source.behind
        if events or self.reading:
            self._settle(more)
        return more

    def _settle(self, more: bool) -> None:
        """Apply what is still pending to the minds of the log, once all of it has been read."""
        arrived, self.reading = self.reading and not more, self.reading and more
        if self.reading:
            return
        last = self.driver.tracker.last if self.driver is not None else 0.0
        earliest = {True: last - _SLACK, False: last - _FRESH}
        self._pending = [one for one in self._pending if one.at >= earliest[isinstance(one, Prompt)]]
        for event in self._pending:
            step = self._society_ahead().step(event)
            if arrived:
                self._react(event, step)

    def _was_pending(self, event: Event) -> bool:
        """Whether an event of the log was pending; then it is removed."""
        keys = set(_keys(event))
        call = isinstance(event, ToolUse) and event.outcome != "pending" and event.at >= self._first - _SLACK
        for place, one in enumerate(self._pending):
            unnamed = call and isinstance(one, ToolUse) and not one.id and one.agent == event.agent
            if unnamed or not keys.isdisjoint(_keys(one)):
                del self._pending[place]
                return True
        self._unclaimed[event.agent] += call
        return False

    def _know(self, event: Event) -> None:
        for key in _keys(event)[:1]:
            self._known[key] = None
            if len(self._known) > _KNOWN:
                del self._known[next(iter(self._known))]

    def total_use(self) -> Spent:
        """Dollars and tokens so far; a status line's own cost figure is preferred."""
        return self.use.total._replace(dollars=max(self.use.total.dollars, self.figures.cost or 0.0))

    def _react(self, event: Event, step: Step) -> None:
        """Note what an event means for advice, the guard and the caps."""
        if self.driver is not None and not isinstance(event, Compaction):
            self._preserver.before(event, self.society, "")
        if isinstance(event, SessionStart):
            self.project = event.project or self.project
        elif isinstance(event, Turn):
            self._tokens = event.context_tokens or self._tokens
            self.use.update(event)
        elif isinstance(event, Prompt):
            self.adviser.turn()
        elif isinstance(event, Compaction) and event.agent == MAIN:
            cuts = self._preserver.kept if self.driver is None else self.driver.preserved()
            if cuts:
                self._hand_over(cuts[-1])
        elif isinstance(event, ToolUse):
            self.adviser.act()
            self._acts += 1
            if event.outcome == "failure":
                targets = tuple(map(redact_name, event.targets))
                self._failures.append((event.at, targets, redact_name(event.program or event.tool)))
        if event.agent == MAIN:
            words = [one.intervention for one in step.reaction.interventions if one.fate == "delivered"]
            self._due.extend((self._acts, _redacted(word._replace(window=None))) for word in words)
            signals = step.percept.signals
            self._flow = bool(signals) and signals[0].name == "flow_active"
            self._quarantined = step.mood.quarantined

    def _hand_over(self, cut: Preserved) -> None:
        """Queue a sentence on what was open at a compaction, once for hook and log together."""
        at, before = cut.at, self._cut_at
        self._cut_at = at
        words = handover(cut)
        if words and abs(at - before) > _FRESH:
            word = Intervention(
                0, "follow_up", None, None, False, words, _KEPT_FOR_IT, "compaction", at, at + _FRESH, cut.state
            )
            self._due.append((self._acts, word))

    @property
    def is_new(self) -> bool:
        """Whether the agent has done nothing yet."""
        return self._acts == 0

    def advice(self, moment: str, starting_lines: Iterable[tuple[str, str]] = ()) -> Advised | None:
        """Return the advice due at a moment; nothing old, and nothing before the log was read."""
        if self.reading:
            return None
        engine = self.society.engine(MAIN)
        fresh = [one for one in engine.response.queue.waiting if self._heard - one.created_at <= _FRESH]
        due = [one for acts, one in self._due if self._acts - acts <= _LATE]
        due += map(_redacted, (*self._steers, *fresh))
        if moment == "prompt":
            notes = list(engine.response.notes)
            notes += [MemoLine(self._heard, name, line) for name, line in starting_lines]
            if self.is_new:
                playbook = engine.mind.heart.episodes.playbook
                notes += [MemoLine(self._heard, "playbook", f"Earlier here: {one.line()}.") for one in playbook]
            due += [_noted(line) for line in notes if self._heard - line.at < _NOTED]
        return self.adviser.choose(due, flow=self._flow, moments=_BEFORE.get(moment, ()))

    def record_said(self, advised: Advised, at: float, *, withheld: bool = False) -> None:
        """Record a sentence as sent, which the log will repeat; a withheld one is not an event."""
        self.adviser.record_said(advised)
        if withheld:
            return
        self._steers = [one for one in self._steers if sentence(one.message) != advised.sentence]
        self._go_ahead(said_event(advised.sentence, at))

    def steer(self, message: str, at: float, *, cancel: bool = False) -> None:
        """Queue a sentence of the person's own for the next moment; `cancel` denies the next call with it."""
        steer = self._society_ahead().engine(MAIN).response.steer(message, at, cancel=cancel)
        self._steers.append(steer)

    def standing(self) -> Standing:
        """The state of governor and budget, the only inputs to permits; none while the log is first read."""
        if self.reading:
            return Standing()
        engine = self.society.engine(MAIN)
        reading = engine.governor.read()
        halted = reading.state == "HALTED"
        heart, reason = engine.mind.heart, (reading.halt or "halted").lower() if halted else ""
        trust = heart.homeostasis.tool_trust
        return Standing(reason, reading.halt == "EXTERNAL", heart.vitality.economic, trust)

    def doubt(self) -> str:
        """Return why the person must approve a write first, or a blank."""
        guard = self._settings.response.guard
        if self.reading:
            return ""
        if guard.quarantine and self._quarantined:
            return "its affect is quarantined"
        if guard.executing and not self.society.engine(MAIN).mind.heart.executing:
            return "its commands fail and it has no confidence left: it is not executing"
        return ""

    def cancellation(self) -> Advised | None:
        """The sentence with which the next call is denied, if a steer that cancels waits."""
        if self.reading:
            return None
        due = [one for acts, one in self._due if self._acts - acts <= _LATE]
        waiting = self.society.engine(MAIN).response.queue.waiting
        steers = [one for one in (*self._steers, *waiting, *due) if one.cancel]
        word = next((one for one in steers if not self.adviser.repeats(one.message)), None)
        return None if word is None else Advised(sentence(word.message), word.sender)

    def facts(self) -> StatusFacts:
        """Facts about the session now."""
        if self.driver is not None:
            return self.driver.facts(max(self._heard, self.driver.heard))
        open_calls = [call.event() for call in self.ahead.open]
        last_sign = max(self._heard, self._tracker.last)
        facts = self._tracker.facts(self.society, open_calls, heard=last_sign)
        return replace(facts, events=max(1, facts.events))

    def asks_itself(self, call: HookCall) -> bool:
        """Whether a call is a question of the agent's own to the person."""
        return call.tool in self._limits.asking

    def signs(self, questions: Sequence[PermitQuestion] = ()) -> HookSigns:
        """The hook state of the session."""
        heard, mode, answers = self._heard, self.mode, self.answers and self.reachable
        calls = self.ahead.asks, self.ahead.open, self.ahead.ended
        return HookSigns(heard, mode, *calls, tuple(questions), self.figures, answers, self.warning, self.limits)

    def status(self, at: float, questions: Sequence[PermitQuestion] = ()) -> dict[str, object]:
        """The session's status and readings, for status line and MCP."""
        asks = self.signs(questions).asking()
        status = status_of(replace(self.facts(), asks=asks), at, self._limits)
        engine = self.society.engine(MAIN)
        values = engine.receptor.read(at).axes
        loudest = max(range(len(AXES)), key=lambda place: values[place].value - values[place].threshold)
        gauge = engine.mind.heart.gauge
        return {
            "session": self.name,
            "agent": self.agent,
            "project": one_line(self.project, 200),
            "status": status.word,
            "level": status.level,
            "why": one_line(status.reason, 200),
            "ending": status.ending,
            "sentence": one_line(status.words, 200),
            "since": status.since,
            "axis": AXES[loudest],
            "value": round(values[loudest].value, 2),
            "context": round(gauge.fill, 3),
            "turns_left": gauge.turns_left(),
            "tokens": self._tokens,
            "cost": round(self.use.total.dollars, 4),
            "budget": round(engine.mind.heart.vitality.economic, 3),
            "call_fails": round(self._expected, 2) if self.ahead.open else None,
            "governor": engine.governor.read().state,
            "executing": engine.mind.heart.executing,
            "notes": one_line(engine.response.memo(), 2000),
            **figures_json(self.figures, self.limits),
            "cap": self.warning,
        }

    def failed_before(self, path: str) -> list[str]:
        """Failures at a path in words, the newest first."""
        relative = self._calls.relative(path)
        counts: dict[str, int] = {}
        for _, targets, what in reversed(self._failures):
            if not relative or any(target == relative or target.startswith(relative + "/") for target in targets):
                words = one_line(f"{what} failed at {', '.join(targets) or 'no path'}", 200)
                counts[words] = counts.get(words, 0) + 1
        return [words if count == 1 else f"{words}, {count} times" for words, count in counts.items()][:10]


def _noted(line: MemoLine) -> Intervention:
    """A line of the hot memo as the least urgent thing to say."""
    return Intervention(0, "follow_up", None, None, False, line.text, 0, line.method, line.at, line.at + _NOTED, "idle")


def _redacted(word: Intervention) -> Intervention:
    return word._replace(message=one_line(word.message, 400))


def _keys(event: Event) -> tuple[tuple[object, ...], ...]:
    """Keys under which hook and log may report the same event; times of prompts differ a little."""
    match event:
        case ToolUse():
            return (("tool", event.id),) if event.id and event.outcome != "pending" else ()
        case Prompt():
            span = int(event.at // _SPAN)
            return tuple(("prompt", event.call, span + near) for near in (0, -1, 1))
        case Turn() if not event.id.startswith("stop-"):
            return (("turn", event.id or event.at),)
        case Advice():
            return (("advice", event.call),)
        case _:
            return ()
