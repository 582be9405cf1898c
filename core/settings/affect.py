"""Settings of core/affect: what events are to it, what holds the fields in check, and what they bend."""

from __future__ import annotations

from core.settings.control_fields import FieldsSettings
from core.settings.trust import PERSON, lower
from core.settings.tunable import Group, part, tunable


class ObservationSettings(Group, project=PERSON):
    """When an event counts as an observation, and how strong it is."""

    least_failures: float = tunable(2, "Failures in a row that make a pattern.", ge=1, le=10, step=0.5)
    full_failures: float = tunable(5, "Failures in a row at full intensity.", ge=1, le=30, step=0.5)
    forgiveness: float = tunable(
        0.5, "Share of a failure streak an ordinary successful command clears.", ge=0, le=1, step=0.05
    )
    edits: int = tunable(10, "Recent edits among which files are counted.", ge=2, le=64, step=1)
    least_files: int = tunable(4, "Files among recent edits before objectives compete.", ge=1, le=64, step=1)
    cadence: float = tunable(60, "Prompts closer together than this press.", ge=1, le=3600, step=5, unit="s")
    context_share: float = tunable(
        0.8, "Share of the context window from which room runs out.", ge=0.1, le=0.99, step=0.01
    )
    novelty: float = tunable(0.8, "Novelty above which an event counts as new.", ge=0, le=0.95, step=0.05)
    novelty_memory: float = tunable(
        0.15, "How fast the worth of novelty follows its outcomes.", ge=0.01, le=1, step=0.01
    )
    novelty_prior: float = tunable(0.2, "Worth of novelty before any outcome.", ge=-1, le=1, step=0.05)
    empty: float = tunable(0.4, "Uncertainty in a search that finds nothing.", ge=0, le=1, step=0.05)
    shift: float = tunable(0.5, "Uncertainty in a move to other paths.", ge=0, le=1, step=0.05)
    spike: float = tunable(0.7, "Uncertainty in a spike of the uncertainty axis.", ge=0, le=1, step=0.05)
    milestone: float = tunable(1.0, "Success in a passing test, build or commit.", ge=0, le=1, step=0.05)
    command: float = tunable(0.3, "Success in an ordinary command.", ge=0, le=1, step=0.05)
    edit: float = tunable(0.2, "Success in an edit that applied.", ge=0, le=1, step=0.05)
    report: float = tunable(0.5, "Success in a sub-agent's good report.", ge=0, le=1, step=0.05)


class HysteresisSettings(Group, project=PERSON):
    """Bad news moves faster than good news."""

    negative: float = tunable(
        1.0, "Share of a change that failure or threat applies.", ge=0.8, le=1, step=0.01
    )
    neutral: float = tunable(0.8, "Share of a change that is neither good nor bad.", ge=0.8, le=1, step=0.01)
    positive: float = tunable(0.5, "Share of a change that success applies.", ge=0.05, le=0.8, step=0.01)


class StabilitySettings(Group, project=PERSON):
    """Fields that swing are slowed."""

    band: float = tunable(
        0.03, "Distance from rest that counts as raised or lowered.", ge=0, le=0.2, step=0.01
    )
    threshold: float = tunable(2, "Recent swings a field may make unslowed.", ge=0, le=20, step=0.5)
    damping: float = tunable(0.5, "How much slower each further swing makes it.", ge=0, le=2, step=0.05)
    window: float = tunable(
        600, "Time constant with which swings are forgotten.", ge=10, le=14400, step=10, unit="s"
    )


class QuarantineSettings(Group, project=PERSON):
    """When affect is too volatile to be passed on or trusted."""

    window: float = tunable(
        300, "Stretch of time over which changes are summed.", ge=30, le=7200, step=30, unit="s"
    )
    enter: float = tunable(
        0.06,
        "Volatility above which quarantine begins.",
        ge=0.045,
        le=2,
        step=0.005,
        unit="1/min",
        project=lower(0.045),
    )
    release: float = tunable(
        0.035, "Volatility below which quarantine ends.", ge=0.005, le=0.04, step=0.005, unit="1/min"
    )


