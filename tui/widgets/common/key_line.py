"""The line of keys at the bottom, lines one types in, and dialogs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.keys import KEY_NAME_REPLACEMENTS
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Label

from core.report.formatting import plain
from tui.keys import bind

_BUILD_EVERY = 5.0  # Seconds between two looks at a background build.
_ALWAYS = ("leave", "show('help')", "quit")
_FIRST_TO_GO = ("step(-1)", "jump(True, 'failure')", "jump(True, 'prompt')")  # Where not all have room.
# Keys that stand in the line only where all others have room, the most wanted first.
_MORE = (
    "show.recap",
    "search",
    "bookmark.add",
    "words.hide",
    "show.agents",
    "find.words",
    "hand.next",
    "hand.resume",
    "hand.steer",
)


# Keys of letters that Textual does not know to be typed while a line has the focus.
_TYPED = frozenset(KEY_NAME_REPLACEMENTS.values())


class ShownKey(NamedTuple):
    """A key, how it is written, and what it does."""

    key: str
    display: str
    description: str
    tooltip: str

    @property
    def width(self) -> int:
        return cell_len(self.display) + (1 + cell_len(self.description) if self.description else 0)


class KeyLine(Widget, can_focus=False):
    """The keys of the moment, nearest first; the others are in help.

    One widget draws them all: a widget for each took a tenth of the way to the first picture.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-line--hover", "key-line--key", "key-line--description"}
    DEFAULT_CSS = """
    KeyLine {
        dock: bottom;
        width: 1fr;
        height: 1;
        color: $footer-foreground;
        background: $footer-background;
        .key-line--hover { color: $footer-key-foreground; background: $block-hover-background; }
        .key-line--key {
            color: $footer-key-foreground; background: $footer-key-background; text-style: bold;
        }
        .key-line--description {
            color: $footer-description-foreground; background: $footer-description-background;
        }
    }
    """

    def __init__(self, more: Sequence[str] = _MORE) -> None:
        super().__init__()
        self.keys: list[ShownKey] = []  # From left to right, a cell between two.
        self._wanted = more
        self._told: tuple[object, ...] = ()  # What the keys on the screen were made of.
        self._hovered: ShownKey | None = None
        self._strip: Strip | None = None
        self._note = ""  # How far a background build of the engine is.

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)
        if "NOOSCOPE_BUILD" in os.environ:
            self._read_build()
            self.set_interval(_BUILD_EVERY, self._read_build)

    def _read_build(self) -> None:
        """Show a background build of the engine while it runs, and that it is ready."""
        from core.report.checkup import engine_build

        state, why = engine_build()
        note = f"{state}: {why}" if why else state
        if note != self._note:
            self._note = note
            self._redraw()
            self.update_keys()

    def on_unmount(self) -> None:
        self.screen.bindings_updated_signal.unsubscribe(self)

    def on_resize(self) -> None:
        if self._told:
            self.update_keys()

    def _bindings_changed(self, screen: Screen[object]) -> None:
        if screen.app.app_focus and self.is_attached and screen is self.screen:
            self.call_after_refresh(self.update_keys)

    def update_keys(self) -> None:
        """Redraw if other keys are to be shown: bindings are announced again at every change of focus."""
        if not self.is_attached:
            return
        bindings = list(self.screen.active_bindings.values())
        if isinstance(self.screen.focused, Input):
            bindings = [each for each in bindings if each.binding.key not in _TYPED]
        idle: frozenset[str] = getattr(self.screen, "idle_keys", frozenset())
        bindings = [each for each in bindings if each.binding.id not in idle]
        visible = [each for each in bindings if each.binding.show or each.binding.id in self._wanted]
        room = self._room()
        names = self._names()
        fingerprint = (room, *names.items(), *((each.binding, each.tooltip) for each in visible))
        if fingerprint != self._told:
            self._told = fingerprint
            self.keys = list(self._chosen(bindings, room))
            self._hover(None)
            self._redraw()

    def _room(self) -> int:
        beside = sum(widget.size.width for widget in self.screen.query(".-side"))
        width = (self.size.width or self.app.size.width) - beside
        return width - len(self._note) - 1 if self._note and 3 * len(self._note) < width else width

    def _chosen(self, bindings: Sequence[ActiveBinding], room: int) -> list[ShownKey]:
        """Return the first key of each shown action, as many as fit; then further keys if there is room."""
        actions: dict[str, ActiveBinding] = {}
        for each in bindings:
            if each.binding.show:
                actions.setdefault(each.binding.action, each)
        key_texts = [(self._shown_key(one.binding, one.tooltip), action) for action, one in actions.items()]
        keys = [key for key, _ in key_texts if key.description]
        widths = [key.width for key in keys]
        needed = [keys.index(key) for key, action in key_texts if action in _ALWAYS]
        spare = [keys.index(key) for key, action in key_texts if action in _FIRST_TO_GO]
        fitting = [keys[place] for place in fitting_keys(widths, room, needed, spare)]
        if len(fitting) == len(keys) and keys:
            others = [each for each in bindings if each.binding.key not in {key.key for key in keys}]
            fitting += self._more(others, room - sum(widths) - len(widths))
        return fitting

    def _shown_key(self, binding: Binding, tooltip: str) -> ShownKey:
        display = self.app.get_key_display(binding)
        names = self._names()
        description = names.get(binding.action) or names.get(binding.id or "", binding.description)
        return ShownKey(binding.key, display, description, tooltip)

    def _names(self) -> dict[str, str]:
        """Keys by id that the app, the screen or what has the focus calls something else now."""
        sources = (getattr(one, "key_names", {}) for one in (self.app, self.screen, self.screen.focused))
        return {name: word for names in sources for name, word in names.items()}

    def _more(self, bindings: Sequence[ActiveBinding], room: int) -> Iterator[ShownKey]:
        """Keys that are not shown elsewhere, where a wide screen has room for them."""
        by_id = {each.binding.id: each.binding for each in bindings}
        for name in self._wanted:
            if (binding := by_id.get(name)) is None:
                continue
            key = self._shown_key(binding, binding.tooltip)
            room -= key.width + 1
            if room < 0:
                return
            yield key

    def key_at(self, x: int) -> ShownKey | None:
        """The key on a cell of the line; None between two and beside them."""
        for key in self.keys:
            if x < key.width:
                return key if x >= 0 else None
            x -= key.width + 1
        return None

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._hover(self.key_at(event.x))

    def on_leave(self) -> None:
        self._hover(None)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        key = self.key_at(event.x)
        if key is not None:
            self.app.simulate_key(key.key)

    def _hover(self, key: ShownKey | None) -> None:
        """Lift the key below the mouse, and have its tooltip ready."""
        if key is not self._hovered:
            self._hovered = key
            self.tooltip = None if key is None else key.tooltip or None
            self.styles.pointer = "default" if key is None else "pointer"
            self.screen.update_pointer_shape()
            self._redraw()

    def _redraw(self) -> None:
        self._strip = None
        self.refresh()

    def notify_style_update(self) -> None:
        self._strip = None
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:  # noqa: ARG002 there is one
        width = self.size.width
        if self._strip is None or self._strip.cell_length != width:
            blank = Style.from_color(None, self.background_colors[1].rich_color)
            self._strip = Strip(self._segments(blank)).adjust_cell_length(width, blank)
        return self._strip

    def _segments(self, blank: Style) -> Iterator[Segment]:
        ink, quiet = (self.get_component_rich_style(name) for name in ("key-line--key", "key-line--description"))
        lift = self.get_component_rich_style("key-line--hover")
        for place, key in enumerate(self.keys):
            hovered = key is self._hovered
            if place:
                yield Segment(" ", blank)
            yield Segment(key.display, ink + lift if hovered else ink)
            if key.description:
                yield Segment(f" {key.description}", quiet + lift if hovered else quiet)
        room = self.size.width - sum(key.width + 1 for key in self.keys)
        if self._note and len(self._note) < room:
            yield Segment(" " * (room - len(self._note)), blank)
            yield Segment(self._note, quiet)


