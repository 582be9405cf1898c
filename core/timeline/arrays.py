"""numpy, loaded without a thread for every core: nothing here multiplies large matrices.

Its OpenBLAS makes those threads while it is loaded, and each spins for a while before it rests. Who
starts something that must be quick imports this before anything that imports numpy.
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
