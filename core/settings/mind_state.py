"""Settings of what the mind holds: cortical state, forecast, fabric, episodes, tiers, metrics."""

from __future__ import annotations

from typing import Literal

from core.settings.trust import PERSON, PROJECT, lower
from core.settings.tunable import Group, part, tunable


class MoodSettings(Group, project=PERSON):
    """How fast pleasure, arousal and dominance follow the work."""

    pleasure_rise: float = tunable(
        0.05, "Most that pleasure may rise in one gamma tick.", ge=0.005, le=0.5, step=0.005
    )
    pleasure_fall: float = tunable(
        0.08, "Most that pleasure may fall in one gamma tick.", ge=0.005, le=0.5, step=0.005
    )
    arousal_step: float = tunable(
        0.1, "Most that arousal may move in one gamma tick.", ge=0.005, le=0.5, step=0.005
    )
    dominance_rise: float = tunable(
        0.03, "Most that dominance may rise in one gamma tick.", ge=0.005, le=0.5, step=0.005
    )
    dominance_fall: float = tunable(
        0.05, "Most that dominance may fall in one gamma tick.", ge=0.005, le=0.5, step=0.005
    )
    rate_neutral: float = tunable(
        12.0, "Event rate at which arousal is neutral.", ge=1, le=120, step=1, unit="events/min"
    )
    rate_window: float = tunable(
        60.0, "How slowly the measured event rate follows.", ge=5, le=600, step=5, unit="s"
    )
    urgency_weight: float = tunable(
        0.6, "How much the most urgent stimulus adds to arousal.", ge=0, le=1, step=0.05
    )
    choice_smoothing: float = tunable(
        0.1, "Weight of the newest edit in the share of self-chosen edits.", ge=0.01, le=1, step=0.01
    )
    prompted_calls: int = tunable(
        1, "Calls right after a prompt that count as the person's choice.", ge=0, le=20, step=1
    )
    dead_zone: float = tunable(
        0.05, "How far an axis must cross zero before the emotion changes.", ge=0, le=0.5, step=0.01
    )


class RegimeSettings(Group, project=PERSON):
    """When the work counts as calm, progress, turbulence or crisis."""

    turbulence_enter: float = tunable(
        0.4, "Share of failing commands at which turbulence begins.", ge=0.05, le=1, step=0.05
    )
    turbulence_leave: float = tunable(
        0.25, "Share of failing commands below which turbulence ends.", ge=0, le=1, step=0.05
    )
    progress_enter: float = tunable(
        0.2, "Most failing commands with which implementation counts as progress.", ge=0, le=1, step=0.05
    )
    least_events: int = tunable(
        4, "Events the short window needs before failures count.", ge=1, le=50, step=1
    )
    rise_hold: float = tunable(
        10.0, "How long a worse regime must last before it is believed.", ge=0, le=300, step=5, unit="s"
    )
    fall_hold: float = tunable(
        30.0, "How long a better regime must last before it is believed.", ge=0, le=600, step=5, unit="s"
    )
    crisis_hold: float = tunable(
        60.0, "How long a crisis must be gone before it ends.", ge=0, le=1200, step=10, unit="s"
    )


class VitalitySettings(Group, project=PERSON):
    """How much life is left, and the phase that follows from it."""

    economic_share: float = tunable(
        0.6, "Weight of the budget left against the forecast's accuracy.", ge=0, le=1, step=0.05
    )
    thriving: float = tunable(0.7, "Vitality at which the agent thrives.", ge=0, le=1, step=0.05)
    stable: float = tunable(0.5, "Vitality at which the agent is stable.", ge=0, le=1, step=0.05)
    conserving: float = tunable(0.3, "Vitality at which the agent begins to conserve.", ge=0, le=1, step=0.05)
    declining: float = tunable(0.1, "Vitality below which the last phase begins.", ge=0, le=1, step=0.05)
    margin: float = tunable(
        0.02, "How far vitality must climb past a bound to win a phase back.", ge=0, le=0.2, step=0.01
    )


