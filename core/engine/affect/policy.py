"""The policy that bounds affect: read from a file, on top of the settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, get_args

from msgspec import to_builtins
from msgspec.structs import asdict

from core.errors import PolicyError
from core.settings import affect
from core.settings.group import Group, Invalid, Spec, Tunable, fields_of, walk_tunables


class FieldsPolicy(Group):
    """The control fields a policy governs; one left out stays as the settings have it."""

    uncertainty_sensitivity: affect.UncertaintySettings | None = None
    ambiguity_tolerance: affect.AmbiguitySettings | None = None
    novelty_appetite: affect.NoveltySettings | None = None
    persistence: affect.PersistenceSettings | None = None
    escalation: affect.EscalationSettings | None = None
    risk_sensitivity: affect.RiskSettings | None = None
    cooperation: affect.CooperationSettings | None = None


class Policy(Group):
    """Named bounds for affect: a part it names is wholly the policy's, its gaps filled with defaults."""

    name: Annotated[str, Spec(min_length=1, max_length=80)] = "built-in"
    fields: FieldsPolicy = FieldsPolicy()
    hysteresis: affect.HysteresisSettings | None = None
    stability: affect.StabilitySettings | None = None
    quarantine: affect.QuarantineSettings | None = None
    contagion: affect.ContagionSettings | None = None
    inheritance: affect.InheritanceSettings | None = None
    modulation: affect.ModulationSettings | None = None
    noise: affect.NoiseSettings | None = None

    def over(self, settings: affect.AffectSettings) -> affect.AffectSettings:
        """The settings with every part this policy names replaced by the policy's."""
        parts = _parts(self)
        del parts["name"]
        return settings.replace(**parts | {"fields": settings.fields.replace(**_parts(self.fields))})

    def content(self) -> dict[str, Any]:
        """The parts it names as plain values, from which `parse` makes the same policy."""
        return {**to_builtins(_parts(self)), "fields": to_builtins(_parts(self.fields))}


BUILT_IN = Policy()


def parse_policy(data: Mapping[str, Any], source: str) -> Policy:
    """Read a policy from the contents of its file, or say which field is wrong and what it may be."""
    if not isinstance(data, Mapping):
        raise PolicyError(f"{source}: a policy is a table with names and values, not {type(data).__name__}")
    try:
        return Policy.parse(dict(data))
    except Invalid as error:
        lines = [_sentence(fault["loc"], fault["type"], fault["input"]) for fault in error.errors()]
        raise PolicyError("\n".join(f"{source}: {line}" for line in lines)) from None


def _parts(group: Group) -> dict[str, Any]:
    """The parts of a policy that it names."""
    return {name: value for name, value in asdict(group).items() if value is not None}


def _sentence(place: tuple[int | str, ...], kind: str, value: object) -> str:
    words = [str(word) for word in place if isinstance(word, str)]
    path = ".".join(words)
    if kind == "extra_forbidden":
        return f"{path} is unknown; available: {_choice_words(_names_beside(words[:-1]))}"
    if path == "name":
        return f"name is {value!r}; it must be text of 1 to 80 characters"
    tunables = {entry.name: entry for entry in walk_tunables(affect.AffectSettings)}
    if path in tunables:
        return f"{path} is {value!r}; it must be {_allowed_words(tunables[path], words[-1])}"
    return f"{path} is {value!r}; it must be a table with {_choice_words(_names_beside(words))}"


def _allowed_words(entry: Tunable, word: str) -> str:
    if entry.kind == "table" and word in ("triggers", "authority"):
        return f"a list of {_choice_words(entry.default)}"
    return entry.allowed()


def _names_beside(words: list[str]) -> list[str]:
    group: type[Group] = Policy
    for word in words:
        field = fields_of(group).get(word)
        kinds = (field.kind, *get_args(field.kind)) if field is not None else ()
        groups = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Group)]
        if not groups:
            return []
        group = groups[0]
    return list(fields_of(group))


def _choice_words(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:-1]) + " or " + listed[-1] if len(listed) > 1 else "".join(listed)
