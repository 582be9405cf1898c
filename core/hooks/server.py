"""The hook server: a socket and, if requested, a port on loopback; a newer server takes over."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.agents.registry import known_agents, make_kit
from core.errors import StoreError
from core.extension.registry import Registry
from core.extension.use import listening
from core.hooks.agents import HOOKS, AgentHooks
from core.hooks.codex_daemon import CodexDaemon, daemon_socket
from core.hooks.guard import Guard
from core.hooks.handler import PROMPT_WAIT, IntakeHandler
from core.hooks.install import Installer
from core.hooks.limits import Caps, DayLedger
from core.hooks.link import IntakeFolder, call
from core.hooks.phone import PhoneLinks, Verdict, post_json
from core.hooks.receiver import LoopThread, Receiver
from core.hooks.session import HookedSession
from core.live.carry_over import CarryOver
from core.live.hook_signs import claude_sessions
from core.report.plan_limits import LimitHistory, codex_log_samples
from core.settings import Settings
from core.store.carry_over import CarryOverStore
from core.store.journals import PermitJournal, SaidStore
from core.timeline.initial_state import PLAIN, InitialState
from core.timeline.opening import seed_of
from core.timeline.run_inputs import InitialStates, RunInputs

_BODY = 8 * 1024 * 1024
_PATIENCE = 5.0
_CONNECTIONS = 128
_WATCH = 0.3  # Seconds between two looks at the files of Claude Code's processes.
_LIMITS = 30.0  # Seconds between two looks at the limits in Codex's logs.
_STAND_BY = 2.0  # Seconds between two checks whether the server that took over is still there.


class IntakeServer:
    """Serves hooks; waits while a newer server runs, and takes over when that one ends."""

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
        starts: CarryOverStore | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._place = place
        self._port = port
        self._say = say
        token = place.prepare()
        folder = place.folder.parent
        guard = Guard(settings.response.guard, secrets.token_bytes(32), PermitJournal(folder / "permits.jsonl"), clock)
        self._settings = settings
        self._initial = initial
        self._starts = starts  # Stored initial states of sessions; without it they start plain.
        self._kit = make_kit(settings.ingest)
        self._environment = environment
        self._home = home
        self.handler = IntakeHandler(
            self._follow,
            self._kit.normalizer,
            token,
            guard,
            SaidStore(folder / "said.jsonl"),
            clock,
            self._step_back,
            say,
            Registry(listening()[0], tolerance=settings.extensions.faults),
            Caps(settings.response.caps),
            LimitHistory(folder / "limits.jsonl"),
            DayLedger(folder / "spent_today.json"),
        )
        self._codex = CodexDaemon(
            daemon_socket(environment, home),
            self.handler.answers,
            self.handler.sort_codex,
            self.handler.prompt_changed,
            self.handler.adopt_codex,
            PROMPT_WAIT,
        )
        self._phone = PhoneLinks(settings.response.phone, self._settle, clock, self._send_notice)
        self._clock = clock
        self._limits_read = 0.0
        self._receivers: list[Receiver] = []
        self._inode = 0
        self._halted = ""
        self._watching: asyncio.Task[None] | None = None
        self._standing_by: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None
        self.serving = False

    @property
    def port(self) -> int | None:
        """Return the port on loopback, if there is one."""
        return self._receivers[1].port if self._port is not None and self._receivers else None

    def _follow(self, hooks: AgentHooks, session: str) -> HookedSession:
        return HookedSession(hooks, session, self._kit, self._settings, self._begin, self._is_log)

    def _begin(self, session: str, tool: str, project: str) -> RunInputs:
        """Return a session's initial state and settings, the same as for the screen."""
        states = InitialStates(self._settings, self._initial, store=self._starts)
        if self._starts is None:
            return states.of(session)
        carry_over = CarryOver(self._settings, initial=self._initial, use=self._settings.response.prior.enabled)
        carry_over.session = session
        carry_over.belongs(tool, project)
        now, seed = self._clock(), seed_of(session)
        return states.begin(session, lambda: carry_over.initial_state(session, seed, now))

    def _is_log(self, path: Path) -> bool:
        """Whether a log lies where an agent keeps its logs, so that nothing else is ever read.

        The agent creates the folder with its first log, which may be after its first hook call.
        """
        places = [one.location for one in known_agents() if one.location is not None]
        folders = [root for place in places for root in place.roots(self._environment, self._home)]
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            return any(path.resolve().is_relative_to(root.resolve()) for root in folders)
        return False

    async def start(self) -> None:
        """Listen, taking over from an older server; raises `StoreError` if that fails."""
        at = self._place.socket
        answer = await asyncio.to_thread(call, self._place, "leave", {}, 1.0)
        if isinstance(answer, dict) and answer.get("why"):
            raise StoreError(f"{at}: another nooscope keeps serving there: {answer['why']}")
        await asyncio.to_thread(self.handler.guard.continue_numbers)
        receivers = [self._receiver(place=at, connections=_CONNECTIONS)]
        if self._port is not None:
            receivers.append(self._receiver(port=self._port))
        phone = self._settings.response.phone.address
        if phone:
            receivers.append(self._phone.receiver())
        try:
            with contextlib.suppress(FileNotFoundError):
                if not stat.S_ISSOCK(at.lstat().st_mode):
                    raise StoreError(f"{at}: something else is there; move it away")
                at.unlink()
            await receivers[0].start()
            at.chmod(0o600)
            self._inode = at.stat().st_ino
            if self._port is not None:
                await receivers[1].start()
                self._place.port_file.write_text(f"{receivers[1].port}\n")
            if phone:
                await receivers[-1].start()
                self._say(f"phones may answer at {phone.rstrip('/')}/list/{self._phone.token}")
        except OSError as error:
            for receiver in receivers:
                await receiver.close()
            raise StoreError(f"{at}: cannot listen there: {error.strerror or error}") from error
        self._receivers = receivers
        self.serving = True
        installer = Installer(self._place.folder.parent / "hooks", self._place.folder, self._environment, self._home)
        self._codex.all_threads = installer.answers(HOOKS["codex"])
        self._watching = asyncio.create_task(self._watch_processes())

    async def _watch_processes(self) -> None:
        while self.serving:
            self.handler.record_unanswered(self._place.take_unanswered())
            self._mark_halted()
            self.handler.ledger.write(now := self._clock())
            if now - self._limits_read >= _LIMITS:
                self._limits_read = now
                samples = codex_log_samples(self._environment, self._home)
                self.handler.limits.add(await asyncio.to_thread(list, samples))
            if self._settings.response.phone.address:
                self._phone.update(self.handler.questions)
            await self._codex.follow(self.handler.codex_threads(self._codex.connected))
            self.handler.update_processes(claude_sessions(self._environment, self._home))
            await asyncio.sleep(_WATCH)

    def _settle(self, number: int, verdict: Verdict, by: str, answers: Sequence[str]) -> str:
        try:
            return self.handler.settle(number, verdict, by, answers)
        except StoreError as error:
            return f"it cannot be recorded: {error}"

    def _send_notice(self, address: str, notice: Mapping[str, Any]) -> None:
        post_json(address, notice, self._environment.get("NOOSCOPE_NTFY_TOKEN", ""))

    def _mark_halted(self) -> None:
        """Name the halted sessions for stubs that get no answer."""
        halted = "".join(f"{one.name}\n" for one in self.handler.sessions.values() if one.standing().halt)
        if halted != self._halted:
            with contextlib.suppress(OSError):
                self._place.halted_file.write_text(halted, "utf-8", "replace")
                self._halted = halted

    async def start_behind(self) -> None:
        """Listen if no other server does; otherwise wait until it ends."""
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
        self.handler.ledger.write(self._clock(), at_once=True)
        if self._watching is not None:
            self._watching.cancel()
        await self._codex.close()
        await asyncio.sleep(0.05 if stand_by else 0)
        for receiver in self._receivers:
            await receiver.close()
        self._receivers = []
        with contextlib.suppress(OSError):
            if self._place.socket.stat().st_ino == self._inode:
                self._place.socket.unlink()
        self._leaving = None
        self.handler.guard.hand_over()
        if stand_by:
            self._say("another nooscope took the hooks over; this one stands by")
            self._standing_by = asyncio.create_task(self._stand_by())

    async def _stand_by(self) -> None:
        while True:
            await asyncio.sleep(_STAND_BY)
            if await asyncio.to_thread(call, self._place, "sessions", {}, 1.0) is None:
                with contextlib.suppress(StoreError):
                    await self.start()
                    self._say("the hooks are served from here again")
                    return

    async def close(self) -> None:
        """Stop serving and remove the socket."""
        if self._standing_by is not None:
            self._standing_by.cancel()
        await self._stop_serving()


class IntakeThread:
    """Serves from its start until it is closed."""

    def __init__(self, server: IntakeServer, *, take_over: bool = True) -> None:
        self._server = server
        self._thread = LoopThread("intake")
        try:
            self._thread.wait(server.start() if take_over else server.start_behind())
        except BaseException:
            self._thread.stop()
            raise

    def close(self) -> None:
        """Stop serving."""
        try:
            self._thread.wait(self._server.close())
        finally:
            self._thread.stop()