class CorticalSettings(Group, project=PERSON):
    """The state every mechanism reads and each writes one part of."""

    mood: MoodSettings = part(MoodSettings, "Pleasure, arousal and dominance.")
    regime: RegimeSettings = part(RegimeSettings, "Calm, progress, turbulence or crisis.")
    vitality: VitalitySettings = part(VitalitySettings, "Budget left, accuracy, and the phase.")


class ForecastSettings(Group, project=PERSON):
    """The forecast of the next call's outcome, and how it is scored."""

    prior_failure: float = tunable(
        0.15, "Failure share assumed before anything was seen.", ge=0.01, le=0.99, step=0.01
    )
    prior_weight: float = tunable(
        2.0, "How many calls the assumed failure share is worth.", ge=0.5, le=50, step=0.5
    )
    class_weight: float = tunable(
        2.0, "Calls of one kind before its own rate counts half.", ge=0.5, le=50, step=0.5
    )
    context_weight: float = tunable(
        4.0, "Calls after the same outcomes before their rate counts half.", ge=0.5, le=50, step=0.5
    )
    lean: float = tunable(
        0.25, "How far a chance below that of all calls is drawn towards it.", ge=0, le=1, step=0.05
    )
    least: float = tunable(
        0.06, "No chance of failing is said to be smaller than this.", ge=0, le=0.5, step=0.01
    )
    memory: int = tunable(
        64, "Calls after which a table halves its counts and so forgets.", ge=8, le=1024, step=8
    )
    classes: int = tunable(
        64, "How many kinds of call are kept; the longest unused goes.", ge=4, le=512, step=4
    )
    smoothing: float = tunable(
        0.05, "Weight of the newest score in the accuracy shown.", ge=0.005, le=1, step=0.005
    )
    slow_smoothing: float = tunable(
        0.01, "Weight of the newest score in the accuracy compared with.", ge=0.001, le=1, step=0.001
    )
    ignorance: float = tunable(0.25, "Brier score that counts as knowing nothing.", ge=0.05, le=1, step=0.05)
    initial_accuracy: float = tunable(
        0.5, "Accuracy assumed before the first call is scored.", ge=0, le=1, step=0.05
    )
    trend_band: float = tunable(
        0.05, "How far accuracy must move before a trend is named.", ge=0, le=0.5, step=0.01
    )


class FabricSettings(Group, project=PERSON):
    """The ring of what the mind did."""

    capacity: int = tunable(10_000, "How many events the ring keeps.", ge=100, le=100_000, step=100)
    tail: int = tunable(64, "How many of the last events a snapshot carries.", ge=0, le=1000, step=8)


class EpisodeSettings(Group, project=PERSON):
    """Stretches of work, and how alike two of them are."""

    regime_weight: float = tunable(
        0.4, "Weight of the same regime in how alike episodes are.", ge=0, le=1, step=0.05, project=PROJECT
    )
    affect_weight: float = tunable(
        0.3, "Weight of the same mood in how alike episodes are.", ge=0, le=1, step=0.05, project=PROJECT
    )
    task_weight: float = tunable(
        0.3, "Weight of the same task in how alike episodes are.", ge=0, le=1, step=0.05, project=PROJECT
    )
    recency_ticks: int = tunable(
        10_000, "Age at which an episode counts half.", ge=100, le=1_000_000, step=100, unit="ticks"
    )
    top_k: int = tunable(5, "How many past episodes a recall gives.", ge=1, le=50, step=1, project=PROJECT)
    token_budget: int = tunable(
        200,
        "Most tokens the recalled lines may take.",
        ge=10,
        le=10_000,
        step=10,
        unit="tokens",
        project=PROJECT,
    )
    capacity: int = tunable(128, "How many episodes of this session are kept.", ge=8, le=2000, step=8)
    remembered: int = tunable(
        1000, "How many episodes of saved sessions are looked at.", ge=0, le=20_000, step=100
    )
    least_calls: int = tunable(
        3, "Calls an episode needs before a pattern change ends it.", ge=1, le=50, step=1
    )
    path_depth: int = tunable(
        2, "How many folders of a path the task keeps.", ge=1, le=6, step=1, project=PROJECT
    )
    open_size: int = tunable(
        64, "How many actions and folders an open episode may name.", ge=8, le=512, step=8
    )
    signature_size: int = tunable(
        12, "How many actions and folders a closed episode keeps.", ge=2, le=64, step=1
    )
    summary_size: int = tunable(6, "How many actions and folders a summary keeps.", ge=1, le=64, step=1)
    trace_length: int = tunable(24, "How many last calls a full episode lists.", ge=0, le=200, step=4)
    proof_weight: float = tunable(
        2.0, "What a passing or failing test, build or commit weighs.", ge=0, le=10, step=0.5
    )
    edit_weight: float = tunable(0.5, "What a successful edit weighs.", ge=0, le=10, step=0.25)
    setback_weight: float = tunable(
        1.0, "What a failing, rejected or interrupted call weighs.", ge=0, le=10, step=0.25
    )
    verdict: float = tunable(
        0.1, "Mean weight a call from which an episode is gain or loss.", ge=0, le=2, step=0.05
    )


