"""The small shell programs that agents run: they hand a call to the intake and never fail."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from shlex import quote

from core.agents.hook import HookMode

_MARK = re.compile(r"nooscope/hooks/(?:[a-z]+-(?:observe|advise|guard)|statusline)\b")
_HEAD = """\
#!/bin/sh
# Written by `nooscope hooks install`; `nooscope hooks uninstall` takes it out of the agent's settings.
d={folder}
p=$PATH
PATH={path}
ask() {{
  curl -q -s --fail --noproxy '*' --max-time "$2" --unix-socket "$d/socket" -H "@$d/token" \\
    -H 'Content-Type: application/json' -H 'Expect:' --data-binary @- "http://localhost/$1" 2>/dev/null
}}
"""
_PLAIN = """\
[ -S "$d/socket" ] || {{ cat >/dev/null; exit 0; }}
ask hook/{agent}/{mode} {deadline}
exit 0
"""
_GUARD = """\
[ -S "$d/socket" ] || {{ cat >/dev/null; exit 0; }}
i=$(cat; printf x)
i=${{i%x}}
o=$(printf %s "$i" | ask hook/{agent}/{mode} {deadline})
case $o in
"wait "*)
  set -- $o
  o=$(printf %s "$i" | ask "wait/{agent}/$2" "$3")
  ;;
esac
[ -z "$o" ] || printf '%s\\n' "$o"
exit 0
"""
_STATUS = """\
i=$(cat; printf x)
i=${{i%x}}
{before}[ -S "$d/socket" ] && printf %s "$i" | ask statusline {deadline}
exit 0
"""
_BEFORE = 'printf %s "$i" | PATH=$p /bin/sh -c {command}\n'
_PROGRAMS = ("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin")
"""Where curl and cat are looked for, for PATH may name a folder of the project first."""


def hook_stub(intake: Path, agent: str, mode: HookMode, deadline: float) -> str:
    """The program of one agent's hooks; only a guarded call may wait longer, once the intake has answered."""
    body = _GUARD if mode == "guard" else _PLAIN
    return _head(intake) + body.format(agent=agent, mode=mode, deadline=f"{deadline:g}")


def status_stub(intake: Path, before: str, deadline: float) -> str:
    """The program of a status line: what was there before, then ours."""
    chained = _BEFORE.format(command=quote(before)) if before else ""
    return _head(intake) + _STATUS.format(before=chained, deadline=f"{deadline:g}")


def _head(intake: Path) -> str:
    folders = list(_PROGRAMS)
    if shutil.which("curl", path=":".join(folders)) is None and (found := shutil.which("curl")):
        folders.append(str(Path(found).absolute().parent))
    return _HEAD.format(folder=quote(str(intake)), path=quote(":".join(folders)))


def is_ours(command: object) -> bool:
    """Whether a command in a settings file was put there by us."""
    return isinstance(command, str) and _MARK.search(command) is not None
