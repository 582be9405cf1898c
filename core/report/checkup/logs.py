"""Which agents write logs here, and which of their files cannot be read."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from core.agents.registry import known_agents
from core.errors import UnreadableLog
from core.events import SessionStart
from core.logs.discovery import find
from core.logs.finder import Finder, sessions
from core.logs.format import Diagnostics
from core.logs.session import read_session
from core.report.checkup import Finding, Section
from core.report.formatting import count, plain, span

if TYPE_CHECKING:
    from core.logs.format import Kit
    from core.settings.logs import IngestSettings

_LOOKED_AT = 2000
"""Files of one folder whose beginning is read, so that it stays quick."""
_NAMED = 5
_NEWEST = 3
_LARGEST = 8 << 20
"""How many sessions of an agent are read to see whether their records are known, and the largest in bytes."""


def agents(environment: Mapping[str, str], home: Path, settings: IngestSettings) -> Section:
    """Each agent with its folders and how many sessions lie there."""
    now = time.time()
    found = find(known_agents(), environment, home, now=now, active_within=settings.follow.active_within)
    findings: list[Finding] = []
    facts = []
    for agent in known_agents():
        if agent.location is None:
            continue
        sessions = [one for one in found if one.agent == agent.name]
        folders = [(root, _state(root)) for root in agent.location.roots(environment, home)]
        there = [root for root, state in folders if state == "found"]
        barred = [(root, state) for root, state in folders if state not in ("found", "missing")]
        findings += [Finding(agent.name, f"{root}: {state}", "problem") for root, state in barred]
        if there:
            newest = f", the newest {span(max(0.0, now - sessions[0].modified))} ago" if sessions else ""
            where = ", ".join(map(str, there))
            findings.append(Finding(agent.name, f"{count(len(sessions), 'session')}{newest} in {where}"))
        elif not barred:
            findings.append(Finding(agent.name, "nothing here"))
        facts.append(
            {
                "agent": agent.name,
                "folders": {str(root): state for root, state in folders},
                "sessions": len(sessions),
                "active": sum(one.active for one in sessions),
            }
        )
    return Section("agents", tuple(findings), facts)


def record_kinds(environment: Mapping[str, str], home: Path, kit: Kit, settings: IngestSettings) -> Section:
    """Report per agent and version whether its newest sessions were read in full, or what was skipped."""
    listed = find(
        known_agents(), environment, home, now=time.time(), active_within=settings.follow.active_within
    )
    read: dict[tuple[str, str], int] = {}
    kit = kit.counting(Diagnostics())
    for agent in known_agents():
        newest = [one for one in listed if one.agent == agent.name and one.size <= _LARGEST][:_NEWEST]
        for one in newest:
            for version in _versions(one.path, one.session, kit, settings):
                read[agent.name, version] = read.get((agent.name, version), 0) + 1
    findings, facts = [], []
    for (name, version), number in sorted(read.items()):
        skipped = {
            kind: times
            for (agent_name, own, kind), times in sorted(kit.diagnostics.skipped.items())
            if (agent_name, own) == (name, version)
        }
        label = f"{name} {plain(version)}".strip()
        kinds = ", ".join(f"{plain(kind)} ({times:,})" for kind, times in skipped.items())
        text = f"new records skipped: {kinds}" if skipped else f"read in full ({count(number, 'session')})"
        findings.append(Finding(label, text, "note" if skipped else "fine"))
        facts.append({"agent": name, "version": version, "sessions": number, "skipped": skipped})
    if not findings:
        findings.append(Finding("none", "no session was found to read"))
    return Section("records", tuple(findings), facts)


def _versions(path: Path, session: str, kit: Kit, settings: IngestSettings) -> set[str]:
    """Read one session to its end and return the versions of the agent that wrote it."""
    try:
        chosen = [one for one in sessions([path], kit) if one.id == session]
        events = [event for one in chosen for event in read_session(one, kit, settings.lines)]
    except (UnreadableLog, OSError):
        return set()
    return {event.version for event in events if isinstance(event, SessionStart)}


def unread(environment: Mapping[str, str], home: Path, kit: Kit, settings: IngestSettings) -> Section:
    """Files where agents keep their logs that hold no log we can read, and why."""
    finder = Finder(kit, settings.lines)
    findings: list[Finding] = []
    facts = []
    looked = 0
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
        findings.append(Finding("all", f"{count(looked, 'file')} looked at, each can be read"))
    return Section("unread", tuple(findings), facts)


def _files(environment: Mapping[str, str], home: Path) -> Iterator[Path]:
    for agent in known_agents():
        if agent.location is None or agent.location.survey is not None:
            continue
        for root in agent.location.roots(environment, home):
            for pattern in agent.location.patterns:
                try:
                    yield from islice(root.glob(pattern), _LOOKED_AT)
                except OSError:
                    continue


def _state(folder: Path) -> str:
    try:
        next(iter(folder.iterdir()), None)
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return "found"
