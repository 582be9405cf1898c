"""Telling the person: in the app, by bell, desktop notice, command or web address, and when not to."""

from __future__ import annotations

import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, time
from time import time as wall_time
from typing import TextIO

import msgspec

from core.engine.response.reaction import Notice
from core.engine.society import Society
from core.extension import hooks, offers, registry
from core.logs.redact.text import redact
from core.report.formatting import plain
from core.safe_text import safe_json_bytes
from core.settings.response import NoticeSettings

TITLES: Mapping[str, str] = {"needs_you": "needs you", "risk": "at risk", "done": "done"}
GLYPHS: Mapping[str, str] = {"needs_you": "▲", "risk": "⚑", "done": "✓"}
MAY_NEED = "may need you"  # The rule and the title of a need that is not certain.
_BELLS: Mapping[str, str] = {"needs_you": "\a\a", "risk": "\a", "done": "\a"}
_RANKS = ("needs_you", "risk", "done")  # What matters most comes first.
_TOO_SLOW = "a notice was dropped: response.notices.command or webhook is too slow for them"
_LONGEST = 240


class ShownNotice(msgspec.Struct, frozen=True):
    """A notice as the app shows it: plain words without secrets."""

    at: float
    agent: str
    kind: str
    rule: str
    title: str
    text: str

    @property
    def line(self) -> str:
        """As one line."""
        return f"{self.glyph} {self.title}: {self.text}"

    @property
    def glyph(self) -> str:
        """Return its sign, which is that of the status."""
        return "△" if self.title == MAY_NEED else GLYPHS[self.kind]


def show_notice(notice: Notice) -> ShownNotice:
    """Return a notice as it is shown: plain and redacted."""
    text = plain(redact(notice.text), _LONGEST)
    agent, rule = plain(redact(notice.agent), 60), plain(redact(notice.rule), 60)
    return ShownNotice(notice.at, agent, notice.kind, rule, MAY_NEED if rule == MAY_NEED else TITLES[notice.kind], text)


def quiet(settings: NoticeSettings, now: time) -> bool:
    """Return whether it is a quiet hour; quiet hours may last over midnight."""
    if not settings.quiet_from or not settings.quiet_until:
        return False
    start, end = time.fromisoformat(settings.quiet_from), time.fromisoformat(settings.quiet_until)
    return start <= now < end if start <= end else now >= start or now < end


Channel = Callable[[ShownNotice], None]


class Courier:
    """Hand notices to a slow receiver from a thread of its own.

    When too many wait, the oldest of those that matter least is dropped, and that is a problem to tell.
    """

    def __init__(self, send: Channel, size: int, problems: list[str] | None = None) -> None:
        self._send = send
        self._size = size
        self._problems = problems if problems is not None else []
        self._waiting: deque[ShownNotice] = deque()
        self._change = threading.Condition()
        self._busy = False
        self._thread: threading.Thread | None = None
        self.dropped = 0

    def __call__(self, notice: ShownNotice) -> None:
        with self._change:
            self._waiting.append(notice)
            if len(self._waiting) > self._size:
                self._waiting.remove(max(self._waiting, key=lambda one: _RANKS.index(one.kind)))
                self.dropped += 1
                self._problems.append(_TOO_SLOW)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="nooscope-courier", daemon=True)
                self._thread.start()
            self._change.notify_all()

    def flush(self, patience: float) -> bool:
        """Wait for what is under way, not longer than patience; whether all went out."""
        with self._change:
            return self._change.wait_for(lambda: not self._waiting and not self._busy, patience)

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: bool(self._waiting))
                notice = self._waiting.popleft()
                self._busy = True
            try:
                self._send(notice)
            finally:
                with self._change:
                    self._busy = False
                    self._change.notify_all()


def bell(stream: TextIO) -> Channel:
    """Ring the bell, twice if the person is needed."""

    def ring(notice: ShownNotice) -> None:
        stream.write(_BELLS[notice.kind])
        stream.flush()

    return ring


def desktop(stream: TextIO, form: str) -> Channel:
    """A desktop notice, as terminals understand it."""

    def show(notice: ShownNotice) -> None:
        if form == "osc777":
            title, text = (part.replace(";", ",") for part in (notice.title, notice.text))
            stream.write(f"\x1b]777;notify;nooscope {title};{text}\x1b\\")
        else:
            stream.write(f"\x1b]9;nooscope {notice.title}: {notice.text}\x1b\\")
        stream.flush()

    return show


def command(words: tuple[str, ...], timeout: float, problems: list[str]) -> Channel:
    """Run the person's command without a shell; it finds the notice as JSON on its standard input.

    Words may name {title}, {text}, {kind}, {rule} and {agent}.
    """

    def run(notice: ShownNotice) -> None:
        filled = [_filled(word, notice) for word in words]
        try:
            unread = subprocess.DEVNULL
            subprocess.run(filled, input=notice_json(notice), stdout=unread, stderr=unread, timeout=timeout, check=True)
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            problems.append(f"{words[0]}: {error}")

    return run


