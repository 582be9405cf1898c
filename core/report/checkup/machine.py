"""Versions, and what the terminal can do."""

from __future__ import annotations

import codecs
import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import sys
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from core import __version__
from core.report.checkup import Finding, Section
from core.report.formatting import count

if TYPE_CHECKING:
    from core.agents.models import Models

_LIBRARIES = (
    *(
        "textual",
        "rich",
        "pydantic",
        "numpy",
        "msgspec",
        "watchfiles",
        "blake3",
        "cbor2",
        "platformdirs",
        "tomlkit",
    ),
    "backports.zstd",
)
_OLD = 120
"""Days after which the table of models is called old."""
_COMFORTABLE = (80, 24)


def engine_compiled() -> bool:
    """Whether the engine runs as machine code."""
    found = importlib.util.find_spec("core.engine.engine")
    return found is not None and not str(found.origin).endswith(".py")


def engine_build() -> str:
    """Return which engine runs, and how far a background build of the compiled one is."""
    if engine_compiled():
        return "compiled"
    try:
        status = json.loads(Path(os.environ["NOOSCOPE_BUILD"]).read_text("utf-8"))
        state, why = status["state"], status["why"]
    except (KeyError, OSError, TypeError, ValueError):
        return "plain Python"
    texts = {
        "compiling": "plain Python; the compiled engine is being built for the next start",
        "ready": "plain Python; the compiled engine is ready, start again to use it",
        "failed": f"plain Python; compiling failed: {why}",
    }
    return texts.get(state, "plain Python")


def versions() -> Section:
    """Of nooscope, Python and the libraries below it."""
    found: dict[str, str | None] = {}
    for name in _LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    known = {name: version for name, version in found.items() if version}
    missing = [name for name in found if name not in known and not _built_in(name)]
    findings = [
        Finding("nooscope", __version__),
        Finding("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        Finding("engine", engine_build()),
        Finding("libraries", ", ".join(f"{name} {version}" for name, version in known.items())),
        *(Finding(name, "is not installed; install nooscope again", "problem") for name in missing),
    ]
    facts = {
        "nooscope": __version__,
        "python": platform.python_version(),
        "engine": "compiled" if engine_compiled() else "python",
        "libraries": found,
    }
    return Section("versions", tuple(findings), facts)


def models(known: Models, today: date) -> Section:
    """The table of models' windows and prices, and how old it is."""
    made = known.made
    age = (today - made).days if made is not None else 0
    old = age > _OLD
    text = f"{len(known)} models, made {made} ({count(max(0, age), 'day')} ago)"
    if old:
        text += ": newer models and prices are missing; install a newer nooscope, or name a table of your own"
    findings = (
        Finding("models", text, "note" if old else "fine"),
        Finding("made from", ", ".join(known.sources) or "unknown"),
    )
    facts = {"made": str(made), "days": age, "models": len(known), "sources": list(known.sources)}
    return Section("prices", findings, facts)


def _built_in(name: str) -> bool:
    return name == "backports.zstd" and sys.version_info >= (3, 14)


def terminal_section(environment: Mapping[str, str]) -> Section:
    """Colours, characters and size, as far as they can be told from here."""
    shown = sys.stdout.isatty() and sys.stdin.isatty()
    kind = environment.get("TERM", "")
    colours = colour_depth(environment)
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    utf8 = is_utf8(encoding)
    columns, lines = shutil.get_terminal_size(_COMFORTABLE)
    dumb = kind in ("", "dumb", "unknown")
    findings = [
        Finding(
            "screen", "yes" if shown else "no: output or input is not a terminal, so reports are plain text"
        ),
        Finding(
            "TERM",
            (kind or "not set") + (": it cannot show a screen" if dumb and shown else ""),
            "problem" if dumb and shown else "fine",
        ),
        Finding("colours", _colours(colours, environment), "fine" if colours >= 256 or not shown else "note"),
        Finding(
            "characters",
            encoding if utf8 else f"{encoding}: not UTF-8, glyphs become plain signs",
            "fine" if utf8 else "problem" if shown else "note",
        ),
    ]
    if shown:
        small = columns < _COMFORTABLE[0] or lines < _COMFORTABLE[1]
        words = f"{columns}x{lines}" + (": small, not all panels fit" if small else "")
        findings.append(Finding("size", words, "note" if small else "fine"))
    facts = {
        "screen": shown,
        "term": kind,
        "colours": colours,
        "no_color": bool(environment.get("NO_COLOR")),
        "encoding": encoding,
        "utf8": utf8,
        "columns": columns,
        "lines": lines,
    }
    return Section("terminal", tuple(findings), facts)


def colour_depth(environment: Mapping[str, str]) -> int:
    """How many colours the terminal says it has; 0 where they are not wanted or there are none."""
    kind = environment.get("TERM", "").lower()
    if environment.get("NO_COLOR") or kind in ("", "dumb", "unknown"):
        return 0
    if environment.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return 1 << 24
    if kind.endswith(("-256color", "-kitty", "-direct", "-truecolor")) or os.name == "nt":
        return 256
    return 16


def _colours(number: int, environment: Mapping[str, str]) -> str:
    if environment.get("NO_COLOR"):
        return "none, as NO_COLOR asks"
    if number == 0:
        return "none"
    return {16: "16: themes look coarse; set COLORTERM=truecolor where it can do more", 256: "256"}.get(
        number, "16 million"
    )


def is_utf8(encoding: str) -> bool:
    """Whether an encoding's name means UTF-8."""
    try:
        return codecs.lookup(encoding).name == "utf-8"
    except LookupError:
        return False
