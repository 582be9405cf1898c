"""Formats a session can be written in for somebody else: ours, and those of installed extensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from core.export.cast import cast
from core.export.film import ExportedSession
from core.export.html import page
from core.export.markdown import report
from core.installed.switches import in_use


class Exporter(NamedTuple):
    """One format: a name for `--format`, one sentence, and what writes it."""

    name: str
    about: str
    write: Callable[[ExportedSession], bytes]
    """Gets a session that is redacted already, as strictly as the person asked for."""


def _html(made: ExportedSession) -> bytes:
    return page(made).encode("utf-8", "replace")


def _cast(made: ExportedSession) -> bytes:
    return b"".join(cast(made))


def _markdown(made: ExportedSession) -> bytes:
    return report(made).encode("utf-8", "replace")


BUILT_IN = (
    Exporter("html", "one page that plays the session", _html),
    Exporter("cast", "asciinema", _cast),
    Exporter("markdown", "a report", _markdown),
)
TAKEN = frozenset(("events", "otlp", *(one.name for one in BUILT_IN)))


def _fits(value: object) -> str:
    if not isinstance(value, Exporter):
        return "it is not an Exporter (core.export.exporters)"
    return f"there is a format {value.name} already" if value.name in TAKEN else ""


def exporters() -> tuple[dict[str, Exporter], tuple[str, ...]]:
    """All formats by name, and what is wrong with those left out."""
    found = in_use("exporter", _fits)
    every = (*BUILT_IN, *(one.value for one in found.used))
    return {one.name: one for one in every}, found.complaints
