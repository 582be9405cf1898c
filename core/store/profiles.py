"""Named sets of settings, rule files and policies on disk, and saving settings: all files of a save, or none."""

from __future__ import annotations

import os
import re
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, NamedTuple

from core.engine.affect.policy import Policy, parse_policy
from core.engine.response.rules import RuleSet, add_foreign_rules, add_rules, built_in
from core.errors import PolicyError, StoreError
from core.folders import PROJECT_SETTINGS, make_private, read_failure, small_file, user_settings_file
from core.settings import Settings
from core.settings.layers import Complaint, every_value, read_file, resolve, tunables, value_of
from core.store.compensation import Chain, recover

Scope = Literal["built-in", "user", "project"]

# A profile is about how a mind is modelled; the rest is left as it is unless a profile names it.
ROOMS = ("receptor.", "mind.", "governor.", "affect.", "response.")
# Settings of these rooms that concern the person's machine, not the model.
OURS = ("response.notices.", "response.persona.")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _-]{0,39}\Z")


class SettingsProfile(NamedTuple):
    """A name, what it is for, and the values that it sets."""

    name: str
    sentence: str
    scope: Scope
    path: Path
    values: Mapping[str, Any]
    complaints: tuple[Complaint, ...] = ()  # Lines that were left out.


def read_profile(path: Path, scope: Scope) -> SettingsProfile:
    """Read one file; a value that cannot be used becomes a complaint."""
    layer, faults = read_file(path, "project" if scope == "project" else "person")
    resolved = resolve([layer])
    values = {name: value_of(resolved.settings, name) for name in resolved.origins}
    return SettingsProfile(path.stem, _sentence(path), scope, path, values, (*faults, *resolved.complaints))


def read_profiles(folders: Iterable[tuple[Scope, Path]]) -> list[SettingsProfile]:
    """All profiles of some folders, by name within each."""
    return [read_profile(path, scope) for scope, folder in folders for path in _files(folder)]


def _files(folder: Path) -> list[Path]:
    try:
        return [path for path in sorted(folder.glob("*.toml")) if path.is_file()]
    except OSError:
        return []


def is_model_setting(name: str) -> bool:
    """Whether a profile that does not name a setting means its built-in value."""
    return name.startswith(ROOMS) and not name.startswith(OURS)


def file_name(name: str) -> str:
    """The file of a profile; a name that makes no file is refused."""
    if not _NAME.match(name):
        raise StoreError(f"{name!r} is not a valid profile name; use up to 40 letters, digits, spaces, - and _")
    return f"{name}.toml"


def profile_text(sentence: str, values: Mapping[str, Any]) -> str:
    """A profile as a file, each value with its sentence."""
    changed = [tunables()[name] for name in tunables() if name in values]
    comment = " ".join(sentence.split())
    from core.settings.draft import settings_toml

    return (f"# {comment}\n\n" if comment else "") + (settings_toml(changed, values) if changed else "")


def refuse_foreign(values: Mapping[str, Any]) -> None:
    """Stop before a project's file is given what would be left out when it is read."""
    all_settings = tunables()
    lost = [
        name for name, value in values.items() if not all_settings[name].trust.allows(value, all_settings[name].default)
    ]
    if lost:
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        raise StoreError(
            f"{lost[0]}{more}: a project {all_settings[lost[0]].trust.sentence_end()}; save it as your own"
        )


def _sentence(path: Path) -> str:
    """The comment a file begins with."""
    try:
        lines = small_file(path).decode().splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    comment = takewhile(lambda line: line.startswith("#"), lines)
    return " ".join(line.lstrip("# ").strip() for line in comment)


PRESETS = Path(__file__).parent / "presets"
Kind = Literal["profile", "settings"]


def profile_changes(profile: SettingsProfile, start: Settings) -> dict[str, Any]:
    """Every setting of the model as the profile wants it, and what else it names.

    A preset is about the whole model and means built-in values for all else, a person's profile
    leaves that as it began, and a project's only narrows it.
    """
    if profile.scope == "project":
        values = profile.values.items()
        return {name: value for name, value in values if tunables()[name].trust.allows(value, value_of(start, name))}
    usual = Settings() if profile.scope == "built-in" else start
    rest = {name: value for name, value in every_value(usual).items() if is_model_setting(name)}
    return {**rest, **profile.values}


