"""What commands answered before, a file each: a database takes longer to open than one of them to read."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from blake3 import blake3

from core.folders import make_private, own_folder

MOST = 64
"""Answers kept; what was not asked for longest goes first."""
LARGEST = 16_000_000
"""Bytes one of them may have."""
_MARK = 16
"""Bytes in front of an answer that tell whether all of it is there."""
_DAY = 86_400
_OWNER_ONLY = 0o600


class KeptAnswers:
    """Answers by key in one folder; whatever is wrong with a file of it costs only time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, key: str) -> bytes | None:
        """What is kept under this key."""
        path = self.folder / key
        try:
            with path.open("rb") as file:
                content = file.read(LARGEST)
                asked = os.fstat(file.fileno()).st_mtime
        except OSError:
            return None
        answer = content[_MARK:]
        if _mark(answer) != content[:_MARK]:
            return None
        if time.time() - asked > _DAY:
            with contextlib.suppress(OSError):
                os.utime(path)
        return answer

    def save(self, key: str, answer: bytes, limit: int) -> bool:
        """Keep an answer beside others of so many bytes at most; False where it cannot be written."""
        if _MARK + len(answer) > min(LARGEST, limit):
            return False
        draft = self.folder / f"{key}.{os.getpid()}.new"
        try:
            make_private(self.folder)
            # Not waited for on the disk: what a power cut takes away is told by its mark, and made again.
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY), "wb") as file:
                file.write(_mark(answer) + answer)
            draft.replace(self.folder / key)
        except OSError:
            with contextlib.suppress(OSError):
                draft.unlink()
            return False
        self._tidy(limit)
        return True

    def clear(self) -> bool:
        """Forget them all; whether there were any."""
        files = self._files()
        for path, _ in files:
            path.unlink(missing_ok=True)
        return bool(files)

    def _files(self) -> list[tuple[Path, int]]:
        """The files that are kept with their sizes, the one asked for last in front."""
        found = []
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_file(follow_symlinks=False):
                        found.append((entry.stat(), entry.path))
        found.sort(key=lambda one: (-one[0].st_mtime_ns, one[1]))
        return [(Path(path), status.st_size) for status, path in found]

    def _tidy(self, limit: int) -> None:
        total = 0
        for place, (path, size) in enumerate(self._files()):
            total += size
            if place >= MOST or total > limit:
                with contextlib.suppress(OSError):
                    path.unlink()


def kept_answers() -> KeptAnswers:
    """Those on this machine."""
    return KeptAnswers(own_folder("cache") / "answers")


def _mark(answer: bytes) -> bytes:
    return blake3(answer).digest(length=_MARK)
