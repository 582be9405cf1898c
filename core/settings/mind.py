"""Settings of core/mind: what draws attention, what tires, what is corrected, when it thinks."""

from __future__ import annotations

from typing import Literal

from core.settings.mind_state import (
    CorticalSettings,
    EpisodeSettings,
    FabricSettings,
    ForecastSettings,
    MetricsSettings,
    TierSettings,
)
from core.settings.trust import ON, PERSON, lower
from core.settings.tunable import Group, part, tunable


class RelevanceSettings(Group, project=PERSON):
    """How much each kind of stimulus matters, by regime."""

    policy_violation: float = tunable(
        1.0, "Relevance of a denied or destructive call.", ge=0, le=1, step=0.05
    )
    owner_message: float = tunable(0.9, "Relevance of a message from the person.", ge=0, le=1, step=0.05)
    anomaly: float = tunable(
        0.55, "Relevance of a failure or spike when calm or progressing.", ge=0, le=1, step=0.05
    )
    anomaly_turbulence: float = tunable(
        0.95, "Relevance of a failure or spike in turbulence.", ge=0, le=1, step=0.05
    )
    anomaly_crisis: float = tunable(
        0.55, "Relevance of a failure or spike in a crisis.", ge=0, le=1, step=0.05
    )
    trace: float = tunable(
        0.45, "Relevance of a report or shift when calm or progressing.", ge=0, le=1, step=0.05
    )
    trace_turbulence: float = tunable(
        0.7, "Relevance of a report or shift in turbulence.", ge=0, le=1, step=0.05
    )
    trace_crisis: float = tunable(0.45, "Relevance of a report or shift in a crisis.", ge=0, le=1, step=0.05)
    confirmation: float = tunable(
        0.65, "Relevance of a passing test, build or commit.", ge=0, le=1, step=0.05
    )
    dream_request: float = tunable(0.4, "Relevance of a compaction asked for or near.", ge=0, le=1, step=0.05)


class UrgencySettings(Group, project=PERSON):
    """How soon each cause wants an answer: 1 at once, 0 whenever."""

    interrupt: float = tunable(1.0, "Urgency when the person stops the agent.", ge=0, le=1, step=0.05)
    prompt: float = tunable(0.6, "Urgency of a message from the person.", ge=0, le=1, step=0.05)
    halt: float = tunable(1.0, "Urgency when the governor halts.", ge=0, le=1, step=0.05)
    destructive: float = tunable(0.9, "Urgency of a destructive command.", ge=0, le=1, step=0.05)
    rejected: float = tunable(0.8, "Urgency of a call that was not allowed.", ge=0, le=1, step=0.05)
    failure: float = tunable(0.45, "Urgency of one failing call.", ge=0, le=1, step=0.05)
    again: float = tunable(0.1, "Urgency added for each further failure or repeat.", ge=0, le=0.5, step=0.01)
    repeat: float = tunable(0.4, "Urgency of a call repeated without a new result.", ge=0, le=1, step=0.05)
    burn: float = tunable(0.7, "Urgency of a spike in token use.", ge=0, le=1, step=0.05)
    report: float = tunable(0.5, "Urgency of a sub-agent's report.", ge=0, le=1, step=0.05)
    peer: float = tunable(0.3, "Urgency of news from another agent.", ge=0, le=1, step=0.05)
    shift: float = tunable(0.2, "Urgency of a move to other paths.", ge=0, le=1, step=0.05)
    test: float = tunable(0.3, "Urgency of a passing test run.", ge=0, le=1, step=0.05)
    build: float = tunable(0.25, "Urgency of a build that works.", ge=0, le=1, step=0.05)
    commit: float = tunable(0.35, "Urgency of a commit.", ge=0, le=1, step=0.05)
    compaction: float = tunable(0.5, "Urgency of a compaction.", ge=0, le=1, step=0.05)
    context: float = tunable(0.7, "Urgency of a context that is nearly full.", ge=0, le=1, step=0.05)
    deadline: float = tunable(
        0.5, "Urgency of something meant for the agent and not said in time.", ge=0, le=1, step=0.05
    )