def _merged_tables(text: str, edits: Mapping[str, Any], start: Settings) -> dict[str, Any]:
    """Return the values for a file that already contains a changed table."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return dict(edits)
    return {
        name: _with_changes(_value_in(content, name), value_of(start, name), value) for name, value in edits.items()
    }


def _value_in(content: Any, name: str) -> Any:
    for step in name.split("."):
        content = content.get(step) if isinstance(content, Mapping) else None
    return content


def _with_changes(table: Any, before: Any, after: Any) -> Any:
    """Apply the difference of two tables to a third; any other value becomes the new one."""
    if not (isinstance(table, Mapping) and isinstance(before, Mapping) and isinstance(after, Mapping)):
        return after
    unchanged = {key: item for key, item in table.items() if key in after or key not in before}
    changed = {
        key: _with_changes(table.get(key), before.get(key), item)
        for key, item in after.items()
        if key not in before or before[key] != item
    }
    return {**unchanged, **changed}


class ProfileFiles(NamedTuple):
    """The folders and files of one person and one project."""

    settings: Path  # The person's settings file.
    project: Path  # The project's folder.
    chains: Path  # Folder in which a running save is logged, so that it can be undone.

    @classmethod
    def usual(cls) -> ProfileFiles:
        """This person's, and the folder nooscope was started in."""
        mine = user_settings_file()
        return cls(mine, Path.cwd(), mine.parent / "chains")

    def folder(self, scope: Scope) -> Path:
        """Return the folder of profiles of a scope."""
        if scope == "built-in":
            return PRESETS
        return (self.settings.parent if scope == "user" else self.project / ".nooscope") / "profiles"

    def file(self, scope: Scope) -> Path:
        """The settings file of a scope."""
        return self.settings if scope == "user" else self.project / PROJECT_SETTINGS

    def profiles(self) -> list[SettingsProfile]:
        """Ours, the person's, the project's."""
        scopes: tuple[Scope, ...] = ("built-in", "user", "project")
        return read_profiles((scope, self.folder(scope)) for scope in scopes)

    def save_profile(self, name: str, sentence: str, values: Mapping[str, Any], scope: Scope) -> Path:
        """Save changed values under a name."""
        path = self.folder(scope) / file_name(name.strip())
        if scope == "project":
            refuse_foreign(values)
            self._refuse_outside(path)
        self._write({path: profile_text(sentence, values)})
        return path

    def save_settings(self, edits: Mapping[str, Any], scope: Scope, start: Settings | None = None) -> Path:
        """Write changed values into a settings file.

        Of a table that the file contains, only rows that differ from the start are changed.
        """
        from core.settings.draft import with_values

        path = self.file(scope)
        if scope == "project":
            refuse_foreign(edits)
            self._refuse_outside(path)
        recover(self.chains)  # What a crash left half done must not be taken for the person's settings.
        try:
            text = small_file(path).decode() if path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError(f"{path} cannot be read: {error}") from error
        try:
            new_text = with_values(text, _merged_tables(text, edits, start or Settings()))
        except ValueError as error:
            raise StoreError(f"{path}: {error}") from error
        self._write({path: new_text})
        return path

    def _refuse_outside(self, path: Path) -> None:
        """Refuse a path that a link points outside the project."""
        if not path.resolve().is_relative_to(self.project.resolve()):
            raise StoreError(f"{path} points outside the project; nothing was written")

    def _write(self, files: Mapping[Path, str]) -> None:
        try:
            make_private(self.chains)
            recover(self.chains)
            with Chain(f"save-{time.time_ns():x}", self.chains, files=files) as chain:
                for path, text in files.items():
                    chain.write(path, text.encode())
        except OSError as error:
            raise StoreError(f"cannot be saved ({error.strerror})") from error


USER_POLICY = "affect-policy.toml"


def read_policy(path: Path) -> Policy | None:
    """Read the policy in a TOML file; None if there is none, `PolicyError` if it cannot be used."""
    try:
        data = tomllib.loads(small_file(path).decode())
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(f"{path}: cannot be read ({read_failure(error)})") from error
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"{path}: is not TOML: {error}") from error
    return parse_policy(data, str(path))


def last_policy(paths: Iterable[Path]) -> tuple[Policy | None, list[str]]:
    """The last of the files that can be used, and a sentence for each that cannot."""
    chosen: Policy | None = None
    faults: list[str] = []
    for path in paths:
        try:
            policy = read_policy(path)
        except PolicyError as error:
            faults += str(error).splitlines()
        else:
            chosen = policy or chosen
    return chosen, faults


USER_RULES = "receptor-rules.json"
PROJECT_FILES = (".nooscope-rules.json", "receptor-rules.json")


def project_file(folder: Path) -> Path:
    """Return the project's rule file, the hidden one if it exists."""
    hidden, plain = (folder / name for name in PROJECT_FILES)
    there = os.path.exists  # the method of a path raises where a folder above is closed
    return hidden if there(hidden) or not there(plain) else plain


def read_rules(path: Path) -> bytes | None:
    """Return a rule file's content; None if the file does not exist."""
    try:
        return small_file(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PolicyError(f"{path}: cannot be read ({read_failure(error)})") from error


class RuleFiles:
    """The rules in force; a file that becomes invalid keeps its last valid content."""

    def __init__(self, own: Sequence[Path], projects: Sequence[Path] = (), before: RuleFiles | None = None) -> None:
        self._own = tuple(dict.fromkeys(own))
        self._projects = tuple(path for path in dict.fromkeys(projects) if path not in self._own)
        self._good: dict[Path, bytes] = {} if before is None else dict(before._good)
        self.faults: tuple[str, ...] = ()  # What is wrong with the files, and rules of a project that are ignored.

    def load(self) -> RuleSet:
        """Read all files again; later ones win, but a project's rules only if they warn more."""
        rules = built_in()
        faults: list[str] = []
        for path in (*self._own, *self._projects):
            try:
                content = read_rules(path)
                if content is None:
                    self._good.pop(path, None)
                    continue
                rules, refused = self._add_file(rules, path, content)
                faults += refused
                self._good[path] = content
            except PolicyError as error:
                has_good = path in self._good
                stays = "its last valid content stays in use" if has_good else "the file is ignored"
                faults += [*str(error).splitlines(), f"{path}: {stays}"]
                if has_good:
                    with suppress(PolicyError):
                        rules, _ = self._add_file(rules, path, self._good[path])
        self.faults = tuple(faults)
        return rules

    def _add_file(self, rules: RuleSet, path: Path, content: bytes) -> tuple[RuleSet, tuple[str, ...]]:
        if path in self._projects:
            return add_foreign_rules(rules, content, str(path))
        return add_rules(rules, content, str(path)), ()
