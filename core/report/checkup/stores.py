"""Settings in force, our folders, what is kept in them, and writes that a crash left half done."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platformdirs import user_cache_path, user_data_path

from core.errors import StoreError
from core.folders import PROJECT_SETTINGS, user_settings_file
from core.logs.log_files import is_folder, is_there
from core.report.checkup import Finding, Section
from core.report.formatting import count, plain
from core.store.bookmarks import bookmarks_folder, recover_imports
from core.store.carry_over import CarryOverStore
from core.store.compensation import Chain, recover
from core.store.episodes import EpisodeStore
from core.store.project_history import AffectStore, LearnedStore, PersonaStore, PriorStore, persona_folder

if TYPE_CHECKING:
    from core.settings.layers import Resolved

_LITTLE = 50_000_000
"""Bytes free below which a disk counts as full."""


def settings(resolved: Resolved, project: Path, more: list[str]) -> Section:
    """The files they come from, how many differ from ours, and everything that was left out."""
    changed: dict[str, int] = {}
    for origin in resolved.origins.values():
        changed[origin] = changed.get(origin, 0) + 1
    files = {"yours": user_settings_file(), "project": project / PROJECT_SETTINGS}
    findings = [
        Finding(name, f"{path} ({_taken(changed.get(str(path), 0), path)})") for name, path in files.items()
    ]
    findings += [
        Finding(origin, count(changed[origin], "setting"))
        for origin in ("environment", "--set")
        if origin in changed
    ]
    findings.append(Finding("changed", f"{count(len(resolved.origins), 'setting')} in all"))
    faults = [*map(str, resolved.complaints), *more]
    findings += [Finding("left out", plain(fault), "problem") for fault in faults]
    facts = {
        "files": {name: {"path": str(path), "there": is_there(path)} for name, path in files.items()},
        "changed": dict(resolved.origins),
        "complaints": faults,
    }
    return Section("settings", tuple(findings), facts)


def _taken(number: int, path: Path) -> str:
    if not is_there(path):
        return "does not exist"
    return f"{count(number, 'setting')} from it" if number else "no settings from it"


def folders() -> Section:
    """Where we write: whether we can, how much lies there, how much room is left."""
    findings: list[Finding] = []
    facts: list[dict[str, Any]] = []
    for name, path in (
        ("config", user_settings_file().parent),
        ("data", user_data_path("nooscope", appauthor=False)),
        ("cache", user_cache_path("nooscope", appauthor=False)),
    ):
        problem = unwritable(path)
        size, free = _size(path), _free(path)
        full = not problem and free is not None and free < _LITTLE
        words = problem or ("the disk is nearly full" if full else "can be written")
        room = "" if free is None else f", {_bytes(free)} free"
        findings.append(
            Finding(name, f"{path}: {words}, {_bytes(size)}{room}", "problem" if problem or full else "fine")
        )
        facts.append({"name": name, "path": str(path), "problem": problem, "size": size, "free": free})
    return Section("folders", tuple(findings), facts)


def unwritable(folder: Path) -> str:
    """Why nothing can be written to a folder, or into the one it would be made in; blank where it can."""
    try:
        while not is_there(folder) and folder != folder.parent:
            folder = folder.parent
        if not is_folder(folder):
            return f"{folder} is not a folder"
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"nooscope")
            file.flush()
    except OSError as error:
        return f"cannot be written ({(error.strerror or str(error)).lower()})"
    return ""


def _size(folder: Path) -> int:
    total = 0
    for top, _, files in os.walk(folder):
        for name in files:
            try:
                total += Path(top, name).lstat().st_size
            except OSError:
                continue
    return total


def _free(folder: Path) -> int | None:
    for place in (folder, *folder.parents):
        try:
            return shutil.disk_usage(place).free
        except OSError:
            continue
    return None


def _bytes(number: int) -> str:
    amount = float(number)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def stored_state(personas: Path | None = None) -> Section:
    """What earlier sessions left, and whether it can be used; `personas` is where they are shared."""
    prior, learned, episodes = PriorStore(), LearnedStore(), EpisodeStore()
    known, lessons = prior.read(), learned.read()
    counted = 0
    problems = [each for each in (prior.problem, learned.problem) if each]
    if is_there(episodes.path):
        try:
            with episodes:
                counted = episodes.count()
        except StoreError as error:
            problems.append(str(error))
        problems += episodes.notices
    problems += AffectStore().damaged()
    problems += PersonaStore(personas or persona_folder()).damaged()
    behind = known.session_count if known else 0
    given = CarryOverStore().count()
    marked = 0
    try:
        marked = len(list(bookmarks_folder().glob("*.json")))
    except OSError as error:
        problems.append(f"{bookmarks_folder()}: {error.strerror}")
    facts = {
        "sessions_behind_the_prior": behind,
        "stretches_learned_from": lessons.stretches,
        "episodes": counted,
        "sessions_with_bookmarks": marked,
        "sessions_with_carry_over": given,
        "problems": problems,
    }
    findings = [
        Finding("prior", f"from {count(behind, 'session')}"),
        Finding("learned", f"from {count(lessons.stretches, 'stretch')} of work"),
        Finding("episodes", f"{counted:,}"),
        Finding("bookmarks", f"in {count(marked, 'session')}"),
        Finding("carried over", f"to {count(given, 'watched session')}, for their replays"),
        *(Finding("damaged", plain(problem), "problem") for problem in problems),
    ]
    return Section("kept", tuple(findings), facts)


def chains() -> Section:
    """Undo what a crash left half written, and name what cannot be undone."""
    own = user_settings_file().parent / "chains"
    undone: list[str] = []
    stuck: list[str] = []
    ways: tuple[tuple[Path, Callable[[], list[Chain]]], ...] = (
        (own, lambda: recover(own)),
        (bookmarks_folder() / "chains", recover_imports),
    )
    for folder, way in ways:
        try:
            for chain in way() if is_folder(folder) else ():
                name = f"{folder / chain.name}.chain"
                (stuck if chain.problems else undone).append(
                    "; ".join([name, *chain.problems, *chain.restored])
                )
            stuck += [f"{path}: could not be undone" for path in sorted(folder.glob("*.chain"))]
        except OSError as error:
            stuck.append(f"{folder}: {error.strerror}")
    findings = [
        *(Finding("undone", plain(each), "note") for each in undone),
        *(Finding("open", plain(each), "problem") for each in dict.fromkeys(stuck)),
    ]
    if not findings:
        findings = [Finding("all", "no write was left half done")]
    return Section("chains", tuple(findings), {"undone": undone, "open": list(dict.fromkeys(stuck))})
