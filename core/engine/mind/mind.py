"""The mind: one event through attention, sleep, habituation, homeostasis and clock, in one readable order."""

from __future__ import annotations

from collections.abc import Iterable

from core.engine.mind import fabric
from core.engine.mind.clock import MICRO, NO_TICKS, Ticks, Trigger, Wakeup, Wakeups
from core.engine.mind.cortical import Regime
from core.engine.mind.episode import Episode, Recalled
from core.engine.mind.heart import Heart
from core.engine.mind.readings import MindReading, Thought, read_mind
from core.engine.mind.stimulus import News, Stimuli, StimulusSource
from core.engine.percept import EVEN, NEUTRAL, Composition, Modulation, Percept
from core.engine.state import Stateful, grouped, inner
from core.events import MAIN, Compaction, Event, Prompt, ToolUse, Turn
from core.settings.mind import MindSettings

# Names of what `Mind.levels` gives.
LEVELS = ("sleep", "context", "pleasure", "arousal", "dominance", "accuracy", "vitality", "budget")


class Mind(Stateful):
    """All mechanisms of one agent's mind."""

    VERSION = 1
    NAMED = True
    STATE = (
        inner("_source"), inner("_wakeups"), inner("heart"), "_turns",
        grouped("asked", "_asked_at", "_worked_at", "_asked_turns", "_asked_cost", "_invocation"),
    )  # fmt: skip

    def __init__(
        self, settings: MindSettings, seed: bytes = b"", agent: str = MAIN, wakeups: tuple[Trigger, ...] = ()
    ) -> None:
        self._settings = settings
        self._source = StimulusSource(settings.stimuli)
        self._wakeups = Wakeups(settings.wakeups, wakeups)
        self.heart = Heart(settings, seed, agent)
        self._turns = 0
        self._asked_at: float | None = None  # When the person asked; None once the work on it is over.
        self._worked_at = 0.0  # When the agent last did something about it.
        self._asked_turns = 0
        self._asked_cost = 0.0
        self._invocation = 0
        # What the last moment is like, once somebody looked; only a step makes another moment.
        self._recalled: tuple[Recalled, ...] | None = None

    def step(
        self, event: Event, percept: Percept, modulation: Modulation = NEUTRAL, composition: Composition = EVEN
    ) -> Thought:
        """Advance subjective time, then process the event."""
        heart, source = self.heart, self._source
        self._recalled = None
        heart.begin(event.at, percept, modulation, composition)
        ticks = NO_TICKS
        if percept.now * MICRO >= heart.clock.due:
            ticks = heart.clock.advance(percept.now)
            heart.beat(ticks)
        kind = type(event)
        if kind is ToolUse:
            stimuli = self._tool_use(event)  # type: ignore[arg-type]
        elif kind is Turn:
            stimuli = self._turn(event)  # type: ignore[arg-type]
        else:
            stimuli = self._rarer_event(event)
        if percept.shifted or source.news:
            stimuli = source.more(stimuli, percept.shifted)
        regime = heart.regime.regime
        changed = heart.regime.update(percept, source.looping)
        if changed:
            self._regime_changed(regime)
            regime = heart.regime.regime
        novelty, wakeup, episode = 1.0, None, None
        if stimuli:
            novelty = self._attend(stimuli)
            wakeup = self._wakeups.update(stimuli, event.at)
            if wakeup is not None:
                ticks, wakeup = self._wake(wakeup, ticks)
        elif kind is ToolUse:
            novelty = heart.habituation.observe(
                source.call_pattern(event),  # type: ignore[arg-type]
                heart.clock.gamma,
                event.program or event.tool,  # type: ignore[union-attr]
            )
        if kind is not Turn:
            episode = self._remember(event, percept.pattern)
        dream = heart.dreamt
        return Thought(
            ticks, wakeup, stimuli[0] if stimuli else None, novelty, regime, changed, dream, dream is not None,
            heart.corrections, episode, heart.rows, heart.news,
        )  # fmt: skip

    def report(self, news: News, measure: float = 1.0) -> None:
        """Pass on what another room reports; it draws attention with the next event."""
        self._source.report(news, measure)

    def _tool_use(self, event: ToolUse) -> Stimuli:
        heart = self.heart
        self._worked_at = event.at
        heart.mood.tool_use(event)
        heart.metrics.tool_use(event)
        heart.forecast.update(event)
        began = event.at - event.duration if event.duration else event.at
        heart.fabric.emit(fabric.ToolCalled(began, event.tool, event.call))
        heart.fabric.emit(fabric.ToolReturned(event.at, event.tool, event.action, event.outcome, event.duration))
        return self._source.tool_use(event)

    def _turn(self, event: Turn) -> Stimuli:
        heart = self.heart
        self._worked_at = event.at
        heart.mood.events += 1
        started = heart.metrics.turn(event)
        tiers, model, cost = heart.tiers, event.model, event.cost
        tokens = event.input_tokens + event.output_tokens + event.cache_write
        before = tiers.model
        if tiers.update(event, tokens) or model != before:
            heart.emit(fabric.ModelSelected(event.at, tiers.tier, model, "log"))
        used = tiers.used
        if tiers.band != heart.band:
            heart.band = tiers.band
            heart.fabric.emit(fabric.BudgetBandChanged(event.at, heart.band, used))
        heart.write_inference(1.0 - used if used < 1.0 else 0.0, tiers.tier)
        heart.clock.throttle(used)
        context = event.context_tokens
        heart.gauge.turn(context, event.context_window)
        turns = self._turns = self._turns + 1
        self._asked_turns += 1
        if cost:
            self._asked_cost += cost
        cached = event.cache_read / context if context else 0.0
        heart.fabric.emit(fabric.TurnStarted(started, turns, model))
        heart.fabric.emit(fabric.TurnEnded(event.at, turns, model, tokens, cost, cached))
        return self._source.turn(event, tokens, heart.gauge.fill)

    def _rarer_event(self, event: Event) -> Stimuli:
        heart = self.heart
        heart.mood.update(event)
        heart.metrics.update(event)
        if type(event) is Prompt:
            self._prompt(event)
        elif type(event) is Compaction:
            self._compaction(event)
        return self._source.update(event, heart.gauge.fill, False)

    def _remember(self, event: Event, pattern: str) -> Episode | None:
        """Start a dream at a compaction, and publish the episode an event ends."""
        heart = self.heart
        if type(event) is Compaction:
            heart.dream("compaction")
        episode = heart.episodes.update(event, pattern, heart.state, heart.clock.gamma)
        if episode is not None:
            heart.emit(fabric.EpisodeEnded(event.at, episode.number, episode.regime, episode.outcome, episode.ended_by))
        return episode

    def _prompt(self, event: Prompt) -> None:
        heart, at = self.heart, event.at
        self.end_thinking()
        self._asked_at = None if event.interrupt else at
        self._worked_at = at
        self._asked_turns, self._asked_cost = 0, 0.0
        if not event.interrupt:
            self._invocation += 1
            heart.emit(fabric.ThinkingStarted(at, "prompt", heart.tiers.model, self._invocation))

    def end_thinking(self) -> None:
        """The work on the last prompt is over, unless that was reported before."""
        asked, heart = self._asked_at, self.heart
        if asked is not None:
            self._asked_at = None
            duration = max(0.0, self._worked_at - asked)
            heart.emit(fabric.ThinkingEnded(heart.at, self._invocation, duration, self._asked_turns, self._asked_cost))

    def _compaction(self, event: Compaction) -> None:
        heart = self.heart
        heart.emit(fabric.Compacted(event.at, event.tokens_before, event.tokens_after, event.trigger))
        heart.gauge.record(event)

    def _regime_changed(self, before: Regime) -> None:
        heart = self.heart
        regime = heart.regime.regime
        heart.write_environment(regime)
        heart.salience.dishabituate(heart.habituation)
        heart.emit(fabric.RegimeChanged(heart.at, before, regime))

    def _attend(self, stimuli: Stimuli) -> float:
        """Score and queue each stimulus; return how novel the first one's pattern is."""
        heart = self.heart
        at, now, threshold = heart.at, heart.now, heart.modulation.promotion_threshold
        regime, tick, trust = heart.regime.regime, heart.clock.gamma, heart.homeostasis.tool_trust
        first: float | None = None
        emit = heart.fabric.emit
        for stimulus in stimuli:
            novelty = heart.habituation.observe(stimulus.pattern, tick, stimulus.what)
            item = heart.salience.push(stimulus, novelty, regime, at, now, threshold, trust)
            emit(fabric.SEEN[stimulus.kind](at, stimulus.cause, stimulus.what, stimulus.measure))
            if item.promoted:
                emit(fabric.ItemPromoted(at, stimulus.what, item.score))
            if stimulus.urgency > heart.urgency:
                heart.urgency = stimulus.urgency
            if stimulus.kind == "anomaly" or stimulus.kind == "policy_violation":
                heart.clock.violation(now)
            if novelty < 1.0:
                heart.emit(fabric.Habituated(at, stimulus.what, novelty))
            if first is None:
                first = novelty
        return 1.0 if first is None else first

    def _wake(self, wakeup: Wakeup, ticks: Ticks) -> tuple[Ticks, Wakeup | None]:
        """Run the tick a wakeup asks for, unless a scheduled one is near."""
        heart = self.heart
        woken = heart.clock.wake(wakeup.resolution, heart.now, self._wakeups.window)
        if woken is None:
            self._wakeups.deduplicated += 1
            heart.fabric.emit(fabric.WakeupDropped(heart.at, wakeup.trigger))
            return ticks, None
        heart.emit(fabric.Woken(heart.at, wakeup.trigger, wakeup.resolution))
        heart.beat(woken, woken=True)
        return Ticks(ticks.gamma + woken.gamma, ticks.theta + woken.theta, ticks.delta + woken.delta), wakeup

    def remember(self, episodes: Iterable[Episode]) -> None:
        """Take the episodes of saved sessions to compare with."""
        self._recalled = None
        self.heart.episodes.remember(episodes)

    def recall(self, k: int | None = None, tokens: int | None = None) -> tuple[Recalled, ...]:
        """The past episodes most like this moment, as many as affect lets the search look at."""
        heart = self.heart
        most = self.wide(self._settings.episodes.top_k) if k is None else k
        return heart.episodes.recall(heart.state, heart.clock.gamma, most, tier=heart.tiers.tier, tokens=tokens)

    def _like_now(self) -> tuple[Recalled, ...]:
        if self._recalled is None:
            self._recalled = self.recall()
        return self._recalled

    def restored(self) -> None:
        """Forget the recollection, which belongs to another moment."""
        self._recalled = None

    def wide(self, most: int) -> int:
        """Return how many of at most `most` items affect's search breadth allows."""
        return max(1, round(most * self.heart.modulation.search_breadth / NEUTRAL.search_breadth))

    def alike(self, most: int, ahead: int = 1) -> tuple[tuple[Recalled, tuple[Episode, ...]], ...]:
        """Return the past episodes most like this moment, best first, each with up to `ahead` that followed it.

        Only a step may ask: it is the retrieval that the metrics count.
        """
        heart = self.heart
        matches = heart.episodes.alike(
            heart.state, heart.clock.gamma, self.wide(most), tier=heart.tiers.tier, ahead=ahead
        )
        if heart.tiers.tier != "T0":
            heart.metrics.retrieved(heart.episodes.compared, len(matches))
        return matches

    def read(self, at: float | None = None, now: float | None = None) -> MindReading:
        """Return the mind's reading now, or for a later moment if no event comes; nothing changes.

        `now` is that moment in subjective seconds, where the caller knows it.
        """
        recalled = [one.line for one in self._like_now()]
        return read_mind(self.heart, self._wakeups, recalled, self._settings, at, now)

    def levels(self) -> tuple[float, ...]:
        """The gauges of the mind, in the order of LEVELS: what a curve is drawn from."""
        heart = self.heart
        state = heart.state
        return (
            heart.sleep.pressure, heart.gauge.fill, state.pleasure, state.arousal, state.dominance, state.accuracy,
            state.composite, state.budget_remaining,
        )  # fmt: skip
