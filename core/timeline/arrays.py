"""Load numpy with one thread; import this before anything that imports numpy, so that programs start quickly."""

from __future__ import annotations

import importlib
import os

_THREADS = "OPENBLAS_NUM_THREADS"


def _load() -> None:
    """Import numpy with one thread, unless the person wants another number."""
    if _THREADS in os.environ:
        importlib.import_module("numpy")
        return
    os.environ[_THREADS] = "1"
    try:
        importlib.import_module("numpy")
    finally:
        del os.environ[_THREADS]


_load()
