"""Cards in columns of equal width, each card where there is room first."""

from __future__ import annotations

from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from tui.widgets.common.card import Card

_LEAST = 36
"""Least width of a column."""
_GOOD = 60
"""Width of a column where there is height to spare."""


class CardColumnsLayout(Layout):
    """Puts every card into the column that would end first; the last of each column fills it up.

    Columns are shared out by how tall cards usually are, so that none moves aside while it grows.
    """

    name = "card-columns"

    def arrange(
        self,
        parent: Widget,
        children: list[Widget],
        size: Size,
        greedy: bool = True,  # noqa: ARG002
    ) -> ArrangeResult:
        vast = parent.screen.has_class("-vast")
        columns = max(1, min(size.width // (_GOOD if vast else _LEAST), 4, len(children)))
        edges = [size.width * number // columns for number in range(columns + 1)]
        usual = [0] * columns
        bottoms = [0] * columns
        placed: list[tuple[Widget, int, int, int]] = []
        last: dict[int, int] = {}
        for child in children:
            column = usual.index(min(usual))
            usual[column] += child.TALL[vast] if isinstance(child, Card) else 3
            room = edges[column + 1] - edges[column]
            inner = max(1, room - child.gutter.width)
            height = child.get_content_height(size, parent.app.size, inner) + child.gutter.height
            last[column] = len(placed)
            placed.append((child, column, bottoms[column], max(3, height)))
            bottoms[column] += max(3, height)
        lowest = max(*bottoms, size.height)
        return [
            WidgetPlacement(
                Region(
                    edges[column],
                    top,
                    edges[column + 1] - edges[column],
                    lowest - top if last[column] == number else height,
                ),
                NULL_OFFSET,
                NULL_SPACING,
                child,
            )
            for number, (child, column, top, height) in enumerate(placed)
        ]


class CardColumns(Widget):
    """A container of cards."""

    DEFAULT_CSS = "CardColumns { width: 1fr; height: auto; min-height: 100%; }"

    def __init__(self, *children: Widget, id: str | None = None) -> None:
        super().__init__(*children, id=id)
        self._arrangement = CardColumnsLayout()

    @property
    def layout(self) -> Layout:
        return self._arrangement
