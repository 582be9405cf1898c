"""A session opened from the cache is as whole as one that was read."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

from textual.message import Message

from bench.claude import lines
from core.live.source import Target
from core.settings import Settings
from core.settings.layers import Given, Layer, resolve
from core.store.bookmarks import Bookmarks
from core.timeline.opening import Cache
from tui.feed.feed import Feed
from tui.feed.messages import Arrived, Bookmarked

SETTINGS: Settings = resolve([Layer("test", (Given("timeline.cache.least", 0),))]).settings


def shown(path: Path, folder: Path, until: Callable[[list[Message]], bool]) -> list[Message]:
    """Run a feed until what it posted is enough."""
    posted: list[Message] = []

    def post(message: Message) -> None:
        posted.append(message)
        feed.first_painted()
        if until(posted):
            feed.stop()

    feed = Feed(
        Target(path, False),
        SETTINGS,
        post,
        cache=Cache(folder / "cache", 10**9),
        bookmarks=lambda name: Bookmarks(name, folder / "shelf"),
    )
    feed.run()
    return posted


def test_bookmarks_come_with_a_session_from_the_cache(tmp_path: Path) -> None:
    path = tmp_path / "story.jsonl"
    path.write_bytes(b"".join(islice(lines(1), 400)))
    read = shown(path, tmp_path, lambda posted: any((tmp_path / "cache").glob("*.recording")) and len(posted) > 2)
    assert any(isinstance(message, Arrived) for message in read)

    def both(posted: list[Message]) -> bool:
        return {Arrived, Bookmarked} <= {type(message) for message in posted}

    assert both(shown(path, tmp_path, both))