class TierSettings(Group, project=PERSON):
    """Which models count as large, what a day may cost, and the gate's threshold."""

    none_words: tuple[str, ...] = tunable(
        ("synthetic", "none"), "Words in a model's name that mean no model answered."
    )
    small_words: tuple[str, ...] = tunable(
        (
            "haiku",
            "mini",
            "nano",
            "flash",
            "lite",
            "small",
            "tiny",
            "micro",
            "instant",
            "fast",
            "luna",
            "gemma",
            "ministral",
            "1b",
            "2b",
            "3b",
            "4b",
            "7b",
            "8b",
            "9b",
            "12b",
            "14b",
        ),
        "Words in a model's name that mean a small model.",
    )
    otherwise: Literal["T0", "T1", "T2"] = tunable("T2", "Tier of a model that no word of the table names.")
    daily_money: float = tunable(
        25.0, "What a day may cost; 0 sets no limit.", ge=0, le=10_000, step=1, unit="$", project=lower(1)
    )
    daily_tokens: int = tunable(
        10_000_000,
        "Tokens a day may take, cache reads left out; 0 sets no limit.",
        ge=0,
        le=10_000_000_000,
        step=100_000,
        unit="tokens",
        project=lower(100_000),
    )
    no_large_from: float = tunable(
        0.7, "Share of the daily budget from which no large model is due.", ge=0.1, le=1, step=0.05
    )
    no_model_from: float = tunable(
        0.9, "Share of the daily budget from which no model is due.", ge=0.1, le=1, step=0.05
    )
    gate_base: float = tunable(
        0.3, "The gate's threshold before anything bends it.", ge=0.01, le=1, step=0.01
    )
    gate_confidence: float = tunable(0.5, "How much confidence raises the gate.", ge=0, le=2, step=0.05)
    confidence_pace: float = tunable(
        0.5,
        "Share of the way to the confidence felt that the gate's own goes with an event, before affect.",
        ge=0.05,
        le=1,
        step=0.05,
    )
    gate_vitality: float = tunable(0.3, "How much lost vitality lowers the gate.", ge=0, le=1, step=0.05)
    gate_arousal: float = tunable(
        0.2, "How much arousal of either sign lowers the gate.", ge=0, le=1, step=0.05
    )
    gate_low: float = tunable(0.05, "The gate's threshold is never below this.", ge=0, le=1, step=0.01)
    gate_high: float = tunable(0.8, "The gate's threshold is never above this.", ge=0, le=1, step=0.01)
    gate_large: float = tunable(
        2.0, "Times the threshold from which a large model is due.", ge=1, le=10, step=0.1
    )


class MetricsSettings(Group, project=PERSON):
    """The wide record of each tick."""

    gamma: bool = tunable(True, "Write a record for the frequent gamma ticks too.")
