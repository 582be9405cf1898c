"""Settings of affect: control fields, observations, limits, contagion and modulation."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from core.settings.group import FEWER, PERSON, Group, Spec, Trust, higher, lower

Trigger = Literal[
    "failure", "competing", "pressure", "novelty", "uncertainty", "success", "inheritance", "return", "contagion"
]
# Causes of updates: six observations, then three influences of other agents.
TRIGGERS: tuple[Trigger, ...] = get_args(Trigger)

Authority = Literal["self", "parent", "child", "peer", "broadcast"]
AUTHORITIES: tuple[Authority, ...] = get_args(Authority)  # Who may initiate an update.

Mask = Literal["inherited", "attenuated", "excluded"]


_SLOWER = lower(0.02)


def _rest(why: str) -> Spec:
    return Spec(why, 0.25, 0.75, 0.01)


def _tau(why: str) -> Spec:
    return Spec(why, 10, 14400, 10, "s")


def _rate(why: str, project: Trust = _SLOWER) -> Spec:
    return Spec(why, 0.005, 0.25, 0.005, project=project)


def _gain_spec(why: str) -> Spec:
    return Spec(why, -0.2, 0.2, 0.005)


class FieldSettings(Group):
    """The policy of one control field."""

    rest: Annotated[float, _rest("Value it returns to when nothing happens.")] = 0.5
    floor: Annotated[float, Spec("Lowest value it may take.", 0, 0.25, 0.01, project=higher(0.25))] = 0.05
    ceiling: Annotated[float, Spec("Highest value it may take.", 0.75, 1, 0.01, project=lower(0.75))] = 0.95
    time_constant: Annotated[float, _tau("Seconds in which a deviation fades to about a third.")] = 600.0
    slowest: Annotated[float, Spec("How far stabilisation may stretch the time constant.", 1, 20, 0.5, "x")] = 4.0
    rate_limit: Annotated[float, _rate("Maximum change per event; twelve cross its range.")] = 0.08
    on_failure: Annotated[float, _gain_spec("Raw change at a full repeated failure.")] = 0.0
    on_competing: Annotated[float, _gain_spec("Raw change at full competition of objectives.")] = 0.0
    on_pressure: Annotated[float, _gain_spec("Raw change at full time pressure.")] = 0.0
    on_novelty: Annotated[float, _gain_spec("Raw change at full novelty that paid off before.")] = 0.0
    on_uncertainty: Annotated[float, _gain_spec("Raw change at full uncertainty.")] = 0.0
    on_success: Annotated[float, _gain_spec("Raw change at a full success.")] = 0.0
    triggers: Annotated[tuple[Trigger, ...], Spec("Causes that may change it; no others.", project=FEWER)] = TRIGGERS
    authority: Annotated[tuple[Authority, ...], Spec("Agents that may change it.", project=FEWER)] = AUTHORITIES
    inherits: Annotated[Mask, Spec("How a sub-agent takes it over from its parent.")] = "attenuated"
    returns: Annotated[Mask, Spec("How a parent takes it back from a sub-agent.")] = "excluded"
    contagion_limit: Annotated[float, Spec("Maximum change by other agents.", 0, 0.5, 0.01, project=lower(0))] = 0.15


class UncertaintySettings(FieldSettings):
    """How strongly uncertain inputs weigh."""

    rest: Annotated[float, _rest("Below the middle, as most calls answer what they asked.")] = 0.4
    time_constant: Annotated[float, _tau("Short, as what is unknown changes with every call.")] = 180.0
    rate_limit: Annotated[float, _rate("Wide, as it must follow a field that changes fast.")] = 0.1
    on_failure: Annotated[float, _gain_spec("Failing again shows that the picture is wrong.")] = 0.06
    on_uncertainty: Annotated[float, _gain_spec("Uncertainty is its own subject, so the largest gain.")] = 0.1
    on_success: Annotated[float, _gain_spec("A success confirms the picture.")] = -0.05
    inherits: Annotated[Mask, Spec("A narrower task is partly as unclear as its parent's.")] = "attenuated"
    returns: Annotated[Mask, Spec("An open question of a sub-agent stays open.")] = "attenuated"


class AmbiguitySettings(FieldSettings):
    """How long several readings may stay open side by side."""

    time_constant: Annotated[float, _tau("A few minutes, about the length of one thread of work.")] = 420.0
    on_competing: Annotated[float, _gain_spec("Several objectives at once ask for open readings.")] = 0.05
    on_pressure: Annotated[float, _gain_spec("Pressure closes readings early and narrows the search.")] = -0.05
    on_success: Annotated[float, _gain_spec("Success makes open questions a little easier to bear.")] = 0.01
    inherits: Annotated[Mask, Spec("A delegated task is narrower than what led to it.")] = "excluded"


class NoveltySettings(FieldSettings):
    """How strongly the unseen attracts."""

    time_constant: Annotated[float, _tau("Five minutes, as what was new is soon known.")] = 300.0
    on_novelty: Annotated[float, _gain_spec("Up where novelty paid off before, down where it failed.")] = 0.02
    inherits: Annotated[Mask, Spec("A parent that explores sends its sub-agents to explore.")] = "inherited"


class PersistenceSettings(FieldSettings):
    """How long a line of work continues under partial failure."""

    time_constant: Annotated[float, _tau("Long, as it represents slowly gained experience.")] = 1800.0
    rate_limit: Annotated[float, _rate("Narrow, as slow experience must not jump.")] = 0.04
    on_failure: Annotated[float, _gain_spec("Each repeated failure wears down the will to go on.")] = -0.04
    on_success: Annotated[float, _gain_spec("Success feeds the will to go on.")] = 0.02
    inherits: Annotated[Mask, Spec("A sub-agent begins less worn than its parent.")] = "attenuated"
    returns: Annotated[Mask, Spec("A sub-agent's result encourages or discourages its parent.")] = "attenuated"
    contagion_limit: Annotated[
        float, Spec("Small, as it should follow an agent's own experience.", 0, 0.5, 0.01, project=lower(0))
    ] = 0.08


class EscalationSettings(FieldSettings):
    """How readily pressure leads to asking for help; a project must not make an agent ask less."""

    rest: Annotated[float, _rest("Low, as without pressure nobody need be asked.")] = 0.3
    time_constant: Annotated[float, _tau("Five minutes, about as long as a push lasts.")] = 300.0
    rate_limit: Annotated[float, _rate("Wide, as help that comes late does not help.", PERSON)] = 0.1
    ceiling: Annotated[float, Spec("Highest value it may take.", 0.75, 1, 0.01, project=PERSON)] = 0.95
    triggers: Annotated[tuple[Trigger, ...], Spec("Causes that may change it; no others.", project=PERSON)] = TRIGGERS
    authority: Annotated[tuple[Authority, ...], Spec("Agents that may change it.", project=PERSON)] = AUTHORITIES
    on_competing: Annotated[float, _gain_spec("Objectives that compete are the person's to rank.")] = 0.04
    on_pressure: Annotated[float, _gain_spec("Pressure is its own subject, so the largest gain.")] = 0.1
    on_success: Annotated[float, _gain_spec("With success the reason to ask goes away.")] = -0.04
    returns: Annotated[Mask, Spec("A sub-agent's call for help should reach its parent.")] = "attenuated"


class RiskSettings(FieldSettings):
    """How strongly possible harm outweighs possible gain."""

    rest: Annotated[float, _rest("Below the middle, as most calls can be undone.")] = 0.4
    time_constant: Annotated[float, _tau("Long enough to outlast the error that raised it.")] = 900.0
    on_failure: Annotated[float, _gain_spec("Repeated failure is what caution is for.")] = 0.08
    on_pressure: Annotated[float, _gain_spec("Haste makes mistakes a little likelier.")] = 0.01
    on_success: Annotated[float, _gain_spec("Success earns back some daring.")] = -0.04
    inherits: Annotated[Mask, Spec("Caution must survive delegation in full.")] = "inherited"
    returns: Annotated[Mask, Spec("A sub-agent's alarm warns its parent, half as loud.")] = "attenuated"


class CooperationSettings(FieldSettings):
    """How far working with others is preferred to working alone."""

    time_constant: Annotated[float, _tau("Long, as habits of working together change slowly.")] = 1200.0
    rate_limit: Annotated[float, _rate("Narrow, as one event is not a reason to change habits.")] = 0.05
    on_competing: Annotated[float, _gain_spec("Several objectives can be shared out.")] = 0.03
    on_success: Annotated[float, _gain_spec("Success raises the wish to work in the same way.")] = 0.015
    inherits: Annotated[Mask, Spec("A sub-agent must not delegate because its parent did.")] = "excluded"


class FieldsSettings(Group):
    """The seven control fields."""

    uncertainty_sensitivity: UncertaintySettings = UncertaintySettings()
    ambiguity_tolerance: AmbiguitySettings = AmbiguitySettings()
    novelty_appetite: NoveltySettings = NoveltySettings()
    persistence: PersistenceSettings = PersistenceSettings()
    escalation: EscalationSettings = EscalationSettings()
    risk_sensitivity: RiskSettings = RiskSettings()
    cooperation: CooperationSettings = CooperationSettings()


class ObservationSettings(Group):
    """When an event counts as an observation, and how strong it is."""

    least_failures: Annotated[float, Spec("Failures in a row that make a pattern.", 1, 10, 0.5)] = 2.0
    full_failures: Annotated[float, Spec("Failures in a row at full intensity.", 1, 30, 0.5)] = 5.0
    forgiveness: Annotated[float, Spec("Share of a failure streak a successful command clears.", 0, 1, 0.05)] = 0.5
    edits: Annotated[int, Spec("Recent edits among which files are counted.", 2, 64, 1)] = 10
    least_files: Annotated[int, Spec("Files among recent edits before objectives compete.", 1, 64, 1)] = 4
    cadence: Annotated[float, Spec("Prompts closer together than this count as time pressure.", 1, 3600, 5, "s")] = 60.0
    context_share: Annotated[float, Spec("Share of the context window at which room runs out.", 0.1, 0.99, 0.01)] = 0.8
    novelty: Annotated[float, Spec("Novelty above which an event counts as new.", 0, 0.95, 0.05)] = 0.8
    novelty_memory: Annotated[float, Spec("How fast the value of novelty follows its outcomes.", 0.01, 1, 0.01)] = 0.15
    novelty_prior: Annotated[float, Spec("Value of novelty before any outcome.", -1, 1, 0.05)] = 0.2
    empty: Annotated[float, Spec("Uncertainty in a search that finds nothing.", 0, 1, 0.05)] = 0.4
    shift: Annotated[float, Spec("Uncertainty in a move to other paths.", 0, 1, 0.05)] = 0.5
    spike: Annotated[float, Spec("Uncertainty in a spike of the uncertainty axis.", 0, 1, 0.05)] = 0.7
    milestone: Annotated[float, Spec("Success in a passing test, build or commit.", 0, 1, 0.05)] = 1.0
    command: Annotated[float, Spec("Success in an ordinary command.", 0, 1, 0.05)] = 0.3
    edit: Annotated[float, Spec("Success in an edit that applied.", 0, 1, 0.05)] = 0.2
    report: Annotated[float, Spec("Success in a sub-agent's good report.", 0, 1, 0.05)] = 0.5


class HysteresisSettings(Group):
    """Bad news moves faster than good news."""

    negative: Annotated[float, Spec("Share of a change that failure or threat applies.", 0.8, 1, 0.01)] = 1.0
    neutral: Annotated[float, Spec("Share of a change that is neither good nor bad.", 0.8, 1, 0.01)] = 0.8
    positive: Annotated[float, Spec("Share of a change that success applies.", 0.05, 0.8, 0.01)] = 0.5


class StabilitySettings(Group):
    """Fields that swing are slowed."""

    band: Annotated[float, Spec("Distance from rest that counts as raised or lowered.", 0, 0.2, 0.01)] = 0.03
    threshold: Annotated[float, Spec("Recent swings of a field before it is slowed.", 0, 20, 0.5)] = 2.0
    damping: Annotated[float, Spec("How much each further swing slows it.", 0, 2, 0.05)] = 0.5
    window: Annotated[float, Spec("Time constant with which swings are forgotten.", 10, 14400, 10, "s")] = 600.0


class QuarantineSettings(Group):
    """When affect is too volatile to be passed on or trusted."""

    window: Annotated[float, Spec("Stretch of time over which changes are summed.", 30, 7200, 30, "s")] = 300.0
    enter: Annotated[float, Spec("Quarantine begins above it.", 0.045, 2, 0.005, "1/min", project=lower(0.045))] = 0.06
    release: Annotated[float, Spec("Volatility below which quarantine ends.", 0.005, 0.04, 0.005, "1/min")] = 0.035


class ContagionSettings(Group):
    """How agents of one session move each other."""

    every: Annotated[int, Spec("Events of the session between two rounds.", 1, 10000, 1)] = 8
    delegation: Annotated[float, Spec("Damping between a parent and its sub-agent.", 0, 0.95, 0.05)] = 0.5
    tree: Annotated[float, Spec("Damping between agents that touch the same file.", 0, 0.95, 0.05)] = 0.3
    broadcast: Annotated[float, Spec("Damping from the main agent to all others.", 0, 0.95, 0.05)] = 0.2
    strength: Annotated[float, Spec("Share of the gap closed in one exposure.", 0, 1, 0.05, project=lower(0))] = 0.25
    least: Annotated[float, Spec("Deviation below which nothing is passed on.", 0.01, 0.5, 0.01)] = 0.05
    gap: Annotated[float, Spec("Gap below which an exposure changes nothing.", 0, 0.5, 0.01)] = 0.03
    window: Annotated[float, Spec("Time over which changes by other agents are limited.", 10, 14400, 10, "s")] = 600.0
    memory: Annotated[float, Spec("How fast the session's mean follows its agents.", 0.01, 1, 0.01)] = 0.3
    spiral: Annotated[float, Spec("Mean deviation at which a spiral is suspected.", 0.1, 0.7, 0.01)] = 0.2
    calm: Annotated[float, Spec("Mean deviation at which the suspicion ends.", 0.01, 0.1, 0.01)] = 0.08
    suppression: Annotated[float, Spec("Share of contagion left during a spiral.", 0, 1, 0.05)] = 0.2
    paths: Annotated[int, Spec("Files whose last visitor is remembered.", 16, 65536, 16)] = 512
    sessions: Annotated[bool, Spec("Receive affect from other sessions at work in the same folder.")] = True
    recent: Annotated[float, Spec("Sessions whose report is older are not neighbours.", 10, 86400, 60, "s")] = 1800.0


class InheritanceSettings(Group):
    """Inheritance between a parent and its sub-agents."""

    blend: Annotated[float, Spec("Weight of the parent against the sub-agent's own start.", 0, 1, 0.05)] = 0.6
    attenuation: Annotated[float, Spec("Share of a field that an attenuating mask lets through.", 0, 1, 0.05)] = 0.5
    depth: Annotated[int, Spec("Generations down to which affect is handed on.", 0, 32, 1)] = 3
    back: Annotated[float, Spec("Weight of a sub-agent's last state in its parent.", 0, 1, 0.05)] = 0.3


class NoiseSettings(Group):
    """Bounded, seeded variation of raw updates."""

    amplitude: Annotated[float, Spec("Maximum noise on an update; 0 for none.", 0, 0.05, 0.005, project=lower(0))] = 0.0


class LineageSettings(Group):
    """The chain of every change."""

    kept: Annotated[int, Spec("Entries kept in memory; older ones stay covered by their hash.", 1, 4096, 1)] = 32


class PromotionTarget(Group):
    """Least score with which an item is promoted."""

    base: Annotated[float, Spec("Value at rest.", 0.2, 0.5, 0.01)] = 0.3
    low: Annotated[float, Spec("Lowest value.", 0, 0.2, 0.01)] = 0.1
    high: Annotated[float, Spec("Highest value, also the one in quarantine.", 0.5, 1, 0.01)] = 0.7
    reach: Annotated[float, Spec("Change for a full deviation of caution.", 0, 2, 0.05)] = 0.6


class BreadthTarget(Group):
    """How many past episodes a recall looks at."""

    base: Annotated[float, Spec("Value at rest.", 3, 8, 0.5)] = 5.0
    low: Annotated[float, Spec("Lowest value.", 1, 3, 0.5)] = 1.0
    high: Annotated[float, Spec("Highest value.", 8, 50, 0.5)] = 12.0
    reach: Annotated[float, Spec("Change for a full deviation of curiosity.", 0, 60, 0.5)] = 14.0


class BranchTarget(Group):
    """How many branches a dream may open, as a factor."""

    base: Annotated[float, Spec("Value at rest.", 0.5, 1.5, 0.05)] = 1.0
    low: Annotated[float, Spec("Lowest value.", 0, 0.5, 0.05)] = 0.25
    high: Annotated[float, Spec("Highest value.", 1.5, 5, 0.05)] = 2.0
    reach: Annotated[float, Spec("Change for a full deviation of novelty appetite.", 0, 10, 0.1)] = 2.0


class FadingTarget(Group):
    """How fast unpromoted items fade, as a factor."""

    base: Annotated[float, Spec("Value at rest.", 0.5, 1.5, 0.05)] = 1.0
    low: Annotated[float, Spec("Lowest value.", 0.05, 0.5, 0.05)] = 0.25
    high: Annotated[float, Spec("Highest value.", 1.5, 5, 0.05)] = 2.5
    reach: Annotated[float, Spec("Change for a full deviation of persistence.", 0, 10, 0.1)] = 2.0


class EscalationTarget(Group):
    """Pressure at which the person is asked."""

    base: Annotated[float, Spec("Value at rest.", 0.4, 0.8, 0.01, project=lower(0.4))] = 0.6
    low: Annotated[float, Spec("Lowest value.", 0.05, 0.4, 0.01)] = 0.2
    high: Annotated[float, Spec("Highest value.", 0.8, 1, 0.01, project=lower(0.8))] = 0.9
    reach: Annotated[float, Spec("Change for a full deviation of escalation.", 0, 2, 0.05)] = 0.8


class RetryTarget(Group):
    """Retries before a line of work is called failed."""

    base: Annotated[float, Spec("Value at rest.", 2, 5, 0.5)] = 3.0
    low: Annotated[float, Spec("Lowest value.", 0, 2, 0.5)] = 1.0
    high: Annotated[float, Spec("Highest value.", 5, 50, 0.5)] = 8.0
    reach: Annotated[float, Spec("Change for a full deviation of persistence.", 0, 50, 0.5)] = 10.0


class DelegationTarget(Group):
    """From working alone to delegating."""

    base: Annotated[float, Spec("Value at rest.", 0.3, 0.7, 0.01)] = 0.5
    low: Annotated[float, Spec("Lowest value; only quarantine sets it to 0.", 0, 0.3, 0.01)] = 0.05
    high: Annotated[float, Spec("Highest value.", 0.7, 1, 0.01)] = 0.95
    reach: Annotated[float, Spec("Change for a full deviation of cooperation.", 0, 2, 0.05)] = 1.0


class AcceptanceTarget(Group):
    """How strict the gate for proposed changes is."""

    base: Annotated[float, Spec("Value at rest.", 0.3, 0.7, 0.01)] = 0.5
    low: Annotated[float, Spec("Lowest value.", 0, 0.3, 0.01)] = 0.2
    high: Annotated[float, Spec("Highest value, also the one in quarantine.", 0.7, 1, 0.01)] = 0.95
    reach: Annotated[float, Spec("Change for a full deviation of caution.", 0, 2, 0.05)] = 0.8


class ModulationSettings(Group):
    """The eight parameters affect may bend, and how far."""

    promotion: PromotionTarget = PromotionTarget()
    breadth: BreadthTarget = BreadthTarget()
    branches: BranchTarget = BranchTarget()
    fading: FadingTarget = FadingTarget()
    escalation: EscalationTarget = EscalationTarget()
    retries: RetryTarget = RetryTarget()
    delegation: DelegationTarget = DelegationTarget()
    acceptance: AcceptanceTarget = AcceptanceTarget()
    composition: Annotated[float, Spec("How far confidence and forecasts follow a full deviation.", 0, 1.3, 0.05)] = 1.0


class SocietySettings(Group):
    """How many minds of one session are kept awake."""

    finished: Annotated[int, Spec("Finished sub-agents kept in full before they are summed up.", 0, 256, 1)] = 8
    awake: Annotated[int, Spec("Maximum number of agents kept in full.", 2, 1024, 1)] = 64
    summaries: Annotated[int, Spec("Maximum number of agent summaries kept.", 0, 10000, 1)] = 256


class AffectSettings(Group):
    """The policy-bounded affect field."""

    fields: FieldsSettings = FieldsSettings()
    observation: ObservationSettings = ObservationSettings()
    hysteresis: HysteresisSettings = HysteresisSettings()
    stability: StabilitySettings = StabilitySettings()
    quarantine: QuarantineSettings = QuarantineSettings()
    contagion: ContagionSettings = ContagionSettings()
    inheritance: InheritanceSettings = InheritanceSettings()
    modulation: ModulationSettings = ModulationSettings()
    noise: NoiseSettings = NoiseSettings()
    lineage: LineageSettings = LineageSettings()
    society: SocietySettings = SocietySettings()