def fitting_keys(widths: Sequence[int], room: int, needed: Sequence[int] = (), spare: Sequence[int] = ()) -> list[int]:
    """Which of the keys fit beside each other: spare ones give way first, then the last ones."""
    left = list(range(len(widths)))
    while left and sum(widths[place] + 1 for place in left) - 1 > room:
        optional = sorted(set(left) - set(needed), key=lambda place: (place in spare, place))
        left.remove(optional[-1] if optional else left[-1])
    return left


class EntryLine(Input):
    """An input whose keys are named after what they do on its screen."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("open", "submit", "accept", "Accept what you typed", show=True)]

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
        """Return the meaning of its keys, by id; escape belongs to the screen."""
        return {"open": self._enter, **({"back": self._escape} if self._escape else {})}


class LeftOnce(Screen[ScreenResultType]):
    """A screen that closes only itself, never the one on top of it."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close the screen if it is on top."""
        return super().dismiss(result) if self.is_active else AwaitComplete()


class Dialog(ModalScreen[ScreenResultType], LeftOnce[ScreenResultType]):
    """A question over the screen below."""


class Box(Dialog[ScreenResultType]):
    """A dialog in a frame: a title, a few lines, perhaps a line to type in."""

    DEFAULT_CSS = """
    Box {
        align: center middle;
        & > Vertical {
            width: 76; max-width: 94%; height: auto; max-height: 90%; padding: 0 1;
            border: round $accent; border-title-color: $accent; border-title-style: bold;
            border-subtitle-color: $quiet; background: $surface;
        }
        & Label { color: $quiet; width: 100%; }
        & Input, & Input:focus { border: none; padding: 0; height: 1; background: $surface; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [bind("back", "dismiss(None)", "cancel", "Cancel", show=True)]

    def __init__(self, title: str, *lines: str) -> None:
        super().__init__()
        self._title, self._lines = title, lines

    def on_mount(self) -> None:
        self.app.clear_notifications()  # They would cover what it asks on a small screen.

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = self._title
            yield from self.inside()

    def inside(self) -> Iterable[Widget]:
        """Compose the content of the frame."""
        for line in filter(None, self._lines):
            yield Label(Content(plain(line, 300)))


class ConfirmScreen(Box[bool]):
    """Asks whether to do something; Enter does it."""

    BINDINGS: ClassVar[list[BindingType]] = [bind("open", "dismiss(True)", "yes", "Do it", show=True)]
