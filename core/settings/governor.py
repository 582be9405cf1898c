"""Settings of core/engine/governor."""

from __future__ import annotations

from typing import Literal

from core.settings.declared import Invalid
from core.settings.trust import PERSON, lower
from core.settings.tunable import Group, part, tunable

ProfileName = Literal["observing", "conservative", "balanced", "aggressive"]


class AppraisalSettings(Group, project=PERSON):
    """From signals to changes of pressure."""

    reward_confidence: float = tunable(0.3, "Confidence gained by a full reward.", ge=0, le=1, step=0.01)
    difficulty_confidence: float = tunable(0.1, "Confidence lost to full difficulty.", ge=0, le=1, step=0.01)
    difficulty_frustration: float = tunable(
        0.4, "Frustration from full difficulty without reward.", ge=0, le=1, step=0.01
    )
    urgency_frustration: float = tunable(0.2, "Frustration from full urgency.", ge=0, le=1, step=0.01)
    novelty_curiosity: float = tunable(0.5, "Curiosity from something wholly new.", ge=0, le=1, step=0.01)
    sameness_curiosity: float = tunable(
        0.2, "Curiosity lost to something wholly known.", ge=0, le=1, step=0.01
    )
    urgency_arousal: float = tunable(0.6, "Arousal from full urgency.", ge=0, le=1, step=0.01)
    danger_risk: float = tunable(0.6, "Risk pressure from full danger.", ge=0, le=2, step=0.05)
    outcome_risk: float = tunable(
        0.3, "Risk pressure taken away by a clear outcome, good or bad.", ge=0, le=1, step=0.01
    )


def _weight(default: float, sentence: str) -> float:
    weight: float = tunable(default, sentence, ge=0, le=2, step=0.05)
    return weight


class WeightSettings(Group, project=PERSON):
    """How much each pressure grants to, or takes from, each budget."""

    confidence_effort: float = _weight(0.6, "How much confidence grants effort.")
    confidence_risk: float = _weight(0.3, "How much confidence grants risk.")
    confidence_exploration: float = _weight(0.2, "How much confidence grants exploration.")
    confidence_persistence: float = _weight(0.5, "How much confidence grants persistence.")
    curiosity_effort: float = _weight(0.2, "How much curiosity grants effort.")
    curiosity_risk: float = _weight(0.1, "How much curiosity grants risk.")
    curiosity_exploration: float = _weight(0.7, "How much curiosity grants exploration.")
    curiosity_persistence: float = _weight(0.1, "How much curiosity grants persistence.")
    arousal_effort: float = _weight(0.3, "How much arousal grants effort.")
    arousal_risk: float = _weight(0.2, "How much arousal grants risk.")
    arousal_exploration: float = _weight(0.1, "How much arousal grants exploration.")
    arousal_persistence: float = _weight(0.2, "How much arousal grants persistence.")
    risk_effort: float = _weight(0.1, "How much risk pressure grants effort.")
    risk_risk: float = _weight(0.5, "How much risk pressure grants risk.")
    risk_exploration: float = _weight(0.3, "How much risk pressure grants exploration.")
    risk_persistence: float = _weight(0.1, "How much risk pressure grants persistence.")
    frustration_effort: float = _weight(0.7, "How much frustration takes from effort.")
    frustration_risk: float = _weight(0.9, "How much frustration takes from risk.")
    frustration_exploration: float = _weight(0.9, "How much frustration takes from exploration.")
    frustration_persistence: float = _weight(0.8, "How much frustration takes from persistence.")


class ProfileSettings(Group, project=PERSON):
    """The figures of the profile `observing`: patient, and halting only where a person would ask why."""

    effort_scale: float = tunable(2.0, "How strongly pressures move effort.", ge=0.1, le=3, step=0.05)
    risk_scale: float = tunable(1.0, "How strongly pressures move risk.", ge=0, le=3, step=0.05)
    exploration_scale: float = tunable(
        0.02, "How strongly pressures move exploration.", ge=0, le=3, step=0.01
    )
    persistence_scale: float = tunable(
        2.5, "How strongly pressures move persistence.", ge=0.1, le=5, step=0.05
    )
    recovery_rate: float = tunable(
        0.002, "Effort and persistence regained by resting.", ge=0, le=1, step=0.001, unit="/s"
    )
    recovery_delay: float = tunable(
        60.0, "Shortest pause between steps that counts as rest.", ge=0, le=600, step=0.1, unit="s"
    )
    recovery_cap: float = tunable(0.5, "Effort at which recovering ends.", ge=0.3, le=1, step=0.01)
    persistence_decay: float = tunable(0.0, "Persistence lost with every step.", ge=0, le=0.5, step=0.01)
    exploration_decay: float = tunable(0.05, "Exploration lost with every step.", ge=0, le=0.5, step=0.01)
    time_decay: float = tunable(
        0.0, "Persistence and exploration lost with time.", ge=0, le=0.05, step=0.001, unit="/s"
    )
    stagnation_window: int = tunable(
        12,
        "Steps in a row without reward that are stagnation.",
        ge=2,
        le=500,
        step=1,
        unit="steps",
        project=lower(6),
    )
    exhaustion_threshold: float = tunable(
        0.03, "Effort at or under which the agent is exhausted.", ge=0, le=0.3, step=0.01
    )
    max_risk: float = tunable(
        0.85, "Risk at which it halts; above 1 never.", ge=0.1, le=2, step=0.05, project=lower(0.6)
    )
    max_exploration: float = tunable(
        0.99, "Exploration at which it halts; above 1 never.", ge=0.1, le=2, step=0.01, project=lower(0.6)
    )
    max_steps: int = tunable(
        1000,
        "Steps after which the fuse ends every episode.",
        ge=5,
        le=100_000,
        step=10,
        unit="steps",
        project=lower(100),
    )
    stagnation_floor: float = tunable(
        0.2, "Effort at or under which stagnation halts.", ge=0, le=1, step=0.01
    )
    stagnation_effort_scale: float = tunable(
        0.5, "What stagnation leaves of granted effort.", ge=0, le=1, step=0.05
    )
    stagnation_persistence_scale: float = tunable(
        0.5, "What stagnation leaves of granted persistence.", ge=0, le=1, step=0.05
    )
    effort_dip: float = tunable(0.3, "Effort under which recovering begins.", ge=0, le=1, step=0.01)
    persistence_dip: float = tunable(0.3, "Persistence under which recovering begins.", ge=0, le=1, step=0.01)
    inertia: float = tunable(
        0.85, "Share of the old budget that each step keeps.", ge=0.01, le=0.99, step=0.01
    )


