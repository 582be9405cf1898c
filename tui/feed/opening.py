"""Opening a session for the screen: what every session is given, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from core.folders import own_folder, private_file
from core.report.formatting import count
from core.store.bookmarks import Bookmarks
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.run_inputs import InitialStates
from tui.feed.feed import Feed

if TYPE_CHECKING:
    from textual.message import Message

    from core.extension.hooks import Extension
    from core.hooks.link import IntakeLink
    from core.live.notices import Notifier
    from core.live.source import Target
    from core.settings import Settings
    from core.store.carry_over import CarryOverStore
    from core.timeline.initial_state import ConfiguredStart
    from core.timeline.opening import Cache

_FAULTS = 3  # Faults of files shown one by one; a heap of them would cover what stands.


def is_first_session() -> bool:
    """Return whether no session was opened on the screen before, and remember that one is."""
    flag = own_folder("data") / "opened"
    if flag.exists():
        return False
    try:
        private_file(flag)
    except OSError:
        return False
    return True


@dataclass
class Opening:
    """Policy and rules, what other sessions left, hooks and extensions, each looked up when one opens."""

    complain: Callable[[str], object]
    cache: Cache | None
    bookmarks: Callable[[str], Bookmarks]
    begin: Callable[[], ConfiguredStart] | None
    carry_over: CarryOverStore | None
    edits: Mapping[str, Any] | None
    link: IntakeLink | None
    _complaints: set[str] = field(default_factory=set)  # What is wrong with extensions, each told once.
    _faults: tuple[str, ...] = ()  # What was last wrong with policies and rules.

    def feed(
        self,
        target: Target,
        settings: Settings,
        post: Callable[[Message], object],
        notifier: Notifier | None,
        *,
        play: bool = True,
    ) -> Feed:
        """The feed of one session; one with a notifier also takes from other sessions and leaves to them."""
        initial = self._initial()
        carry_over = None
        if notifier is not None:
            from core.live.carry_over import CarryOver

            carry_over = CarryOver(settings, initial=initial, use=settings.response.prior.enabled)
        return Feed(
            target,
            settings,
            post,
            cache=self.cache,
            bookmarks=self.bookmarks,
            carry_over=carry_over,
            notifier=notifier,
            initial_states=self._states(settings, initial),
            hooks=None if self.link is None else self.link.signs,
            extensions=() if notifier is None else self._listeners(),
            play=play,
        )

    def initial_states(self, settings: Settings) -> InitialStates:
        """Return the initial state of each session."""
        return self._states(settings, self._initial())

    def _states(self, settings: Settings, initial: InitialState) -> InitialStates:
        return InitialStates(settings, initial, edits=self.edits or {}, store=self.carry_over)

    def _listeners(self) -> list[Extension]:
        """Return the extensions for a live session; problems with others are reported once."""
        from core.extension.registry import listening

        listeners, complaints = listening()
        for sentence in complaints:
            if sentence not in self._complaints:
                self._complaints.add(sentence)
                self.complain(sentence)
        return listeners

    def _initial(self) -> InitialState:
        """Return the policy and rules for a new session; new faults in their files are reported."""
        if self.begin is None:
            return PLAIN
        initial, faults = self.begin()
        fresh = [fault for fault in faults if fault not in self._faults]
        for fault in fresh[:_FAULTS]:
            self.complain(fault)
        if len(fresh) > _FAULTS:
            left = count(len(fresh) - _FAULTS, "more fault")
            self.complain(f"{left} in rules and policies; `nooscope tune rules` lists them")
        self._faults = faults
        return initial
