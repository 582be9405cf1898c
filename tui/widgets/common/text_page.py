"""A page of text that scrolls, laid out for the width it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tui.draw.line import Line
from tui.widgets.common.scroller import Scroller

TextLayout: TypeAlias = Callable[[int], list[Line]]
"""Lays a text out for a width."""


class TextPage(Scroller):
    """Text that is handed in as something that can lay itself out."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._maker: TextLayout = lambda _: []
        self._laid: list[Line] = []
        self._laid_for = -1

    def show(self, maker: TextLayout, *, top: bool = True) -> None:
        """Lay out another text, from its top or where the reader was."""
        self._maker = maker
        self._laid_for = -1
        self.resize_rows()
        if top:
            self.scroll_to(y=0, animate=False, immediate=True)

    def count_rows(self) -> int:
        width = self.scrollable_content_region.width
        if width != self._laid_for:
            self._laid = self._maker(width) if width > 0 else []
            self._laid_for = width
        return len(self._laid)

    def row(self, number: int, width: int) -> Line:  # noqa: ARG002
        return self._laid[number]
