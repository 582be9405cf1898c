"""Affect policies as files of the person's own."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

from core.engine.affect import Policy, parse_policy
from core.errors import PolicyError
from core.settings.file import read_failure, small_file

USER_FILE = "affect-policy.toml"


def read_policy(path: Path) -> Policy | None:
    """The policy in a TOML file; None where there is no such file, PolicyError where it cannot be used."""
    try:
        data = tomllib.loads(small_file(path).decode())
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(f"{path}: cannot be read ({read_failure(error)})") from error
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"{path}: is not TOML: {error}") from error
    return parse_policy(data, str(path))


def chosen_policy(paths: Iterable[Path]) -> tuple[Policy | None, list[str]]:
    """The last of the files that can be used, and a sentence for each that cannot."""
    chosen: Policy | None = None
    faults: list[str] = []
    for path in paths:
        try:
            found = read_policy(path)
        except PolicyError as error:
            faults += str(error).splitlines()
        else:
            chosen = found or chosen
    return chosen, faults
