"""Rule files and affect policies on disk: the person's, and the project's rules over the built-in ones."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from core.engine.affect import Policy, parse_policy
from core.engine.response.rules import RuleSet, add_foreign_rules, add_rules, built_in
from core.errors import PolicyError
from core.settings.file import read_failure, small_file

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
    """Return a rule file's content; None if there is no file."""
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
