"""The folder of a dataset: what it was made from, its shares, put in place one by one."""

from __future__ import annotations

from pathlib import Path

import msgspec

from core.errors import NooscopeError, UsageError
from core.extras.batch.schema import TABLES, VERSION
from core.extras.batch.shares import SHARES, Written
from core.store import atomic

_NAME = "dataset.json"


class About(msgspec.Struct, frozen=True):
    """What a dataset is."""

    version: int
    shares: int
    tree: list[str]


class Dataset:
    """A folder that several processes may fill at once, each with its own shares."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def begin(self, tree: list[str]) -> None:
        """Make it, or make sure that it was made of the same logs."""
        about = About(VERSION, SHARES, sorted(tree))
        known = self.about()
        if known is None:
            if self.folder.exists() and any(self.folder.iterdir()):
                raise UsageError(f"{self.folder} holds something else; name an empty folder")
            atomic.replace(self.folder / _NAME, msgspec.json.encode(about) + b"\n", atomic.AS_USUAL)
        elif known != about:
            was = ", ".join(known.tree)
            raise UsageError(
                f"{self.folder} was made from {was} (version {known.version}); name another folder"
            )

    def about(self) -> About | None:
        """What it is; None where there is none."""
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
