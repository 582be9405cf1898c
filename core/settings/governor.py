"""Settings of core/engine/governor."""

from __future__ import annotations

from typing import Annotated, Literal

from core.settings.group import Group, Invalid, Spec, lower

ProfileName = Literal["observing", "conservative", "balanced", "aggressive"]


class AppraisalSettings(Group):
    """From signals to changes of pressure."""

    reward_confidence: Annotated[float, Spec("Confidence gained by a full reward.", 0, 1, 0.01)] = 0.3
    difficulty_confidence: Annotated[float, Spec("Confidence lost to full difficulty.", 0, 1, 0.01)] = 0.1
    difficulty_frustration: Annotated[float, Spec("Frustration from full difficulty without reward.", 0, 1, 0.01)] = 0.4
    urgency_frustration: Annotated[float, Spec("Frustration from full urgency.", 0, 1, 0.01)] = 0.2
    novelty_curiosity: Annotated[float, Spec("Curiosity from something wholly new.", 0, 1, 0.01)] = 0.5
    sameness_curiosity: Annotated[float, Spec("Curiosity lost to something wholly known.", 0, 1, 0.01)] = 0.2
    urgency_arousal: Annotated[float, Spec("Arousal from full urgency.", 0, 1, 0.01)] = 0.6
    danger_risk: Annotated[float, Spec("Risk pressure from full danger.", 0, 2, 0.05)] = 0.6
    outcome_risk: Annotated[float, Spec("Risk pressure removed by a clear outcome, good or bad.", 0, 1, 0.01)] = 0.3


def _weight(sentence: str) -> Spec:
    return Spec(sentence, 0, 2, 0.05)


class WeightSettings(Group):
    """How much each pressure grants to, or takes from, each budget."""

    confidence_effort: Annotated[float, _weight("How strongly confidence raises effort.")] = 0.6
    confidence_risk: Annotated[float, _weight("How strongly confidence raises risk.")] = 0.3
    confidence_exploration: Annotated[float, _weight("How strongly confidence raises exploration.")] = 0.2
    confidence_persistence: Annotated[float, _weight("How strongly confidence raises persistence.")] = 0.5
    curiosity_effort: Annotated[float, _weight("How strongly curiosity raises effort.")] = 0.2
    curiosity_risk: Annotated[float, _weight("How strongly curiosity raises risk.")] = 0.1
    curiosity_exploration: Annotated[float, _weight("How strongly curiosity raises exploration.")] = 0.7
    curiosity_persistence: Annotated[float, _weight("How strongly curiosity raises persistence.")] = 0.1
    arousal_effort: Annotated[float, _weight("How strongly arousal raises effort.")] = 0.3
    arousal_risk: Annotated[float, _weight("How strongly arousal raises risk.")] = 0.2
    arousal_exploration: Annotated[float, _weight("How strongly arousal raises exploration.")] = 0.1
    arousal_persistence: Annotated[float, _weight("How strongly arousal raises persistence.")] = 0.2
    risk_effort: Annotated[float, _weight("How strongly risk pressure raises effort.")] = 0.1
    risk_risk: Annotated[float, _weight("How strongly risk pressure raises risk.")] = 0.5
    risk_exploration: Annotated[float, _weight("How strongly risk pressure raises exploration.")] = 0.3
    risk_persistence: Annotated[float, _weight("How strongly risk pressure raises persistence.")] = 0.1
    frustration_effort: Annotated[float, _weight("How strongly frustration lowers effort.")] = 0.7
    frustration_risk: Annotated[float, _weight("How strongly frustration lowers risk.")] = 0.9
    frustration_exploration: Annotated[float, _weight("How strongly frustration lowers exploration.")] = 0.9
    frustration_persistence: Annotated[float, _weight("How strongly frustration lowers persistence.")] = 0.8


class ProfileSettings(Group):
    """The figures of the profile `observing`: patient, and halting only where a person would ask why."""

    effort_scale: Annotated[float, Spec("How strongly pressures move effort.", 0.1, 3, 0.05)] = 2.0
    risk_scale: Annotated[float, Spec("How strongly pressures move risk.", 0, 3, 0.05)] = 1.0
    exploration_scale: Annotated[float, Spec("How strongly pressures move exploration.", 0, 3, 0.01)] = 0.02
    persistence_scale: Annotated[float, Spec("How strongly pressures move persistence.", 0.1, 5, 0.05)] = 2.5
    recovery_rate: Annotated[float, Spec("Effort and persistence regained by resting.", 0, 1, 0.001, "/s")] = 0.002
    recovery_delay: Annotated[float, Spec("Shortest pause between steps that counts as rest.", 0, 600, 0.1, "s")] = 60.0
    recovery_cap: Annotated[float, Spec("Effort at which recovering ends.", 0.3, 1, 0.01)] = 0.5
    persistence_decay: Annotated[float, Spec("Persistence lost with every step.", 0, 0.5, 0.01)] = 0.0
    exploration_decay: Annotated[float, Spec("Exploration lost with every step.", 0, 0.5, 0.01)] = 0.05
    time_decay: Annotated[float, Spec("Persistence and exploration lost with time.", 0, 0.05, 0.001, "/s")] = 0.0
    stagnation_window: Annotated[
        int, Spec("Steps in a row without reward that count as stagnation.", 2, 500, 1, "steps", project=lower(6))
    ] = 12
    exhaustion_threshold: Annotated[float, Spec("Effort at which the agent is exhausted.", 0, 0.3, 0.01)] = 0.03
    max_risk: Annotated[float, Spec("Risk at which it halts; above 1 never.", 0.1, 2, 0.05, project=lower(0.6))] = 0.85
    max_exploration: Annotated[float, Spec("Exploration limit; above 1 none.", 0.1, 2, 0.01, project=lower(0.6))] = 0.99
    max_steps: Annotated[int, Spec("Steps that end an episode.", 5, 100_000, 10, "steps", project=lower(100))] = 1000
    stagnation_floor: Annotated[float, Spec("Effort at or below which stagnation halts.", 0, 1, 0.01)] = 0.2
    stagnation_effort_scale: Annotated[float, Spec("Factor on gains of effort during stagnation.", 0, 1, 0.05)] = 0.5
    stagnation_persistence_scale: Annotated[float, Spec("Factor on persistence in stagnation.", 0, 1, 0.05)] = 0.5
    effort_dip: Annotated[float, Spec("Effort below which recovering begins.", 0, 1, 0.01)] = 0.3
    persistence_dip: Annotated[float, Spec("Persistence below which recovering begins.", 0, 1, 0.01)] = 0.3
    inertia: Annotated[float, Spec("Share of the old budget that each step keeps.", 0.01, 0.99, 0.01)] = 0.85


