"""Short ways to write down what an agent did, for the loop detectors."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

from msgspec import structs

from core.events import Event, Prompt, ToolUse, Turn

GAP = 10.0


def mark(text: str) -> int:
    """A stand-in for a fingerprint; 0 for a blank text."""
    return zlib.crc32(text.encode()) if text else 0


def use(tool: str, said: str, result: str = "", *, shape: str = "", **more: Any) -> ToolUse:
    """A tool use that went well: its arguments, and what came back."""
    return ToolUse(
        at=0.0,
        tool=tool,
        call=mark(f"{tool} {said}"),
        shape=mark(f"{tool} {shape or said}"),
        result=mark(result),
        size=more.pop("size", len(result)),
        **more,
    )


def shell(said: str, result: str = "", *, shape: str = "", **more: Any) -> ToolUse:
    """A command that went well."""
    return use("Bash", said, result, shape=shape, action="shell_exec", program=said.split()[0], **more)


def failure(said: str, result: str, *, shape: str = "", **more: Any) -> ToolUse:
    """A command that failed."""
    return shell(said, result, shape=shape, outcome="failure", exit_code=1, **more)


def read(path: str, result: str, lines: str = "") -> ToolUse:
    """A file, or some lines of it, read."""
    return use("Read", path + lines, result, shape=path, action="file_read", targets=(path,), size=900)


def grep(words: str, result: str, **more: Any) -> ToolUse:
    """A search."""
    return use("Grep", words, result, shape="", action="search", **more)


def edit(path: str, before: str, after: str, **more: Any) -> ToolUse:
    """A stretch of a file replaced."""
    return use(
        "Edit",
        f"{path} {before} {after}",
        more.pop("result", f"{path} has been updated"),
        shape=path,
        action="file_edit",
        targets=(path,),
        before=mark(before),
        after=mark(after),
        **more,
    )


def poll(result: str = "") -> ToolUse:
    """A look whether a running command has more to say."""
    return use("write_stdin", "session 1", result, action="shell_exec", program="write_stdin", purpose="wait")


def turn(tokens: int = 0, cached: int = 0) -> Turn:
    """An answer of the model."""
    return Turn(at=0.0, input_tokens=tokens, cache_read=cached, context_tokens=tokens + cached)


def prompt(words: str) -> Prompt:
    """The person speaks."""
    return Prompt(at=0.0, characters=len(words), call=mark(words))


def timed(events: Iterable[Event], gap: float = GAP, start: float = 1_700_000_000.0) -> list[Event]:
    """The events a fixed time apart."""
    return [structs.replace(event, at=start + gap * place) for place, event in enumerate(events)]
