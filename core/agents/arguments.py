"""What can be read off a call's arguments, under whatever names a framework gives them."""

from __future__ import annotations

from operator import itemgetter
from typing import Any
from urllib.parse import unquote

from core.agents.patch import read_patch
from core.agents.shell_script import split
from core.agents.tables import Lists

_LONGEST = 512
"""A longer text is content, not something a call is recognised by."""
_MOST = 16


_name = itemgetter(0)


class Arguments:
    """Knows the names under which paths, commands and texts come."""

    __slots__ = ("_after", "_before", "_bulk", "_command", "_edits", "_patch", "_path", "_paths")

    def __init__(self, lists: Lists) -> None:
        self._path = lists["path"]
        self._paths = lists["paths"]
        self._command = lists["command"]
        self._before = lists["before"]
        self._after = lists["after"]
        self._edits = lists["edits"]
        self._patch = lists["patch"]
        self._bulk = frozenset(
            (*self._before, *self._after, *self._patch, "description", "workdir", "prompt")
        )

    def command(self, value: Any) -> str | list[Any] | None:
        """The shell command in the arguments, or None."""
        if isinstance(value, str):
            return value
        if isinstance(value, dict):
            for name in self._command:
                found = value.get(name)
                if isinstance(found, (str, list)):
                    return found
        return value if isinstance(value, list) else None

    def targets(self, value: Any) -> tuple[str, ...]:
        """The paths in the arguments."""
        if isinstance(value, dict):
            for name in self._path:
                found = value.get(name)
                if isinstance(found, str) and found:
                    return (_path(found),)
            for name in self._paths:
                found = value.get(name)
                if isinstance(found, list):
                    return tuple(_path(item) for item in found[:_MOST] if isinstance(item, str) and item)
        elif isinstance(value, str):
            return _words(value)
        return ()

    def edit(self, value: Any) -> tuple[tuple[str, ...], str, str]:
        """Of an edit: the paths, the text it takes away, the text it puts there."""
        if isinstance(value, str):
            return read_patch(value) if "***" in value or "+++" in value else (_words(value), "", "")
        if not isinstance(value, dict):
            return (), "", ""
        targets = self.targets(value)
        before, after = self._first(value, self._before), self._first(value, self._after)
        if not before and not after:
            for name in self._edits:
                parts = value.get(name)
                if isinstance(parts, list):
                    pairs = [part for part in parts if isinstance(part, dict)]
                    before = "\n".join(self._first(part, self._before) for part in pairs)
                    after = "\n".join(self._first(part, self._after) for part in pairs)
                    targets = targets or tuple(
                        dict.fromkeys(path for part in pairs for path in self.targets(part))
                    )
            patch = self._first(value, self._patch)
            if patch:
                read = read_patch(patch)
                return read.targets or targets, read.before, read.after
        return targets, before, after

    def gist(self, value: Any) -> str:
        """The short texts a call is recognised by; content and numbers are left out."""
        if isinstance(value, str):
            return value[:_LONGEST]
        if not isinstance(value, dict):
            return ""
        bulk = self._bulk
        return "\0".join(
            [
                f"{name}\0{item}"
                for name, item in sorted(value.items(), key=_name)
                if type(item) is str and len(item) <= _LONGEST and name not in bulk
            ]
        )

    @staticmethod
    def _first(value: dict[Any, Any], names: tuple[str, ...]) -> str:
        for name in names:
            found = value.get(name)
            if isinstance(found, str):
                return found
            if isinstance(found, list) and found and all(isinstance(line, str) for line in found):
                return "\n".join(found)
        return ""


def _path(text: str) -> str:
    return unquote(text[7:]) if text.startswith("file://") else text


def _words(text: str) -> tuple[str, ...]:
    """The paths among the words of a command of a framework's own."""
    parts = split(text[:2048])
    words = parts[0].words[1:] if parts else []
    return tuple(
        word for word in words[:_MOST] if ("/" in word or "." in word[1:-1]) and not word.startswith("-")
    )
