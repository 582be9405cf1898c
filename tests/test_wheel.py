"""What a wheel holds: the code and every file it reads, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from hatchling import build

ROOT = Path(__file__).resolve().parents[1]
NEEDED = (
    "core/agents/tables/tools.toml",
    "core/agents/tables/models.toml",
    "core/engine/response/tables/receptor-rules.json",
    "themes/nocturne.toml",
    "tui/screens/main.tcss",
    "tui/screens/help_topics.md",
    "core/store/presets/balanced.toml",
    "sample_sessions/index.json",
    "core/export/page.html",
    "core/export/page.css",
    "core/export/page.js",
    "core/hooks/programs/guard.sh",
    "core/hooks/programs/plugin.js",
    "tui/cli/completion.zsh",
    "tui/web.html",
)


@pytest.fixture(scope="module")
def project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def packages(project: dict[str, object]) -> list[str]:
    table: object = project
    for key in ("tool", "hatch", "build", "targets", "wheel"):
        assert isinstance(table, dict)
        table = table[key]
    assert isinstance(table, dict)
    assert set(table) == {"hooks", "packages"}, "rules of the wheel that this test does not know"
    return list(table["packages"])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of these sources, built as an installer builds it."""
    folder = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setenv("HATCH_BUILD_NO_HOOKS", "1")
        return folder / build.build_wheel(str(folder))


@pytest.fixture(scope="module")
def held(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as content:
        return {each for each in content.namelist() if ".dist-info/" not in each}


@pytest.mark.parametrize("name", NEEDED)
def test_data_files_are_in_it(name: str, held: set[str]) -> None:
    assert (ROOT / name).is_file()
    assert name in held


def test_every_sample_and_theme_and_style_is_in_it(held: set[str]) -> None:
    from sample_sessions import samples
    from themes import FOLDER

    logs = [sample.path for sample in samples()]
    inner = [file for path in logs for file in (path.rglob("*") if path.is_dir() else [path])]
    styles = [*(ROOT / "tui").rglob("*.tcss"), *FOLDER.glob("*.toml")]
    assert len(logs) >= 8 and len(styles) >= 10
    for file in (*inner, *styles):
        if file.is_file():
            assert file.relative_to(ROOT).as_posix() in held


def test_tests_and_caches_are_not(held: set[str], packages: list[str]) -> None:
    assert {name.split("/")[0] for name in held} == set(packages)
    assert not [name for name in held if "__pycache__" in name or name.endswith((".pyc", ".part"))]


def test_samples_are_small(held: set[str]) -> None:
    samples = [ROOT / name for name in held if name.startswith("sample_sessions/logs/")]
    assert sum(path.stat().st_size for path in samples) < 1_000_000


def test_the_command_and_the_version(project: dict[str, object]) -> None:
    table = project["project"]
    assert isinstance(table, dict)
    assert table["scripts"] == {"nooscope": "tui.cli:main"}
    hatch = project["tool"]
    assert isinstance(hatch, dict)
    version = ROOT / hatch["hatch"]["version"]["path"]
    assert "__version__ = " in version.read_text("utf-8")
    assert all((ROOT / name).is_file() for name in table["license-files"])


def test_what_was_unpacked_runs_by_itself(wheel: Path, tmp_path: Path) -> None:
    place, home = tmp_path / "installed", tmp_path / "home"
    home.mkdir()
    with zipfile.ZipFile(wheel) as content:
        content.extractall(place)
    run = (
        "import sys, core, tui.cli\n"
        f"assert core.__file__.startswith({str(place)!r}), core.__file__\n"
        "for line in sys.argv[1:]:\n"
        "    try:\n"
        "        code = tui.cli.main(line.split())\n"
        "    except SystemExit as ended:\n"
        "        code = ended.code\n"
        "    print('\\0' + line, code, sep='\\0', flush=True)"
    )
    lines = ["--version", "demo --list", "demo stuck", "rules", "settings ambient"]
    done = subprocess.run(
        [sys.executable, "-c", run, *lines],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(place), "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    told = done.stdout.split("\0")
    assert told[1::2] == lines
    assert [code.split("\n")[0] for code in told[2::2]] == ["0"] * len(lines)
    pages = [told[0], *(code.partition("\n")[2] for code in told[2:-1:2])]
    assert all(page.strip() for page in pages), pages
