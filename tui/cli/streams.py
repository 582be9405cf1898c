"""Standard output where there is no UTF-8, no reader, no room or no output at all."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys

_SPELLED = str.maketrans(
    "█▉▊▋▌▇▆▅▓◆◉●▍▎▏▄▃▂▁▒░·○│├└┌┐┘┤┬┴┼╎─━┄—–…▲▽▼⚑✓✗→←≥≤±×’‘“”",
    "###########*...........|||||||||||-----~^vv!+x><><~x''\"\"",
)
"""One character for each, so that columns stay aligned."""


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
    known = error.object[error.start : error.end].translate(_SPELLED)
    return "".join(sign if sign.isascii() else "?" for sign in known), error.end