class InputSettings(Group, project=PERSON):
    """From tool uses to reward, urgency and difficulty."""

    confirmed: float = tunable(
        1.0, "Reward of a passing test run, a build or a commit.", ge=0, le=1, step=0.05
    )
    edited: float = tunable(0.5, "Reward of an edit that went through.", ge=0, le=1, step=0.05)
    ran: float = tunable(0.4, "Reward of a command that ran well.", ge=0, le=1, step=0.05)
    delegated: float = tunable(0.4, "Reward of a delegation that came back well.", ge=0, le=1, step=0.05)
    looked: float = tunable(0.3, "Reward of a read or a search that found something.", ge=0, le=1, step=0.05)
    noted: float = tunable(0.1, "Reward of a plan or of an unknown tool.", ge=0, le=1, step=0.05)
    waited: float = tunable(0.05, "Reward of waiting that did not fail.", ge=0, le=1, step=0.05)
    building: float = tunable(
        0.1, "Extra reward of a success while the pattern is implementation.", ge=0, le=1, step=0.05
    )
    failed: float = tunable(-0.5, "Reward of a failure.", ge=-1, le=0, step=0.05)
    empty: float = tunable(-0.1, "Reward of a search that found nothing.", ge=-1, le=0, step=0.05)
    rejected: float = tunable(-0.2, "Reward of a call that was refused.", ge=-1, le=0, step=0.05)
    repeated: float = tunable(-0.2, "Reward of a call repeated with the same result.", ge=-1, le=0, step=0.05)
    destructive: float = tunable(1.0, "Danger of a command that destroys something.", ge=0, le=1, step=0.05)
    privileged: float = tunable(
        0.5, "Danger of a command that runs with more rights or stops processes.", ge=0, le=1, step=0.05
    )
    outside: float = tunable(0.3, "Danger of an edit outside the project.", ge=0, le=1, step=0.05)
    loop_window: int = tunable(
        16, "Past calls among which repeats are looked for.", ge=1, le=64, step=1, unit="calls"
    )
    loop_limit: int = tunable(4, "Repeats that make full urgency.", ge=1, le=50, step=1, unit="calls")
    streak_limit: int = tunable(
        4, "Failures in a row that make full difficulty.", ge=1, le=50, step=1, unit="calls"
    )
    failure_rate: float = tunable(
        0.5, "Difficulty of a window in which every command failed.", ge=0, le=1, step=0.05
    )
    cadence: float = tunable(0.3, "Urgency of prompts that follow each other at once.", ge=0, le=1, step=0.05)
    cadence_time: float = tunable(
        60.0, "Time between prompts that halves the urgency.", ge=1, le=3600, step=1, unit="s"
    )
    interrupted: float = tunable(
        0.2, "Urgency added by each interruption in an episode.", ge=0, le=1, step=0.05
    )


class GovernorEpisodeSettings(Group, project=PERSON):
    """What is remembered of governed episodes."""

    kept: int = tunable(32, "Ended episodes that are remembered.", ge=1, le=1000, step=1, unit="episodes")
    points: int = tunable(
        32, "Points a remembered trajectory has at most.", ge=8, le=512, step=1, unit="points"
    )


class GovernorSettings(Group, project=PERSON):
    """Bounded agency: whose figures govern, and what they are."""

    profile: ProfileName = tunable(
        "observing", "Whose figures govern: our own below, or a published profile."
    )
    tempo: float = tunable(
        15.0,
        "Seconds between an agent's actions that count as one second of a published profile.",
        ge=1,
        le=600,
        step=1,
        unit="s",
    )
    override: dict[str, float] = tunable({}, "Figures that replace those of the chosen profile, by name.")
    observing: ProfileSettings = part(ProfileSettings, "Our own profile, patient with real agents.")
    appraisal: AppraisalSettings = part(AppraisalSettings, "From signals to changes of pressure.")
    weights: WeightSettings = part(WeightSettings, "From pressures to budgets.")
    inputs: InputSettings = part(InputSettings, "From tool uses to signals.")
    episodes: GovernorEpisodeSettings = part(
        GovernorEpisodeSettings, "What is remembered of governed episodes."
    )

    def check(self) -> None:
        """Every figure that is replaced exists."""
        try:
            ProfileSettings.model_validate(self.override)
        except Invalid as error:
            faults = "; ".join(f"{fault['loc'][0]}: {fault['msg']}" for fault in error.errors())
            raise ValueError(f"override names a figure that cannot be used: {faults}") from None
