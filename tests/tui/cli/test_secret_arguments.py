"""No command tells a secret that stands in a call's arguments, whatever it is told from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.core.logs import log_lines as logs

Run = Callable[..., tuple[int, str, str]]

WORD = "hunter" + "two"
GIVEN = {
    "host": "h",
    "password": WORD,
    "clientSecret": WORD,
    "auth": {"token": WORD},
    "headers": {"Authorization": WORD, "X-Api-Key": WORD},
    "apiKey": WORD,
    "passphrase": WORD,
}
COMMANDS = [
    f"git remote set-url o https://{WORD}a1b2c3d4E5@example.com/x",
    f'curl -b "session={WORD}" https://example.com',
    f"vault login {WORD}1",
    f"sqlplus scott/{WORD}@db",
    f"telegram bot123456789:AA{WORD}" + "aB3" * 8,
]


@pytest.mark.parametrize(
    "words",
    [
        ("export", "LOG", "--format", "html", "--transcript"),
        *(("export", "LOG", "--format", form) for form in ("events", "html", "markdown", "cast", "otlp")),
        ("recap", "LOG"),
        ("recap", "LOG", "--prose"),
        ("why", "LOG"),
        ("why", "LOG", "--json"),
        ("frame", "LOG"),
        ("frame", "LOG", "--json"),
        ("analyze", "LOG"),
        ("tree", "LOG"),
        ("events", "LOG", "--json"),
        ("search", WORD, "--in", "LOG"),
        ("search", "connect", "--in", "LOG"),
    ],
    ids=" ".join,
)
def test_no_secret_of_an_argument_is_told(words: tuple[str, ...], home: Path, run: Run) -> None:
    log = home / "s-1.jsonl"
    log.write_bytes(
        logs.prompt(0, "connect")
        + b"".join(
            logs.call(10 * number, f"c{number}", "Bash", {"command": command})
            + logs.result(10 * number + 1, f"c{number}", "Error: boom", error=True)
            for number, command in enumerate(COMMANDS, 1)
        )
        + logs.call(90, "k", "mcp__db__connect", GIVEN)
        + logs.result(91, "k", "Error: boom", error=True)
    )
    _, out, err = run(*(str(log) if word == "LOG" else word for word in words))
    assert out
    assert WORD not in out.replace(f"search {WORD}", "") and WORD not in err
