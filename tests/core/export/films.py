"""Sessions on disk for the exports to be made of."""

from __future__ import annotations

from pathlib import Path

from core.agents.registry import make_kit
from core.export.film import ExportedSession, Level, Privacy, film
from core.logs.finder import sessions
from core.logs.session import read_session
from core.settings import Settings
from tests.core.logs import log_lines as logs

SETTINGS = Settings()
HOSTILE = "</script><script>window.hacked=1</script><!-- <img src=x onerror=hacked=1> \u2028 ]]> &lt; \x1b[31m"
SECRET = "sk-ant-" + "api03-abcdefghijklmnop12345"


def made(path: Path, level: Level = "excerpts") -> ExportedSession:
    """A log as a film."""
    kit = make_kit()
    session = sessions([path], kit)[0]
    events = list(read_session(session, kit))
    return film(session, events, SETTINGS, Privacy(level))


def hostile(path: Path) -> Path:
    """A log whose every word tries to be more than text, with a secret in it."""
    path.write_bytes(
        logs.prompt(0, f"please {HOSTILE} with {SECRET}")
        + logs.call(1, "t1", "Bash", {"command": f"make test # {HOSTILE} API_KEY={SECRET}"})
        + logs.result(2, "t1", f"Error: no rule {HOSTILE} {SECRET}", error=True)
        + logs.call(3, "t2", "Edit", {"file_path": "/p/Makefile", "old_string": "a", "new_string": "b"})
        + logs.result(4, "t2", "done")
        + logs.call(5, "t3", "Bash", {"command": f"make test # {HOSTILE} API_KEY={SECRET}"})
        + logs.result(6, "t3", "1 passed")
    )
    return path
