"""Settings of the mind's state: cortical state, forecast, fabric, episodes, tiers, metrics."""

from __future__ import annotations

from typing import Annotated, Literal

from core.settings.group import PROJECT, Group, Spec, lower


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
    lean: Annotated[float, Spec("How far a chance below that of all calls is drawn towards it.", 0, 1, 0.05)] = 0.25
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
    no_large_from: Annotated[
        float, Spec("Share of the daily budget after which large models are not used.", 0.1, 1, 0.05)
    ] = 0.7
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
