"""Standard output and error: only safe text, also without UTF-8, without a reader or on a full disk."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, TextIO, TypeVar

from core.safe_text import safe

T = TypeVar("T")

# One character for each, so that columns stay aligned.
_SPELLED = str.maketrans(
    "█▉▊▋▌▇▆▅▓◆◉●▍▎▏▄▃▂▁▒░·○│├└┌┐┘┤┬┴┼╎─━┄—–…▲▽▼⚑✓✗→←≥≤±×’‘“”△↻⊘■▣◌◇‖□↓",
    "###########*...........|||||||||||-----~^vv!+x><><~x''\"\"?@0##o*|-v",
)


_PROGRESS = 40  # Columns of the line of progress.


class SafeStream(io.TextIOBase):
    """A text stream that makes everything written to it safe."""

    def __init__(self, bare: TextIO) -> None:
        self.bare = bare
        self._lost: OSError | None = None  # Why a write failed, raised again by the next flush.

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self.bare, "encoding", None) or "utf-8"

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return self.bare.errors

    @property
    def buffer(self) -> BinaryIO:
        """The underlying bytes, for output that is already safe."""
        return self.bare.buffer

    def write(self, text: str) -> int:
        try:
            with _naming_output(self.bare):
                self.bare.write(safe(text, lines=True))
        except OSError as error:
            self._lost = error
            raise
        return len(text)

    def flush(self) -> None:
        lost, self._lost = self._lost, None
        if lost is not None:
            raise lost
        with _naming_output(self.bare):
            self.bare.flush()

    def close(self) -> None:
        """Leave the underlying stream open."""

    def isatty(self) -> bool:
        return self.bare.isatty()

    def fileno(self) -> int:
        return self.bare.fileno()

    def writable(self) -> bool:
        return True


@contextlib.contextmanager
def _naming_output(stream: TextIO) -> Iterator[None]:
    """Name the output in errors of writing."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = {"<stdout>": "standard output"}.get(getattr(stream, "name", ""))
        raise


def _guarded(stream: TextIO) -> TextIO:
    return stream if isinstance(stream, SafeStream) else SafeStream(stream)  # type: ignore[return-value]


def prepare_streams() -> None:
    """Make any text writable to any terminal, even without standard output."""
    codecs.register_error("nooscope", _spell)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 open for good
            setattr(sys, name, stream)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="nooscope")
        setattr(sys, name, _guarded(stream))


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Write only safe text inside the block."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_guarded, before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def say(*sentences: object) -> None:
    """Print notices on standard error, one a line."""
    for sentence in sentences:
        print(f"nooscope: {sentence}", file=sys.stderr, flush=True)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines that may contain words of a log."""
    from core.report.formatting import plain

    for line in lines:
        print(plain(line))


async def until_stopped() -> None:
    """Wait for ctrl+c or the end of the terminal."""
    import asyncio
    import signal

    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    await stopped.wait()


def terminal() -> TextIO | None:
    """Return the terminal behind standard error, or None."""
    stream = sys.stderr.bare if isinstance(sys.stderr, SafeStream) else sys.stderr
    return stream if stream.isatty() else None


def progress(words: str) -> None:
    """Overwrite the progress line on a terminal; an empty text removes it."""
    stream = terminal()
    if stream is not None:
        stream.write(f"\r{safe(words):<{_PROGRESS}}" if words else "\r" + " " * _PROGRESS + "\r")
        stream.flush()


def with_progress(done: Iterable[T], total: int) -> Iterator[T]:
    """Pass results of sessions on, and show on a terminal how many of several there are."""
    for number, one in enumerate(done, 1):
        if total > 1:
            progress(f"{number} of {total} sessions")
        yield one
    progress("")


def flush_output() -> OSError | None:
    """Flush standard output; returns the error if that fails."""
    try:
        sys.stdout.flush()
    except OSError as error:
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        return error
    return None


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Replace characters an encoding lacks by ASCII ones."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    spelled = error.object[error.start : error.end].translate(_SPELLED)
    return "".join(sign if sign.isascii() else "?" for sign in spelled), error.end


def write_file(path: Path, content: bytes) -> None:
    """Write an output file in one step; raises `NooscopeError` if that fails."""
    from core.errors import NooscopeError
    from core.store import atomic

    try:
        with atomic.replacing(path, atomic.AS_USUAL) as file:
            file.write(content)
    except OSError as error:
        raise NooscopeError(f"{path}: cannot be written ({error.strerror})") from error


def columns() -> int:
    """Return the width of a report: the terminal's, or 100."""
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


def cell_len(text: str) -> int:
    """Return the columns a text takes on a terminal; only wide or unusual characters need a lookup."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich import cells

    return cells.cell_len(text)


def print_table(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> None:
    """Print rows of cells in aligned columns; `right` names the columns that are aligned to the right."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = []
        for number, (cell, width) in enumerate(zip(row, widths, strict=True)):
            padding = " " * (width - cell_len(cell))
            cells.append(padding + cell if number in right else cell + padding)
        print("  ".join(cells).rstrip())
