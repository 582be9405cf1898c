"""Load numpy with one thread:

nothing here multiplies large matrices. OpenBLAS starts a thread per core while it is loaded, and each of them
spins for a while. Programs that must start quickly import this module before anything that imports numpy.
"""

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
