"""A tree of Claude Code logs, made up, and the same at every run.

Kinds of lines and their sizes follow what was counted in real logs: of a hundred lines about sixty are
progress (0.7 kB each), thirteen calls (1.6 kB), twelve results (8 kB), ten text or thinking (1.1 to 1.9 kB).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench.workload import Dice

_START = 1_760_000_000.0
_BLOCK = 20_000_000  # Bytes of a log that are made line by line.
_WORDS = (
    *("the", "parser", "reads", "each", "line", "of", "file", "and", "gives", "back", "what", "it"),
    *("found", "or", "says", "why", "not", "in", "words", "one", "can", "act", "on"),
)


def write_tree(folder: Path, size: int, *, file_size: int = 20_000_000) -> int:
    """Fill a folder with session logs of `size` bytes in all; the bytes written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = number = 0
    while written < size:
        number += 1
        written += write_log(folder / f"session-{number:04d}.jsonl", min(file_size, size - written), seed=number)
    return written


def write_log(path: Path, size: int, *, seed: int = 1) -> int:
    """One session's log of about `size` bytes; a long one repeats its beginning with other ids."""
    written = again = 0
    block: list[bytes] = []
    with path.open("wb") as file:
        for line in lines(seed):
            block.append(line)
            written += file.write(line)
            if written >= min(size, _BLOCK):
                break
        while written < size:
            again += 1
            written += file.write(_renamed(b"".join(block), seed, again))
    return written


def _renamed(block: bytes, seed: int, again: int) -> bytes:
    block = block.replace(b"%08x-0000" % seed, b"%08x-%04x" % (seed, again))
    return block.replace(b'"msg_', b'"msg_%d_' % again).replace(b"toolu_", b"toolu_%d_" % again)


def lines(seed: int) -> Iterator[bytes]:
    """An endless session, line by line."""
    dice = Dice(seed)
    session = f"00000000-0000-4000-8000-{seed:012d}"
    at = _START + seed * 1000
    number, context, last = 0, 18_000, None

    def line(kind: str, message: object, **more: object) -> bytes:
        nonlocal number, last
        number += 1
        uuid = f"{seed:08x}-0000-4000-8000-{number:012x}"
        record = {
            "parentUuid": last,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/dev/api",
            "sessionId": session,
            "version": "2.1.30",
            "gitBranch": "main",
            "type": kind,
            **({} if message is None else {"message": message}),
            **more,
            "uuid": uuid,
            "timestamp": datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        last = uuid
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"

    while True:
        if number % 400 == 0:
            at += 30
            yield line("user", {"role": "user", "content": _prose(dice, 40)})
        at += 2 + dice.below(15)
        context = context + 300 + dice.below(900) if context < 150_000 else 20_000
        call = f"toolu_{seed:04d}{number:08d}"
        name, arguments, result, extra = _call(dice)
        usage = {
            "input_tokens": 4,
            "cache_creation_input_tokens": 400,
            "cache_read_input_tokens": context,
            "output_tokens": 20 + dice.below(400),
        }
        parts: list[dict[str, object]] = [{"type": "tool_use", "id": call, "name": name, "input": arguments}]
        if dice.below(100) < 55:
            parts.insert(0, {"type": "text", "text": _prose(dice, 60)})
        if dice.below(100) < 25:
            parts.insert(0, {"type": "thinking", "thinking": _prose(dice, 200), "signature": "c2ln" * 40})
        for part in parts:
            yield line(
                "assistant",
                {
                    "model": "claude-sonnet-4-5",
                    "id": f"msg_{number // 4:08d}",
                    "type": "message",
                    "role": "assistant",
                    "content": [part],
                    "stop_reason": None,
                    "usage": usage,
                },
                requestId=f"req_{number}",
            )
        for _ in range(dice.below(10)):
            progress = {"type": "hook_progress", "hookEvent": "PostToolUse", "command": _prose(dice, 20)}
            yield line("progress", None, data=progress, toolUseID=call, parentToolUseID=call)
        at += 1 + dice.below(6)
        failed = name == "Bash" and dice.below(4) == 0
        content = f"Exit code 1\n{result}" if failed else result
        yield line(
            "user",
            {
                "role": "user",
                "content": [{"tool_use_id": call, "type": "tool_result", "content": content, "is_error": failed}],
            },
            toolUseResult=f"Error: {content}" if failed else extra,
        )


def _call(dice: Dice) -> tuple[str, dict[str, object], str, object]:
    path = f"/home/dev/api/src/part{dice.below(12)}/module{dice.below(30)}.py"
    body = _prose(dice, 200 + dice.below(1200))
    kind = dice.below(4)
    if kind == 0:
        return ("Read", {"file_path": path}, body, {"type": "text", "file": {"filePath": path, "content": body}})
    if kind == 1:
        old, new = _prose(dice, 80), _prose(dice, 90)
        patch = {"filePath": path, "oldString": old, "newString": new, "structuredPatch": [], "originalFile": body}
        return "Edit", {"file_path": path, "old_string": old, "new_string": new}, f"{path} updated", patch
    if kind == 2:
        return ("Grep", {"pattern": _WORDS[dice.below(20)], "path": "src"}, body, {"numFiles": 3, "filenames": [path]})
    command = ("pytest -q tests", "npm run build", "git status --short", "make lint")[dice.below(4)]
    return "Bash", {"command": command}, body, {"stdout": body, "stderr": "", "interrupted": False}


def _prose(dice: Dice, words: int) -> str:
    return " ".join(_WORDS[dice.below(len(_WORDS))] for _ in range(words))
