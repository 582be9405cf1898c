"""numpy is loaded with one thread, and the environment is as it was."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_CODE = """
import os
before = dict(os.environ)
import core.timeline.arrays
import sys
tasks = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
print("numpy" in sys.modules, dict(os.environ) == before, tasks)
"""


@pytest.mark.parametrize(("named", "most"), [(None, 1), ("2", 2)])
def test_numpy_is_loaded_without_threads_and_leaves_no_trace(named: str | None, most: int) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    if named is not None:
        environment["OPENBLAS_NUM_THREADS"] = named
    done = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, check=True, env=environment)
    loaded, same, tasks = done.stdout.split()
    assert (loaded, same) == ("True", "True")
    assert int(tasks) <= most
