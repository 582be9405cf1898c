"""Rule files on disk: the person's and the project's, laid over the built-in methods."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from core.errors import PolicyError
from core.response.rules import RuleSet, add_rules, built_in
from core.settings.file import read_failure, small_file

USER_FILE = "receptor-rules.json"
PROJECT_FILES = (".nooscope-rules.json", "receptor-rules.json")


def project_file(folder: Path) -> Path:
    """The project's rule file: the hidden one where there is one."""
    hidden, plain = (folder / name for name in PROJECT_FILES)
    return hidden if hidden.exists() or not plain.exists() else plain


def read_rules(path: Path) -> bytes | None:
    """A rule file's content; None where there is no file."""
    try:
        return small_file(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PolicyError(f"{path}: cannot be read ({read_failure(error)})") from error


class RuleFiles:
    """The rules in force; a file that turns bad keeps its last good word."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(dict.fromkeys(paths))
        self._good: dict[Path, bytes] = {}
        self.faults: tuple[str, ...] = ()
        """What is wrong with files as they are now."""

    def load(self) -> RuleSet:
        """Read all files again; later ones win."""
        rules = built_in()
        faults: list[str] = []
        for path in self._paths:
            try:
                content = read_rules(path)
                if content is None:
                    self._good.pop(path, None)
                    continue
                rules = add_rules(rules, content, str(path))
                self._good[path] = content
            except PolicyError as error:
                kept = path in self._good
                stays = "its last good content stays" if kept else "the file is left out"
                faults += [*str(error).splitlines(), f"{path}: {stays}"]
                if kept:
                    with suppress(PolicyError):
                        rules = add_rules(rules, self._good[path], str(path))
        self.faults = tuple(faults)
        return rules
