"""The checks of `nooscope doctor`, one section each."""

from __future__ import annotations

import codecs
import contextlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from platformdirs import user_cache_path, user_data_path

from core import __version__
from core.agents.registry import known_agents
from core.engine.response.rules import NOTHING_LEARNED
from core.errors import StoreError, UnreadableLog
from core.events import SessionStart
from core.folders import PROJECT_SETTINGS, user_settings_file
from core.logs.discovery import find, logs_below
from core.logs.finder import Finder, sessions
from core.logs.format import Diagnostics
from core.logs.log_files import is_folder, is_there
from core.logs.session import read_session
from core.report.formatting import byte_size, count, plain, span
from core.store.bookmarks import bookmarks_folder, recover_imports
from core.store.carry_over import (
    AffectStore,
    CarryOverStore,
    EpisodeStore,
    LearnedStore,
    PersonaStore,
    PriorStore,
    persona_folder,
)
from core.store.compensation import Chain, recover

if TYPE_CHECKING:
    from core.agents.models import Models
    from core.logs.format import Kit
    from core.settings.layers import Resolved
    from core.settings.program import IngestSettings

Level = Literal["fine", "note", "problem"]


class Finding(NamedTuple):
    """One line of a section."""

    label: str
    text: str
    level: Level = "fine"


class Section(NamedTuple):
    """The findings about one topic, as text and as data."""

    name: str
    findings: tuple[Finding, ...]
    facts: Any  # The findings as plain data.

    @property
    def problems(self) -> list[str]:
        """Return the findings that need action."""
        return [f"{each.label}: {each.text}" for each in self.findings if each.level == "problem"]


_LIBRARIES = (
    *("textual", "rich", "pydantic", "numpy", "msgspec", "watchfiles", "blake3", "cbor2", "platformdirs", "tomlkit"),
    "backports.zstd",
)
_OLD = 120  # Days after which the table of models counts as old.
_COMFORTABLE = (80, 24)


def engine_compiled() -> bool:
    """Whether the engine runs as machine code."""
    spec = importlib.util.find_spec("core.engine.society.engine")
    return spec is not None and not str(spec.origin).endswith(".py")


_BUILD_STATES = {
    "compiling": "compiling the engine",
    "ready": "engine compiled, restart to use it",
    "failed": "not compiled",
}


def engine_build() -> tuple[str, str]:
    """Return how far a background build of the engine is, and why it failed; blank without a build."""
    try:
        status = json.loads(Path(os.environ["NOOSCOPE_BUILD"]).read_text("utf-8"))
        state, why = status["state"], status["why"]
    except (KeyError, OSError, TypeError, ValueError):
        return "", ""
    return ("", "") if engine_compiled() else (_BUILD_STATES.get(state, ""), str(why))


def _engine_text() -> str:
    state, why = engine_build()
    parts = ["compiled" if engine_compiled() else "plain Python", state]
    return "; ".join(filter(None, parts)) + (f": {why}" if why else "")


def versions() -> Section:
    """Report the versions of nooscope, Python and libraries."""
    versions_by_name: dict[str, str | None] = dict.fromkeys(_LIBRARIES)
    for name in _LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions_by_name[name] = importlib.metadata.version(name)
    installed = {name: version for name, version in versions_by_name.items() if version}
    missing = [name for name in versions_by_name if name not in installed and not _built_in(name)]
    python, engine = platform.python_version(), "compiled" if engine_compiled() else "python"
    findings = [
        Finding("nooscope", __version__),
        Finding("python", f"{python} on {platform.system()} {platform.machine()}"),
        Finding("engine", _engine_text()),
        Finding("libraries", ", ".join(f"{name} {version}" for name, version in installed.items())),
        *(Finding(name, "is not installed; install nooscope again", "problem") for name in missing),
    ]
    facts = {"nooscope": __version__, "python": python, "engine": engine, "libraries": versions_by_name}
    return Section("versions", tuple(findings), facts)