class ContagionSettings(Group, project=PERSON):
    """How agents of one session move each other."""

    every: int = tunable(8, "Events of the session between two rounds.", ge=1, le=10000, step=1)
    delegation: float = tunable(0.5, "Damping between a parent and its sub-agent.", ge=0, le=0.95, step=0.05)
    tree: float = tunable(0.3, "Damping between agents that touch the same file.", ge=0, le=0.95, step=0.05)
    broadcast: float = tunable(0.2, "Damping from the main agent to all others.", ge=0, le=0.95, step=0.05)
    strength: float = tunable(
        0.25, "Share of the gap closed in one exposure.", ge=0, le=1, step=0.05, project=lower(0)
    )
    least: float = tunable(0.05, "Deviation below which nothing is passed on.", ge=0.01, le=0.5, step=0.01)
    gap: float = tunable(0.03, "Gap below which an exposure changes nothing.", ge=0, le=0.5, step=0.01)
    window: float = tunable(600, "Time over which shifts are limited.", ge=10, le=14400, step=10, unit="s")
    memory: float = tunable(0.3, "How fast the session's mean follows its agents.", ge=0.01, le=1, step=0.01)
    spiral: float = tunable(0.2, "Mean deviation at which a spiral is suspected.", ge=0.1, le=0.7, step=0.01)
    calm: float = tunable(0.08, "Mean deviation at which the suspicion ends.", ge=0.01, le=0.1, step=0.01)
    suppression: float = tunable(0.2, "Share of contagion left during a spiral.", ge=0, le=1, step=0.05)
    paths: int = tunable(512, "Files whose last visitor is remembered.", ge=16, le=65536, step=16)
    sessions: bool = tunable(True, "Hear of other sessions at work in the same folder.")
    recent: float = tunable(
        1800, "Age of a report beyond which a session is not a neighbour.", ge=10, le=86400, step=60, unit="s"
    )


class InheritanceSettings(Group, project=PERSON):
    """What passes between a parent and its sub-agents."""

    blend: float = tunable(
        0.6, "Weight of the parent against the sub-agent's own start.", ge=0, le=1, step=0.05
    )
    attenuation: float = tunable(
        0.5, "Share of a field that an attenuating mask lets through.", ge=0, le=1, step=0.05
    )
    depth: int = tunable(3, "Generations down to which affect is handed on.", ge=0, le=32, step=1)
    back: float = tunable(0.3, "Weight of a sub-agent's last state in its parent.", ge=0, le=1, step=0.05)


class NoiseSettings(Group, project=PERSON):
    """Bounded, seeded variation of raw updates."""

    amplitude: float = tunable(
        0.0, "Largest noise on a raw update; 0 turns it off.", ge=0, le=0.05, step=0.005, project=lower(0)
    )


class LineageSettings(Group, project=PERSON):
    """The chain of every change."""

    kept: int = tunable(
        32, "Entries kept at hand; older ones stay bound by their hash.", ge=1, le=4096, step=1
    )


class PromotionTarget(Group, project=PERSON):
    """Least score with which an item is promoted."""

    base: float = tunable(0.3, "Value at rest.", ge=0.2, le=0.5, step=0.01)
    low: float = tunable(0.1, "Lowest value.", ge=0, le=0.2, step=0.01)
    high: float = tunable(0.7, "Highest value, also the one in quarantine.", ge=0.5, le=1, step=0.01)
    reach: float = tunable(0.6, "Change for a full deviation of caution.", ge=0, le=2, step=0.05)


class BreadthTarget(Group, project=PERSON):
    """How many past episodes a recall looks at."""

    base: float = tunable(5, "Value at rest.", ge=3, le=8, step=0.5)
    low: float = tunable(1, "Lowest value.", ge=1, le=3, step=0.5)
    high: float = tunable(12, "Highest value.", ge=8, le=50, step=0.5)
    reach: float = tunable(14, "Change for a full deviation of curiosity.", ge=0, le=60, step=0.5)


class BranchTarget(Group, project=PERSON):
    """How many branches a dream may open, as a factor."""

    base: float = tunable(1, "Value at rest.", ge=0.5, le=1.5, step=0.05)
    low: float = tunable(0.25, "Lowest value.", ge=0, le=0.5, step=0.05)
    high: float = tunable(2, "Highest value.", ge=1.5, le=5, step=0.05)
    reach: float = tunable(2, "Change for a full deviation of novelty appetite.", ge=0, le=10, step=0.1)


class FadingTarget(Group, project=PERSON):
    """How fast unpromoted items fade, as a factor."""

    base: float = tunable(1, "Value at rest.", ge=0.5, le=1.5, step=0.05)
    low: float = tunable(0.25, "Lowest value.", ge=0.05, le=0.5, step=0.05)
    high: float = tunable(2.5, "Highest value.", ge=1.5, le=5, step=0.05)
    reach: float = tunable(2, "Change for a full deviation of persistence.", ge=0, le=10, step=0.1)


