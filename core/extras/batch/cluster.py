"""Work spread over a Dask cluster; what a lost worker had is done again by another."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from core.errors import NooscopeError, UsageError
from core.extras.optional import needed

T = TypeVar("T")
_AGAIN = 3
"""Times a share that failed is tried again."""
_PATIENCE = 15


@contextlib.contextmanager
def cluster(address: str, workers: int) -> Iterator[Any]:
    """A client of the scheduler at an address; `local` starts a cluster on this machine."""
    distributed = needed("distributed", "batch")
    if address != "local" and "://" not in address:
        raise UsageError(f"--on takes local, or a scheduler such as tcp://host:8786, not {address!r}")
    with contextlib.ExitStack() as stack:
        at: Any = address
        if address == "local":
            at = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )
            )
        try:
            client = distributed.Client(at, timeout=_PATIENCE)
        except (OSError, TimeoutError) as fault:
            raise NooscopeError(f"cannot reach the scheduler at {address}: {fault}") from None
        yield stack.enter_context(client)


def done_by(client: Any, work: Callable[[Any], T], items: Sequence[Any]) -> Iterator[T]:
    """`work(item)` of every item, as they are done."""
    distributed = needed("distributed", "batch")
    futures = client.map(work, items, pure=False, retries=_AGAIN)
    for future in distributed.as_completed(futures):
        try:
            yield future.result()
        except Exception as fault:
            raise NooscopeError(f"a worker failed: {type(fault).__name__}: {fault}") from fault
        future.release()
