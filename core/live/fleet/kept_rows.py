"""Rows of sessions at rest, kept so that the next look at the fleet need not read their logs again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from blake3 import blake3

from core.live.fleet.row import FleetRow
from core.logs.session import LogSession
from core.report.log_tree import LogTree, SessionName, session_name
from core.settings import Settings
from core.settings.tunable import canonical
from core.store.reading_cache import reading_cache
from core.timeline.run_inputs import Fingerprints, RunInputs


class KeptRow:
    """The row of one session as its logs were when this was made."""

    def __init__(self, settings: Settings, kind: str, name: SessionName) -> None:
        self._settings = settings
        self._kind = kind
        self._name = name
        self._tree = self._look()
        self._key = self._tree.key(kind, name)

    def _look(self) -> LogTree:
        return LogTree(self._settings, reading_cache(self._settings))

    def load(self) -> FleetRow | None:
        """The row that was made of the same logs, settings and start before."""
        kept = self._tree.kept(self._kind, self._name, bytes)
        try:
            return None if kept is None else _DECODER.decode(kept)
        except (msgspec.DecodeError, msgspec.ValidationError):
            return None

    def save(self, row: FleetRow) -> None:
        """Keep what was made of the logs, unless they have changed meanwhile."""
        now = self._look()
        if now.key(self._kind, self._name) == self._key:
            now.keep(self._kind, self._name, _ENCODER.encode(msgspec.structs.replace(row, signs=None)))


class KeptRows:
    """Names every row by all that decides it: logs, what is shown, and what the session was given."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._prints = Fingerprints()
        shown = repr(canonical(settings.screen, set())).encode("utf-8", "surrogatepass")
        self._shown = blake3(shown).hexdigest(length=8)

    def of(self, session: LogSession, inputs: RunInputs) -> KeptRow:
        """The place of a session's row, to be asked for before its logs are read."""
        kind = f"fleet2 {self._shown} {self._prints.of(inputs)}"
        return KeptRow(self._settings, kind, session_name(session))


def _plain(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} in a row")


_ENCODER = msgspec.msgpack.Encoder(enc_hook=_plain)
_DECODER = msgspec.msgpack.Decoder(FleetRow, dec_hook=lambda kind, value: kind(value))
