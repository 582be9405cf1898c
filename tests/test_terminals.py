"""Every text command on poor terminals and broken pipes; signals at any time; the screen given back."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from bench.claude import lines
from core.live.status import GLYPHS
from tests.terminals import BACK, NOOSCOPE, ROOT, on_screen
from tui.cli.streams import _SPELLED

TEXT = [
    *("sessions {}", "analyze {}", "export {}", "frame {}", "diff {}", "recap {}", "tree {}", "whatif {}"),
    *("bookmarks {}", "replay {}", "watch {}", "fleet {} --within 8760 --once", "rules", "settings"),
    *("sweep {} --set receptor.ambient.silence=60:90:2", "demo --list", "completion bash", "labels", "--help"),
]


pytestmark = pytest.mark.usefixtures("home")


def started(*words: str, **more: object) -> subprocess.Popen[bytes]:
    options: dict[str, object] = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, **more}
    return subprocess.Popen([*NOOSCOPE, *words], **options)  # type: ignore[call-overload, no-any-return]


ALL_OF_THEM = f"""
import os
import sys
sys.path.insert(0, {ROOT!r})
from tui.cli import main
def mark(text):
    sys.stdout.flush()
    os.write(1, ("\\x00" + text + "\\n").encode())
for line in sys.argv[1:]:
    sys.argv = ["nooscope", *line.split(" ")]
    mark(line)
    try:
        code = main()
    except SystemExit as ended:
        code = ended.code
    mark(str(code))
"""


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii", "COLUMNS": "20", "LINES": "5"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TERM": "dumb"},
        {"PYTHONIOENCODING": "latin-1", "NO_COLOR": "1", "TERM": "", "COLUMNS": "1"},
    ],
    ids=["ascii, 20x5", "C locale, dumb", "latin-1, no colour"],
)
def test_text_on_poor_terminals(environment: dict[str, str], log: Path) -> None:
    asked = [line.replace("{}", log.name) for line in TEXT]
    done = subprocess.run(
        [sys.executable, "-c", ALL_OF_THEM, *asked],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr.decode()
    told = done.stdout.decode("latin-1").split("\0")[1:]
    pages = dict(zip(told[::2], told[1::2], strict=True))
    assert [re.sub("\n.*", "", page, flags=re.S) for page in told[::2]] == asked
    for page, code in pages.items():
        assert code.strip() == "0", page
        assert len(page.splitlines()) > 1
        assert "\x1b" not in page
        if "latin-1" not in environment.values():
            assert page.isascii()


def test_glyphs_become_signs_of_the_same_width(log: Path) -> None:
    pages = [
        subprocess.run(
            [*NOOSCOPE, "analyze", log.name],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONIOENCODING": encoding},
        ).stdout.decode()
        for encoding in ("utf-8", "ascii")
    ]
    assert "█" in pages[0] and "#" in pages[1]
    assert list(map(len, pages[0].splitlines())) == list(map(len, pages[1].splitlines()))


def test_every_status_has_a_sign_in_ascii_too() -> None:
    spelled = {word: sign.translate(_SPELLED) for word, sign in GLYPHS.items()}
    assert all(sign.isascii() and len(sign) == 1 for sign in spelled.values())
    assert [word for word, sign in spelled.items() if sign == "?"] == ["may need you"], "all others are known"
    assert [word for word, sign in spelled.items() if sign == "+"] == ["done"], "nothing else looks like it"


@pytest.mark.parametrize("words", ["settings", "frame {}", "export {}", "--help"])
def test_a_reader_that_leaves_is_no_fault(words: str, log: Path) -> None:
    program = started(*words.replace("{}", log.name).split(), stdout=subprocess.PIPE)
    assert program.stdout is not None and program.stderr is not None
    program.stdout.readline()
    program.stdout.close()
    said = program.stderr.read()
    program.stderr.close()
    assert (program.wait(), said.replace(b"85 events of 1 session\n", b"")) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
@pytest.mark.parametrize(
    "words",
    [
        ("analyze", "LOG"),
        ("frame", "LOG"),
        ("settings",),
        ("export", "LOG"),
        ("export", "LOG", "--format", "html"),
        ("--help",),
        ("sessions", "--help"),
        ("--version",),
    ],
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_has_no_room_is_a_fault(
    words: tuple[str, ...], unbuffered: str, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with Path("/dev/full").open("wb") as full:
        done = started(*(log.name if word == "LOG" else word for word in words), stdout=full)
        _, said = done.communicate()
    assert (done.returncode, said.count(b"\n")) == (1, 1)
    assert b"output: No space left" in said


def test_no_output_at_all(log: Path) -> None:
    done = subprocess.run(["/bin/sh", "-c", 'exec "$@" >&- 2>&-', "sh", *NOOSCOPE, "analyze", log.name], check=False)
    assert done.returncode == 0


STRIKE = f"""
import os, signal, sys
sys.path.insert(0, {ROOT!r})
from tui.cli import main
wanted, name, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
def strike(event, args):
    global wanted
    if event == wanted and name in str(args[0]):
        wanted = ""
        os.kill(os.getpid(), number)
