"""Settings of the mind: attention, habituation, sleep, homeostasis and clock."""

from __future__ import annotations

from typing import Annotated, Literal

from core.settings.group import ON, Group, Spec, lower
from core.settings.mind_state import (
    CorticalSettings,
    EpisodeSettings,
    FabricSettings,
    ForecastSettings,
    MetricsSettings,
    TierSettings,
)


class RelevanceSettings(Group):
    """How much each kind of stimulus matters, by regime."""

    policy_violation: Annotated[float, Spec("Relevance of a denied or destructive call.", 0, 1, 0.05)] = 1.0
    owner_message: Annotated[float, Spec("Relevance of a message from the person.", 0, 1, 0.05)] = 0.9
    anomaly: Annotated[float, Spec("Relevance of a failure or spike when calm or progressing.", 0, 1, 0.05)] = 0.55
    anomaly_turbulence: Annotated[float, Spec("Relevance of a failure or spike in turbulence.", 0, 1, 0.05)] = 0.95
    anomaly_crisis: Annotated[float, Spec("Relevance of a failure or spike in a crisis.", 0, 1, 0.05)] = 0.55
    trace: Annotated[float, Spec("Relevance of a report or shift when calm or progressing.", 0, 1, 0.05)] = 0.45
    trace_turbulence: Annotated[float, Spec("Relevance of a report or shift in turbulence.", 0, 1, 0.05)] = 0.7
    trace_crisis: Annotated[float, Spec("Relevance of a report or shift in a crisis.", 0, 1, 0.05)] = 0.45
    confirmation: Annotated[float, Spec("Relevance of a passing test, build or commit.", 0, 1, 0.05)] = 0.65
    dream_request: Annotated[float, Spec("Relevance of a compaction asked for or near.", 0, 1, 0.05)] = 0.4


class UrgencySettings(Group):
    """How soon each cause wants an answer: 1 at once, 0 whenever."""

    interrupt: Annotated[float, Spec("Urgency when the person stops the agent.", 0, 1, 0.05)] = 1.0
    prompt: Annotated[float, Spec("Urgency of a message from the person.", 0, 1, 0.05)] = 0.6
    halt: Annotated[float, Spec("Urgency when the governor halts.", 0, 1, 0.05)] = 1.0
    destructive: Annotated[float, Spec("Urgency of a destructive command.", 0, 1, 0.05)] = 0.9
    rejected: Annotated[float, Spec("Urgency of a call that was not allowed.", 0, 1, 0.05)] = 0.8
    failure: Annotated[float, Spec("Urgency of a failing call.", 0, 1, 0.05)] = 0.45
    again: Annotated[float, Spec("Urgency added for each further failure or repeat.", 0, 0.5, 0.01)] = 0.1
    repeat: Annotated[float, Spec("Urgency of a call repeated without a new result.", 0, 1, 0.05)] = 0.4
    burn: Annotated[float, Spec("Urgency of a spike in token use.", 0, 1, 0.05)] = 0.7
    report: Annotated[float, Spec("Urgency of a sub-agent's report.", 0, 1, 0.05)] = 0.5
    peer: Annotated[float, Spec("Urgency of news from another agent.", 0, 1, 0.05)] = 0.3
    shift: Annotated[float, Spec("Urgency of a move to other paths.", 0, 1, 0.05)] = 0.2
    test: Annotated[float, Spec("Urgency of a passing test run.", 0, 1, 0.05)] = 0.3
    build: Annotated[float, Spec("Urgency of a build that works.", 0, 1, 0.05)] = 0.25
    commit: Annotated[float, Spec("Urgency of a commit.", 0, 1, 0.05)] = 0.35
    compaction: Annotated[float, Spec("Urgency of a compaction.", 0, 1, 0.05)] = 0.5
    context: Annotated[float, Spec("Urgency of a context that is nearly full.", 0, 1, 0.05)] = 0.7
    deadline: Annotated[float, Spec("Urgency of a message to the agent that expired.", 0, 1, 0.05)] = 0.5


class StimulusSettings(Group):
    """Which events become stimuli."""

    streak: Annotated[int, Spec("Failures in a row that make an error streak.", 2, 20, 1, project=lower(2))] = 3
    repeats: Annotated[int, Spec("Identical calls and results that count as a repeat.", 2, 50, 1, project=lower(2))] = 3
    repeat_memory: Annotated[int, Spec("How many different calls are remembered.", 1, 256, 1)] = 16
    burn_factor: Annotated[float, Spec("Multiple of usual tokens for a spike.", 1.5, 50, 0.5, project=lower(2))] = 3.0
    burn_floor: Annotated[int, Spec("Turns with fewer tokens are never spikes.", 0, 1000000, 1000, "tokens")] = 20000
    burn_smoothing: Annotated[float, Spec("How fast the usual token use of a turn adapts.", 0.01, 1, 0.01)] = 0.1
    burn_warmup: Annotated[int, Spec("Turns before a spike can be detected.", 1, 100, 1)] = 5
    context_near: Annotated[
        float, Spec("Share of the way to compaction that counts as near.", 0.3, 1, 0.01, project=lower(0.5))
    ] = 0.85
    urgency: UrgencySettings = UrgencySettings()