class InputSettings(Group):
    """From tool uses to reward, urgency and difficulty."""

    confirmed: Annotated[float, Spec("Reward of a passing test run, a build or a commit.", 0, 1, 0.05)] = 1.0
    edited: Annotated[float, Spec("Reward of a successful edit.", 0, 1, 0.05)] = 0.5
    ran: Annotated[float, Spec("Reward of a successful command.", 0, 1, 0.05)] = 0.4
    delegated: Annotated[float, Spec("Reward of a successful delegation.", 0, 1, 0.05)] = 0.4
    looked: Annotated[float, Spec("Reward of a read or a search that found something.", 0, 1, 0.05)] = 0.3
    noted: Annotated[float, Spec("Reward of a plan or of an unknown tool.", 0, 1, 0.05)] = 0.1
    waited: Annotated[float, Spec("Reward of waiting that did not fail.", 0, 1, 0.05)] = 0.05
    building: Annotated[float, Spec("Extra reward of a success while the pattern is implementation.", 0, 1, 0.05)] = 0.1
    failed: Annotated[float, Spec("Reward of a failure.", -1, 0, 0.05)] = -0.5
    empty: Annotated[float, Spec("Reward of a search that found nothing.", -1, 0, 0.05)] = -0.1
    rejected: Annotated[float, Spec("Reward of a call that was refused.", -1, 0, 0.05)] = -0.2
    repeated: Annotated[float, Spec("Reward of a call repeated with the same result.", -1, 0, 0.05)] = -0.2
    destructive: Annotated[float, Spec("Danger of a command that destroys something.", 0, 1, 0.05)] = 1.0
    privileged: Annotated[float, Spec("Danger of elevated privileges or of ending processes.", 0, 1, 0.05)] = 0.5
    outside: Annotated[float, Spec("Danger of an edit outside the project.", 0, 1, 0.05)] = 0.3
    loop_window: Annotated[int, Spec("Past calls among which repeats are looked for.", 1, 64, 1, "calls")] = 16
    loop_limit: Annotated[int, Spec("Repeats that count as full urgency.", 1, 50, 1, "calls")] = 4
    streak_limit: Annotated[int, Spec("Failures in a row that count as full difficulty.", 1, 50, 1, "calls")] = 4
    failure_rate: Annotated[float, Spec("Difficulty of a window in which every command failed.", 0, 1, 0.05)] = 0.5
    cadence: Annotated[float, Spec("Urgency of prompts that follow each other immediately.", 0, 1, 0.05)] = 0.3
    cadence_time: Annotated[float, Spec("Time between prompts that halves the urgency.", 1, 3600, 1, "s")] = 60.0
    interrupted: Annotated[float, Spec("Urgency added by each interruption in an episode.", 0, 1, 0.05)] = 0.2


class GovernorEpisodeSettings(Group):
    """Memory of governed episodes."""

    kept: Annotated[int, Spec("Ended episodes that are remembered.", 1, 1000, 1, "episodes")] = 32
    points: Annotated[int, Spec("Maximum number of points of a remembered trajectory.", 8, 512, 1, "points")] = 32


class GovernorSettings(Group):
    """Bounded agency: whose figures govern, and what they are."""

    profile: Annotated[ProfileName, Spec("The settings below, or a published profile.")] = "observing"
    tempo: Annotated[
        float,
        Spec("Seconds between an agent's actions that count as one second of a published profile.", 1, 600, 1, "s"),
    ] = 15.0
    override: Annotated[dict[str, float], Spec("Values that replace those of the chosen profile, by name.")] = {}
    observing: ProfileSettings = ProfileSettings()
    appraisal: AppraisalSettings = AppraisalSettings()
    weights: WeightSettings = WeightSettings()
    inputs: InputSettings = InputSettings()
    episodes: GovernorEpisodeSettings = GovernorEpisodeSettings()

    def __post_init__(self) -> None:
        """Check that every figure that is replaced exists."""
        if not self.override:
            return
        try:
            ProfileSettings.parse(self.override)
        except Invalid as error:
            faults = "; ".join(f"{fault['loc'][0]}: {fault['msg']}" for fault in error.errors())
            raise ValueError(f"override has a value that cannot be used: {faults}") from None
