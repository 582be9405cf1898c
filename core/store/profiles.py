"""Named sets of settings, each a small TOML file whose first comment says what it is for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from core.errors import StoreError
from core.settings import Settings
from core.settings.file import small_file
from core.settings.layers import Complaint, read_file, resolve, tunables, value_of
from core.settings.toml import key_lines, literal, write

Scope = Literal["built-in", "user", "project"]

ROOMS = ("receptor.", "mind.", "governor.", "affect.", "response.")
"""A profile is about how a mind is modelled; the rest is left as it is unless a profile names it."""
OURS = ("response.notices.", "response.persona.")
"""Of these rooms, what is about the person's machine and not about the model."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _-]{0,39}\Z")


class Profile(NamedTuple):
    """A name, what it is for, and the values that differ from the built-in ones."""

    name: str
    sentence: str
    scope: Scope
    path: Path
    values: Mapping[str, Any]
    complaints: tuple[Complaint, ...] = ()
    """Lines that were left out."""


def read_profile(path: Path, scope: Scope) -> Profile:
    """One file; a value that cannot be used is left out and told."""
    layer, faults = read_file(path, "project" if scope == "project" else "person")
    found = resolve([layer])
    values = {name: value_of(found.settings, name) for name in found.origins}
    return Profile(path.stem, _sentence(path), scope, path, values, (*faults, *found.complaints))


def read_profiles(folders: Iterable[tuple[Scope, Path]]) -> list[Profile]:
    """All profiles of some folders, by name within each."""
    return [
        read_profile(path, scope)
        for scope, folder in folders
        for path in sorted(folder.glob("*.toml"))
        if path.is_file()
    ]


def is_modelled(name: str) -> bool:
    """Whether a profile that does not name a setting means its built-in value."""
    return name.startswith(ROOMS) and not name.startswith(OURS)


def taken_over(profile: Profile, standing: Settings) -> dict[str, Any]:
    """Every setting as the profile wants it: its own values, and built-in ones for all else of the model.

    A project's profile only narrows what stands.
    """
    if profile.scope == "project":
        return {
            name: value
            for name, value in profile.values.items()
            if tunables()[name].trust.allows(value, value_of(standing, name))
        }
    usual = {name: each.default for name, each in tunables().items() if is_modelled(name)}
    return {**usual, **profile.values}


def file_name(name: str) -> str:
    """The file of a profile; a name that makes no file is refused."""
    if not _NAME.match(name):
        raise StoreError(f"{name!r} is no name for a profile; letters, digits, spaces, - and _ up to 40")
    return f"{name}.toml"


def profile_text(sentence: str, values: Mapping[str, Any]) -> str:
    """A profile as a file, each value with its sentence."""
    known = [tunables()[name] for name in tunables() if name in values]
    said = " ".join(sentence.split())
    return (f"# {said}\n\n" if said else "") + (write(known, values) if known else "")


def refuse_foreign(values: Mapping[str, Any]) -> None:
    """Stop before a project's file is given what would be left out when it is read."""
    known = tunables()
    lost = [
        name for name, value in values.items() if not known[name].trust.allows(value, known[name].default)
    ]
    if lost:
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        raise StoreError(f"{lost[0]}{more}: a project {known[lost[0]].trust.said()}; save it as your own")


def settings_text(text: str, values: Mapping[str, Any]) -> str:
    """A settings file with some values put in or changed, all else in it as it was."""
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StoreError(f"the settings file is not TOML, mend it first: {error}") from error
    lines = text.splitlines()
    fresh: dict[str, list[str]] = {}
    for name, value in values.items():
        group, _, key = name.rpartition(".")
        said = f"{key} = {literal(value)}"
        places = key_lines("\n".join(lines))
        line = lines[places[name] - 1] if name in places else ""
        comment = _comment(line) if line else None
        if comment is not None:
            head = line.partition("=")[0].rstrip()
            lines[places[name] - 1] = f"{head} = {literal(value)}  {comment}".rstrip()
        elif (header := _header(lines, group)) is not None:
            lines.insert(header + 1, said)
        else:
            fresh.setdefault(group, []).append(said)
    for group, more in fresh.items():
        lines += [*([""] if lines else []), f"[{group}]", *more]
    made = "\n".join(lines) + "\n"
    try:
        right = tomllib.loads(made) == _with(before, values)
    except tomllib.TOMLDecodeError:
        right = False
    if not right:
        own = ", ".join(f"{name} = {literal(value)}" for name, value in values.items())
        raise StoreError(
            f"the settings file is laid out in a way that cannot be added to; write there: {own}"
        )
    return made


def _with(tree: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The file's content with the values in it."""
    made = _copied(tree)
    for name, value in values.items():
        *groups, last = name.split(".")
        node = made
        for group in groups:
            inner = node.get(group)
            node[group] = node = inner if isinstance(inner, dict) else {}
        node[last] = tomllib.loads(f"v = {literal(value)}")["v"]
    return made


def _copied(tree: dict[str, Any]) -> dict[str, Any]:
    return {key: _copied(item) if isinstance(item, dict) else item for key, item in tree.items()}


def _comment(line: str) -> str | None:
    """What follows the value on a line that holds one whole setting; None on any other."""
    for cut in [*(place for place, char in enumerate(line) if char == "#"), len(line)]:
        try:
            tomllib.loads(line[:cut])
        except tomllib.TOMLDecodeError:
            continue
        return line[cut:]
    return None


def _header(lines: list[str], group: str) -> int | None:
    wanted = re.compile(r"\s*\[\s*" + re.escape(group) + r"\s*\]\s*(#.*)?\Z")
    return next((number for number, line in enumerate(lines) if wanted.match(line)), None)


def _sentence(path: Path) -> str:
    """The comment a file begins with."""
    try:
        lines = small_file(path).decode().splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    said: list[str] = []
    for line in lines:
        if not line.startswith("#"):
            break
        said.append(line.lstrip("# ").strip())
    return " ".join(said)
