"""The seven control fields of affect: where each rests, how fast it moves, what may move it and by how much.

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
