"""Opening a session for the screen: what every session is given, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


class Opening:
    """Policy and rules, what other sessions left, hooks and extensions, each looked up when one opens."""

    def __init__(
        self,
        complain: Callable[[str], object],
        *,
        cache: Cache | None = None,
        bookmarks: Callable[[str], Bookmarks] = Bookmarks,
        begin: Callable[[], ConfiguredStart] | None = None,
        carry_over: CarryOverStore | None = None,
        edits: Mapping[str, Any] | None = None,
        link: IntakeLink | None = None,
    ) -> None:
        self._complain = complain
        self._cache = cache
        self._bookmarks = bookmarks
        self._begin = begin
        self._carry_over = carry_over
        self._edits = dict(edits or {})
        self._link = link
        self._complaints: set[str] = set()  # What is wrong with extensions, each told once.
        self._faults: tuple[str, ...] = ()  # What was last wrong with policies and rules.

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
        watched = notifier is not None
        carry_over = None
        if watched:
            from core.live.carry_over import CarryOver

            carry_over = CarryOver(settings, initial=initial, use=settings.response.prior.enabled)
        return Feed(
            target,
            settings,
            post,
            cache=self._cache,
            bookmarks=self._bookmarks,
            carry_over=carry_over,
            notifier=notifier,
            initial_states=self._states(settings, initial),
            hooks=None if self._link is None else self._link.signs,
            extensions=self._listeners() if watched else (),
            play=play,
        )

    def initial_states(self, settings: Settings) -> InitialStates:
        """Return the initial state of each session."""
        return self._states(settings, self._initial())

    def _states(self, settings: Settings, initial: InitialState) -> InitialStates:
        return InitialStates(settings, initial, edits=self._edits, store=self._carry_over)

    def _listeners(self) -> list[Extension]:
        """Return the extensions for a live session; problems with others are reported once."""
        from core.extension.use import listening

        listeners, complaints = listening()
        for sentence in complaints:
            if sentence not in self._complaints:
                self._complaints.add(sentence)
                self._complain(sentence)
        return listeners

    def _initial(self) -> InitialState:
        """Return the policy and rules for a new session; new faults in their files are reported."""
        if self._begin is None:
            return PLAIN
        initial, faults = self._begin()
        fresh = [fault for fault in faults if fault not in self._faults]
        for fault in fresh[:_FAULTS]:
            self._complain(fault)
        if len(fresh) > _FAULTS:
            left = count(len(fresh) - _FAULTS, "more fault")
            self._complain(f"{left} in rules and policies; `nooscope tune rules` lists them")
        self._faults = faults
        return initial
