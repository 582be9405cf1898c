"""Words are read from the log only while somebody looks at them."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.events import Where
from core.live.source import Target
from core.logs.records import Documents
from core.settings import Settings
from tests.core.logs.log_lines import call, prompt, result
from tests.tui.conftest import shown
from tui.app import NooscopeApp


async def test_hidden_words_are_not_read(home: Path, still: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Where] = []
    plain = Documents.raw

    def raw(self: Documents, where: Where) -> bytes:
        read.append(where)
        return plain(self, where)

    monkeypatch.setattr(Documents, "raw", raw)
    log = home / "log.jsonl"
    log.write_bytes(prompt(0.0, "migrate it") + call(1.0, "t1") + result(2.0, "t1") + prompt(3.0))
    app = NooscopeApp(Target(log), still, theme_folder=home / "themes", live=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, lambda view: view.now.asked == "go on")
        assert read, "shown words are read"
        await pilot.press("h")
        await shown(app, pilot, lambda view: not view.words)
        read.clear()
        with log.open("ab") as file:
            file.write(prompt(9.0, "and the tests") + call(10.0, "t2") + result(11.0, "t2") + prompt(12.0))
        view = await shown(app, pilot, lambda view: view.total >= 9)
        assert not read, "hidden ones are not"
        assert (view.now.asked, view.now.doing) == ("", "")
        await pilot.press("h")
        await shown(app, pilot, lambda view: view.words and bool(view.now.asked))
        assert read