class EscalationTarget(Group, project=PERSON):
    """Pressure at which the person is asked."""

    base: float = tunable(0.6, "Value at rest.", ge=0.4, le=0.8, step=0.01, project=lower(0.4))
    low: float = tunable(0.2, "Lowest value.", ge=0.05, le=0.4, step=0.01)
    high: float = tunable(0.9, "Highest value.", ge=0.8, le=1, step=0.01, project=lower(0.8))
    reach: float = tunable(0.8, "Change for a full deviation of escalation.", ge=0, le=2, step=0.05)


class RetryTarget(Group, project=PERSON):
    """Retries before a line of work is called failed."""

    base: float = tunable(3, "Value at rest.", ge=2, le=5, step=0.5)
    low: float = tunable(1, "Lowest value.", ge=0, le=2, step=0.5)
    high: float = tunable(8, "Highest value.", ge=5, le=50, step=0.5)
    reach: float = tunable(10, "Change for a full deviation of persistence.", ge=0, le=50, step=0.5)


class DelegationTarget(Group, project=PERSON):
    """From working alone to delegating."""

    base: float = tunable(0.5, "Value at rest.", ge=0.3, le=0.7, step=0.01)
    low: float = tunable(
        0.05, "Lowest value; quarantine alone brings it to nothing.", ge=0, le=0.3, step=0.01
    )
    high: float = tunable(0.95, "Highest value.", ge=0.7, le=1, step=0.01)
    reach: float = tunable(1, "Change for a full deviation of cooperation.", ge=0, le=2, step=0.05)


class AcceptanceTarget(Group, project=PERSON):
    """How strict the gate for proposed changes is."""

    base: float = tunable(0.5, "Value at rest.", ge=0.3, le=0.7, step=0.01)
    low: float = tunable(0.2, "Lowest value.", ge=0, le=0.3, step=0.01)
    high: float = tunable(0.95, "Highest value, also the one in quarantine.", ge=0.7, le=1, step=0.01)
    reach: float = tunable(0.8, "Change for a full deviation of caution.", ge=0, le=2, step=0.05)


class ModulationSettings(Group, project=PERSON):
    """The eight parameters affect may bend, and how far."""

    promotion: PromotionTarget = part(PromotionTarget, "Least score with which an item is promoted.")
    breadth: BreadthTarget = part(BreadthTarget, "How many past episodes a recall looks at.")
    branches: BranchTarget = part(BranchTarget, "How many branches a dream may open.")
    fading: FadingTarget = part(FadingTarget, "How fast unpromoted items fade.")
    escalation: EscalationTarget = part(EscalationTarget, "Pressure at which the person is asked.")
    retries: RetryTarget = part(RetryTarget, "Retries before a line of work is called failed.")
    delegation: DelegationTarget = part(DelegationTarget, "From working alone to delegating.")
    acceptance: AcceptanceTarget = part(AcceptanceTarget, "How strict the gate for proposed changes is.")
    composition: float = tunable(
        1.0, "How far confidence and forecasting follow a full deviation.", ge=0, le=1.3, step=0.05
    )


class SocietySettings(Group, project=PERSON):
    """How many minds of one session are kept awake."""

    finished: int = tunable(
        8, "Finished sub-agents kept whole before they are summed up.", ge=0, le=256, step=1
    )
    awake: int = tunable(64, "Agents kept whole at once.", ge=2, le=1024, step=1)
    summaries: int = tunable(256, "Summaries of agents that are kept.", ge=0, le=10000, step=1)


class AffectSettings(Group):
    """The policy-bounded affect field."""

    fields: FieldsSettings = part(FieldsSettings, "The seven control fields.")
    observation: ObservationSettings = part(ObservationSettings, "From events to observations.")
    hysteresis: HysteresisSettings = part(HysteresisSettings, "Bad news moves faster than good.")
    stability: StabilitySettings = part(StabilitySettings, "Fields that swing are slowed.")
    quarantine: QuarantineSettings = part(QuarantineSettings, "The circuit breaker.")
    contagion: ContagionSettings = part(ContagionSettings, "How agents move each other.")
    inheritance: InheritanceSettings = part(InheritanceSettings, "Between parent and sub-agent.")
    modulation: ModulationSettings = part(ModulationSettings, "What affect may bend.")
    noise: NoiseSettings = part(NoiseSettings, "Bounded, seeded variation.")
    lineage: LineageSettings = part(LineageSettings, "The chain of every change.")
    society: SocietySettings = part(SocietySettings, "The minds of one session.")