class StimulusSettings(Group, project=PERSON):
    """Which events become stimuli."""

    streak: int = tunable(
        3, "Failures in a row that make an error streak.", ge=2, le=20, step=1, project=lower(2)
    )
    repeats: int = tunable(
        3, "Equal calls with equal results that count as repeating.", ge=2, le=50, step=1, project=lower(2)
    )
    repeat_memory: int = tunable(16, "How many different calls are remembered.", ge=1, le=256, step=1)
    burn_factor: float = tunable(
        3.0, "Times the usual burn of a turn that make a spike.", ge=1.5, le=50, step=0.5, project=lower(2)
    )
    burn_floor: int = tunable(
        20000, "Turns cheaper than this never count as spikes.", ge=0, le=1000000, step=1000, unit="tokens"
    )
    burn_smoothing: float = tunable(
        0.1, "How fast the usual burn of a turn adapts.", ge=0.01, le=1, step=0.01
    )
    burn_warmup: int = tunable(5, "Turns before spikes can be told.", ge=1, le=100, step=1)
    context_near: float = tunable(
        0.85,
        "Share of the way to compaction that counts as near.",
        ge=0.3,
        le=1,
        step=0.01,
        project=lower(0.5),
    )
    urgency: UrgencySettings = part(UrgencySettings, "How soon each cause wants an answer.")


class SalienceSettings(Group, project=PERSON):
    """What the mind attends to."""

    novelty_weight: float = tunable(0.4, "Share of novelty in a score.", ge=0, le=1, step=0.05)
    relevance_weight: float = tunable(0.35, "Share of relevance in a score.", ge=0, le=1, step=0.05)
    urgency_weight: float = tunable(0.25, "Share of urgency in a score.", ge=0, le=1, step=0.05)
    smoothing: float = tunable(0.2, "How fast the usual urgency of a kind adapts.", ge=0.01, le=1, step=0.01)
    decay: float = tunable(0.85, "What is left of a score after one gamma tick.", ge=0.1, le=0.999, step=0.01)
    expiry: float = tunable(
        300.0, "When an item is dropped, in working time.", ge=10, le=7200, step=10, unit="s"
    )
    top: int = tunable(5, "How many items win attention at once.", ge=1, le=20, step=1)
    distinct: bool = tunable(True, "Show each pattern once, with a count, instead of every item.")
    length: int = tunable(64, "Most items that wait for attention.", ge=8, le=1024, step=8)
    trust_shell: float = tunable(
        1.0, "How much tool trust weighs what commands do; 0 not at all.", ge=0, le=1, step=0.05
    )
    trust_edit: float = tunable(0.6, "How much tool trust weighs what edits do.", ge=0, le=1, step=0.05)
    trust_look: float = tunable(
        0.2, "How much tool trust weighs what all other tools do.", ge=0, le=1, step=0.05
    )
    relevance: RelevanceSettings = part(RelevanceSettings, "How much each kind matters, by regime.")


class HabituationSettings(Group, project=PERSON):
    """How repetition wears off."""

    half_life: float = tunable(
        10.0, "Exposures after which novelty is about half.", ge=1, le=200, step=1, unit="exposures"
    )
    floor: float = tunable(0.05, "Least novelty anything keeps.", ge=0.001, le=0.5, step=0.005)
    forgetting: float = tunable(
        2000.0, "Ticks over which an absent pattern is forgotten.", ge=50, le=20000, step=50, unit="ticks"
    )
    collect_every: int = tunable(
        100, "Gamma ticks between two clean-ups.", ge=1, le=10000, step=10, unit="ticks"
    )
    faded: float = tunable(0.01, "Exposure below which a pattern is dropped.", ge=0.0001, le=0.5, step=0.005)
    familiar: int = tunable(5, "How many of the most familiar patterns are shown.", ge=0, le=50, step=1)
    patterns: int = tunable(
        2048, "Most patterns remembered; the longest unseen goes first.", ge=16, le=16384, step=16
    )


