"""The seven control fields of affect: where each rests, how fast it moves, what may move it and by how much.

Bounds are chosen so that no two settings can contradict each other (a floor ends where a rest begins).
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from core.settings.group import FEWER, PERSON, Group, Spec, Trust, higher, lower

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


def _rest(why: str) -> Spec:
    return Spec(why, 0.25, 0.75, 0.01)


def _tau(why: str) -> Spec:
    return Spec(why, 10, 14400, 10, "s")


def _rate(why: str, project: Trust = _SLOWER) -> Spec:
    return Spec(why, 0.005, 0.25, 0.005, project=project)


def _gain(why: str) -> Spec:
    return Spec(why, -0.2, 0.2, 0.005)


class FieldSettings(Group):
    """What policy says of one control field."""

    rest: Annotated[float, _rest("Value it returns to when nothing happens.")] = 0.5
    floor: Annotated[
        float, Spec("Lowest value it may take; never mute.", 0, 0.25, 0.01, project=higher(0.25))
    ] = 0.05
    ceiling: Annotated[
        float, Spec("Highest value it may take; never absolute.", 0.75, 1, 0.01, project=lower(0.75))
    ] = 0.95
    time_constant: Annotated[float, _tau("Seconds in which a deviation fades to about a third.")] = 600.0
    slowest: Annotated[
        float, Spec("How many times stabilisation may stretch the time constant.", 1, 20, 0.5, "x")
    ] = 4.0
    rate_limit: Annotated[float, _rate("Most it may move on one event; twelve cross its range.")] = 0.08
    on_failure: Annotated[float, _gain("Raw change at a full repeated failure.")] = 0.0
    on_competing: Annotated[float, _gain("Raw change at full competition of objectives.")] = 0.0
    on_pressure: Annotated[float, _gain("Raw change at full time pressure.")] = 0.0
    on_novelty: Annotated[float, _gain("Raw change at full novelty that paid off before.")] = 0.0
    on_uncertainty: Annotated[float, _gain("Raw change at full uncertainty.")] = 0.0
    on_success: Annotated[float, _gain("Raw change at a full success.")] = 0.0
    triggers: Annotated[
        tuple[Trigger, ...], Spec("What may drive it; all else is refused.", project=FEWER)
    ] = TRIGGERS
    authority: Annotated[
        tuple[Authority, ...], Spec("Who may drive it; anyone else is refused.", project=FEWER)
    ] = AUTHORITIES
    inherits: Annotated[Mask, Spec("How a sub-agent takes it over from its parent.")] = "attenuated"
    returns: Annotated[Mask, Spec("How a parent takes it back from a sub-agent.")] = "excluded"
    contagion_limit: Annotated[
        float, Spec("Most that other agents may shift it within a window.", 0, 0.5, 0.01, project=lower(0))
    ] = 0.15


class UncertaintySettings(FieldSettings):
    """How strongly uncertain inputs weigh."""

    rest: Annotated[float, _rest("Below the middle, as most calls answer what they asked.")] = 0.4
    time_constant: Annotated[float, _tau("Short, as what is unknown changes with every call.")] = 180.0
    rate_limit: Annotated[float, _rate("Wide, as it must follow a field that changes fast.")] = 0.1
    on_failure: Annotated[float, _gain("Failing again shows that the picture is wrong.")] = 0.06
    on_uncertainty: Annotated[float, _gain("Uncertainty is its own subject, so the largest gain.")] = 0.1
    on_success: Annotated[float, _gain("A success shows that the picture holds.")] = -0.05
    inherits: Annotated[Mask, Spec("A narrower task is partly as unclear as its parent's.")] = "attenuated"
    returns: Annotated[Mask, Spec("What a sub-agent could not settle stays open.")] = "attenuated"


class AmbiguitySettings(FieldSettings):
    """How long several readings may stay open side by side."""

    time_constant: Annotated[float, _tau("A few minutes, about the length of one thread of work.")] = 420.0
    on_competing: Annotated[float, _gain("Several objectives at once ask for open readings.")] = 0.05
    on_pressure: Annotated[float, _gain("Pressure closes readings early and narrows the search.")] = -0.05
    on_success: Annotated[float, _gain("Success makes open questions a little easier to bear.")] = 0.01
    inherits: Annotated[Mask, Spec("A delegated task is narrower than what led to it.")] = "excluded"


class NoveltySettings(FieldSettings):
    """How strongly the unseen attracts."""

    time_constant: Annotated[float, _tau("Five minutes, as what was new is soon known.")] = 300.0
    on_novelty: Annotated[float, _gain("Up where novelty paid off before, down where it failed.")] = 0.02
    inherits: Annotated[Mask, Spec("A parent that explores sends its sub-agents to explore.")] = "inherited"


class PersistenceSettings(FieldSettings):
    """How long a line of work goes on under partial failure."""

    time_constant: Annotated[float, _tau("Long, as it stands for experience piled up slowly.")] = 1800.0
    rate_limit: Annotated[float, _rate("Narrow, as slow experience must not jump.")] = 0.04
    on_failure: Annotated[float, _gain("Each repeated failure wears down the will to go on.")] = -0.04
    on_success: Annotated[float, _gain("Success feeds the will to go on.")] = 0.02
    inherits: Annotated[Mask, Spec("A sub-agent begins less worn than its parent.")] = "attenuated"
    returns: Annotated[Mask, Spec("A sub-agent's result encourages or discourages its parent.")] = (
        "attenuated"
    )
    contagion_limit: Annotated[
        float, Spec("Small, as it should rest on an agent's own experience.", 0, 0.5, 0.01, project=lower(0))
    ] = 0.08


class EscalationSettings(FieldSettings):
    """How readily pressure leads to asking for help; a project must not make an agent ask less."""

    rest: Annotated[float, _rest("Low, as without pressure nobody need be asked.")] = 0.3
    time_constant: Annotated[float, _tau("Five minutes, about as long as a push lasts.")] = 300.0
    rate_limit: Annotated[float, _rate("Wide, as help that comes late does not help.", PERSON)] = 0.1
    ceiling: Annotated[
        float, Spec("Highest value it may take; never absolute.", 0.75, 1, 0.01, project=PERSON)
    ] = 0.95
    triggers: Annotated[
        tuple[Trigger, ...], Spec("What may drive it; all else is refused.", project=PERSON)
    ] = TRIGGERS
    authority: Annotated[
        tuple[Authority, ...], Spec("Who may drive it; anyone else is refused.", project=PERSON)
    ] = AUTHORITIES
    on_competing: Annotated[float, _gain("Objectives that compete are the person's to rank.")] = 0.04
    on_pressure: Annotated[float, _gain("Pressure is its own subject, so the largest gain.")] = 0.1
    on_success: Annotated[float, _gain("With success the reason to ask goes away.")] = -0.04
    returns: Annotated[Mask, Spec("A sub-agent's call for help should reach its parent.")] = "attenuated"


class RiskSettings(FieldSettings):
    """How strongly possible harm outweighs possible gain."""

    rest: Annotated[float, _rest("Below the middle, as most calls can be undone.")] = 0.4
    time_constant: Annotated[float, _tau("Long enough to outlast the error that raised it.")] = 900.0
    on_failure: Annotated[float, _gain("Repeated failure is what caution is for.")] = 0.08
    on_pressure: Annotated[float, _gain("Haste makes mistakes a little likelier.")] = 0.01
    on_success: Annotated[float, _gain("Success earns back some daring.")] = -0.04
    inherits: Annotated[Mask, Spec("Caution must survive delegation whole.")] = "inherited"
    returns: Annotated[Mask, Spec("A sub-agent's alarm warns its parent, half as loud.")] = "attenuated"


class CooperationSettings(FieldSettings):
    """How far working with others is preferred to working alone."""

    time_constant: Annotated[float, _tau("Long, as habits of working together change slowly.")] = 1200.0
    rate_limit: Annotated[float, _rate("Narrow, as one event is not a reason to change habits.")] = 0.05
    on_competing: Annotated[float, _gain("Several objectives can be shared out.")] = 0.03
    on_success: Annotated[float, _gain("What works alone and together is done again.")] = 0.015
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
