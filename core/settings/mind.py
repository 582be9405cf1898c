"""Settings of the mind: its clock, salience, sleep, state, forecast, memory and tiers."""

from __future__ import annotations

from typing import Annotated, Literal

from core.settings.group import ON, PROJECT, Group, Spec, lower


class MoodSettings(Group):
    """How fast pleasure, arousal and dominance follow the work."""

    pleasure_rise: Annotated[float, Spec("Maximum rise of pleasure per gamma tick.", 0.005, 0.5, 0.005)] = 0.05
    pleasure_fall: Annotated[float, Spec("Maximum fall of pleasure per gamma tick.", 0.005, 0.5, 0.005)] = 0.08
    arousal_step: Annotated[float, Spec("Maximum change of arousal per gamma tick.", 0.005, 0.5, 0.005)] = 0.1
    dominance_rise: Annotated[float, Spec("Maximum rise of dominance per gamma tick.", 0.005, 0.5, 0.005)] = 0.03
    dominance_fall: Annotated[float, Spec("Maximum fall of dominance per gamma tick.", 0.005, 0.5, 0.005)] = 0.05
    rate_neutral: Annotated[float, Spec("Event rate at which arousal is neutral.", 1, 120, 1, "events/min")] = 12.0
    rate_window: Annotated[float, Spec("How slowly the measured event rate follows.", 5, 600, 5, "s")] = 60.0
    urgency_weight: Annotated[float, Spec("How much the most urgent stimulus adds to arousal.", 0, 1, 0.05)] = 0.6
    choice_smoothing: Annotated[float, Spec("Weight of the newest edit in self-chosen edits.", 0.01, 1, 0.01)] = 0.1
    prompted_calls: Annotated[int, Spec("Calls right after a prompt that count as the person's choice.", 0, 20, 1)] = 1
    dead_zone: Annotated[float, Spec("How far an axis must cross zero to change the emotion.", 0, 0.5, 0.01)] = 0.05


class RegimeSettings(Group):
    """When the work counts as calm, progress, turbulence or crisis."""

    turbulence_enter: Annotated[float, Spec("Share of failing commands that begins turbulence.", 0.05, 1, 0.05)] = 0.4
    turbulence_leave: Annotated[float, Spec("Share of failing commands that ends turbulence.", 0, 1, 0.05)] = 0.25
    progress_enter: Annotated[
        float, Spec("Maximum share of failing commands with which implementation counts as progress.", 0, 1, 0.05)
    ] = 0.2
    least_events: Annotated[int, Spec("Events the short window needs before failures count.", 1, 50, 1)] = 4
    least_failures: Annotated[int, Spec("Recent failures without which it is never turbulence.", 1, 50, 1)] = 2
    rise_hold: Annotated[float, Spec("How long a worse regime must last to be believed.", 0, 300, 5, "s")] = 10.0
    fall_hold: Annotated[float, Spec("How long a better regime must last to be believed.", 0, 600, 5, "s")] = 30.0
    crisis_hold: Annotated[float, Spec("How long a crisis must be gone before it ends.", 0, 1200, 10, "s")] = 60.0


class VitalitySettings(Group):
    """How much life is left, and the phase that follows from it."""

    economic_share: Annotated[float, Spec("Weight of the budget left against accuracy.", 0, 1, 0.05)] = 0.6
    thriving: Annotated[float, Spec("Vitality at which the agent thrives.", 0, 1, 0.05)] = 0.7
    stable: Annotated[float, Spec("Vitality at which the agent is stable.", 0, 1, 0.05)] = 0.5
    conserving: Annotated[float, Spec("Vitality at which the agent begins to conserve.", 0, 1, 0.05)] = 0.3
    declining: Annotated[float, Spec("Vitality below which the last phase begins.", 0, 1, 0.05)] = 0.1
    margin: Annotated[float, Spec("How far vitality must climb past a bound to win a phase back.", 0, 0.2, 0.01)] = 0.02


