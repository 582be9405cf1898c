"""The parts of docs/ that are made from the code, so that they cannot go stale."""

from __future__ import annotations

import re
from pathlib import Path

from bench.docs import curves, growth, mechanisms, real, tables

FOLDER = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("README.md", "docs/*.md")
FIGURES = curves.FIGURES | growth.FIGURES
TABLES = tables.TABLES | growth.TABLES | mechanisms.TABLES | real.TABLES

_PART = re.compile(
    r"(?P<head><!-- (?P<kind>[a-z]+)(?: (?P<about>[^\n]*?))? -->\n)(?P<body>.*?)(?P<end><!-- end -->)", re.S
)


def pages(root: Path = FOLDER.parent) -> list[Path]:
    """Every page a generated part may stand in."""
    return sorted(path for pattern in PAGES for path in root.glob(pattern))


def made(text: str) -> str:
    """A page with every part between its marks made again."""

    def part(found: re.Match[str]) -> str:
        table = TABLES.get(found["kind"])
        if table is None:
            raise ValueError(f"no table is named {found['kind']!r}; there are {', '.join(TABLES)}")
        return f"{found['head']}{table(*(found['about'] or '').split())}\n{found['end']}"

    return _PART.sub(part, text)


def parts(text: str) -> list[tuple[str, str]]:
    """The kind of each generated part of a page, and what it is about."""
    return [(found["kind"], found["about"] or "") for found in _PART.finditer(text)]


def stale(root: Path = FOLDER.parent) -> dict[Path, str]:
    """Every page and figure that is not what the code would make, with what it should be."""
    wanted = {path: made(path.read_text("utf-8")) for path in pages(root)}
    wanted |= {root / "docs" / "figures" / f"{name}.svg": draw() for name, draw in FIGURES.items()}
    return {path: text for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text}
