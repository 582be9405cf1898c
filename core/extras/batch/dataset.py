"""The folder of a dataset: what it was made from, its shares, put in place one by one."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from core.errors import NooscopeError, UsageError
from core.extras import needed
from core.extras.batch.shares import SHARES, TABLES, VERSION, Written
from core.store import atomic

_NAME = "dataset.json"


class About(msgspec.Struct, frozen=True):
    """A dataset's description."""

    version: int
    shares: int
    tree: list[str]


class Dataset:
    """A folder that several processes may fill at once, each with its own shares."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def begin(self, tree: list[str]) -> None:
        """Create the dataset, or check that it was made from the same logs."""
        about = About(VERSION, SHARES, sorted(tree))
        stored = self.about()
        if stored is None:
            if self.folder.exists() and any(self.folder.iterdir()):
                raise UsageError(f"{self.folder} contains other files; name an empty folder")
            atomic.replace(self.folder / _NAME, msgspec.json.encode(about) + b"\n", atomic.AS_USUAL)
        elif stored != about:
            was = ", ".join(stored.tree)
            raise UsageError(f"{self.folder} was made from {was} (version {stored.version}); name another folder")

    def about(self) -> About | None:
        """The description of the dataset; None if there is none."""
        try:
            return msgspec.json.decode((self.folder / _NAME).read_bytes(), type=About)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as fault:
            raise NooscopeError(f"{self.folder / _NAME} cannot be read ({fault})") from None

    def put(self, written: Written) -> int:
        """Put the files of a share in place of those it had; the bytes."""
        new = {place for place, _ in written.files}
        for place, content in written.files:
            atomic.replace(self.folder / place, content, atomic.AS_USUAL)
        for table in TABLES:
            for path in self.folder.glob(f"{table}/*/*/share-{written.number:04d}.parquet"):
                if str(path.relative_to(self.folder)) not in new:
                    path.unlink()
        return sum(len(content) for _, content in written.files)


T = TypeVar("T")
_AGAIN = 3  # Times a share that failed is tried again.
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
                    n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
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