def webhook(address: str, settings: NoticeSettings, problems: list[str]) -> Channel:
    """Post the notice as JSON; a failed request is tried a few times more, then given up."""
    import urllib.error
    import urllib.request

    pause = threading.Event()

    def post(notice: ShownNotice) -> None:
        for attempt in range(settings.retries + 1):
            if attempt:
                pause.wait(settings.pause * 2 ** (attempt - 1))
            data, headers = notice_json(notice), {"Content-Type": "application/json", "User-Agent": "nooscope"}
            # Settings allow http and https only.
            request = urllib.request.Request(address, data=data, headers=headers, method="POST")  # noqa: S310
            try:
                with urllib.request.urlopen(request, timeout=settings.timeout) as answer:  # noqa: S310
                    answer.read(1)
                return
            except urllib.error.HTTPError as error:
                error.close()
                trouble = f"answered {error.code}"
                if error.code < 500 and error.code != 429:
                    break
            except (OSError, ValueError) as error:
                trouble = str(error)
        problems.append(f"webhook: {trouble}")

    return post


class Notifier(hooks.Extension):
    """Tell the person through every channel they chose; never waits for any of them."""

    name = "notices"
    layer = 0
    about = "Notifies you: in the app, by bell, desktop notification, command or web address."
    essential = True

    def __init__(
        self,
        settings: NoticeSettings,
        stream: TextIO | None = None,
        app: Channel | None = None,
        *,
        installed: Iterable[tuple[str, Channel]] = (),
        wall: Callable[[], float] = wall_time,
    ) -> None:
        self._wall = wall
        self._settings = settings
        self._last: dict[tuple[str, str], float] = {}  # When each agent's rules last gave a notice, in the log's time.
        self._app = app
        self.problems: list[str] = []  # Faults of channels that were not reported yet.
        self._couriers: list[Courier] = []
        self._loud: list[Channel] = []
        if stream is not None and settings.bell:
            self._loud.append(bell(stream))
        if stream is not None and settings.desktop != "off":
            self._loud.append(desktop(stream, settings.desktop))
        if settings.command:
            self._loud.append(self._carried(command(settings.command, settings.timeout, self.problems)))
        if settings.webhook:
            self._loud.append(self._carried(webhook(settings.webhook, settings, self.problems)))
        self._registry = registry.Registry()
        for name, channel in installed:
            self._loud.append(self._carried(self._guarded(name, channel)))

    def tell(self, notice: Notice, now: time) -> ShownNotice | None:
        """Give a notice if it is wanted; in quiet hours only inside the app."""
        if not self._passes(notice):
            return None
        shown_notice = show_notice(notice)
        if self._app is not None:
            self._app(shown_notice)
        if not quiet(self._settings, now):
            for channel in self._loud:
                channel(shown_notice)
        return shown_notice

    def _passes(self, notice: Notice) -> bool:
        """Whether its kind is on, its rule not muted, and its last word long enough ago; then it counts as given."""
        settings, key = self._settings, (notice.agent, notice.rule)
        if not getattr(settings, notice.kind) or notice.rule in settings.muted:
            return False
        last = self._last.get(key)
        if last is not None and notice.at - last < notice.cooldown:
            return False
        self._last[key] = notice.at
        return True

    def on_notice(self, notice: Notice) -> None:
        """A word for the person."""
        self.tell(notice, datetime.fromtimestamp(self._wall()).astimezone().time())

    def on_shutdown(self, society: Society) -> None:
        """Stop watching the session."""
        del society
        self.flush()

    def flush(self, patience: float = 2.0) -> None:
        """Before the program ends, give slow channels a moment."""
        for courier in self._couriers:
            courier.flush(patience)

    def _guarded(self, name: str, channel: Channel) -> Channel:
        """A channel of somebody else's: what it raises is counted, and after a few it is left alone."""

        def send(notice: ShownNotice) -> None:
            if self._registry.is_on(name):
                try:
                    channel(notice)
                except Exception as fault:  # noqa: BLE001 an extension may fail in any way
                    self.problems.append(self._registry.fault(name, "notice", fault).sentence)

        return send

    @property
    def dropped(self) -> int:
        """Notices that slow channels never got."""
        return sum(courier.dropped for courier in self._couriers)

    def _carried(self, channel: Channel) -> Channel:
        courier = Courier(channel, self._settings.waiting, self.problems)
        self._couriers.append(courier)
        return courier


def installed_channels() -> tuple[tuple[tuple[str, Channel], ...], tuple[str, ...]]:
    """Channels of packages and of the person's folder, by name, and what is wrong with others."""
    channels = offers.in_use("notice", lambda value: "" if callable(value) else "it cannot be called with a notice")
    return tuple((one.offer.name, one.value) for one in channels.used), channels.complaints


def _filled(word: str, notice: ShownNotice) -> str:
    for name in ("title", "text", "kind", "rule", "agent"):
        word = word.replace(f"{{{name}}}", getattr(notice, name))
    return word


def notice_json(notice: ShownNotice) -> bytes:
    """A notice for a program to read."""
    return safe_json_bytes(msgspec.json.encode(notice))
