"""From stories to the files that are kept: logs, packed where they are long, and the index."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sample_sessions import FOLDER, INDEX
from sample_sessions.stories import STORIES
from sample_sessions.stories.story import Story
from sample_sessions.writers import WRITERS

if sys.version_info >= (3, 14):
    from compression.zstd import compress, decompress
else:
    from backports.zstd import compress, decompress

LONG = 24_000  # Bytes from which a log is packed.
_LEVEL = 19
_SHOWN = {"nooscope": "open events"}  # Names of agents that a person would not understand.


def build(stories: Iterable[Story] = STORIES) -> dict[str, bytes]:
    """Every file by its path, unpacked; those that end in .zst are to be packed."""
    files: dict[str, bytes] = {}
    index = []
    for story in stories:
        stage = story.play()
        first = ""
        for path, data in WRITERS[story.program.name](stage).items():
            stored_path = f"{FOLDER}/{story.name}/{path}{'.zst' if len(data) > LONG else ''}"
            first = first or stored_path
            files[stored_path] = data
        index.append(
            _entry(story, first, stage.world.name, stage.end - stage.start)
            | {"narration": [list(remark) for remark in sorted(stage.remarks)]}
        )
    files[INDEX] = json.dumps({"samples": index}, indent=1, ensure_ascii=False).encode() + b"\n"
    return files


def _entry(story: Story, path: str, project: str, seconds: float) -> dict[str, Any]:
    return {
        "name": story.name,
        "title": story.title,
        "sentence": story.sentence,
        "notice": story.notice,
        "agent": _SHOWN.get(story.program.name, story.program.name),
        "model": story.program.model,
        "project": project,
        "path": path,
        "minutes": round(seconds / 60, 1),
        "speed": story.speed,
        "must": list(story.must),
        "never": list(story.never),
    }


def unpacked(path: Path) -> bytes:
    """A kept file's content."""
    data = path.read_bytes()
    return decompress(data) if path.suffix == ".zst" else data


def save(folder: Path, files: dict[str, bytes]) -> list[str]:
    """Write what differs from what is there, and take away logs that are no longer told; what changed."""
    changed = []
    for name, data in files.items():
        path = folder / name
        if path.is_file() and unpacked(path) == data:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(compress(data, _LEVEL) if path.suffix == ".zst" else data)
        changed.append(name)
    for path in sorted((folder / FOLDER).rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
        elif path.is_file() and path.relative_to(folder).as_posix() not in files:
            path.unlink()
            changed.append(path.relative_to(folder).as_posix())
    return changed