class SleepSettings(Group, project=PERSON):
    """How the need to consolidate grows."""

    threshold: float = tunable(
        30.0, "Accumulated load at which consolidation is needed.", ge=1, le=500, step=1
    )
    complexity: float = tunable(
        0.6, "Share of the load that follows the context's fill.", ge=0, le=1, step=0.05
    )
    least_ticks: int = tunable(
        5, "Fewest ticks between two consolidations.", ge=0, le=100, step=1, unit="ticks"
    )
    intensive: float = tunable(
        0.7, "Factor on the threshold while dreams are intensive.", ge=0.1, le=1, step=0.05
    )


class ContextSettings(Group, project=PERSON):
    """Where the agent's context is compacted."""

    window: int = tunable(
        200000,
        "Context window where the log names none.",
        ge=4000,
        le=10000000,
        step=1000,
        unit="tokens",
        project=lower(32_000),
    )
    share: float = tunable(
        0.92, "Share of the window that is used at most.", ge=0.3, le=1, step=0.01, project=lower(0.5)
    )
    reserve: int = tunable(
        33000, "Tokens of the window kept free for the answer.", ge=0, le=500000, step=1000, unit="tokens"
    )
    smoothing: float = tunable(
        0.1, "How fast the usual growth of the context adapts.", ge=0.01, le=1, step=0.01
    )


class RuleSettings(Group, project=PERSON):
    """One rule that nudges a knob while a signal strays from its own average."""

    on: bool = tunable(True, "Whether this rule corrects anything.")
    threshold: float = tunable(
        0.15, "How far the signal must stray from its average.", ge=0.01, le=1, step=0.01
    )
    persistence: int = tunable(10, "Ticks in a row it must stray.", ge=1, le=200, step=1, unit="ticks")
    delta: float = tunable(0.1, "Largest correction.", ge=0, le=1, step=0.01)


class AccuracyRuleSettings(RuleSettings):
    """Worse forecasts ask for a stronger model."""

    threshold: float = tunable(
        0.10, "How far accuracy must stray from its average.", ge=0.01, le=1, step=0.01
    )
    persistence: int = tunable(15, "Ticks in a row it must stray.", ge=1, le=200, step=1, unit="ticks")
    delta: float = tunable(0.2, "Largest correction.", ge=0, le=1, step=0.01)


class PleasureRuleSettings(Group, project=PERSON):
    """Low pleasure asks for more dreams."""

    on: bool = tunable(True, "Whether this rule corrects anything.")
    threshold: float = tunable(
        0.20, "How far pleasure must fall below its average.", ge=0.01, le=1, step=0.01
    )
    persistence: int = tunable(20, "Ticks in a row it must stay there.", ge=1, le=200, step=1, unit="ticks")


class HomeostasisSettings(Group, project=PERSON):
    """What is corrected when signals stray, and the knobs themselves."""

    smoothing: float = tunable(
        0.05, "How fast the averages follow their signals.", ge=0.001, le=1, step=0.005
    )
    gain: float = tunable(0.5, "Correction per unit of deviation.", ge=0, le=5, step=0.05)
    vitality: RuleSettings = part(RuleSettings, "Falling vitality tightens tool trust.")
    accuracy: AccuracyRuleSettings = part(AccuracyRuleSettings, "Falling accuracy asks for a stronger model.")
    pleasure: PleasureRuleSettings = part(PleasureRuleSettings, "Low pleasure makes dreams intensive.")
    tool_trust: float = tunable(0.5, "Trust a call needs, before correction.", ge=0, le=1, step=0.05)
    tool_trust_low: float = tunable(0.1, "Least trust a correction may ask for.", ge=0, le=1, step=0.05)
    tool_trust_high: float = tunable(0.9, "Most trust a correction may ask for.", ge=0, le=1, step=0.05)
    tool_trust_held: bool = tunable(False, "Hold tool trust where it is set, whatever the rules say.")
    tier_bias: float = tunable(
        0.0, "Leaning towards stronger models, before correction.", ge=-1, le=1, step=0.05
    )
    tier_bias_low: float = tunable(-0.5, "Least bias a correction may set.", ge=-1, le=1, step=0.05)
    tier_bias_high: float = tunable(0.5, "Most bias a correction may set.", ge=-1, le=1, step=0.05)
    tier_bias_held: bool = tunable(False, "Hold the tier bias where it is set, whatever the rules say.")
    dream_mode: Literal["auto", "standard", "intensive"] = tunable(
        "auto", "Whether the rules choose how hard dreams work, or you do."
    )