def models(table: Models, today: date) -> Section:
    """Report the table of models' windows and prices, and its age."""
    dated = table.made_on
    age = (today - dated).days if dated is not None else 0
    old = age > _OLD
    text = f"{len(table)} models, made {dated} ({count(max(0, age), 'day')} ago)"
    if old:
        text += ": newer models and prices are missing; update nooscope, or name a table of your own"
    made_from = Finding("made from", ", ".join(table.sources) or "unknown")
    findings = Finding("models", text, "note" if old else "fine"), made_from
    facts = {"made": str(dated), "days": age, "models": len(table), "sources": list(table.sources)}
    return Section("prices", findings, facts)


def _built_in(name: str) -> bool:
    return name == "backports.zstd" and sys.version_info >= (3, 14)


def terminal_section(environment: Mapping[str, str]) -> Section:
    """Report the terminal's colours, characters and size."""
    interactive = sys.stdout.isatty() and sys.stdin.isatty()
    kind = environment.get("TERM", "")
    colours = colour_depth(environment)
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    utf8 = is_utf8(encoding)
    columns, lines = shutil.get_terminal_size(_COMFORTABLE)
    dumb = interactive and kind in ("", "dumb", "unknown")
    term = (kind or "not set") + (": it cannot show a screen" if dumb else "")
    characters = encoding if utf8 else f"{encoding}: not UTF-8, glyphs are replaced by ASCII"
    findings = [
        Finding("screen", "yes" if interactive else "no: output or input is not a terminal, so reports are plain text"),
        Finding("TERM", term, "problem" if dumb else "fine"),
        Finding("colours", _colours(colours, environment), "fine" if colours >= 256 or not interactive else "note"),
        Finding("characters", characters, "fine" if utf8 else "problem" if interactive else "note"),
    ]
    if interactive:
        small = columns < _COMFORTABLE[0] or lines < _COMFORTABLE[1]
        words = f"{columns}x{lines}" + (": small, not all panels fit" if small else "")
        findings.append(Finding("size", words, "note" if small else "fine"))
    facts = {"screen": interactive, "term": kind, "colours": colours, "no_color": bool(environment.get("NO_COLOR"))}
    facts |= {"encoding": encoding, "utf8": utf8, "columns": columns, "lines": lines}
    return Section("terminal", tuple(findings), facts)


def colour_depth(environment: Mapping[str, str]) -> int:
    """Return how many colours the terminal claims; 0 if none are wanted."""
    kind = environment.get("TERM", "").lower()
    if environment.get("NO_COLOR") or kind in ("", "dumb", "unknown"):
        return 0
    if environment.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return 1 << 24
    if kind.endswith(("-256color", "-kitty", "-direct", "-truecolor")) or os.name == "nt":
        return 256
    return 16


def _colours(number: int, environment: Mapping[str, str]) -> str:
    words = {0: "none", 16: "16: themes look coarse; set COLORTERM=truecolor if the terminal supports it", 256: "256"}
    return "none, because NO_COLOR is set" if environment.get("NO_COLOR") else words.get(number, "16 million")


def is_utf8(encoding: str) -> bool:
    """Whether an encoding's name means UTF-8."""
    with contextlib.suppress(LookupError):
        return codecs.lookup(encoding).name == "utf-8"
    return False


_LOOKED_AT = 2000  # Maximum number of files per folder whose beginning is read.
_NAMED = 5
_NEWEST = 3
# How many sessions of an agent are read to see whether their records are known, and the largest in bytes.
_LARGEST = 8 << 20


def agents(environment: Mapping[str, str], home: Path, settings: IngestSettings) -> Section:
    """Report each agent's folders and the sessions in them."""
    now = time.time()
    every_session = find(known_agents(), environment, home, now=now, active_within=settings.follow.active_within)
    findings: list[Finding] = []
    missing = []
    facts = []
    for agent in known_agents():
        if agent.location is None:
            continue
        sessions = [one for one in every_session if one.agent == agent.name]
        folders = [(root, _state(root)) for root in agent.location.roots(environment, home)]
        there = [root for root, state in folders if state == "found"]
        barred = [(root, state) for root, state in folders if state not in ("found", "missing")]
        findings += [Finding(agent.name, f"{root}: {state}", "problem") for root, state in barred]
        if there:
            newest = f", the newest {span(max(0.0, now - sessions[0].modified))} ago" if sessions else ""
            where = ", ".join(map(str, there))
            findings.append(Finding(agent.name, f"{count(len(sessions), 'session')}{newest} in {where}"))
        elif not barred:
            missing.append(agent.name)
        counts = {"sessions": len(sessions), "active": sum(one.active for one in sessions)}
        facts.append({"agent": agent.name, "folders": {str(root): state for root, state in folders}, **counts})
    if missing:
        findings.append(Finding("no folder", ", ".join(missing)))
    if not every_session:
        findings.append(Finding("sessions", "none yet: run one of these agents once; `nooscope demo` shows a sample"))
    return Section("agents", tuple(findings), facts)