class CorticalSettings(Group):
    """The state every mechanism reads and each writes one part of."""

    mood: MoodSettings = MoodSettings()
    regime: RegimeSettings = RegimeSettings()
    vitality: VitalitySettings = VitalitySettings()


class ForecastSettings(Group):
    """The forecast of the next call's outcome, and how it is scored."""

    prior_failure: Annotated[float, Spec("Failure share assumed before anything was seen.", 0.01, 0.99, 0.01)] = 0.15
    prior_weight: Annotated[float, Spec("How many calls the assumed failure share is worth.", 0.5, 50, 0.5)] = 2.0
    class_weight: Annotated[float, Spec("Calls of one kind before its own rate counts half.", 0.5, 50, 0.5)] = 2.0
    context_weight: Annotated[float, Spec("Calls after which the rate of a context counts half.", 0.5, 50, 0.5)] = 4.0
    lean: Annotated[float, Spec("How far a chance below the overall rate is raised towards it.", 0, 1, 0.05)] = 0.25
    least: Annotated[float, Spec("Lowest predicted chance of failing.", 0, 0.5, 0.01)] = 0.06
    memory: Annotated[int, Spec("Calls after which a table halves its counts and so forgets.", 8, 1024, 8)] = 64
    classes: Annotated[int, Spec("How many kinds of call are kept; the one unused longest is dropped.", 4, 512, 4)] = 64
    smoothing: Annotated[float, Spec("Weight of the newest score in the accuracy shown.", 0.005, 1, 0.005)] = 0.05
    slow_smoothing: Annotated[float, Spec("Weight of the newest score in the usual accuracy.", 0.001, 1, 0.001)] = 0.01
    ignorance: Annotated[float, Spec("Brier score that counts as knowing nothing.", 0.05, 1, 0.05)] = 0.25
    initial_accuracy: Annotated[float, Spec("Accuracy assumed before the first call is scored.", 0, 1, 0.05)] = 0.5
    trend_band: Annotated[float, Spec("How far accuracy must move before a trend is named.", 0, 0.5, 0.01)] = 0.05


class FabricSettings(Group):
    """The ring of what the mind did."""

    capacity: Annotated[int, Spec("How many events the ring keeps.", 100, 100_000, 100)] = 10_000
    tail: Annotated[int, Spec("How many of the last events a snapshot carries.", 0, 1000, 8)] = 64


class EpisodeSettings(Group):
    """Stretches of work, and how alike two of them are."""

    regime_weight: Annotated[float, Spec("Weight of the same regime in similarity.", 0, 1, 0.05, project=PROJECT)] = 0.4
    affect_weight: Annotated[float, Spec("Weight of the same mood in similarity.", 0, 1, 0.05, project=PROJECT)] = 0.3
    task_weight: Annotated[float, Spec("Weight of the same task in similarity.", 0, 1, 0.05, project=PROJECT)] = 0.3
    recency_ticks: Annotated[int, Spec("Age at which an episode counts half.", 100, 1_000_000, 100, "ticks")] = 10_000
    top_k: Annotated[int, Spec("How many past episodes a recall returns.", 1, 50, 1, project=PROJECT)] = 5
    token_budget: Annotated[int, Spec("Maximum tokens recalled.", 10, 10_000, 10, "tokens", project=PROJECT)] = 200
    capacity: Annotated[int, Spec("How many episodes of this session are kept.", 8, 2000, 8)] = 128
    remembered: Annotated[int, Spec("How many episodes of saved sessions are looked at.", 0, 20_000, 100)] = 1000
    least_calls: Annotated[int, Spec("Calls an episode needs before a pattern change ends it.", 1, 50, 1)] = 3
    path_depth: Annotated[int, Spec("How many folders of a path the task keeps.", 1, 6, 1, project=PROJECT)] = 2
    open_size: Annotated[int, Spec("How many actions and folders an open episode may name.", 8, 512, 8)] = 64
    signature_size: Annotated[int, Spec("How many actions and folders a closed episode keeps.", 2, 64, 1)] = 12
    summary_size: Annotated[int, Spec("How many actions and folders a summary keeps.", 1, 64, 1)] = 6
    trace_length: Annotated[int, Spec("How many of its last calls a full episode lists.", 0, 200, 4)] = 24
    proof_weight: Annotated[float, Spec("Weight of a passing or failing test, build or commit.", 0, 10, 0.5)] = 2.0
    edit_weight: Annotated[float, Spec("Weight of a successful edit.", 0, 10, 0.25)] = 0.5
    setback_weight: Annotated[float, Spec("Weight of a failing, rejected or interrupted call.", 0, 10, 0.25)] = 1.0
    verdict: Annotated[float, Spec("Mean weight per call from which an episode is a gain or loss.", 0, 2, 0.05)] = 0.1
    playbook_cases: Annotated[int, Spec("Minimum episodes behind a line of the playbook.", 2, 100, 1, "episodes")] = 3
    playbook_share: Annotated[float, Spec("Share of them that must have gone the same way.", 0.5, 1, 0.05)] = 0.7
    playbook_size: Annotated[int, Spec("Maximum number of lines of the playbook.", 0, 64, 1, "lines")] = 8


