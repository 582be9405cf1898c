"""Answers of commands, kept for as long as no log and no setting changes, and the paths they are about."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from blake3 import blake3

from core.errors import UnreadableLog
from core.folders import PROJECT_SETTINGS, user_settings_file
from core.logs.log_files import absolute_path, expand_home, is_folder, is_there, names_below
from core.store.kept_answers import code_stamp, kept_answers, stamps

if TYPE_CHECKING:
    from core.logs.session import LogSession
    from core.settings import Settings


def checked_paths(paths: Iterable[Path]) -> list[Path]:
    """Return the paths a person named; each must exist or be a pattern."""
    expanded_paths = [expand_home(path) for path in paths]
    for path in expanded_paths:
        if not is_there(path) and not glob.has_magic(str(path)):
            raise UnreadableLog(f"{path}: no such file or folder")
    return expanded_paths


def files_below(paths: Sequence[Path]) -> list[str]:
    """Return every file below files, folders and patterns."""
    names: list[str] = []
    for path in map(expand_home, paths):
        if is_folder(path):
            names += names_below(path)
        elif is_there(path):
            names.append(str(path))
        else:
            matches = map(Path, sorted(glob.glob(str(path), recursive=True)))  # noqa: PTH207 as the finder
            names += files_below([match for match in matches if is_there(match)])
    return names


def all_below(sessions: Iterable[LogSession], paths: Iterable[Path]) -> bool:
    """Whether all logs of some sessions, and of their future sub-agents, are below folders."""
    above = tuple(map(_as_folder, map(expand_home, paths)))
    places = [(session.path, session.logs[0].format.beside) for session in sessions]
    return all(_as_folder(folder).startswith(above) for path, beside in places if beside for folder in beside(path))


def _as_folder(path: Path) -> str:
    return os.path.join(absolute_path(path), "")  # noqa: PTH118 the last separator counts


def names_single_logs(paths: Iterable[Path]) -> bool:
    """Whether single logs are named; logs of their sub-agents may appear beside them."""
    return any(
        not is_folder(path) and (is_there(path) or glob.has_magic(str(path))) for path in map(expand_home, paths)
    )


_PREFIX = "NOOSCOPE_"
# Files that are read from a watched project.
_PROJECT = (PROJECT_SETTINGS, ".nooscope-policy.toml", ".nooscope-rules.json", "receptor-rules.json")
_OWN = ("affect-policy.toml", "receptor-rules.json", "learned.toml")  # Files that are read beside a person's settings.


class KeptQuestion(NamedTuple):
    """Everything an answer depends on, as one key."""

    key: str
    keeps: bool = True  # Whether the key covers everything that is read; for a single log it does not.

    def answer(self) -> bytes | None:
        """Return the cached answer, or None."""
        return kept_answers().load(self.key) if self.keeps else None

    def keep(self, answer: bytes, settings: Settings) -> None:
        """Cache an answer, unless settings name files the key does not cover."""
        tables = settings.ingest.tables
        chosen = settings.timeline.cache
        unknown = tables.tools or tables.models or settings.response.persona.folder
        if self.keeps and chosen.on and chosen.limit and not unknown:
            kept_answers().save(self.key, answer, chosen.limit * 1_000_000)


def question(
    command: str, words: Sequence[Any], paths: Sequence[Path], project: Path | None, settings_file: Path | None
) -> KeptQuestion:
    """Return the key of a command, its options, the state of some logs and of all files that settings are read from.

    `settings_file` is the folder of what watched sessions started from, if that counts.
    """
    if names_single_logs(paths):
        return KeptQuestion("", keeps=False)
    name = blake3(f"{command}\n{code_stamp()}\n".encode())
    variables = sorted((key, value) for key, value in os.environ.items() if key.startswith(_PREFIX))
    asked_about = (list(words), [str(path) for path in paths], str(Path.cwd()), variables)
    name.update(repr(asked_about).encode("utf-8", "surrogatepass"))
    folder = project or Path.cwd()
    mine = user_settings_file()
    for path in (mine, *map(mine.with_name, _OWN), *(folder / one for one in _PROJECT)):
        name.update(_content(path))
    for path in () if settings_file is None else _below(settings_file):
        name.update(_content(path) if path.suffix == ".json" else os.fsencode(path))
    for log in files_below(paths):
        name.update(repr((log, stamps(log))).encode("utf-8", "surrogatepass"))
    return KeptQuestion(name.hexdigest(length=16))


def _below(folder: Path) -> Iterator[Path]:
    for top, folders, files in os.walk(folder):
        folders.sort()
        for file in sorted(files):
            yield Path(top, file)


def _content(path: Path) -> bytes:
    """Return a small file's name and content; a missing file differs from an empty one."""
    try:
        return repr((os.fsencode(path), path.read_bytes())).encode()
    except OSError:
        return repr((os.fsencode(path), None)).encode()
