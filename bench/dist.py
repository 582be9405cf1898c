"""`python -m bench.dist FOLDER`: a plain and a compiled wheel, each tried in a fresh environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOOKS = {"plain": {"HATCH_BUILD_NO_HOOKS": "1"}, "compiled": {"HATCH_BUILD_HOOKS_ENABLE": "1"}}
_TRY = """
from core.report.checkup import engine_compiled
from sample_sessions import find_sample
from tui.cli import main
assert main(["recap", str(find_sample("stuck").path)]) == 0
raise SystemExit(0 if engine_compiled() is {compiled} else "the other engine runs")
"""


def build(kind: str, folder: Path) -> Path:
    """Build one wheel into a folder of its own."""
    shutil.rmtree(folder / kind, ignore_errors=True)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / kind)]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **HOOKS[kind]}, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = (folder / kind).glob("*.whl")
    return wheel


def try_in_fresh_environment(wheel: Path, *, compiled: bool) -> None:
    """Install a wheel where nothing else is, and run a command with it."""
    with tempfile.TemporaryDirectory(prefix="nooscope-dist-") as name:
        venv.create(name, with_pip=True)
        python = Path(name) / "bin" / "python"
        home = {**os.environ, "HOME": name, "XDG_CACHE_HOME": name, "PYTHONSAFEPATH": "1"}
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-c", str(ROOT / "constraints.txt"), str(wheel)], check=True, cwd=name)
        tries = ([str(python), "-c", _TRY.format(compiled=compiled)], [f"{name}/bin/nooscope", "--version"])
        for command in tries:
            subprocess.run(command, check=True, cwd=name, env=home, stdout=subprocess.DEVNULL)


def main() -> int:
    """Build and try both; a compiled one only with a C compiler."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "dist").resolve()
    kinds = ["plain"] + (["compiled"] if shutil.which("cc") else [])
    for kind in kinds:
        wheel = build(kind, folder)
        try_in_fresh_environment(wheel, compiled=kind == "compiled")
        print(f"{kind}: {wheel} installs and runs")
    if "compiled" not in kinds:
        print("There is no C compiler (cc) here; no compiled wheel was built.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
