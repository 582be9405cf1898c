"""Bytes packed quickly, many pieces one after another."""

from __future__ import annotations

import sys
from typing import Final

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_LEVEL = 1
_packer = zstd.ZstdCompressor(_LEVEL)
"""One for all: to make one takes longer than to pack a piece. It lets one thread in at a time."""
_WHOLE: Final = zstd.ZstdCompressor.FLUSH_FRAME


def packed_bytes(content: bytes) -> bytes:
    """A piece that `zstd.decompress` opens and that tells its size."""
    return _packer.compress(content, _WHOLE)
