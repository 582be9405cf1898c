"""Code mode: a script that calls tools is sorted as the strongest call in it."""

from __future__ import annotations

import re

from core.agents.fingerprint import shape
from core.agents.loose import decode
from core.agents.normalizer import Normalizer, Sorted
from core.events import Action

_LONGEST = 32_768
_CALL = re.compile(r"\btools\.([A-Za-z_]\w*)\s*\(")
_COMMAND = re.compile(
    r"""\b(?:cmd|command)["']?\s*:\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)""", re.DOTALL
)
_PATH = re.compile(r"""\b(?:path|file_path)["']?\s*:\s*["'`]([^"'`\n]{1,400})["'`]""")
_RANK: dict[Action, int] = {
    "shell_exec": 8,
    "delegation": 7,
    "file_edit": 6,
    "memory_write": 5,
    "search": 4,
    "file_read": 3,
    "memory_read": 2,
    "other": 1,
    "plan": 0,
}


def sort_cell(normalizer: Normalizer, framework: str, tool: str, script: str) -> Sorted:
    """Sort a script by the tools it calls; one that calls none is a command."""
    whole = Sorted(
        "shell_exec", call=normalizer.sort(framework, tool, script).call, shape=shape(script[:4096])
    )
    text = script[:_LONGEST]
    calls = list(_CALL.finditer(text))
    best: Sorted | None = None
    for at, call in enumerate(calls):
        end = calls[at + 1].start() if at + 1 < len(calls) else len(text)
        found = normalizer.sort(
            framework, call.group(1), _arguments(call.group(1), text, text[call.end() : end])
        )
        if best is None or _RANK[found.action] > _RANK[best.action]:
            best = found
    if best is None:
        return whole._replace(program=tool)
    return best._replace(call=whole.call, shape=whole.shape)


def _arguments(tool: str, script: str, given: str) -> object:
    """The arguments of one call, as far as they stand in the script as plain text."""
    if tool == "apply_patch":
        return _escaped(script) if "*** " in script else {}
    command = _COMMAND.search(given)
    if command:
        return {"command": _unquoted(command.group(1))}
    path = _PATH.search(given)
    return {"path": path.group(1)} if path else {}


def _unquoted(text: str) -> str:
    if text.startswith('"'):
        found = decode(text.encode("utf-8", "surrogatepass"))
        if isinstance(found, str):
            return found
    return _escaped(text[1:-1])


def _escaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\'", "'").replace('\\"', '"')