def record_kinds(environment: Mapping[str, str], home: Path, kit: Kit, settings: IngestSettings) -> Section:
    """Report per agent and version whether its newest sessions were read in full, or what was skipped."""
    listed = find(known_agents(), environment, home, now=time.time(), active_within=settings.follow.active_within)
    read: Counter[tuple[str, str]] = Counter()  # Sessions by agent and version.
    kit = kit.counting(Diagnostics())
    for agent in known_agents():
        newest = [one for one in listed if one.agent == agent.name and one.size <= _LARGEST][:_NEWEST]
        for one in newest:
            read.update((agent.name, version) for version in _versions(one.path, one.session, kit, settings))
    findings, facts = [], []
    files = kit.diagnostics.skipped_in
    for name, version in sorted(read.keys() | {key[:2] for key in files}):
        number = read[name, version]
        skipped = {
            key[2]: times for key, times in sorted(kit.diagnostics.skipped.items()) if key[:2] == (name, version)
        }
        where = {kind: files[name, version, kind] for kind in skipped}
        label = f"{name} {plain(version)}".strip()
        kinds = ", ".join(f"{plain(kind)} ({times:,})" for kind, times in skipped.items())
        text = f"read in full ({count(number, 'session')})"
        if skipped:
            text = f"new records skipped: {kinds}, first in {plain(next(iter(where.values())))}"
        findings.append(Finding(label, text, "note" if skipped else "fine"))
        facts.append({"agent": name, "version": version, "sessions": number, "skipped": skipped, "files": where})
    if not findings:
        findings.append(Finding("none", "no session was found to read"))
    return Section("records", tuple(findings), facts)


def _versions(path: Path, session: str, kit: Kit, settings: IngestSettings) -> set[str]:
    """Read one session to its end and return the versions of the agent that wrote it."""
    try:
        readable = sessions([path], kit)
        chosen = [one for one in readable if one.id == session] or readable
        events = [event for one in chosen for event in read_session(one, kit, settings.lines)]
    except (UnreadableLog, OSError):
        return set()
    return {event.version for event in events if isinstance(event, SessionStart)}


def unread(environment: Mapping[str, str], home: Path, kit: Kit, settings: IngestSettings) -> Section:
    """Report files in agents' folders that cannot be read, and why."""
    finder = Finder(kit, settings.lines)
    findings: list[Finding] = []
    facts, looked = [], 0
    for path in _files(environment, home):
        looked += 1
        kind, trouble = finder.format(path)
        if kind is None and trouble not in ("empty", "vanished"):
            strange = trouble in ("no log of a known format", "a binary file", "not a regular file")
            facts.append({"file": str(path), "reason": trouble})
            if len(facts) <= _NAMED:
                findings.append(Finding(plain(str(path)), trouble, "note" if strange else "problem"))
    if len(facts) > _NAMED:
        findings.append(Finding("and", f"{len(facts) - _NAMED} more; --json names all", "note"))
    if not facts:
        findings.append(Finding("all", f"{count(looked, 'file')} checked, all readable"))
    return Section("unread", tuple(findings), facts)


def _files(environment: Mapping[str, str], home: Path) -> Iterator[Path]:
    for agent in known_agents():
        if agent.location is None or agent.location.survey is not None:
            continue
        for root in agent.location.roots(environment, home):
            yield from islice(logs_below(agent.location, root), _LOOKED_AT)


def _state(folder: Path) -> str:
    try:
        next(iter(folder.iterdir()), None)
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return "found"


_LITTLE = 50_000_000  # Bytes free below which a disk counts as full.


