"""Bytes packed quickly, many pieces one after another."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_PIECES: dict[int, int] = {
    zstd.CompressionParameter.strategy: zstd.Strategy.fast,
    zstd.CompressionParameter.window_log: 18,
    zstd.CompressionParameter.hash_log: 9,
    zstd.CompressionParameter.min_match: 4,
    zstd.CompressionParameter.target_length: 3,
}
"""For pieces of a few kilobytes: what does not repeat is left as it is, which takes half the time of the
usual level and a tenth more room."""
_packer = zstd.ZstdCompressor(options=_PIECES)
"""One for all: to make one takes longer than to pack a piece. It lets one thread in at a time."""


def packed_bytes(content: bytes) -> bytes:
    """A piece that `zstd.decompress` opens and that tells its size."""
    return _packer.compress(content, _packer.FLUSH_FRAME)
