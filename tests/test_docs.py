"""The docs say what the code says, their examples run, and their links lead somewhere."""

from __future__ import annotations

import contextlib
import io
import json
import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest

from bench import docs
from core.live.status import Word
from core.settings.layers import tunables

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "AGENTS.md")),
]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def blocks(language: str) -> list[tuple[str, str]]:
    return [
        (path.name, found[2])
        for path in PAGES
        for found in _BLOCK.finditer(path.read_text("utf-8"))
        if found[1] == language
    ]


def anchor(heading: str) -> str:
    """A heading's name in a link, as it is made where these pages are shown."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def test_generated_parts_are_what_the_code_says() -> None:
    names = [str(path.relative_to(ROOT)) for path in docs.stale(ROOT)]
    assert names == [], "run: python -m bench.docs"


def test_a_changed_figure_would_be_seen() -> None:
    page = (ROOT / "docs" / "receptor.md").read_text("utf-8")
    spoilt = page.replace("| 180 s |", "| 181 s |", 1)
    assert spoilt != page
    assert docs.made(spoilt) == page
    with pytest.raises(ValueError, match="no table is named"):
        docs.made("<!-- nonsense -->\n<!-- end -->")
    with pytest.raises(ValueError, match="no setting"):
        docs.made("<!-- settings nothing.such -->\n<!-- end -->")


def test_every_figure_is_made_and_shown() -> None:
    there = {path.stem for path in (ROOT / "docs" / "figures").glob("*.svg")}
    assert there == set(docs.FIGURES)
    shown = "\n".join(path.read_text("utf-8") for path in docs.pages(ROOT))
    assert [name for name in docs.FIGURES if f"(figures/{name}.svg)" not in shown] == []


def test_every_setting_stands_in_a_page() -> None:
    shown = {
        prefix
        for path in docs.pages(ROOT)
        for kind, about in docs.parts(path.read_text("utf-8"))
        if kind == "settings"
        for prefix in about.split()
    }
    drawn = {"receptor.emotion.half_life", "receptor.impulse", "receptor.ambient.offset"}
    missing = [
        name
        for name in tunables()
        if not any(name == prefix or name.startswith(prefix + ".") for prefix in shown | drawn)
    ]
    assert missing == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    text = _BLOCK.sub("", path.read_text("utf-8"))
    for target in _LINK.findall(text):
        if target.startswith("https://"):
            continue
        name, _, place = target.partition("#")
        file = path if not name else (path.parent / name).resolve()
        assert file.exists(), f"{path.name}: {target}"
        if place:
            heads = re.findall(r"^#+ (.*)$", file.read_text("utf-8"), re.M)
            assert place in map(anchor, heads), f"{path.name}: {target}"


@pytest.mark.parametrize("path", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=lambda path: path.name)
def test_files_of_the_code_that_pages_name_exist(path: Path) -> None:
    names = re.findall(r"`((?:core|tui|bench|tests|themes|sample_\w+)/[\w./-]+)`", path.read_text("utf-8"))
    assert not [name for name in names if not (ROOT / name).exists()]


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    for path in (ROOT / "docs").glob("*.md"):
        assert path.name == "README.md" or f"({path.name})" in index


@pytest.mark.parametrize(("page", "code"), blocks("python"), ids=lambda text: text.split("\n")[0][:40])
def test_python_examples_run(page: str, code: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, page, "exec"), {})  # noqa: S102
    if "meta.state" in code:
        assert printed.getvalue().startswith("stuck {'frustration': ")


def test_there_are_ten_lines_to_embed_the_engine() -> None:
    code = [text for page, text in blocks("python") if page == "embedding.md"]
    assert len(code) == 2
    assert all(len(text.strip().splitlines()) <= 14 for text in code)


def test_the_example_rules_can_be_used() -> None:
    from core.engine.response.rules import add_rules, built_in

    (rules,) = [text for page, text in blocks("json") if page == "extending.md"]
    found = add_rules(built_in(), rules.encode(), "example")
    method = found.method("tests_first")
    assert method is not None and method.trigger.states == ("stuck",)
    reminder = found.method("push_reminder")
    assert reminder is not None and not reminder.enabled


def test_the_example_theme_and_table_can_be_used(tmp_path: Path) -> None:
    from core.agents.models import Models
    from core.agents.normalizer import Normalizer
    from themes import ThemeFile

    table, prices, theme, package = [text for page, text in blocks("toml") if page == "extending.md"]
    sample = tomllib.loads((ROOT / "sample_extension" / "pyproject.toml").read_text("utf-8"))
    for group, offered in tomllib.loads(package)["project"]["entry-points"].items():
        assert offered.items() <= sample["project"]["entry-points"][group].items()
    assert ThemeFile.parse(tomllib.loads(theme)).name == "dusk"
    (tmp_path / "tools.toml").write_text(table)
    normalizer = Normalizer.load(tmp_path / "tools.toml")
    assert normalizer.sort("claude-code", "mcp__docs__lookup", {}).action == "search"
    assert normalizer.sort("claude-code", "Read", {"file_path": "a.py"}).action == "file_read"
    assert normalizer.sort("my-framework", "anything", {}).action == "shell_exec"
    (tmp_path / "models.toml").write_text(prices)
    models = Models.load(tmp_path / "models.toml")
    assert models.cost("best", 1_000_000, 0) == 1.0
    assert models.cost("vendor/my-long-model", 1_000_000, 0) == 2.0


def test_the_example_events_are_read(tmp_path: Path) -> None:
    from core.agents.registry import make_kit
    from core.events import ToolUse
    from core.logs.finder import sessions
    from core.logs.session import read_session

    (lines,) = [text for name, text in blocks("json") if name == "formats.md"]
    written: list[Any] = [json.loads(line) for line in lines.splitlines()]
    (tmp_path / "log.jsonl").write_text(lines)
    kit = make_kit()
    (session,) = sessions([tmp_path / "log.jsonl"], kit)
    uses = [event for event in read_session(session, kit) if isinstance(event, ToolUse)]
    assert [use.tool for use in uses] == [line["tool"] for line in written]
    assert kit.diagnostics.counts == {}


def test_commands_and_options_that_pages_name_exist() -> None:
    from tui.cli import COMMANDS, GROUPS, command_parser

    flags = {name: set(command_parser(name)._option_string_actions) for name in COMMANDS}
    for path in PAGES:
        for words in re.findall(r"nooscope ([a-z][^`\n]*)", path.read_text("utf-8")):
            first, *rest = words.split("  ")[0].split()
            command = rest[0] if first in GROUPS and rest and rest[0] in GROUPS[first][1] else first
            if command in flags:
                for flag in re.findall(r"(?<!\w)--[a-z][a-z-]+", words.split("  ")[0]):
                    assert flag in flags[command], f"{path.name}: nooscope {words}"


def test_setting_names_in_prose_exist() -> None:
    rooms = "receptor|mind|governor|affect|response|ingest|timeline|screen"
    groups = {name.rsplit(".", depth)[0] for name in tunables() for depth in range(5)}
    for path in PAGES:
        if path.name == "CHANGELOG.md":  # it also names settings that are gone
            continue
        for name in re.findall(rf"`((?:{rooms})\.[a-z_.]+[a-z_])`", path.read_text("utf-8")):
            assert name in tunables() or name in groups, f"{path.name}: {name}"


def test_every_status_is_explained() -> None:
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    table = page.partition("## Status of a session")[2].partition("\n## ")[0]
    told = re.findall(r"`([^`]+)`", "\n".join(line.split("|")[1] for line in table.splitlines() if "| `" in line))
    assert sorted(told) == sorted(get_args(Word))


def test_every_command_with_json_is_named() -> None:
    from tui.cli import COMMANDS, command_parser

    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    sentence = page.partition("**JSON.** ")[2].partition(" take `--json`")[0]
    able = {name for name in COMMANDS if "--json" in command_parser(name)._option_string_actions}
    assert set(re.findall(r"`(\w+)`", sentence)) == able - {"watch"}


_SHOWN = {
    "nooscope": "claude-code",
    "nooscope fleet": "to look at",
    "nooscope replay LOG": "asked     0:00",
    "nooscope recap LOG": "outcome 4 files changed",
    "nooscope changes LOG": "+++ b/src/dates/zones.ts",
    "nooscope compare LOG LOG2": "of all steps have a counterpart",
    "nooscope search midnight": "nooscope replay ",
    "nooscope cost --by project": "paperlane",
    "nooscope inspect why LOG": "[",
    "nooscope tune whatif LOG": "frustration",
    "nooscope export LOG": "",
    "nooscope hooks": "claude ",
}
"""A part of what each example of the README prints on the samples."""


def test_the_examples_of_the_readme_do_what_they_say(
    tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sample_sessions import find_sample
    from sample_sessions.archive import decompress  # type: ignore[attr-defined]
    from tui.cli import main

    log, other = find_sample("stuck").path, find_sample("flow").path
    own = home / "home" / ".claude" / "projects" / "p" / log.stem
    own.parent.mkdir(parents=True)
    own.write_bytes(decompress(log.read_bytes()))
    monkeypatch.chdir(tmp_path)
    block = (ROOT / "README.md").read_text("utf-8").partition("## On the command line")[2].split("```")[1]
    examples = [line.split("  ")[0] for line in block.splitlines() if line.startswith("nooscope")]
    assert len(examples) == len(_SHOWN)
    for example, (beginning, part) in zip(examples, _SHOWN.items(), strict=True):
        assert example.startswith(beginning)
        names = {"LOG": str(log), "LOG2": str(other)}
        assert main([names.get(word, word) for word in example.split()[1:]]) == 0, example
        assert part in capsys.readouterr().out, example
    assert (tmp_path / "session.html").read_text("utf-8").startswith("<!doctype html>")


def test_every_page_is_in_the_site() -> None:
    site = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:")[2]
    assert sorted(re.findall(r": (\S+\.md)$", site, re.M)) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))
