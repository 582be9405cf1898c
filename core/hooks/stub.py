"""The small shell programs that agents run: they hand a call to the intake and never fail."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from shlex import quote
from typing import Literal

from core.hooks.agent_replies import HookCall, HookMode, HookReply
from core.hooks.agents import AgentHooks

_MARK = re.compile(r"nooscope/hooks/(?:[a-z]+-(?:observe|advise|guard)|statusline)\b")
_HEAD = """\
#!/bin/sh
# Written by `nooscope hooks install`; `nooscope hooks uninstall` takes it out of the agent's settings.
d={folder}
p=$PATH
PATH={path}
ask() {{
  curl -q -s --fail --noproxy '*' --max-time "${{2:-{deadline}}}" --unix-socket "$d/socket" -H "@$d/token" \\
    -H 'Content-Type: application/json' -H 'Expect:' -H "X-Nooscope-Parent: $PPID" \\
    --data-binary @- "http://localhost/$1" 2>/dev/null
}}
"""
_PLAIN = """\
[ -S "$d/socket" ] || {{ cat >/dev/null; exit 0; }}
ask hook/{agent}/{mode}
exit 0
"""
_GUARD = """\
i=$(cat; printf x)
i=${{i%x}}
b=
w=
case $i in *'"{event}"'*) b=1 ;; esac
note() {{
  [ -n "$b" ] && [ "$(wc -c 2>/dev/null <"$d/unanswered" || echo 0)" -lt 65536 ] || return 0
  h=$(printf %.4000s "$i")
  s=${{h#*'"session_id"'}} && s=${{s#*'"'}} && s=${{s%%'"'*}}
  t=${{h#*'"tool_name"'}} && t=${{t#*'"'}} && t=${{t%%'"'*}}
  printf '%s %s %.200s %.100s\\n' "$(date +%s)" "$1" "$s" "$t" >>"$d/unanswered"
}} 2>/dev/null
[ -S "$d/socket" ] || {{ note down; exit 0; }}
n=0
while :; do
  o=$(printf %s "$i" | ask hook/{agent}/{mode} "${{b:+{patience}}}")
  c=$?
  case $o in
  "wait "*)
    set -- $o
    w=1
    o=$(printf %s "$i" | ask "wait/{agent}/$2" "$3")
    c=$?
    ;;
{answer}  esac
  [ "$c" -ne 0 ] && [ -n "$w" ] && [ "$n" -lt 10 ] || break
  n=$((n + 1))
  sleep 0.3
done
if [ "$c" -ne 0 ] && [ -n "$b" ]; then
  case $w$c in
  7 | 127) note down ;;
  *)
    note late
    o={ask}
    case $i in *'"bypassPermissions"'* | *'"dontAsk"'*) o={deny} ;; esac
    [ ! -r "$d/halted" ] || while read -r s; do
      case $i in *"\\"$s\\""*) o={deny} ;; esac
    done <"$d/halted"
    ;;
  esac
fi
[ -z "$o" ] || printf '%s\\n' "$o"
exit 0
"""
_ANSWER = """\
"answer "*)
  set -- $o
  trap 'kill "$c" 2>/dev/null; exit 0' TERM HUP INT
  curl -q -s --fail --noproxy '*' --max-time "$3" --unix-socket "$d/socket" -H "@$d/token" \\
    -H 'Content-Type: application/json' --data-binary '{{}}' \\
    "http://localhost/answer/{agent}/$2" 2>/dev/null &
  c=$!
  wait "$c"
  exit 0
  ;;
"""
_STATUS = """\
i=$(cat; printf x)
i=${{i%x}}
{before}[ -S "$d/socket" ] && printf %s "$i" | ask statusline
exit 0
"""
_BEFORE = 'printf %s "$i" | PATH=$p /bin/sh -c {command}\n'
_PROGRAMS = ("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin")
"""Where curl and cat are looked for, for PATH may name a folder of the project first."""
_PATIENCE = 1.0
"""Seconds a call that is about to be made waits for the guard at least; then the agent asks the person."""
_VERDICTS: tuple[Literal["ask", "deny"], ...] = ("ask", "deny")
_LATE = "nooscope: no decision was made in time; the person decides"


def hook_stub(
    intake: Path, hooks: AgentHooks, mode: HookMode, deadline: float, *, answer: bool = False
) -> str:
    """The program of one agent's hooks.

    Only a guarded call or a permission prompt may wait longer, once nooscope has replied to it. A guarded
    call that a running nooscope does not answer is put to the person by the agent, or denied.
    """
    body = _GUARD if mode == "guard" or answer else _PLAIN
    name, way = hooks.before, f"{mode}/answer" if answer else mode
    call = HookCall("before_tool", name, "")
    ask, deny = (hooks.answer(call, HookReply(verdict=verdict, reason=_LATE)) for verdict in _VERDICTS)
    return _head(intake, deadline) + body.format(
        agent=hooks.name,
        mode=way,
        event=name if mode == "guard" else "no guard",
        patience=f"{max(deadline, _PATIENCE):g}",
        answer=_ANSWER.format(agent=hooks.name) if answer else "",
        ask=quote(json.dumps(ask)),
        deny=quote(json.dumps(deny)),
    )


def status_stub(intake: Path, before: str, deadline: float) -> str:
    """The program of a status line: what was there before, then ours."""
    chained = _BEFORE.format(command=quote(before)) if before else ""
    return _head(intake, deadline) + _STATUS.format(before=chained)


def _head(intake: Path, deadline: float) -> str:
    folders = list(_PROGRAMS)
    if shutil.which("curl", path=":".join(folders)) is None and (found := shutil.which("curl")):
        folders.append(str(Path(found).absolute().parent))
    return _HEAD.format(folder=quote(str(intake)), path=quote(":".join(folders)), deadline=f"{deadline:g}")


def is_ours(command: object) -> bool:
    """Whether a command in a settings file was put there by us."""
    return isinstance(command, str) and _MARK.search(command) is not None
