"""The page in a real browser, without a network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.export.exporters import page
from tests.core.export.films import hostile, made

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

NOTE_PLAY = """() => {
    const key = document.querySelector("#play");
    window.noted = [];
    new MutationObserver(() => window.noted.push(key.textContent))
        .observe(key, { characterData: true, childList: true, subtree: true });
}"""
"""Notes every word that the key for playing shows, however briefly."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def shown(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """The hostile session's page with all its words, and what the browser complained of."""
    path = tmp_path / "page.html"
    path.write_text(page(made(hostile(tmp_path / "s-1.jsonl"), "transcript")), "utf-8")
    context = browser.new_context(offline=True, viewport={"width": 390, "height": 844})
    tab = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(path.as_uri())
    opened_at = tab.inner_text("#clock").split()
    assert opened_at[1] == opened_at[3].strip(","), "it opens at its end"
    assert tab.inner_text("#ending")
    tab.keyboard.press("Home")
    yield tab
    assert complaints == []
    assert asked == [path.as_uri()]
    context.close()


def test_keys_move_as_in_the_app(shown: Any) -> None:
    assert shown.inner_text("#clock").startswith("event 1 of ")
    shown.keyboard.press("ArrowRight")
    assert shown.inner_text("#clock").startswith("event 2 of ")
    shown.keyboard.press("x")
    assert "✗" in shown.inner_text("#events li[aria-current]")
    place = shown.inner_text("#clock")
    shown.keyboard.press("End")
    shown.keyboard.press("Shift+X")
    assert shown.inner_text("#clock") == place
    shown.keyboard.press("Home")
    assert shown.inner_text("#clock").startswith("event 1 of ")
    shown.keyboard.press("?")
    assert shown.is_visible("#help")


def test_a_failure_is_named_until_it_is_solved(shown: Any) -> None:
    assert shown.inner_text("#failed") == "nothing unsolved since the prompt"
    shown.keyboard.press("x")
    assert shown.inner_text("#failed").startswith("✗ Bash make")
    shown.keyboard.press("End")
    assert shown.inner_text("#failed") == "nothing unsolved since the prompt"


def test_play_goes_to_the_end_and_stops(shown: Any) -> None:
    for _ in range(6):
        shown.keyboard.press(".")
    shown.evaluate(NOTE_PLAY)
    shown.keyboard.press("Space")
    shown.wait_for_function("() => window.noted.some((text) => text.includes('pause'))")
    shown.wait_for_function("() => window.noted.at(-1).includes('play')")
    place, whole = shown.inner_text("#clock").split(",")[0].removeprefix("event ").split(" of ")
    assert place == whole


def test_hostile_words_are_shown_and_do_nothing(shown: Any) -> None:
    shown.keyboard.press("x")
    assert "</script>" in shown.inner_text("#words")
    assert shown.evaluate("window.hacked") is None
    assert shown.query_selector("img") is None


def test_nothing_is_wider_than_a_phone(shown: Any) -> None:
    shown.keyboard.press("x")
    assert shown.evaluate("document.documentElement.scrollWidth") <= 390
