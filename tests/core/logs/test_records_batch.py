"""Records that are decoded together fail one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.events import Event, Prompt, Where
from core.logs.diagnostics import Diagnostics
from core.logs.reader import Kit, Reader
from core.logs.records import Record, admit


class Choosy(Reader):
    """Cannot decode everything, against what is asked of it."""

    name = "choosy"

    @staticmethod
    def parse(record: bytes) -> Any:
        return float(record)

    def take(self, told: Any, where: Where, line: int, out: list[Event]) -> None:
        out.append(Prompt(at=told, characters=1))

    def feed(self, record: bytes, where: Where, line: int) -> list[Event]:
        out: list[Event] = []
        self.take(self.parse(record), where, line, out)
        return out


def test_a_record_that_cannot_be_decoded_costs_itself_alone() -> None:
    file = str(Path("log"))
    batch = [Record(word, Where(file, 0, 1), line) for line, word in enumerate((b"1", b"x", b"3"), 1)]
    diagnostics = Diagnostics()
    events = admit(Choosy(Kit(diagnostics)), batch)
    assert [event.at for event in events] == [1.0, 3.0]
    assert sum(diagnostics.counts.values()) == 1
