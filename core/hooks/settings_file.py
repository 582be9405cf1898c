"""A shared JSON settings file: our entries put in and taken out, the rest left as it is."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import HooksRefused
from core.hooks.stub import is_ours

_LARGEST = 4 * 1024 * 1024


def read_settings_file(path: Path) -> bytes | None:
    """What a file holds, None where it is not there; raises `HooksRefused` where it must be left alone."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HooksRefused(f"{path}: {error.strerror or error}; it is left alone") from error
    if stat.S_ISLNK(found.st_mode):
        raise HooksRefused(
            f"{path} is a link to {path.readlink()}; it is left alone, name the hooks there yourself"
        )
    if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
        raise HooksRefused(f"{path} is not a settings file; it is left alone")
    try:
        return path.read_bytes()
    except OSError as error:
        raise HooksRefused(f"{path}: {error.strerror or error}; it is left alone") from error


def parse(path: Path, data: bytes) -> dict[str, Any]:
    """The settings; raises `HooksRefused` where writing them again could lose something."""
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise HooksRefused(
            f"{path} is not plain JSON ({error}); it is left alone, or what JSON does not know would go. "
            "Take comments and commas before a closing bracket out, then try again"
        ) from error
    if not isinstance(value, dict) or not isinstance(value.get("hooks", {}), dict):
        raise HooksRefused(f"{path}: `hooks` is not a table there; it is left alone")
    for name, entries in value.get("hooks", {}).items():
        if not isinstance(entries, list):
            raise HooksRefused(f"{path}: `hooks.{name}` is not a list; it is left alone")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands there twice")
    return found


def put_hooks(
    settings: Mapping[str, Any], entries: Mapping[str, Any], more: Mapping[str, Any]
) -> dict[str, Any]:
    """The settings with our entries at the end of each list."""
    result = taken_out(settings, {})
    hooks = dict(result.get("hooks", {}))
    for name, entry in entries.items():
        hooks[name] = [*hooks.get(name, []), entry]
    return {**result, "hooks": hooks, **more}


def taken_out(settings: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without our entries; what they pushed aside, as it stood before, comes back."""
    result = dict(settings)
    if isinstance(settings.get("hooks"), dict):
        known = before.get("hooks")
        hooks: dict[str, Any] = {}
        for name, entries in settings["hooks"].items():
            kept = [entry for entry in entries if not _ours(entry)] if isinstance(entries, list) else entries
            if kept or not entries or (isinstance(known, dict) and name in known):
                hooks[name] = kept
        result["hooks"] = hooks
        if not hooks and settings["hooks"] and known is None:
            del result["hooks"]
    line = settings.get("statusLine")
    if isinstance(line, dict) and is_ours(line.get("command")):
        if "statusLine" in before:
            result["statusLine"] = before["statusLine"]
        else:
            del result["statusLine"]
    return result


def _ours(entry: Any) -> bool:
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    return isinstance(hooks, list) and any(
        isinstance(one, dict) and is_ours(one.get("command")) for one in hooks
    )


def holds_ours(settings: Mapping[str, Any]) -> list[str]:
    """Our commands in the settings."""
    found: dict[str, None] = {}
    hooks = settings.get("hooks")
    for entries in hooks.values() if isinstance(hooks, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            if _ours(entry):
                found.update(
                    (str(one["command"]), None) for one in entry["hooks"] if is_ours(one.get("command"))
                )
    line = settings.get("statusLine")
    if isinstance(line, dict) and is_ours(line.get("command")):
        found[str(line["command"])] = None
    return list(found)


def written(settings: Mapping[str, Any], like: bytes | None) -> bytes:
    """The settings as bytes, indented as the file was."""
    text = (like or b"").decode("utf-8", "replace")
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    indent: int | str | None = 2
    if found:
        indent = found[1]
    elif text.strip() and "\n" not in text.strip():
        indent = None
    end = "\n" if not text or text.endswith("\n") else ""
    try:
        return (json.dumps(settings, indent=indent, ensure_ascii=False) + end).encode()
    except UnicodeEncodeError:  # half a character, which only an escape can spell
        return (json.dumps(settings, indent=indent) + end).encode()
