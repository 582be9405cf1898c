"""Work on many sessions distributed over several processes."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from core.errors import NooscopeError

T = TypeVar("T")
_SAFE_PATH = "PYTHONSAFEPATH"


_STOPS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Put ctrl+c and a wish to end off meanwhile; of processes started here the first is never heard of.

    A wish to end is what a broken pool sends to the processes that it has left, so those must follow it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: set[int] = set()
    program = os.getpid()

    def hold(number: int, _: object) -> None:
        if os.getpid() != program:
            os._exit(128 + number)
        waiting.add(number)

    before = [(number, signal.signal(number, hold)) for number in _STOPS]
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        for number, handler in before:
            signal.signal(number, handler)
    for signal_number in waiting:
        signal.raise_signal(signal_number)


def _start_method() -> BaseContext:
    """Return `fork` if that is safe, because everything is loaded already; otherwise `spawn`."""
    alone = threading.active_count() == 1
    return get_context("fork" if sys.platform == "linux" and alone else "spawn")


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """Keep new processes from importing anything from their working folder."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


Family = Callable[[Any], tuple[Hashable, int]]  # Returns the group of an item and its rank in it.


def one_by_one(work: Callable[..., T], items: Sequence[Any], *more: Any, family: Family | None = None) -> Iterator[T]:
    """Yield `work(item, *more)` of every item in order; items of a family run one after another."""
    groups = _group_families(items, family)
    yield from _in_order(groups, ([work(items[place], *more) for place in group] for group in groups))


def shared_out(
    jobs: int,
    work: Callable[..., T],
    items: Sequence[Any],
    *more: Any,
    prepare: Callable[[], None] | None = None,
    family: Family | None = None,
) -> Iterator[T]:
    """Like `one_by_one` over several processes; a family stays in one, and each process is prepared first.

    What there is to do is handed to each process once, at its start; afterwards it is only told the places.

    No helper hears a ctrl+c of its own: it reaches the program, which ends them all.
    """
    groups = _group_families(items, family)
    with _safe_path():
        pool = ProcessPoolExecutor(
            jobs, mp_context=_start_method(), initializer=_begin, initargs=(prepare, work, items, more)
        )
    try:
        with _undisturbed(), _safe_path(), warnings.catch_warnings():
            # Threads that a library of numbers keeps are stopped and started again around a copy.
            warnings.simplefilter("ignore", DeprecationWarning)
            futures = [pool.submit(_work_at, group) for group in groups]
        yield from _in_order(groups, (future.result() for future in futures))
    except BrokenProcessPool as error:
        raise NooscopeError("a helper process died; try again with --jobs 1") from error
    finally:
        with _undisturbed():
            _end(pool)


def _end(pool: ProcessPoolExecutor) -> None:
    """End all workers at once; finished results were delivered, and the rest is not needed.

    They are not asked to end, as one that died may have left the others waiting for its turn. One that is
    ended in the middle of its answer leaves the pool waiting for the rest, as long as anybody holds the pipe
    open to write: by then that is this process alone, which never does.
    """
    helpers: dict[int, BaseProcess] = getattr(pool, "_processes", None) or {}
    for helper in list(helpers.values()):
        helper.kill()
    answers = getattr(getattr(pool, "_result_queue", None), "_writer", None)
    if answers is not None:
        answers.close()
    pool.shutdown(cancel_futures=True)


def _group_families(items: Sequence[Any], family: Family | None) -> list[list[int]]:
    """Return the places of items that belong together, by rank."""
    if family is None:
        return [[place] for place in range(len(items))]
    places_of: dict[Hashable, list[tuple[int, int]]] = {}
    for place, item in enumerate(items):
        name, rank = family(item)
        places_of.setdefault(name, []).append((rank, place))
    return [[place for _, place in sorted(members)] for members in places_of.values()]


_given: list[Any] = []  # The arguments a helper process received at its start.


def _begin(prepare: Callable[[], None] | None, *arguments: Any) -> None:
    _given[:] = arguments
    if prepare is not None:
        prepare()


def _work_at(group: Sequence[int]) -> list[Any]:
    work, items, more = _given
    return [work(items[place], *more) for place in group]


def _in_order(groups: Sequence[Sequence[int]], results: Iterator[list[T]]) -> Iterator[T]:
    """Yield the results of all groups by place, each as soon as it is due."""
    waiting: dict[int, T] = {}
    due = 0
    for group, done in zip(groups, results, strict=True):
        waiting.update(zip(group, done, strict=True))
        while due in waiting:
            yield waiting.pop(due)
            due += 1
