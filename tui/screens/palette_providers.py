"""The command palette's providers, imported when it is first opened."""

from __future__ import annotations

from collections.abc import Callable

from textual.command import Provider


def _provider(name: str) -> Callable[[], type[Provider]]:
    def find() -> type[Provider]:
        from tui.screens import palette

        provider: type[Provider] = getattr(palette, name)
        return provider

    return find


PROVIDERS = frozenset(map(_provider, ("PlaceSearch", "SessionSearch", "OtherSessions")))