class ExecutionSettings(Group, project=PERSON):
    """When the agent only thinks and no longer carries out."""

    leave: float = tunable(
        0.05, "Confidence below which it stops executing while commands fail.", ge=0, le=0.2, step=0.01
    )
    resume: float = tunable(0.2, "Confidence from which it executes again.", ge=0.2, le=1, step=0.01)
    failing: float = tunable(
        0.4, "Share of failing commands without which it always executes.", ge=0, le=1, step=0.05
    )
    least: int = tunable(
        6, "Calls of the short window without which it always executes.", ge=1, le=100, step=1, unit="calls"
    )


class ClockSettings(Group, project=PERSON):
    """When the mind ticks, in working time."""

    gamma_longest: float = tunable(
        15.0, "Seconds between gamma ticks when nothing is wrong.", ge=1, le=120, step=1, unit="s"
    )
    gamma_shortest: float = tunable(
        5.0, "Fewest seconds between gamma ticks.", ge=0.5, le=120, step=0.5, unit="s"
    )
    gamma_violation: float = tunable(0.3, "How much each violation speeds gamma up.", ge=0, le=5, step=0.05)
    theta_shortest: float = tunable(
        30.0, "Fewest seconds between theta ticks.", ge=5, le=600, step=5, unit="s"
    )
    theta_longest: float = tunable(
        120.0, "Most seconds between theta ticks.", ge=5, le=3600, step=5, unit="s"
    )
    delta_every: int = tunable(50, "Theta ticks between delta ticks.", ge=2, le=1000, step=1, unit="ticks")
    pending: int = tunable(3, "Theta ticks that may wait; older ones are dropped.", ge=1, le=100, step=1)
    throttle_from: float = tunable(
        0.7, "Share of the budget from which ticks slow down.", ge=0, le=1, step=0.01
    )
    throttle_hard: float = tunable(
        0.9, "Share of the budget from which ticks slow down again.", ge=0, le=1, step=0.01
    )
    throttle_factor: float = tunable(2.0, "Factor on all intervals at each slowing.", ge=1, le=10, step=0.25)
    live_limit: float = tunable(
        30.0, "How long a live view ticks on without an event.", ge=0, le=3600, step=10, unit="s"
    )

    def check(self) -> None:
        """The shortest come first."""
        for name in ("gamma", "theta"):
            if getattr(self, f"{name}_shortest") > getattr(self, f"{name}_longest"):
                raise ValueError(f"{name}_shortest must not be above {name}_longest")


class TriggerSettings(Group, project=PERSON):
    """One trigger that may wake the mind between ticks."""

    on: bool = tunable(True, "Whether this trigger may fire.", project=ON)
    resolution: Literal["gamma", "theta"] = tunable("theta", "A quick look, or a full pass.")
    least: float = tunable(1.0, "Least size of what sets it off.", ge=0, le=1000000, step=1)
    refire: float = tunable(5.0, "Seconds before it may fire again.", ge=0, le=86400, step=5, unit="s")


class FailureTrigger(TriggerSettings):
    """Several failures in a row."""

    least: float = tunable(4.0, "Failures in a row that set it off.", ge=2, le=100, step=1, project=lower(2))
    refire: float = tunable(
        60.0, "Seconds before it may fire again.", ge=0, le=86400, step=5, unit="s", project=lower(20)
    )


class ContextTrigger(TriggerSettings):
    """The context is nearly full."""

    least: float = tunable(
        0.85, "Share of the way to compaction that sets it off.", ge=0, le=1, step=0.01, project=lower(0.5)
    )
    refire: float = tunable(
        300.0, "Seconds before it may fire again.", ge=0, le=86400, step=5, unit="s", project=lower(60)
    )


