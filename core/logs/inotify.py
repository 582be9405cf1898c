"""What the kernel of Linux announces of folders, waited for without waking up in between."""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

_MODIFY, _ATTRIB, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_OVERFLOW, _IGNORED, _FOLDER = 0x4000, 0x8000, 0x4000_0000
_WANTED = _MODIFY | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
_HEAD = struct.Struct("iIII")
_ROOM = 65_536
"""Bytes of announcements taken at once."""
_VANISHED = (errno.ENOENT, errno.ENOTDIR)


class Inotify:
    """Some folders, all that is below them too where that is wanted; a folder nobody may see is passed over.

    Raises `OSError` where a folder is not there or a limit of the system is reached.
    """

    def __init__(self, folders: Iterable[Path], *, recursive: bool) -> None:
        self.lost = False
        """More was announced than could be kept, so anything may have changed."""
        self._recursive = recursive
        self._folders: dict[int, list[str]] = {}
        """Every watch and the names its folder goes by, of which links give it more than one."""
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._descriptor < 0:
            raise _fault("inotify")
        self._ready = select.poll()
        self._ready.register(self._descriptor, select.POLLIN)
        try:
            for folder in folders:
                self._watch(str(folder))
        except OSError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Have nothing announced any more."""
        os.close(self._descriptor)

    def wait(self, seconds: float) -> bool:
        """Whether something was announced by then; returns as soon as it is."""
        return bool(self._ready.poll(1000 * seconds))

    def take(self) -> set[Path]:
        """The paths announced since they were last taken."""
        found: set[Path] = set()
        try:
            while data := os.read(self._descriptor, _ROOM):
                for number, mask, name in _announcements(data):
                    found.update(map(Path, self._paths(number, mask, name)))
        except BlockingIOError:
            return found
        return found

    def _paths(self, number: int, mask: int, name: str) -> list[str]:
        """What an announcement is about; folders that come or go below are taken along."""
        if mask & _OVERFLOW:
            self.lost = True
        if mask & _IGNORED:
            self._folders.pop(number, None)
        paths = [os.path.join(folder, name) if name else folder for folder in self._folders.get(number, ())]  # noqa: PTH118 plain text
        if self._recursive and mask & _FOLDER and mask & (_CREATE | _MOVED_TO | _MOVED_FROM):
            for path in paths:
                if mask & _MOVED_FROM:
                    self._leave(path)
                else:
                    self._watch(path, below=True)
        return paths

    def _watch(self, top: str, *, below: bool = False) -> None:
        """Have a folder announced; of one that is `below` another it may be that it is gone again."""
        left: list[tuple[str, tuple[int, ...]]] = [(top, ())]
        while left:
            folder, above = left.pop()
            number = self._libc.inotify_add_watch(self._descriptor, os.fsencode(folder), _WANTED)
            if number < 0:
                fault = _fault(folder)
                if fault.errno == errno.EACCES or ((below or above) and fault.errno in _VANISHED):
                    continue
                raise fault
            names = self._folders.setdefault(number, [])
            if folder not in names:
                names.append(folder)
            if self._recursive and number not in above:
                left += [(path, (*above, number)) for path in _folders_in(folder)]

    def _leave(self, top: str) -> None:
        """A folder went elsewhere, with all below it."""
        for number, names in list(self._folders.items()):
            kept = [name for name in names if name != top and not name.startswith(f"{top}/")]
            if kept:
                self._folders[number] = kept
            else:
                del self._folders[number]
                self._libc.inotify_rm_watch(self._descriptor, number)


def _announcements(data: bytes) -> Iterator[tuple[int, int, str]]:
    place = 0
    while place < len(data):
        number, mask, _, size = _HEAD.unpack_from(data, place)
        place += _HEAD.size + size
        yield number, mask, os.fsdecode(data[place - size : place].rstrip(b"\0"))


def _folders_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.is_dir()]
    except OSError:
        return []


def _fault(name: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), name)
