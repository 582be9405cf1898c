"""Settings from several places; later ones win, and a wrong value costs only itself."""

from __future__ import annotations

import difflib
import functools
import itertools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from core.folders import read_failure, small_file
from core.settings import Settings
from core.settings.group import Field, Group, Invalid, Owner, Tunable, check_value, fields_of, walk_tunables

GroupT = TypeVar("GroupT", bound=Group)
PREFIX = "NOOSCOPE_"
RESERVED = frozenset(("NOOSCOPE_BUILD", "NOOSCOPE_CONFIG", "NOOSCOPE_EXTENSIONS", "NOOSCOPE_NTFY_TOKEN"))
BUILT_IN = "built-in"
BUILT_IN_SETTINGS = Settings()
_LONGEST = 200  # Characters of a wrong value that are shown.
_STRANGE = 50  # Unknown names of one file that are named one by one; the rest are counted.
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")


class Given(NamedTuple):
    """One value that a layer sets."""

    name: str
    value: Any
    line: int = 0


class Layer(NamedTuple):
    """One place settings come from."""

    origin: str  # A file's path, `environment` or `--set`.
    values: tuple[Given, ...] = ()
    owner: Owner = "person"  # Who wrote it; a project's values are limited by the trust of each setting.


class Complaint(NamedTuple):
    """Why one value was left out."""

    origin: str
    line: int
    name: str
    problem: str

    def __str__(self) -> str:
        place = f"{self.origin}:{self.line}" if self.line else self.origin
        return f"{place}: {self.name}: {self.problem}" if self.name else f"{place}: {self.problem}"


class Resolved(NamedTuple):
    """Settings in force, the origin of each changed one, and the values left out."""

    settings: Settings
    origins: Mapping[str, str]
    complaints: tuple[Complaint, ...]


@functools.cache
def tunables() -> Mapping[str, Tunable]:
    """Every setting by its dotted name."""
    return {each.name: each for each in walk_tunables(Settings)}


def read_file(path: Path, owner: Owner, group: str = "") -> tuple[Layer, tuple[Complaint, ...]]:
    """A person's or a project's TOML file as a layer, all of it or the part below one group.

    A file that is not there is an empty one.
    """
    origin = str(path)
    empty = Layer(origin, owner=owner)
    start = f"{group}." if group else ""
    try:
        text = small_file(path).decode()
        leaves = list(_leaves(tomllib.loads(text), start))
    except FileNotFoundError:
        return empty, ()
    except (OSError, UnicodeDecodeError) as error:
        return empty, (Complaint(origin, 0, "", f"cannot be read ({read_failure(error)}); its settings are ignored"),)
    except RecursionError:
        return empty, (Complaint(origin, 0, "", "is nested too deeply; its settings are ignored"),)
    except ValueError as error:
        return empty, (Complaint(origin, 0, "", f"is not TOML: {error}; its settings are ignored"),)
    lines = key_lines(text)
    values = tuple(Given(name, value, _line(lines, name.removeprefix(start))) for name, value in leaves)
    return Layer(origin, values, owner), ()


def read_environment(environment: Mapping[str, str]) -> tuple[Layer, tuple[Complaint, ...]]:
    """`NOOSCOPE_RECEPTOR_AMBIENT_TIME_CONSTANT=300` and the like as a layer."""
    variables = sorted(name for name in environment if name.startswith(PREFIX) and name not in RESERVED)
    names = {variable_name(name): name for name in tunables()} if variables else {}
    values: list[Given] = []
    complaints: list[Complaint] = []
    for variable in variables:
        name = names.get(variable)
        if name is not None:
            values.append(Given(name, parse_text(environment[variable], tunables()[name])))
        else:
            complaints.append(Complaint("environment", 0, variable, "no such setting" + _nearest(variable, names)))
    return Layer("environment", tuple(values)), tuple(complaints)


def read_assignments(assignments: Iterable[str]) -> tuple[Layer, tuple[Complaint, ...]]:
    """`name=value` words of the command line as a layer."""
    values: list[Given] = []
    complaints: list[Complaint] = []
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        name = name.strip()
        if not equals:
            complaints.append(Complaint("--set", 0, name, "must have the form NAME=VALUE"))
        else:
            values.append(Given(name, parse_text(text.strip(), tunables().get(name))))
    return Layer("--set", tuple(values)), tuple(complaints)