class SalienceSettings(Group):
    """Attention of the mind."""

    novelty_weight: Annotated[float, Spec("Share of novelty in a score.", 0, 1, 0.05)] = 0.4
    relevance_weight: Annotated[float, Spec("Share of relevance in a score.", 0, 1, 0.05)] = 0.35
    urgency_weight: Annotated[float, Spec("Share of urgency in a score.", 0, 1, 0.05)] = 0.25
    smoothing: Annotated[float, Spec("How fast the usual urgency of a kind adapts.", 0.01, 1, 0.01)] = 0.2
    decay: Annotated[float, Spec("Factor on a score per gamma tick.", 0.1, 0.999, 0.01)] = 0.85
    expiry: Annotated[float, Spec("When an item is dropped, in working time.", 10, 7200, 10, "s")] = 300.0
    top: Annotated[int, Spec("How many items win attention at once.", 1, 20, 1)] = 5
    distinct: Annotated[bool, Spec("Show each pattern once, with a count, instead of every item.")] = True
    length: Annotated[int, Spec("Maximum number of items waiting for attention.", 8, 1024, 8)] = 64
    trust_shell: Annotated[float, Spec("Weight of tool trust for commands; 0 for none.", 0, 1, 0.05)] = 1.0
    trust_edit: Annotated[float, Spec("Weight of tool trust for the effects of edits.", 0, 1, 0.05)] = 0.6
    trust_look: Annotated[float, Spec("Weight of tool trust for the effects of all other tools.", 0, 1, 0.05)] = 0.2
    relevance: RelevanceSettings = RelevanceSettings()


class HabituationSettings(Group):
    """How repetition wears off."""

    half_life: Annotated[float, Spec("Exposures after which novelty is about half.", 1, 200, 1, "exposures")] = 10.0
    floor: Annotated[float, Spec("Minimum novelty.", 0.001, 0.5, 0.005)] = 0.05
    forgetting: Annotated[float, Spec("Ticks in which an absent pattern fades.", 50, 20000, 50, "ticks")] = 2000.0
    collect_every: Annotated[int, Spec("Gamma ticks between two clean-ups.", 1, 10000, 10, "ticks")] = 100
    faded: Annotated[float, Spec("Exposure below which a pattern is dropped.", 0.0001, 0.5, 0.005)] = 0.01
    familiar: Annotated[int, Spec("How many of the most familiar patterns are shown.", 0, 50, 1)] = 5
    patterns: Annotated[int, Spec("Maximum number of patterns; the oldest is dropped first.", 16, 16384, 16)] = 2048


class SleepSettings(Group):
    """How the need to consolidate grows."""

    threshold: Annotated[float, Spec("Accumulated load at which consolidation is needed.", 1, 500, 1)] = 30.0
    complexity: Annotated[float, Spec("Share of the load that depends on how full the context is.", 0, 1, 0.05)] = 0.6
    least_ticks: Annotated[int, Spec("Minimum number of ticks between two consolidations.", 0, 100, 1, "ticks")] = 5
    intensive: Annotated[float, Spec("Factor on the threshold while dreams are intensive.", 0.1, 1, 0.05)] = 0.7


class ContextSettings(Group):
    """Where the agent's context is compacted."""

    window: Annotated[
        int, Spec("Context window if the log does not name one.", 4000, 10000000, 1000, "tokens", project=lower(32_000))
    ] = 200000
    share: Annotated[float, Spec("Maximum share of the window that is used.", 0.3, 1, 0.01, project=lower(0.5))] = 0.92
    reserve: Annotated[int, Spec("Tokens of the window kept free for the answer.", 0, 500000, 1000, "tokens")] = 33000
    smoothing: Annotated[float, Spec("How fast the usual growth of the context adapts.", 0.01, 1, 0.01)] = 0.1


class RuleSettings(Group):
    """One rule that nudges a knob while a signal strays from its own average."""

    on: Annotated[bool, Spec("Whether this rule is on.")] = True
    threshold: Annotated[float, Spec("How far the signal must move from its average.", 0.01, 1, 0.01)] = 0.15
    persistence: Annotated[int, Spec("Ticks in a row it must stay there.", 1, 200, 1, "ticks")] = 10
    delta: Annotated[float, Spec("Maximum correction.", 0, 1, 0.01)] = 0.1