def settings(resolved: Resolved, project: Path, more: list[str]) -> Section:
    """Report the settings files, how many values they change, and what was ignored."""
    changed = Counter(resolved.origins.values())
    files = {"yours": user_settings_file(), "project": project / PROJECT_SETTINGS}
    findings = [
        Finding(name, f"{path} ({_settings_from_file(changed[str(path)], path)})") for name, path in files.items()
    ]
    findings += [
        Finding(origin, count(changed[origin], "setting")) for origin in ("environment", "--set") if origin in changed
    ]
    findings.append(Finding("changed", f"{count(len(resolved.origins), 'setting')} in all"))
    faults = [*map(str, resolved.complaints), *more]
    findings += [Finding("ignored", plain(fault), "problem") for fault in faults]
    facts = {
        "files": {name: {"path": str(path), "there": is_there(path)} for name, path in files.items()},
        "changed": dict(resolved.origins),
        "complaints": faults,
    }
    return Section("settings", tuple(findings), facts)


def _settings_from_file(number: int, path: Path) -> str:
    if not is_there(path):
        return "does not exist"
    return f"{count(number, 'setting')} from it" if number else "no settings from it"


def folders() -> Section:
    """Report the folders we write to: access, size and free space."""
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
        room = "" if free is None else f", {byte_size(free)} free"
        level: Level = "problem" if problem or full else "fine"
        findings.append(Finding(name, f"{path}: {words}, {byte_size(size)}{room}", level))
        facts.append({"name": name, "path": str(path), "problem": problem, "size": size, "free": free})
    return Section("folders", tuple(findings), facts)


def unwritable(folder: Path) -> str:
    """Return why a folder cannot be written to; empty if it can."""
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
            with contextlib.suppress(OSError):
                total += Path(top, name).lstat().st_size
    return total


def _free(folder: Path) -> int | None:
    for place in (folder, *folder.parents):
        with contextlib.suppress(OSError):
            return shutil.disk_usage(place).free
    return None


def stored_state(personas: Path | None = None) -> Section:
    """Report what earlier sessions left and whether it is usable; `personas` is the shared folder."""
    prior, learned, episodes = PriorStore(), LearnedStore(), EpisodeStore()
    problems = [fault for file in (prior.file, learned.file) if (fault := file.fault())]
    prior_state = None if prior.file.fault() else prior.read()
    lessons = NOTHING_LEARNED if learned.file.fault() else learned.read()
    counted = 0
    if is_there(episodes.path):
        try:
            with episodes:
                counted = episodes.count()
        except StoreError as error:
            problems.append(str(error))
        problems += episodes.notices
    problems += AffectStore().faults()
    problems += PersonaStore(personas or persona_folder()).faults()
    behind = prior_state.session_count if prior_state else 0
    carried = CarryOverStore().count()
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
        "sessions_with_carry_over": carried,
        "problems": problems,
    }
    findings = [
        Finding("prior", f"from {count(behind, 'session')}"),
        Finding("learned", f"from {count(lessons.stretches, 'stretch')} of work"),
        Finding("episodes", f"{counted:,}"),
        Finding("bookmarks", f"in {count(marked, 'session')}"),
        Finding("carried over", f"to {count(carried, 'watched session')}, for their replays"),
        *(Finding("damaged", plain(problem), "problem") for problem in problems),
    ]
    return Section("kept", tuple(findings), facts)


def chains() -> Section:
    """Undo writes that a crash left unfinished, and report those that cannot be undone."""
    own = user_settings_file().parent / "chains"
    undone: list[str] = []
    stuck: list[str] = []
    ways: dict[Path, Callable[[], list[Chain]]] = {own: lambda: recover(own)}
    ways[bookmarks_folder() / "chains"] = recover_imports
    for folder, way in ways.items():
        try:
            for chain in way() if is_folder(folder) else ():
                name = f"{folder / chain.name}.chain"
                (stuck if chain.problems else undone).append("; ".join([name, *chain.problems, *chain.restored]))
            stuck += [f"{path}: could not be undone" for path in sorted(folder.glob("*.chain"))]
        except OSError as error:
            stuck.append(f"{folder}: {error.strerror}")
    findings = [Finding("undone", plain(each), "note") for each in undone]
    findings += [Finding("open", plain(each), "problem") for each in dict.fromkeys(stuck)]
    if not findings:
        findings = [Finding("all", "no unfinished writes")]
    return Section("chains", tuple(findings), {"undone": undone, "open": list(dict.fromkeys(stuck))})
