"""Work on many sessions shared out over several processes."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from multiprocessing.context import BaseContext
from typing import Any, TypeVar

from core.errors import NooscopeError

T = TypeVar("T")


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Put a ctrl+c off while processes are started; those never hear one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: waiting.append(number))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, before)
    if waiting:
        raise KeyboardInterrupt


def _start_method() -> BaseContext:
    """Copies of this process where that is safe, as they have loaded everything already; else fresh ones."""
    alone = threading.active_count() == 1
    return get_context("fork" if sys.platform == "linux" and alone else "spawn")


def shared_out(
    jobs: int,
    work: Callable[..., T],
    items: Sequence[Any],
    *more: Any,
    prepare: Callable[[], None] | None = None,
) -> Iterator[T]:
    """`work(item, *more)` of every item, in their order; each process is prepared first.

    No helper hears a ctrl+c of its own: it reaches the program, which ends them all.
    """
    with ProcessPoolExecutor(jobs, mp_context=_start_method(), initializer=prepare) as pool:
        try:
            with _undisturbed(), warnings.catch_warnings():
                # Threads that a library of numbers keeps are ended and begun anew around a copy.
                warnings.simplefilter("ignore", DeprecationWarning)
                futures = [pool.submit(work, item, *more) for item in items]
            for future in futures:
                yield future.result()
        except BrokenProcessPool as error:
            raise NooscopeError("a helper process died; try again with --jobs 1") from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in active_children():
                child.terminate()
            raise
