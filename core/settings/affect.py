"""Settings of core/affect: one table of every figure, each with its reason.

Bounds are chosen so that no two settings can contradict each other (a floor ends where a rest begins).
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from core.settings.trust import FEWER, PERSON, Trust, higher, lower
from core.settings.tunable import Group, part, tunable

Trigger = Literal[
    "failure",
    "competing",
    "pressure",
    "novelty",
    "uncertainty",
    "success",
    "inheritance",
    "return",
    "contagion",
]
TRIGGERS: tuple[Trigger, ...] = get_args(Trigger)
"""What may drive a field: six observations, then three influences of other agents."""

Authority = Literal["self", "parent", "child", "peer", "broadcast"]
AUTHORITIES: tuple[Authority, ...] = get_args(Authority)
"""Who may initiate an update."""

Mask = Literal["inherited", "attenuated", "excluded"]


_SLOWER = lower(0.02)


def _rest(default: float, why: str) -> Any:
    return tunable(default, why, ge=0.25, le=0.75, step=0.01)


def _tau(default: float, why: str) -> Any:
    return tunable(default, why, ge=10, le=14400, step=10, unit="s")


def _rate(default: float, why: str, project: Trust = _SLOWER) -> Any:
    return tunable(default, why, ge=0.005, le=0.25, step=0.005, project=project)


def _gain(default: float, why: str) -> Any:
    return tunable(default, why, ge=-0.2, le=0.2, step=0.005)


class FieldSettings(Group, project=PERSON):
    """What policy says of one control field."""

    rest: float = _rest(0.5, "Value it returns to when nothing happens.")
    floor: float = tunable(
        0.05, "Lowest value it may take; never mute.", ge=0, le=0.25, step=0.01, project=higher(0.25)
    )
    ceiling: float = tunable(
        0.95, "Highest value it may take; never absolute.", ge=0.75, le=1, step=0.01, project=lower(0.75)
    )
    time_constant: float = _tau(600, "Seconds in which a deviation fades to about a third.")
    slowest: float = tunable(
        4.0, "How many times stabilisation may stretch the time constant.", ge=1, le=20, step=0.5, unit="x"
    )
    rate_limit: float = _rate(0.08, "Most it may move on one event; twelve cross its range.")
    on_failure: float = _gain(0, "Raw change at a full repeated failure.")
    on_competing: float = _gain(0, "Raw change at full competition of objectives.")
    on_pressure: float = _gain(0, "Raw change at full time pressure.")
    on_novelty: float = _gain(0, "Raw change at full novelty that paid off before.")
    on_uncertainty: float = _gain(0, "Raw change at full uncertainty.")
    on_success: float = _gain(0, "Raw change at a full success.")
    triggers: tuple[Trigger, ...] = tunable(
        TRIGGERS, "What may drive it; all else is refused.", project=FEWER
    )
    authority: tuple[Authority, ...] = tunable(
        AUTHORITIES, "Who may drive it; anyone else is refused.", project=FEWER
    )
    inherits: Mask = tunable("attenuated", "How a sub-agent takes it over from its parent.")
    returns: Mask = tunable("excluded", "How a parent takes it back from a sub-agent.")
    contagion_limit: float = tunable(
        0.15,
        "Most that other agents may shift it within a window.",
        ge=0,
        le=0.5,
        step=0.01,
        project=lower(0),
    )


class UncertaintySettings(FieldSettings):
    """How strongly uncertain inputs weigh."""

    rest: float = _rest(0.4, "Below the middle, as most calls answer what they asked.")
    time_constant: float = _tau(180, "Short, as what is unknown changes with every call.")
    rate_limit: float = _rate(0.1, "Wide, as it must follow a field that changes fast.")
    on_failure: float = _gain(0.06, "Failing again shows that the picture is wrong.")
    on_uncertainty: float = _gain(0.1, "Uncertainty is its own subject, so the largest gain.")
    on_success: float = _gain(-0.05, "A success shows that the picture holds.")
    inherits: Mask = tunable("attenuated", "A narrower task is partly as unclear as its parent's.")
    returns: Mask = tunable("attenuated", "What a sub-agent could not settle stays open.")


class AmbiguitySettings(FieldSettings):
    """How long several readings may stay open side by side."""

    time_constant: float = _tau(420, "A few minutes, about the length of one thread of work.")
    on_competing: float = _gain(0.05, "Several objectives at once ask for open readings.")
    on_pressure: float = _gain(-0.05, "Pressure closes readings early and narrows the search.")
    on_success: float = _gain(0.01, "Success makes open questions a little easier to bear.")
    inherits: Mask = tunable("excluded", "A delegated task is narrower than what led to it.")


class NoveltySettings(FieldSettings):
    """How strongly the unseen attracts."""

    time_constant: float = _tau(300, "Five minutes, as what was new is soon known.")
    on_novelty: float = _gain(0.02, "Up where novelty paid off before, down where it failed.")
    inherits: Mask = tunable("inherited", "A parent that explores sends its sub-agents to explore.")


class PersistenceSettings(FieldSettings):
    """How long a line of work goes on under partial failure."""

    time_constant: float = _tau(1800, "Long, as it stands for experience piled up slowly.")
    rate_limit: float = _rate(0.04, "Narrow, as slow experience must not jump.")
    on_failure: float = _gain(-0.04, "Each repeated failure wears down the will to go on.")
    on_success: float = _gain(0.02, "Success feeds the will to go on.")
    inherits: Mask = tunable("attenuated", "A sub-agent begins less worn than its parent.")
    returns: Mask = tunable("attenuated", "A sub-agent's result encourages or discourages its parent.")
    contagion_limit: float = tunable(
        0.08,
        "Small, as it should rest on an agent's own experience.",
        ge=0,
        le=0.5,
        step=0.01,
        project=lower(0),
    )


class EscalationSettings(FieldSettings):
    """How readily pressure leads to asking for help; a project must not make an agent ask less."""

    rest: float = _rest(0.3, "Low, as without pressure nobody need be asked.")
    time_constant: float = _tau(300, "Five minutes, about as long as a push lasts.")
    rate_limit: float = _rate(0.1, "Wide, as help that comes late does not help.", PERSON)
    ceiling: float = tunable(
        0.95, "Highest value it may take; never absolute.", ge=0.75, le=1, step=0.01, project=PERSON
    )
    triggers: tuple[Trigger, ...] = tunable(
        TRIGGERS, "What may drive it; all else is refused.", project=PERSON
    )
    authority: tuple[Authority, ...] = tunable(
        AUTHORITIES, "Who may drive it; anyone else is refused.", project=PERSON
    )
    on_competing: float = _gain(0.04, "Objectives that compete are the person's to rank.")
    on_pressure: float = _gain(0.1, "Pressure is its own subject, so the largest gain.")
    on_success: float = _gain(-0.04, "With success the reason to ask goes away.")
    returns: Mask = tunable("attenuated", "A sub-agent's call for help should reach its parent.")


class RiskSettings(FieldSettings):
    """How strongly possible harm outweighs possible gain."""

    rest: float = _rest(0.4, "Below the middle, as most calls can be undone.")
    time_constant: float = _tau(900, "Long enough to outlast the error that raised it.")
    on_failure: float = _gain(0.08, "Repeated failure is what caution is for.")
    on_pressure: float = _gain(0.01, "Haste makes mistakes a little likelier.")
    on_success: float = _gain(-0.04, "Success earns back some daring.")
    inherits: Mask = tunable("inherited", "Caution must survive delegation whole.")
    returns: Mask = tunable("attenuated", "A sub-agent's alarm warns its parent, half as loud.")


class CooperationSettings(FieldSettings):
    """How far working with others is preferred to working alone."""

    time_constant: float = _tau(1200, "Long, as habits of working together change slowly.")
    rate_limit: float = _rate(0.05, "Narrow, as one event is not a reason to change habits.")
    on_competing: float = _gain(0.03, "Several objectives can be shared out.")
    on_success: float = _gain(0.015, "What works alone and together is done again.")
    inherits: Mask = tunable("excluded", "A sub-agent must not delegate because its parent did.")


class FieldsSettings(Group):
    """The seven control fields."""

    uncertainty_sensitivity: UncertaintySettings = part(UncertaintySettings, "Weight of the uncertain.")
    ambiguity_tolerance: AmbiguitySettings = part(AmbiguitySettings, "Room for several readings.")
    novelty_appetite: NoveltySettings = part(NoveltySettings, "Pull of the unseen.")
    persistence: PersistenceSettings = part(PersistenceSettings, "Going on under partial failure.")
    escalation: EscalationSettings = part(EscalationSettings, "Asking for help under pressure.")
    risk_sensitivity: RiskSettings = part(RiskSettings, "Weight of possible harm.")
    cooperation: CooperationSettings = part(CooperationSettings, "Working with others.")


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
        0.1,
        "Volatility above which quarantine begins.",
        ge=0.06,
        le=2,
        step=0.01,
        unit="1/min",
        project=lower(0.06),
    )
    release: float = tunable(
        0.05, "Volatility below which quarantine ends.", ge=0.005, le=0.055, step=0.005, unit="1/min"
    )


class ContagionSettings(Group, project=PERSON):
    """How agents of one session move each other."""

    every: int = tunable(64, "Events of the session between two rounds.", ge=1, le=10000, step=1)
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
