"""A line one types in, which says in the line of keys what enter and escape do there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input


class EntryLine(Input):
    """An input whose keys are named after what they do on its screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "take it", id="line.enter", tooltip="Take what was typed"),
    ]

    def __init__(
        self,
        placeholder: str = "",
        *,
        enter: str,
        escape: str = "",
        select_on_focus: bool = False,
        id: str | None = None,
    ) -> None:
        super().__init__(placeholder=placeholder, select_on_focus=select_on_focus, id=id)
        self._enter, self._escape = enter, escape

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave up and down to the screen: one line does not scroll."""
        return action not in ("scroll_up", "scroll_down") and super().check_action(action, parameters)

    @property
    def key_names(self) -> Mapping[str, str]:
        """What its keys do, by the id of each; escape is the screen's."""
        escape = dict.fromkeys(("board.leave", "fleet.leave", "tune.end"), self._escape)
        return {"line.enter": self._enter, **(escape if self._escape else {})}
