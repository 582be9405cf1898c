"""The labels of the session on the screen, written in a thread of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from textual.message import Message
from textual.widget import Widget

from core.errors import StoreError
from core.store.labels import Label, Labels
from tui.feed.messages import Failed


@dataclass
class Labelled(Message):
    """From the worker: the session's labels by now."""

    labels: tuple[Label, ...]


class LabelSource(Protocol):
    """Whoever knows where the labels of the session on the screen are kept."""

    @property
    def labels(self) -> Labels | None: ...


def save_labels(
    widget: Widget, source: LabelSource | None, labels: Sequence[Label], *, withdraw: bool
) -> None:
    """Write labels, or take them back; the widget is told of all there are by `Labelled`."""
    store = source.labels if source is not None else None
    if store is None:
        if labels:
            widget.post_message(Failed("labels cannot be saved before the session is known"))
        return

    def work() -> None:
        try:
            for label in labels:
                (store.withdraw if withdraw else store.judge)(label)
            widget.post_message(Labelled(store.judged()))
        except StoreError as error:
            widget.post_message(Failed(str(error)))
        for notice in store.notices:
            widget.post_message(Failed(notice))

    widget.run_worker(work, name="labels", group="labels", thread=True)
