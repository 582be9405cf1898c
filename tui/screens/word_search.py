"""Words of all sessions in the command palette; what is chosen opens at its moment."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import Protocol, cast

from textual.command import Hit, Hits, Provider
from textual.content import Content
from textual.message import Message

from core.errors import NooscopeError
from core.report import search as finding
from core.report.formatting import plain
from core.report.log_tree import LogTree, agent_folders
from core.settings import Settings
from core.store.reading_cache import reading_cache
from core.store.word_index import Narrowed, WordIndex
from tui.feed.messages import OpenSession

_MOST = 30
_LEAST = 2
"""Letters from which a word is looked for."""


class _App(Protocol):
    """What a search needs of the app."""

    settings: Settings

    def post_message(self, message: Message) -> bool: ...


class WordSearch(Provider):
    """Looks words up in the index, and brings that up to date in the background."""

    async def startup(self) -> None:
        self._filling = asyncio.create_task(asyncio.to_thread(self._fill))

    async def shutdown(self) -> None:
        self._filling.cancel()

    async def search(self, query: str) -> Hits:
        words = query.split()
        if sum(map(len, words)) < _LEAST:
            return
        try:
            found = await asyncio.to_thread(finding.search, WordIndex(), words, Narrowed(), _MOST)
        except NooscopeError:
            return
        for number, hit in enumerate(found):
            when = hit.place[:16].replace("T", " ") if hit.at is not None else "undated"
            about = f"{when}  {hit.agent}  {plain(Path(hit.project).name, 24)}  {plain(hit.title, 50)}"
            message = OpenSession(Path(hit.path), False, hit.session if hit.shared else "", hit.place)
            shown = Content(hit.snippet or about)
            yield Hit(1.0 - number / (_MOST + 2), shown, partial(self._open, message), hit.snippet, about)

    def _open(self, message: OpenSession) -> None:
        cast(_App, self.app).post_message(message)

    def _fill(self) -> None:
        settings = cast(_App, self.app).settings
        tree = LogTree(settings, reading_cache(settings))
        try:
            names = tree.sessions_or_none(agent_folders(os.environ, Path.home()))
            finding.fill_index(WordIndex(), tree, names, lambda _number, _total: None)
        except (NooscopeError, OSError):
            return