sys.addaudithook(strike)
sys.argv = ["nooscope", *sys.argv[4:]]
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("event", "name"),
    [
        ("import", "tui.cli.options"),
        ("import", "core.settings.layers"),
        ("import", "numpy"),
        ("open", "good.jsonl"),
        ("import", "core.report.page"),
    ],
)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_at_any_time_ends_without_a_trace(event: str, name: str, number: int, code: int, log: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STRIKE, event, name, str(int(number)), "analyze", log.name],
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")


HELPERS = """
import os, signal, sys, time
program = os.getpid()
def strike():
    os.killpg(os.getpgid(0), signal.SIGINT)
def opened(event, args):
    if event == "open" and str(args[0]).endswith("two.jsonl") and os.getpid() != program:
        strike()
if "{moment}" == "started":
    os.register_at_fork(after_in_child=strike)
elif "{moment}" == "reading":
    sys.addaudithook(opened)
else:
    from multiprocessing.connection import Connection
    send = Connection._send
    def cut(self, answer, *more):
        if os.getpid() == program:
            return send(self, answer, *more)
        send(self, answer[:10])
        strike()
        time.sleep(60)
    Connection._send = cut
"""


@pytest.mark.skipif(sys.platform != "linux", reason="helpers are copies of the program on Linux alone")
@pytest.mark.parametrize("moment", ["started", "reading", "answering"])
def test_ctrl_c_ends_helpers_too(moment: str, home: Path, log: Path) -> None:
    (home / "two.jsonl").write_bytes(b"".join(islice(lines(2), 240)))
    (home / "hook").mkdir()
    (home / "hook" / "sitecustomize.py").write_text(textwrap.dedent(HELPERS.format(moment=moment)))
    done = subprocess.run(
        [*NOOSCOPE, "analyze", log.name, "two.jsonl", "--jobs", "2"],
        capture_output=True,
        check=False,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(home / "hook")},
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_a_headless_watch_ends_by_ctrl_c(log: Path) -> None:
    program = started("watch", log.name, "--headless", stdout=subprocess.PIPE)
    assert program.stderr is not None
    assert b"watching" in program.stderr.readline()
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=30)
    assert (program.returncode, said) == (0, b"")


def by_signal(number: int) -> Callable[[subprocess.Popen[bytes], int], None]:
    return lambda program, _: program.send_signal(number)


def by_key(key: bytes) -> Callable[[subprocess.Popen[bytes], int], None]:
    def press(_: subprocess.Popen[bytes], master: int) -> None:
        os.write(master, key)

    return press


@pytest.mark.parametrize(
    ("act", "columns", "rows", "codes"),
    [
        (by_signal(signal.SIGINT), 80, 24, {0, 130}),
        (by_signal(signal.SIGTERM), 80, 24, {143}),
        (by_key(b"q"), 20, 5, {0}),
    ],
    ids=["SIGINT", "SIGTERM", "q at 20x5"],
)
def test_the_screen_gives_the_terminal_back(
    act: Callable[[subprocess.Popen[bytes], int], None], columns: int, rows: int, codes: set[int], log: Path
) -> None:
    left = on_screen(["replay", str(log)], act, columns=columns, rows=rows)
    assert left.code in codes
    assert left.restored
    assert BACK in left.output and b"\x1b[?25h" in left.output
    assert b"Traceback" not in left.output