def variable_name(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper().replace(".", "_")


def resolve(layers: Sequence[Layer]) -> Resolved:
    """Apply the layers to the built-in values, the last one on top.

    Values that a project may not set are left out here, for every reader of settings.
    """
    chosen: dict[str, list[_Taken]] = {}
    order = itertools.count()
    complaints: list[Complaint] = []
    for layer in layers:
        strange = [entry for entry in layer.values if entry.name not in tunables()]
        if len(strange) > _STRANGE:
            left = len(strange) - _STRANGE
            complaints.append(Complaint(layer.origin, 0, "", f"{left} more names in it are not settings"))
        unsaid = {entry.name for entry in strange[_STRANGE:]}
        for entry in layer.values:
            if entry.name in unsaid:
                continue
            problem, value = _check_entry(entry)
            if not problem and layer.owner == "project":
                problem = _trust_problem(entry, value, chosen)
            if problem:
                complaints.append(Complaint(layer.origin, entry.line, entry.name, problem))
            else:
                chosen.setdefault(entry.name, []).append(_Taken(layer, entry, value, next(order)))
    while True:
        try:
            settings = _apply(BUILT_IN_SETTINGS, _tree(chosen))
            break
        except _Misfit as misfit:
            complaints.append(_withdraw(misfit, chosen))
    origins = {name: values[-1].layer.origin for name, values in chosen.items()}
    return Resolved(settings, origins, tuple(complaints))


class _Misfit(ValueError):
    """Values of a group that contradict each other."""

    def __init__(self, group: str, problem: str) -> None:
        super().__init__(problem)
        self.group = group


def _apply(group: GroupT, tree: Mapping[str, Any], name: str = "") -> GroupT:
    """Return a group with values that were checked one by one; the group checks them together."""
    if not tree:
        return group
    changes = {
        key: _apply(inner, value, f"{name}.{key}".strip("."))
        if isinstance(inner := getattr(group, key), Group)
        else value
        for key, value in tree.items()
    }
    try:
        return group.replace(**changes)
    except ValueError as error:
        raise _Misfit(name, str(error)) from None


class _Taken(NamedTuple):
    """One value, in force unless a later one replaces it."""

    layer: Layer
    given: Given
    value: Any
    order: int  # How many values were taken before it.


def _trust_problem(entry: Given, value: Any, chosen: Mapping[str, Sequence[_Taken]]) -> str:
    """Return why a project's value is ignored, or a blank text."""
    tunable = tunables()[entry.name]
    below = chosen.get(entry.name)
    standing = below[-1].value if below else tunable.default
    if tunable.trust.allows(value, standing):
        return ""
    if tunable.trust.way == "never":
        return "only your own settings may set it; a project's value is ignored"
    allowed = tunable.trust.sentence_end()
    return f"{_short_repr(entry.value)} is ignored: it is {_short_repr(standing)}, and a project {allowed}"


def value_of(settings: Settings, name: str) -> Any:
    """One setting by its dotted name."""
    return functools.reduce(getattr, name.split("."), settings)


def every_value(group: Group, prefix: str = "") -> dict[str, Any]:
    """Every setting by its dotted name, in the order of declaration."""
    values: dict[str, Any] = {}
    for name in group.__struct_fields__:
        value = getattr(group, name)
        values |= every_value(value, f"{prefix}{name}.") if isinstance(value, Group) else {prefix + name: value}
    return values


def changed_values(before: Settings, after: Settings) -> dict[str, Any]:
    """The later settings that differ from the earlier ones."""
    earlier = every_value(before)
    return {name: value for name, value in every_value(after).items() if value != earlier[name]}


def own_values(settings: Settings) -> tuple[Given, ...]:
    """The settings that differ from the built-in ones."""
    return tuple(itertools.starmap(Given, changed_values(Settings(), settings).items()))


def with_value(settings: Settings, name: str, value: Any) -> Settings:
    """The settings with one of them changed."""
    first, _, rest = name.partition(".")

    def put(group: Group, path: list[str]) -> Group:
        head, *tail = path
        inner = put(getattr(group, head), tail) if tail else value
        return group.replace(**{head: inner})

    return settings.replace(**{first: put(getattr(settings, first), rest.split("."))})


def _leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for key, value in tree.items():
        name = prefix + key
        if isinstance(value, dict) and name not in tunables():
            yield from _leaves(value, name + ".")
        else:
            yield name, value


def _short_repr(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _line(lines: Mapping[str, int], name: str) -> int:
    """The line of a key, or of the table that it is written inside of."""
    while name and name not in lines:
        name = name.rpartition(".")[0]
    return lines.get(name, 0)


def parse_text(text: str, tunable: Tunable | None) -> Any:
    """The value that a person wrote: text as it is, all else as TOML."""
    if tunable is not None and tunable.kind in ("text", "choice"):
        return text.strip("\"'")
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _check_entry(entry: Given) -> tuple[str, Any]:
    tunable = tunables().get(entry.name)
    if tunable is None:
        if any(name.startswith(entry.name + ".") for name in tunables()):
            return "is a group of settings, not a setting", None
        return "no such setting" + _nearest(entry.name, tunables()), None
    try:
        return "", check_value(field_of(entry.name).hint, entry.value, strict=tunable.kind != "table")
    except Invalid as error:
        detail = _fault_detail(error.errors()[0]) if tunable.kind == "table" and not tunable.words else ""
        return f"{_short_repr(entry.value)} is not allowed; it must be {tunable.allowed()}{detail}", None


_WHOLE = frozenset(("tuple_type", "list_type", "dict_type", "model_type"))
_TYPES = {"string_type": "text", "int_type": "a whole number", "float_type": "a number", "bool_type": "true or false"}


def _fault_detail(fault: Mapping[str, Any]) -> str:
    """Return the fault inside a list or a table; blank for any other value."""
    if fault["type"] in _WHOLE:
        return ""
    place = ".".join(str(step + 1) if isinstance(step, int) else str(step) for step in fault["loc"])
    expected = _TYPES.get(fault["type"], str(fault["msg"]).removeprefix("Input should be "))
    return f"; {place or 'it'} should be {expected}"


def field_of(name: str) -> Field:
    """Return the declaration of a setting or of a group of settings."""
    group: type[Group] = Settings
    *groups, last = name.split(".")
    for step in groups:
        group = fields_of(group)[step].group or group
    return fields_of(group)[last]


def _tree(chosen: Mapping[str, Sequence[_Taken]]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, values in chosen.items():
        *groups, last = name.split(".")
        node = tree
        for group in groups:
            node = node.setdefault(group, {})
        node[last] = values[-1].value
    return tree


def _withdraw(misfit: _Misfit, chosen: dict[str, list[_Taken]]) -> Complaint:
    """Withdraw the newest value of a group whose values contradict each other, a project's first."""
    group = misfit.group
    inside = [name for name in chosen if name == group or name.startswith(group + ".") or not group]
    inside = inside or list(chosen)
    foreign = [name for name in inside if chosen[name][-1].layer.owner == "project"]
    culprit = max(foreign or inside, key=lambda name: chosen[name][-1].order)
    layer, entry, *_ = chosen[culprit].pop()
    if not chosen[culprit]:
        del chosen[culprit]
    problem = f"{_short_repr(entry.value)} conflicts with other settings: {misfit}"
    return Complaint(layer.origin, entry.line, culprit, problem)


def _nearest(name: str, names: Iterable[str]) -> str:
    return _closest(name, tuple(names))


@functools.lru_cache(64)
def _closest(name: str, names: tuple[str, ...]) -> str:
    """Return a hint at the most similar name; cached, as comparing hundreds of names is slow."""
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if not close:
        last = name.rsplit(".", 1)[-1]
        close = [each for each in names if each.rsplit(".", 1)[-1] == last][:1]
    return f"; did you mean {close[0]}?" if close else ""


def key_lines(text: str) -> dict[str, int]:
    """The line, counted from 1, on which each dotted key is set."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        header = _header(line.strip())
        if header:
            table = _bare_key(header) + "."
            continue
        key = _KEY.match(line)
        if key:
            lines.setdefault(table + _bare_key(key[1]), number)
    return lines


def _header(line: str) -> str:
    """Return the name between the brackets of a table's line; blank for any other line."""
    name, closed, rest = line.removeprefix("[").removeprefix("[").partition("]")
    rest = rest.removeprefix("]").lstrip()
    return name.strip() if line.startswith("[") and closed and (not rest or rest.startswith("#")) else ""


def _bare_key(key: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in key.split("."))
