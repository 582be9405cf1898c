"""Settings from several places, later ones winning, each fault named and nothing else lost."""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from core.settings import Settings
from core.settings.file import read_failure, small_file
from core.settings.tunable import Group, Tunable, walk_tunables

PREFIX = "NOOSCOPE_"
RESERVED = frozenset({"NOOSCOPE_CONFIG"})
BUILT_IN = "built-in"
_HEADER = re.compile(r"^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(
    r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*="""
)


class Given(NamedTuple):
    """One value that a layer sets."""

    name: str
    value: Any
    line: int = 0


class Layer(NamedTuple):
    """One place settings come from."""

    origin: str
    """A file's path, `environment` or `--set`."""
    values: tuple[Given, ...] = ()


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
    """Settings in force, where each changed one came from, and what was left out."""

    settings: Settings
    origins: Mapping[str, str]
    complaints: tuple[Complaint, ...]


@functools.cache
def tunables() -> Mapping[str, Tunable]:
    """Every setting by its dotted name."""
    return {each.name: each for each in walk_tunables(Settings)}


def read_file(path: Path) -> tuple[Layer, tuple[Complaint, ...]]:
    """A TOML file as a layer; a file that is not there is an empty one."""
    origin = str(path)
    try:
        text = small_file(path).decode()
        tree = tomllib.loads(text)
    except FileNotFoundError:
        return Layer(origin), ()
    except (OSError, UnicodeDecodeError) as error:
        return Layer(origin), (
            Complaint(origin, 0, "", f"cannot be read ({read_failure(error)}); its settings are left out"),
        )
    except tomllib.TOMLDecodeError as error:
        return Layer(origin), (Complaint(origin, 0, "", f"is not TOML: {error}; its settings are left out"),)
    lines = key_lines(text)
    values = tuple(Given(name, value, lines.get(name, 0)) for name, value in _leaves(tree))
    return Layer(origin, values), ()


def read_environment(environment: Mapping[str, str]) -> tuple[Layer, tuple[Complaint, ...]]:
    """`NOOSCOPE_RECEPTOR_AMBIENT_TIME_CONSTANT=300` and the like as a layer."""
    known = {variable_name(name): name for name in tunables()}
    values: list[Given] = []
    complaints: list[Complaint] = []
    for variable in sorted(environment):
        if not variable.startswith(PREFIX) or variable in RESERVED:
            continue
        name = known.get(variable)
        if name is not None:
            values.append(Given(name, _spoken(environment[variable], tunables()[name])))
        else:
            complaints.append(
                Complaint("environment", 0, variable, "no such setting" + _nearest(variable, known))
            )
    return Layer("environment", tuple(values)), tuple(complaints)


def read_assignments(assignments: Iterable[str]) -> tuple[Layer, tuple[Complaint, ...]]:
    """`name=value` words of the command line as a layer."""
    values: list[Given] = []
    complaints: list[Complaint] = []
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        name = name.strip()
        if not equals:
            complaints.append(Complaint("--set", 0, name, "wants the form NAME=VALUE"))
        else:
            values.append(Given(name, _spoken(text.strip(), tunables().get(name))))
    return Layer("--set", tuple(values)), tuple(complaints)


def read_layers(
    files: Iterable[Path], environment: Mapping[str, str], assignments: Iterable[str]
) -> Resolved:
    """Files, environment and assignments laid over each other, the last on top, with every complaint."""
    read = [*map(read_file, files), read_environment(environment), read_assignments(assignments)]
    resolved = resolve([layer for layer, _ in read])
    faults = [fault for _, found in read for fault in found]
    return resolved._replace(complaints=(*faults, *resolved.complaints))


def variable_name(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper().replace(".", "_")


def resolve(layers: Sequence[Layer]) -> Resolved:
    """Lay the layers over the built-in values, the last one on top."""
    chosen: dict[str, Any] = {}
    givers: dict[str, tuple[Layer, Given]] = {}
    complaints: list[Complaint] = []
    for layer in layers:
        for given in layer.values:
            problem, value = _checked(given)
            if problem:
                complaints.append(Complaint(layer.origin, given.line, given.name, problem))
            else:
                chosen[given.name] = value
                givers[given.name] = (layer, given)
    while True:
        try:
            settings = Settings.model_validate(_tree(chosen)) if chosen else Settings.model_construct()
            break
        except ValidationError as error:
            complaints.append(_withdraw(error, chosen, givers))
    origins = {name: layer.origin for name, (layer, _) in givers.items()}
    return Resolved(settings, origins, tuple(complaints))


def value_of(settings: Settings, name: str) -> Any:
    """One setting by its dotted name."""
    return functools.reduce(getattr, name.split("."), settings)


def _leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for key, value in tree.items():
        name = prefix + key
        if isinstance(value, dict) and name not in tunables():
            yield from _leaves(value, name + ".")
        else:
            yield name, value


def _spoken(text: str, tunable: Tunable | None) -> Any:
    if tunable is not None and tunable.kind in ("text", "choice"):
        return text.strip("\"'")
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _checked(given: Given) -> tuple[str, Any]:
    tunable = tunables().get(given.name)
    if tunable is None:
        if any(name.startswith(given.name + ".") for name in tunables()):
            return "is a group of settings, not a setting", None
        return "no such setting" + _nearest(given.name, tunables()), None
    try:
        return "", _adapter(given.name).validate_python(given.value, strict=tunable.kind != "table")
    except ValidationError as error:
        detail = "" if tunable.kind != "table" else f" ({error.errors()[0]['msg']})"
        return f"{given.value!r} is not allowed, it may be {tunable.allowed()}{detail}", None


@functools.cache
def _adapter(name: str) -> TypeAdapter[Any]:
    *groups, last = name.split(".")
    model: type[Group] = Settings
    for group in groups:
        inner = model.model_fields[group].annotation
        assert isinstance(inner, type) and issubclass(inner, Group)  # noqa: S101
        model = inner
    field = model.model_fields[last]
    annotation: Any = field.annotation
    return TypeAdapter(Annotated[annotation, field])


def _tree(chosen: Mapping[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, value in chosen.items():
        *groups, last = name.split(".")
        node = tree
        for group in groups:
            node = node.setdefault(group, {})
        node[last] = value
    return tree


def _withdraw(
    error: ValidationError, chosen: dict[str, Any], givers: dict[str, tuple[Layer, Given]]
) -> Complaint:
    """Take back the newest value of a group whose values do not go together."""
    first = error.errors()[0]
    group = ".".join(map(str, first["loc"]))
    inside = [name for name in chosen if name == group or name.startswith(group + ".") or not group]
    culprit = inside[-1] if inside else next(reversed(chosen))
    layer, given = givers.pop(culprit)
    del chosen[culprit]
    problem = str(first["msg"]).removeprefix("Value error, ")
    return Complaint(layer.origin, given.line, culprit, f"{given.value!r} does not fit the rest: {problem}")


def _nearest(name: str, known: Iterable[str]) -> str:
    names = list(known)
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
        header = _HEADER.match(line)
        if header:
            table = _bare_key(header[1]) + "."
            continue
        key = _KEY.match(line)
        if key:
            lines.setdefault(table + _bare_key(key[1]), number)
    return lines


def _bare_key(key: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in key.split("."))