class TierSettings(Group):
    """Which models count as large, what a day may cost, and the gate's threshold."""

    none_words: Annotated[tuple[str, ...], Spec("Words in a model's name that mean no model answered.")] = (
        "synthetic", "none",
    )  # fmt: skip
    small_words: Annotated[tuple[str, ...], Spec("Words in a model's name that mean a small model.")] = (
        "haiku", "mini", "nano", "flash", "lite", "small", "tiny", "micro", "instant", "fast", "luna", "gemma",
        "ministral", "1b", "2b", "3b", "4b", "7b", "8b", "9b", "12b", "14b",
    )  # fmt: skip
    otherwise: Annotated[Literal["T0", "T1", "T2"], Spec("Tier of a model that is not in the table.")] = "T2"
    daily_money: Annotated[float, Spec("Daily budget; 0 for no limit.", 0, 10_000, 1, "$", project=lower(1))] = 25.0
    daily_tokens: Annotated[
        int,
        Spec(
            "Daily budget in tokens, without cache reads; 0 for no limit.",
            0,
            10_000_000_000,
            100_000,
            "tokens",
            project=lower(100_000),
        ),
    ] = 10_000_000
    no_large_from: Annotated[float, Spec("Share of the daily budget that stops large models.", 0.1, 1, 0.05)] = 0.7
    no_model_from: Annotated[float, Spec("Share of the daily budget after which no model is used.", 0.1, 1, 0.05)] = 0.9
    gate_base: Annotated[float, Spec("The gate's threshold before adjustments.", 0.01, 1, 0.01)] = 0.3
    gate_confidence: Annotated[float, Spec("How much confidence raises the gate.", 0, 2, 0.05)] = 0.5
    confidence_pace: Annotated[
        float, Spec("How fast the gate's confidence follows the agent's with each event, before affect.", 0.05, 1, 0.05)
    ] = 0.5
    gate_vitality: Annotated[float, Spec("How much lost vitality lowers the gate.", 0, 1, 0.05)] = 0.3
    gate_arousal: Annotated[float, Spec("How much arousal of either sign lowers the gate.", 0, 1, 0.05)] = 0.2
    gate_low: Annotated[float, Spec("The gate's threshold is never below this.", 0, 1, 0.01)] = 0.05
    gate_high: Annotated[float, Spec("The gate's threshold is never above this.", 0, 1, 0.01)] = 0.8
    gate_large: Annotated[float, Spec("Multiple of the threshold at which a large model is used.", 1, 10, 0.1)] = 2.0


class MetricsSettings(Group):
    """The wide record of each tick."""

    gamma: Annotated[bool, Spec("Write a record for the frequent gamma ticks too.")] = True


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
    live_limit: Annotated[float, Spec("How long a live view keeps ticking without an event.", 0, 3600, 10, "s")] = 30.0

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