class AccuracyRuleSettings(RuleSettings):
    """Worse forecasts ask for a stronger model."""

    threshold: Annotated[float, Spec("How far accuracy must move from its average.", 0.01, 1, 0.01)] = 0.10
    persistence: Annotated[int, Spec("Ticks in a row it must stay there.", 1, 200, 1, "ticks")] = 15
    delta: Annotated[float, Spec("Maximum correction.", 0, 1, 0.01)] = 0.2


class PleasureRuleSettings(Group):
    """Low pleasure asks for more dreams."""

    on: Annotated[bool, Spec("Whether this rule is on.")] = True
    threshold: Annotated[float, Spec("How far pleasure must fall below its average.", 0.01, 1, 0.01)] = 0.20
    persistence: Annotated[int, Spec("Ticks in a row it must stay there.", 1, 200, 1, "ticks")] = 20


class HomeostasisSettings(Group):
    """Corrections of signals that stray, and the knobs they move."""

    smoothing: Annotated[float, Spec("How fast the averages follow their signals.", 0.001, 1, 0.005)] = 0.05
    gain: Annotated[float, Spec("Correction per unit of deviation.", 0, 5, 0.05)] = 0.5
    vitality: RuleSettings = RuleSettings()
    accuracy: AccuracyRuleSettings = AccuracyRuleSettings()
    pleasure: PleasureRuleSettings = PleasureRuleSettings()
    tool_trust: Annotated[float, Spec("Trust a call needs, before correction.", 0, 1, 0.05)] = 0.5
    tool_trust_low: Annotated[float, Spec("Lowest trust a correction may set.", 0, 1, 0.05)] = 0.1
    tool_trust_high: Annotated[float, Spec("Highest trust a correction may set.", 0, 1, 0.05)] = 0.9
    tool_trust_held: Annotated[bool, Spec("Keep tool trust fixed, whatever the rules say.")] = False
    tier_bias: Annotated[float, Spec("Preference for stronger models, before correction.", -1, 1, 0.05)] = 0.0
    tier_bias_low: Annotated[float, Spec("Lowest bias a correction may set.", -1, 1, 0.05)] = -0.5
    tier_bias_high: Annotated[float, Spec("Highest bias a correction may set.", -1, 1, 0.05)] = 0.5
    tier_bias_held: Annotated[bool, Spec("Keep the tier bias fixed, whatever the rules say.")] = False
    dream_mode: Annotated[
        Literal["auto", "standard", "intensive"], Spec("Intensity of dreams: chosen by the rules, or fixed.")
    ] = "auto"


class ExecutionSettings(Group):
    """When the agent only thinks and no longer carries out."""

    leave: Annotated[float, Spec("Confidence below which it stops executing while commands fail.", 0, 0.2, 0.01)] = 0.05
    resume: Annotated[float, Spec("Confidence from which it executes again.", 0.2, 1, 0.01)] = 0.2
    failing: Annotated[float, Spec("Share of failing commands below which it always executes.", 0, 1, 0.05)] = 0.4
    least: Annotated[int, Spec("Calls of the short window below which it always executes.", 1, 100, 1, "calls")] = 6
    failures: Annotated[int, Spec("Recent failures below which it always executes.", 1, 100, 1, "calls")] = 2


class ClockSettings(Group):
    """When the mind ticks, in working time."""

    gamma_longest: Annotated[float, Spec("Time between gamma ticks when nothing is wrong.", 1, 120, 1, "s")] = 15.0
    gamma_shortest: Annotated[float, Spec("Minimum time between gamma ticks.", 0.5, 120, 0.5, "s")] = 5.0
    gamma_violation: Annotated[float, Spec("How much each violation speeds gamma up.", 0, 5, 0.05)] = 0.3
    theta_shortest: Annotated[float, Spec("Minimum time between theta ticks.", 5, 600, 5, "s")] = 30.0
    theta_longest: Annotated[float, Spec("Maximum time between theta ticks.", 5, 3600, 5, "s")] = 120.0
    delta_every: Annotated[int, Spec("Theta ticks between delta ticks.", 2, 1000, 1, "ticks")] = 50
    pending: Annotated[int, Spec("Theta ticks that may wait; older ones are dropped.", 1, 100, 1)] = 3
    throttle_from: Annotated[float, Spec("Share of the budget from which ticks slow down.", 0, 1, 0.01)] = 0.7
    throttle_hard: Annotated[float, Spec("Share of the budget from which ticks slow down again.", 0, 1, 0.01)] = 0.9
    throttle_factor: Annotated[float, Spec("Factor on all intervals at each slowing.", 1, 10, 0.25)] = 2.0
    live_limit: Annotated[float, Spec("How long a live view ticks on without an event.", 0, 3600, 10, "s")] = 30.0

    def __post_init__(self) -> None:
        """Check that the shortest comes first."""
        for name in ("gamma", "theta"):
            if getattr(self, f"{name}_shortest") > getattr(self, f"{name}_longest"):
                raise ValueError(f"{name}_shortest must not be above {name}_longest")