class ReportTrigger(TriggerSettings):
    """A sub-agent is done."""

    resolution: Literal["gamma", "theta"] = tunable("gamma", "A quick look, or a full pass.")
    refire: float = tunable(
        30.0, "Seconds before it may fire again.", ge=0, le=86400, step=5, unit="s", project=lower(10)
    )


class BurnTrigger(TriggerSettings):
    """Tokens burn much faster than usual."""

    resolution: Literal["gamma", "theta"] = tunable("gamma", "A quick look, or a full pass.")
    least: float = tunable(
        3.0, "Times the usual burn that set it off.", ge=1, le=1000, step=0.5, project=lower(2)
    )
    refire: float = tunable(
        60.0, "Seconds before it may fire again.", ge=0, le=86400, step=5, unit="s", project=lower(20)
    )


class PeerTrigger(TriggerSettings):
    """Another agent reports trouble."""

    least: float = tunable(
        0.3, "How far the other agent's affect is from rest, or 1 if it failed.", ge=0, le=1, step=0.05
    )
    refire: float = tunable(
        60.0, "Seconds before it may fire again.", ge=0, le=86400, step=5, unit="s", project=lower(20)
    )


class WakeupSettings(Group, project=PERSON):
    """What may wake the mind between ticks."""

    window: float = tunable(
        10.0, "A wakeup this close before a theta tick is left to it.", ge=0, le=120, step=1, unit="s"
    )
    owner_message: TriggerSettings = part(TriggerSettings, "The person speaks; its size is in characters.")
    policy_tripwire: TriggerSettings = part(TriggerSettings, "A call is denied, destructive, or halted.")
    failure_burst: FailureTrigger = part(FailureTrigger, "Several failures in a row.")
    context_full: ContextTrigger = part(ContextTrigger, "The context is nearly full.")
    sub_agent_done: ReportTrigger = part(ReportTrigger, "A sub-agent reports back.")
    token_burn: BurnTrigger = part(BurnTrigger, "Tokens burn much faster than usual.")
    peer_alarm: PeerTrigger = part(PeerTrigger, "Another agent reports trouble.")
    deadline: TriggerSettings = part(TriggerSettings, "Something meant for the agent was not said in time.")


class DreamSettings(Group, project=PERSON):
    """What a consolidation leaves behind."""

    kept: int = tunable(16, "How many past dreams are remembered.", ge=1, le=256, step=1)


class MindSettings(Group):
    """Settings of core/engine/mind."""

    stimuli: StimulusSettings = part(StimulusSettings, "Which events become stimuli.")
    salience: SalienceSettings = part(SalienceSettings, "What the mind attends to.")
    habituation: HabituationSettings = part(HabituationSettings, "How repetition wears off.")
    context: ContextSettings = part(ContextSettings, "Where the agent's context is compacted.")
    sleep: SleepSettings = part(SleepSettings, "How the need to consolidate grows.")
    dreams: DreamSettings = part(DreamSettings, "What a consolidation leaves behind.")
    homeostasis: HomeostasisSettings = part(HomeostasisSettings, "What is corrected when signals stray.")
    execution: ExecutionSettings = part(ExecutionSettings, "When the agent no longer carries out.")
    clock: ClockSettings = part(ClockSettings, "When the mind ticks.")
    wakeups: WakeupSettings = part(WakeupSettings, "What may wake the mind between ticks.")
    cortical: CorticalSettings = part(CorticalSettings, "Mood, regime and vitality.")
    forecast: ForecastSettings = part(ForecastSettings, "The forecast of the next call's outcome.")
    fabric: FabricSettings = part(FabricSettings, "The ring of what the mind did.")
    episodes: EpisodeSettings = part(EpisodeSettings, "Stretches of work, and how alike they are.")
    tiers: TierSettings = part(TierSettings, "Models, budget and the gate.")
    metrics: MetricsSettings = part(MetricsSettings, "The record of each tick.")
