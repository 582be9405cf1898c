"""`make strings`: list every sentence and label in the code that a person can meet, by file and line."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("core", "tui", "themes", "sample_sessions", "sample_extension")
_WORDS = re.compile(r"[A-Za-z]{2,}\W+[A-Za-z]{2,}")
_TOML_PROSE = re.compile(r'^[^#"]*(?:"[^"]*"[^"]*)*"[^"]*[A-Za-z]{2,} [A-Za-z{]')  # A string of two words.
_NOT_PROSE = re.compile(
    r"^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|DROP|ALTER|BEGIN|ATTACH|WITH)\b|\(\?|\\[sdwb]|</\w+>|[{;]\s*\n"
)
_PATTERNS = {"compile", "search", "match", "fullmatch", "sub", "split", "execute", "executescript", "namedtuple"}


def main(folders: list[str]) -> int:
    """Print the strings of these folders, of all code without any."""
    for folder in folders or ROOMS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            lines = sorted(strings(ast.parse(path.read_text(encoding="utf-8"))))
            if lines:
                print(f"\n# {path.relative_to(ROOT)}")
            for number, text in lines:
                print(f"{number:5}  {text}")
        for path in sorted((ROOT / folder).rglob("*.toml")):
            print(f"\n# {path.relative_to(ROOT)}")
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if _TOML_PROSE.search(line):
                    print(f"{number:5}  {line}")
        for path in sorted((ROOT / folder).rglob("*.md")):
            print(f"\n# {path.relative_to(ROOT)}\n{path.read_text(encoding='utf-8')}")
    return 0


def strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Return each string that reads as prose, with its line; a value inside one is shown as {…}."""
    skipped = set(_skipped(tree))
    for node in ast.walk(tree):
        if id(node) in skipped or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        text = _text_of(node)
        if (
            _WORDS.search(text)
            and " " in text.strip()
            and text.isprintable() | ("\n" in text)
            and not _NOT_PROSE.search(text)
        ):
            yield node.lineno, text.strip().replace("\n", "\n       ").replace("\0", "")


def _text_of(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(_text_of(part) if isinstance(part, ast.Constant) else "{…}" for part in node.values)


def _skipped(tree: ast.AST) -> Iterator[int]:
    """Return the nodes that nobody reads: docstrings, parts of f-strings, patterns and queries."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if node.body and isinstance(node.body[0], ast.Expr):
                yield id(node.body[0].value)
        elif isinstance(node, ast.JoinedStr):
            yield from (id(part) for part in node.values)
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in _PATTERNS:
                yield from (id(part) for argument in node.args for part in ast.walk(argument))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
