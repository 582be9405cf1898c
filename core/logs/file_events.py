"""Changes of files and folders: from the kernel of Linux, from watchfiles, or by looking again."""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Self

from core.settings.logs import FollowSettings

_MODIFY, _ATTRIB, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_OVERFLOW, _IGNORED, _FOLDER = 0x4000, 0x8000, 0x4000_0000
_WANTED = _MODIFY | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
_HEAD = struct.Struct("iIII")
_ROOM = 65_536  # Bytes of announcements read at once.
_VANISHED = (errno.ENOENT, errno.ENOTDIR)


class Inotify:
    """Watches folders, on request with everything below;

    folders without permission are skipped. Raises `OSError` if a folder does not exist or a limit of the
    system is reached.
    """

    def __init__(self, folders: Iterable[Path], *, recursive: bool) -> None:
        self.lost = False  # The kernel dropped announcements, so anything may have changed.
        self._recursive = recursive
        # Every watch and the names its folder goes by, of which links give it more than one.
        self._folders: dict[int, list[str]] = {}
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
        """Return the paths announced since the last call."""
        paths: set[Path] = set()
        try:
            while data := os.read(self._descriptor, _ROOM):
                for number, mask, name in _announcements(data):
                    paths.update(map(Path, self._paths(number, mask, name)))
        except BlockingIOError:
            return paths
        return paths

    def _paths(self, number: int, mask: int, name: str) -> list[str]:
        """Return the paths of an announcement; new and removed folders below are watched or dropped."""
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
        """Watch a folder; a folder `below` another one may have gone again."""
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
            left = [name for name in names if name != top and not name.startswith(f"{top}/")]
            if left:
                self._folders[number] = left
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


_STEP = 0.01  # Seconds without another path after which the announced ones are returned.
_GLANCE = 0.1  # Seconds within which a wish to stop is seen.
_SELDOM = 0.5  # Seconds within which a stop is noticed if nobody waits for it.


def file_changes(
    folders: list[Path],
    stop: threading.Event,
    settings: FollowSettings,
    *,
    recursive: bool,
    tell: Callable[[str], None] | None = None,
    unhurried: bool = False,
) -> Iterator[set[Path]]:
    """Yield changed paths, or an empty set after each waiting time.

    For an `unhurried` caller a stop may be noticed late. Without file events, because a limit is reached or
    for another reason, `tell` receives a sentence and the call returns after one wait, so that the caller
    polls.
    """
    if not folders:
        stop.wait(settings.poll)
        yield set()
        return
    try:
        if _kernel_announces():
            yield from _from_kernel(folders, stop, settings, recursive, unhurried)
            return
        try:
            yield from _announced(folders, stop, settings, recursive, lenient=False)
        except PermissionError:
            yield from _announced(folders, stop, settings, recursive, lenient=True)
    except (OSError, RuntimeError) as fault:
        if tell is not None:
            tell(f"no file events ({_limit(fault)}); looking every {settings.poll:g} s instead")
        stop.wait(settings.poll)
        yield set()


def _kernel_announces() -> bool:
    """Whether inotify can be used: on Linux, but not inside Windows."""
    return sys.platform == "linux" and "microsoft" not in os.uname().release.lower()


def _from_kernel(
    folders: list[Path], stop: threading.Event, settings: FollowSettings, recursive: bool, unhurried: bool
) -> Iterator[set[Path]]:
    """Yield changes from inotify; ends if announcements were lost, so that the caller starts over."""
    step = min(_STEP, settings.debounce / 2)
    glance = _SELDOM if unhurried else _GLANCE
    with Inotify(folders, recursive=recursive) as kernel:
        while not (stop.is_set() or kernel.lost):
            until = time.monotonic() + settings.poll
            while not kernel.wait(min(glance, max(0.0, until - time.monotonic()))):
                if stop.is_set():
                    return
                if time.monotonic() >= until:
                    break
            paths = kernel.take()
            until = time.monotonic() + settings.debounce
            while paths and time.monotonic() < until:
                stop.wait(step)
                more = kernel.take()
                if more <= paths:
                    break
                paths |= more
            yield paths


def _announced(
    folders: list[Path], stop: threading.Event, settings: FollowSettings, recursive: bool, lenient: bool
) -> Iterator[set[Path]]:
    """Changes as the system announces them; lenient, it passes over every folder it cannot watch, and why."""
    import watchfiles

    for changes in watchfiles.watch(
        *folders,
        watch_filter=None,
        debounce=max(1, round(settings.debounce * 1000)),
        step=max(1, min(10, round(settings.debounce * 500))),
        stop_event=stop,
        rust_timeout=max(1, round(settings.poll * 1000)),
        yield_on_timeout=True,
        raise_interrupt=False,
        recursive=recursive,
        ignore_permission_denied=lenient,
    ):
        yield {Path(path) for _, path in changes}


def _limit(fault: Exception) -> str:
    """Return why there are no file events, and which limit to raise."""
    words = str(fault)
    if "watch limit" in words or (isinstance(fault, OSError) and fault.errno == errno.ENOSPC):
        return "the limit fs.inotify.max_user_watches is reached"
    if "Too many open files" in words:
        return "the limit fs.inotify.max_user_instances, or that of open files, is reached"
    return words.partition("\n")[0][:80]
