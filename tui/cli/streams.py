"""Standard output and error: safe text only, also where there is no UTF-8, no reader or no room."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import BinaryIO, TextIO

from core.safe_text import safe

_SPELLED = str.maketrans(
    "█▉▊▋▌▇▆▅▓◆◉●▍▎▏▄▃▂▁▒░·○│├└┌┐┘┤┬┴┼╎─━┄—–…▲▽▼⚑✓✗→←≥≤±×’‘“”△↻⊘■▣◌◇‖□↓",
    "###########*...........|||||||||||-----~^vv!+x><><~x''\"\"?@0##o*|-v",
)
"""One character for each, so that columns stay aligned."""


_PROGRESS = 40
"""Columns of the line of progress."""


class SafeStream(io.TextIOBase):
    """A text stream that makes safe what is written to it, whoever writes."""

    def __init__(self, bare: TextIO) -> None:
        self.bare = bare
        self._lost: OSError | None = None
        """Why something could not be written, for the next flush to say: the writer may have kept silent."""

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self.bare, "encoding", None) or "utf-8"

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return self.bare.errors

    @property
    def buffer(self) -> BinaryIO:
        """The bytes below, for pages whose words were made safe where they were written."""
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
        """The stream below stays open, and may be closed already when this is taken away."""

    def isatty(self) -> bool:
        return self.bare.isatty()

    def fileno(self) -> int:
        return self.bare.fileno()

    def writable(self) -> bool:
        return True


@contextlib.contextmanager
def _naming_output(stream: TextIO) -> Iterator[None]:
    """Let an error say that it is the output that cannot be written."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = {"<stdout>": "standard output"}.get(getattr(stream, "name", ""))
        raise


def _guarded(stream: TextIO) -> TextIO:
    return stream if isinstance(stream, SafeStream) else SafeStream(stream)  # type: ignore[return-value]


def prepare_streams() -> None:
    """Make any text writable to any terminal, and let nothing fail where there is no output."""
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
    """Let nothing but safe text out meanwhile."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_guarded, before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def terminal() -> TextIO | None:
    """The terminal behind standard error, for our own control sequences; none where it is something else."""
    stream = sys.stderr.bare if isinstance(sys.stderr, SafeStream) else sys.stderr
    return stream if stream.isatty() else None


def progress(words: str) -> None:
    """Overwrite the line of progress on a terminal; no words take it away."""
    stream = terminal()
    if stream is not None:
        stream.write(f"\r{safe(words):<{_PROGRESS}}" if words else "\r" + " " * _PROGRESS + "\r")
        stream.flush()


def flush_output() -> OSError | None:
    """Write out what is left; the error where that fails, and then the rest is dropped."""
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
    """Characters that an encoding lacks, replaced by ASCII ones."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    spelled = error.object[error.start : error.end].translate(_SPELLED)
    return "".join(sign if sign.isascii() else "?" for sign in spelled), error.end


def cell_len(text: str) -> int:
    """Return the columns a text takes on a terminal; only wide or unusual characters need a lookup."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich import cells

    return cells.cell_len(text)