class TriggerSettings(Group):
    """One trigger that may wake the mind between ticks."""

    on: Annotated[bool, Spec("Whether this trigger may fire.", project=ON)] = True
    resolution: Annotated[Literal["gamma", "theta"], Spec("A quick look, or a full pass.")] = "theta"
    least: Annotated[float, Spec("Minimum size of the cause.", 0, 1000000, 1)] = 1.0
    refire: Annotated[float, Spec("Time before it may fire again.", 0, 86400, 5, "s")] = 5.0


class FailureTrigger(TriggerSettings):
    """Several failures in a row."""

    least: Annotated[float, Spec("Failures in a row that trigger it.", 2, 100, 1, project=lower(2))] = 4.0
    refire: Annotated[float, Spec("Time before it may fire again.", 0, 86400, 5, "s", project=lower(20))] = 60.0


class ContextTrigger(TriggerSettings):
    """The context is nearly full."""

    least: Annotated[float, Spec("Share of the way to compaction for it.", 0, 1, 0.01, project=lower(0.5))] = 0.85
    refire: Annotated[float, Spec("Time before it may fire again.", 0, 86400, 5, "s", project=lower(60))] = 300.0


class ReportTrigger(TriggerSettings):
    """A sub-agent is done."""

    resolution: Annotated[Literal["gamma", "theta"], Spec("A quick look, or a full pass.")] = "gamma"
    refire: Annotated[float, Spec("Time before it may fire again.", 0, 86400, 5, "s", project=lower(10))] = 30.0


class BurnTrigger(TriggerSettings):
    """Tokens burn much faster than usual."""

    resolution: Annotated[Literal["gamma", "theta"], Spec("A quick look, or a full pass.")] = "gamma"
    least: Annotated[float, Spec("Multiple of usual token use for it.", 1, 1000, 0.5, project=lower(2))] = 3.0
    refire: Annotated[float, Spec("Time before it may fire again.", 0, 86400, 5, "s", project=lower(20))] = 60.0


class PeerTrigger(TriggerSettings):
    """Another agent reports trouble."""

    least: Annotated[float, Spec("How far the other agent's affect is from rest, or 1 if it failed.", 0, 1, 0.05)] = 0.3
    refire: Annotated[float, Spec("Time before it may fire again.", 0, 86400, 5, "s", project=lower(20))] = 60.0


class WakeupSettings(Group):
    """Triggers that wake the mind between ticks."""

    window: Annotated[float, Spec("A wakeup this shortly before a theta tick waits for it.", 0, 120, 1, "s")] = 10.0
    owner_message: TriggerSettings = TriggerSettings()
    policy_tripwire: TriggerSettings = TriggerSettings()
    failure_burst: FailureTrigger = FailureTrigger()
    context_full: ContextTrigger = ContextTrigger()
    sub_agent_done: ReportTrigger = ReportTrigger()
    token_burn: BurnTrigger = BurnTrigger()
    peer_alarm: PeerTrigger = PeerTrigger()
    deadline: TriggerSettings = TriggerSettings()


class DreamSettings(Group):
    """The result of a consolidation."""

    kept: Annotated[int, Spec("How many past dreams are remembered.", 1, 256, 1)] = 16


class MindSettings(Group):
    """Attention, sleep, habituation, homeostasis and clock."""

    stimuli: StimulusSettings = StimulusSettings()
    salience: SalienceSettings = SalienceSettings()
    habituation: HabituationSettings = HabituationSettings()
    context: ContextSettings = ContextSettings()
    sleep: SleepSettings = SleepSettings()
    dreams: DreamSettings = DreamSettings()
    homeostasis: HomeostasisSettings = HomeostasisSettings()
    execution: ExecutionSettings = ExecutionSettings()
    clock: ClockSettings = ClockSettings()
    wakeups: WakeupSettings = WakeupSettings()
    cortical: CorticalSettings = CorticalSettings()
    forecast: ForecastSettings = ForecastSettings()
    fabric: FabricSettings = FabricSettings()
    episodes: EpisodeSettings = EpisodeSettings()
    tiers: TierSettings = TierSettings()
    metrics: MetricsSettings = MetricsSettings()
