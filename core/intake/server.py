"""The person's one intake: a socket and, where wanted, a port on loopback; a newer one takes over."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.agents.hook import AgentHooks
from core.agents.hooks import HOOKS
from core.agents.registry import known_agents, make_kit
from core.errors import StoreError
from core.extension.registry import Registry
from core.extension.use import listening
from core.intake.caller import call
from core.intake.guard import Guard
from core.intake.handler import IntakeHandler
from core.intake.place import IntakeFolder
from core.intake.session import HookedSession
from core.intake.watched import Watched
from core.logs.agent import roots
from core.settings import Settings
from core.store.permits import PermitJournal
from core.store.said import SaidStore
from core.telemetry.receiver import Receiver
from core.timeline.initial_state import PLAIN, InitialState

_BODY = 8 * 1024 * 1024
_PATIENCE = 5.0
_CONNECTIONS = 128
_LOOK = 2.0
"""Seconds between two looks of one that was taken over, whether the newer one is still there."""


class IntakeServer:
    """Serves until closed; taken over by a newer one it stands by, and comes back when that one is gone."""

    def __init__(
        self,
        settings: Settings,
        place: IntakeFolder,
        clock: Callable[[], float],
        environment: Mapping[str, str],
        home: Path,
        *,
        port: int | None = None,
        initial: InitialState = PLAIN,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._place = place
        self._port = port
        self._say = say
        token = place.prepare()
        folder = place.folder.parent
        guard = Guard(
            settings.response.guard, secrets.token_bytes(32), PermitJournal(folder / "permits.jsonl"), clock
        )
        self._settings = settings
        self._initial = initial
        self._kit = make_kit(settings.ingest)
        self._environment = environment
        self._home = home
        self.handler = IntakeHandler(
            HOOKS,
            self._follow,
            self._kit.normalizer,
            token,
            guard,
            SaidStore(folder / "said.jsonl"),
            clock,
            self._step_back,
            say,
            Registry(listening()[0], tolerance=settings.extensions.faults),
        )
        self._receivers: list[Receiver] = []
        self._inode = 0
        self._standing_by: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None
        self.serving = False

    @property
    def port(self) -> int | None:
        """The port on loopback, where one is served."""
        return self._receivers[1].port if len(self._receivers) > 1 else None

    def _follow(self, hooks: AgentHooks, session: str) -> Watched:
        return HookedSession(hooks, session, self._kit, self._settings, self._initial, self._is_log)

    def _is_log(self, path: Path) -> bool:
        """Whether a log lies where an agent keeps its logs, so that nothing else is ever read."""
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            whole = path.resolve()
            return any(
                whole.is_relative_to(root.resolve())
                for _, root in roots(known_agents(), self._environment, self._home)
            )
        return False

    async def start(self) -> None:
        """Take the place, from an older one where there is one; raises `StoreError` where that fails."""
        socket = self._place.socket
        await asyncio.to_thread(call, self._place, "leave", {}, 1.0)
        receivers = [self._receiver(socket=socket, connections=_CONNECTIONS)]
        if self._port is not None:
            receivers.append(self._receiver(port=self._port))
        try:
            with contextlib.suppress(FileNotFoundError):
                if not stat.S_ISSOCK(socket.lstat().st_mode):
                    raise StoreError(f"{socket}: something else is there; move it away")
                socket.unlink()
            await receivers[0].start()
            socket.chmod(0o600)
            self._inode = socket.stat().st_ino
            if self._port is not None:
                await receivers[1].start()
                self._place.port_file.write_text(f"{receivers[1].port}\n")
        except OSError as error:
            for receiver in receivers:
                await receiver.close()
            raise StoreError(f"{socket}: cannot listen there: {error.strerror or error}") from error
        self._receivers = receivers
        self.serving = True

    async def start_behind(self) -> None:
        """Take the place where nobody has it; else stand by until it is free."""
        if await asyncio.to_thread(call, self._place, "sessions", {}, 1.0) is None:
            await self.start()
        else:
            self._standing_by = asyncio.create_task(self._stand_by())

    def _receiver(self, **place: Any) -> Receiver:
        handler = self.handler
        return Receiver(handler.handle, body=_BODY, patience=_PATIENCE, admit=handler.admit, **place)

    def _step_back(self) -> None:
        """A newer one asks for the place."""
        if self.serving and self._leaving is None:
            self._leaving = asyncio.create_task(self._stop_serving(stand_by=True))

    async def _stop_serving(self, *, stand_by: bool = False) -> None:
        self.serving = False
        await asyncio.sleep(0.05 if stand_by else 0)
        for receiver in self._receivers:
            await receiver.close()
        self._receivers = []
        with contextlib.suppress(OSError):
            if self._place.socket.stat().st_ino == self._inode:
                self._place.socket.unlink()
        self._leaving = None
        if stand_by:
            self._say("another nooscope took the hooks over; this one stands by")
            self._standing_by = asyncio.create_task(self._stand_by())

    async def _stand_by(self) -> None:
        while True:
            await asyncio.sleep(_LOOK)
            if await asyncio.to_thread(call, self._place, "sessions", {}, 1.0) is None:
                with contextlib.suppress(StoreError):
                    await self.start()
                    self._say("the hooks are served from here again")
                    return

    async def close(self) -> None:
        """Stop, and leave nothing behind but what was written down."""
        if self._standing_by is not None:
            self._standing_by.cancel()
        await self._stop_serving()
