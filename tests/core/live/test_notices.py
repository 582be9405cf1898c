"""Telling the person: through every channel, and only when it is wanted."""

from __future__ import annotations

import io
import json
import sys
import threading
from collections.abc import Iterator
from datetime import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from core.engine.response.reaction import Notice
from core.engine.response.rules import NoticeKind
from core.live.notices import Courier, Notifier, ShownNotice, quiet, show_notice
from core.settings.response import NoticeSettings

NOON = time(12, 0)


def notice(
    at: float = 0.0,
    kind: NoticeKind = "risk",
    rule: str = "frustration_alert",
    text: str = "Stuck.",
    cooldown: float = 300.0,
    agent: str = "main",
) -> Notice:
    return Notice(at, agent, kind, rule, text, cooldown)


def notifier(stream: io.StringIO | None = None, **settings: Any) -> Notifier:
    return Notifier(NoticeSettings(**settings), stream)


@pytest.mark.parametrize(("kind", "rings"), [("needs_you", "\a\a"), ("risk", "\a"), ("done", "\a")])
def test_the_bell_rings_twice_where_one_is_needed(kind: NoticeKind, rings: str) -> None:
    stream = io.StringIO()
    notifier(stream).tell(notice(kind=kind), NOON)
    assert stream.getvalue() == rings


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ("osc9", "\x1b]9;nooscope at risk: Stuck; again\x1b\\"),
        ("osc777", "\x1b]777;notify;nooscope at risk;Stuck, again\x1b\\"),
    ],
)
def test_a_desktop_notice_is_an_escape_code(form: str, code: str) -> None:
    stream = io.StringIO()
    notifier(stream, bell=False, desktop=form).tell(notice(text="Stuck; again"), NOON)
    assert stream.getvalue() == code


def test_text_of_a_log_can_neither_command_the_terminal_nor_leak() -> None:
    stream = io.StringIO()
    secret = "sk-ant-" + "A1b2C3d4" * 5
    notifier(stream, bell=False, desktop="osc9").tell(notice(text=f"a\x1b]0;evil\x07b\n{secret}"), NOON)
    shown = stream.getvalue()
    assert shown.count("\x1b") == 2 and "\x07" not in shown and "\n" not in shown
    assert secret not in shown
    assert secret not in show_notice(notice(text=secret)).line


def test_one_word_a_rule_agent_and_cooldown() -> None:
    one = notifier()
    said = [
        one.tell(notice(at, rule=rule, agent=agent), NOON) is not None
        for at, rule, agent in (
            (0.0, "a", "main"),
            (299.0, "a", "main"),
            (299.0, "b", "main"),
            (299.0, "a", "helper"),
            (300.0, "a", "main"),
            (301.0, "a", "main"),
        )
    ]
    assert said == [True, False, True, True, True, False]


@pytest.mark.parametrize("settings", [{"muted": ("frustration_alert",)}, {"risk": False}])
def test_what_is_muted_keeps_silent(settings: dict[str, Any]) -> None:
    stream, inside = io.StringIO(), list[ShownNotice]()
    one = Notifier(NoticeSettings(**settings), stream, inside.append)
    assert one.tell(notice(), NOON) is None
    assert one.tell(notice(kind="done", rule="done"), NOON) is not None
    assert (stream.getvalue(), len(inside)) == ("\a", 1)


@pytest.mark.parametrize(
    ("start", "end", "now", "still"),
    [
        ("22:00", "07:30", time(23, 0), True),
        ("22:00", "07:30", time(7, 29), True),
        ("22:00", "07:30", time(7, 30), False),
        ("22:00", "07:30", time(21, 59), False),
        ("12:00", "13:00", time(12, 30), True),
        ("12:00", "13:00", time(13, 0), False),
        ("", "", time(3, 0), False),
        ("22:00", "", time(23, 0), False),
    ],
)
def test_quiet_hours(start: str, end: str, now: time, still: bool) -> None:
    settings = NoticeSettings(quiet_from=start, quiet_until=end)
    assert quiet(settings, now) is still
    stream, inside = io.StringIO(), list[ShownNotice]()
    Notifier(settings, stream, inside.append).tell(notice(), now)
    assert (stream.getvalue() == "") is still
    assert len(inside) == 1


