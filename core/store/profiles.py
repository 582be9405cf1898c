"""Named sets of settings, each a small TOML file whose first comment says what it is for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from core.errors import StoreError
from core.settings.file import small_file
from core.settings.layers import Complaint, read_file, resolve, tunables, value_of

Scope = Literal["built-in", "user", "project"]

ROOMS = ("receptor.", "mind.", "governor.", "affect.", "response.")
"""A profile is about how a mind is modelled; the rest is left as it is unless a profile names it."""
OURS = ("response.notices.", "response.persona.")
"""Of these rooms, what is about the person's machine and not about the model."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _-]{0,39}\Z")


class SettingsProfile(NamedTuple):
    """A name, what it is for, and the values that it sets."""

    name: str
    sentence: str
    scope: Scope
    path: Path
    values: Mapping[str, Any]
    complaints: tuple[Complaint, ...] = ()
    """Lines that were left out."""


def read_profile(path: Path, scope: Scope) -> SettingsProfile:
    """One file; a value that cannot be used is left out and told."""
    layer, faults = read_file(path, "project" if scope == "project" else "person")
    found = resolve([layer])
    values = {name: value_of(found.settings, name) for name in found.origins}
    return SettingsProfile(path.stem, _sentence(path), scope, path, values, (*faults, *found.complaints))


def read_profiles(folders: Iterable[tuple[Scope, Path]]) -> list[SettingsProfile]:
    """All profiles of some folders, by name within each."""
    return [read_profile(path, scope) for scope, folder in folders for path in _files(folder)]


def _files(folder: Path) -> list[Path]:
    try:
        return [path for path in sorted(folder.glob("*.toml")) if path.is_file()]
    except OSError:
        return []


def is_modelled(name: str) -> bool:
    """Whether a profile that does not name a setting means its built-in value."""
    return name.startswith(ROOMS) and not name.startswith(OURS)


def file_name(name: str) -> str:
    """The file of a profile; a name that makes no file is refused."""
    if not _NAME.match(name):
        raise StoreError(
            f"{name!r} cannot be the name of a profile; use up to 40 letters, digits, spaces, - and _"
        )
    return f"{name}.toml"


def profile_text(sentence: str, values: Mapping[str, Any]) -> str:
    """A profile as a file, each value with its sentence."""
    known = [tunables()[name] for name in tunables() if name in values]
    said = " ".join(sentence.split())
    from core.settings.toml_text import settings_toml

    return (f"# {said}\n\n" if said else "") + (settings_toml(known, values) if known else "")


def refuse_foreign(values: Mapping[str, Any]) -> None:
    """Stop before a project's file is given what would be left out when it is read."""
    known = tunables()
    lost = [
        name for name, value in values.items() if not known[name].trust.allows(value, known[name].default)
    ]
    if lost:
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        raise StoreError(f"{lost[0]}{more}: a project {known[lost[0]].trust.said()}; save it as your own")


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
