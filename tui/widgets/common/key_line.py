"""The line of keys at the bottom: as many as there is room for, help always among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import Footer
from textual.widgets._footer import FooterKey

_ALWAYS = "show('help')"
_MORE = (
    "show.recap",
    "show.agents",
    "show.response",
    "show.mind",
    "show.governance",
    "find.words",
    "hand.next",
    "hand.resume",
    "hand.pane",
    "jump.goto",
    "quit",
)
"""Keys that stand in the line only where all others have room, the most wanted first."""


class KeyLine(Footer):
    """The keys of the moment, nearest first; those that are left away stand in help."""

    def __init__(self, more: Sequence[str] = _MORE) -> None:
        super().__init__(compact=True, show_command_palette=False)
        self._wanted = more
        self._laid_for = 0
        self._shown: tuple[object, ...] = ()
        """What the keys on the screen were made of."""

    @property
    def _room(self) -> int:
        beside = sum(widget.size.width for widget in self.screen.query(".-side"))
        return (self.size.width or self.app.size.width) - beside

    def _told(self) -> tuple[object, ...]:
        bindings = self.screen.active_bindings.values() if self._bindings_ready else ()
        told = (each for each in bindings if each.binding.show or each.binding.id in self._wanted)
        return (self._room, *((each.binding, each.enabled, each.tooltip) for each in told))

    def compose(self) -> ComposeResult:
        self._laid_for = self._room
        self._shown = self._told()
        keys = [key for key in super().compose() if isinstance(key, FooterKey)]
        widths = [cell_len(key.key_display) + 1 + cell_len(key.description) for key in keys]
        needed = [place for place, key in enumerate(keys) if key.action == _ALWAYS]
        fitting = [keys[place] for place in fitting_keys(widths, self._laid_for, needed)]
        if len(fitting) == len(keys) and keys:
            fitting += self._more(self._laid_for - sum(widths) - len(widths))
        self.styles.grid_size_columns = max(1, len(fitting))
        yield from fitting

    def _more(self, room: int) -> Iterator[FooterKey]:
        """Keys that are not shown elsewhere, where a wide screen has room for them."""
        found = {
            binding.id: binding for _, binding, enabled, _ in self.screen.active_bindings.values() if enabled
        }
        for name in self._wanted:
            binding = found.get(name)
            if binding is None:
                continue
            shown = self.app.get_key_display(binding)
            room -= cell_len(shown) + cell_len(binding.description) + 2
            if room < 0:
                return
            key = FooterKey(binding.key, shown, binding.description, binding.action, tooltip=binding.tooltip)
            yield key.data_bind(compact=Footer.compact)

    async def recompose(self) -> None:
        """Only where other keys are to be shown: the bindings are told anew at every change of focus."""
        if self.is_attached and self._told() != self._shown:
            await super().recompose()

    async def on_resize(self) -> None:
        if self._room != self._laid_for:
            await self.recompose()


def fitting_keys(widths: Sequence[int], room: int, needed: Sequence[int] = ()) -> list[int]:
    """Which of the keys fit beside each other, the last ones giving way first."""
    left = list(range(len(widths)))
    while left and sum(widths[place] + 1 for place in left) - 1 > room:
        optional = [place for place in left if place not in needed]
        left.remove(optional[-1] if optional else left[-1])
    return left


def permit_bindings(group: str) -> tuple[Binding, ...]:
    """The keys that answer a call which waits for the person's permit."""
    told = (
        ("y", "once", "permit", "Let the call that waits pass, once"),
        ("Y", "session", "permit for the session", "Let this tool pass for the rest of the session"),
        ("d", "deny", "deny", "Deny it, and tell the agent why"),
    )
    return tuple(
        Binding(key, f"permit('{choice}')", word, show=False, id=f"{group}.{choice}", tooltip=tooltip)
        for key, choice, word, tooltip in told
    )