def test_a_command_gets_words_and_json_and_no_shell(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    code = f"import sys; open({str(seen)!r}, 'w').write(sys.argv[1] + chr(10) + sys.stdin.read())"
    one = notifier(command=(sys.executable, "-c", code, "{title}: {text}; touch no"))
    one.tell(notice(text="$(reboot) `x`"), NOON)
    one.flush(20.0)
    words, tree = seen.read_text().split("\n", 1)
    assert words == "at risk: $(reboot) `x`; touch no"
    assert json.loads(tree)["rule"] == "frustration_alert"
    assert one.problems == []


@pytest.mark.parametrize("words", [("/nowhere/to/be/found",), (sys.executable, "-c", "raise SystemExit(3)")])
def test_a_command_that_fails_is_noted_and_nothing_more(words: tuple[str, ...]) -> None:
    one = notifier(command=words)
    assert one.tell(notice(), NOON) is not None
    one.flush(20.0)
    assert len(one.problems) == 1


class Server(ThreadingHTTPServer):
    answers: list[int]
    bodies: list[bytes]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        answers = self.server.answers
        self.send_response(answers.pop(0) if answers else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the library's own name
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server(("127.0.0.1", 0), Handler)
    one.answers, one.bodies = [], []
    thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield one
    one.shutdown()
    thread.join()
    one.server_close()


@pytest.mark.parametrize(
    ("answers", "tries", "problems"),
    [([], 1, 0), ([500], 2, 0), ([503, 429], 3, 0), ([500, 500, 500, 500], 3, 1), ([404], 1, 1)],
)
def test_a_webhook_is_tried_a_bounded_number_of_times(
    server: Server, answers: list[int], tries: int, problems: int
) -> None:
    server.answers[:] = answers
    one = notifier(webhook=f"http://127.0.0.1:{server.server_port}/x", retries=2, pause=0.0)
    one.tell(notice(), NOON)
    one.flush(20.0)
    assert len(server.bodies) == tries
    assert len(one.problems) == problems
    assert json.loads(server.bodies[0]) == {
        "at": 0.0,
        "agent": "main",
        "kind": "risk",
        "rule": "frustration_alert",
        "title": "at risk",
        "text": "Stuck.",
    }


def test_nobody_waits_for_a_slow_channel() -> None:
    gate, taken = threading.Event(), list[str]()

    def slow(said: ShownNotice) -> None:
        gate.wait(20.0)
        taken.append(said.rule)

    courier = Courier(slow, 2)
    for name in ("a", "b", "c", "d"):
        courier(show_notice(notice(rule=name)))
    assert taken == []
    assert not courier.flush(0.0)
    gate.set()
    assert courier.flush(20.0)
    assert taken[-2:] == ["c", "d"]
    assert courier.dropped + len(taken) == 4


def test_what_matters_most_is_dropped_last() -> None:
    gate, taken, problems = threading.Event(), list[str](), list[str]()

    def slow(said: ShownNotice) -> None:
        gate.wait(20.0)
        taken.append(said.rule)

    courier = Courier(slow, 2, problems)
    courier(show_notice(notice(rule="first")))
    while courier.flush(0.0) or courier._waiting:
        pass
    kinds: list[tuple[str, NoticeKind]] = [("ask", "needs_you"), ("loop", "risk")]
    for rule, kind in (*kinds, *((f"r{each}", kinds[1][1]) for each in range(9))):
        courier(show_notice(notice(rule=rule, kind=kind)))
    gate.set()
    assert courier.flush(20.0)
    assert taken == ["first", "ask", "r8"]
    assert len(problems) == courier.dropped == 9
