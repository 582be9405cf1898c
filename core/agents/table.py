"""Every agent: its name, its formats, where it keeps its logs, and which versions of it were read."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from core.logs.agent import Agent, Environment, FormatsLater, Location, SurveyLater, folder, nowhere

Roots = Callable[[Environment, Path], list[Path]]
_BASE = re.compile(r"\{(\w+)(?::~/([^}]*))?\}/?")


def places(*templates: str) -> Roots:
    """Return the roots that templates name, in their order.

    A template begins with `~` for the home folder, `{data}` for the user's data folder, `{library}` for that
    of macOS, `{settings}` for each folder in which programs keep settings, or `{VARIABLE}` for what
    an environment variable names; `{VARIABLE:~/.tool}` has a default, without one the root is left out.
    """

    def roots(environment: Environment, home: Path) -> list[Path]:
        return list(chain.from_iterable(_expanded(one, environment, home) for one in templates))

    return roots


def _expanded(template: str, environment: Environment, home: Path) -> list[Path]:
    base = _BASE.match(template)
    if base is None:
        return [home / template.removeprefix("~/")]
    name, default = base.groups()
    library = home / "Library" / "Application Support"
    bases: list[Path | None]
    if name == "settings":
        bases = [home / ".config", library, folder(environment, "APPDATA")]
    elif name == "library":
        bases = [library]
    elif name == "data":
        bases = [folder(environment, "XDG_DATA_HOME") or home / ".local" / "share"]
    else:
        bases = [folder(environment, name) or (home / default if default else None)]
    return [one / template[base.end() :] for one in bases if one is not None]


def _folder_name(path: Path) -> str:
    """Return the id of a session whose folder is named by it."""
    return path.parent.name


def antigravity_conversation(path: Path) -> str:
    """Return the conversation of a transcript: the folder above what the system wrote."""
    return next((one.parent.name for one in path.parents if one.name == ".system_generated"), "")


def _claude_code_roots(environment: Environment, home: Path) -> list[Path]:
    folders = environment.get("CLAUDE_CONFIG_DIR", "")
    bases = [Path(part).expanduser() for part in folders.split(",") if part.strip()]
    bases = bases or [home / ".claude", home / ".config" / "claude"]
    more = places(
        "{OPENCLAUDE_CONFIG_DIR:~/.openclaude}/projects",
        "~/.iflow/projects",
        "{settings}/Claude/local-agent-mode-sessions",
    )
    return [*(base / "projects" for base in bases), *more(environment, home)]


_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Positron", "Trae")
_CLINE_EXTENSIONS = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")


def _editor_users(environment: Environment, home: Path) -> list[Path]:
    """Return the folders in which editors of VS Code's family keep what extensions write."""
    bases = places("{settings}")(environment, home)
    users = [base / editor / "User" for base in bases for editor in _EDITORS]
    return [*users, home / ".vscode-server" / "data" / "User"]


def _cline_roots(environment: Environment, home: Path) -> list[Path]:
    own = folder(environment, "CLINE_DATA_DIR") or home / ".cline" / "data"
    users = _editor_users(environment, home)
    storages = [user / "globalStorage" / extension for user in users for extension in _CLINE_EXTENSIONS]
    return [own / "sessions", *(base / "tasks" for base in (own, *storages))]


def _goose_roots(environment: Environment, home: Path) -> list[Path]:
    moved = folder(environment, "GOOSE_PATH_ROOT")
    usual = places("{data}/goose/sessions", "{APPDATA}/Block/goose/data/sessions")
    return [moved / "data" / "sessions"] if moved is not None else usual(environment, home)


def _openclaw_roots(environment: Environment, home: Path) -> list[Path]:
    state_folder = folder(environment, "OPENCLAW_STATE_DIR")
    names = (".openclaw", ".clawdbot", ".moltbot", ".moldbot", ".kimi_openclaw", ".qclaw")
    return [base / "agents" for base in ([state_folder] if state_folder else [home / name for name in names])]


def _openhands_roots(environment: Environment, home: Path) -> list[Path]:
    base = folder(environment, "OPENHANDS_PERSISTENCE_DIR") or home / ".openhands"
    return [folder(environment, "OPENHANDS_CONVERSATIONS_DIR") or base / "conversations"]


def _pi_roots(environment: Environment, home: Path) -> list[Path]:
    try:
        profiles = sorted((home / ".omp" / "profiles").glob("*/agent"))
    except PermissionError:
        profiles = []
    own = places("{PI_CODING_AGENT_DIR:~/.pi/agent}/sessions", "{OMP_CODING_AGENT_DIR:~/.omp/agent}/sessions")
    return [*own(environment, home), *(base / "sessions" for base in (*profiles, home / ".prime" / "agent"))]


def _qwen_roots(environment: Environment, home: Path) -> list[Path]:
    runtime_folder = folder(environment, "QWEN_RUNTIME_DIR") or folder(environment, "QWEN_HOME")
    forks = places("~/.qoder/projects", "~/.qoderwork/projects", "{settings}/Qoder/SharedClientCache/cli/projects")
    return [(runtime_folder or home / ".qwen") / "projects", *forks(environment, home)]


_ROLES = (b'"role":"user"', b'"role":"assistant"')
_CLAUDE_RESULT = re.compile(rb'"tool_use_id":"([^"]{1,100})"')
_CLAUDE_ANSWER = re.compile(rb'"id":"([^"]{1,100})","(?:type":"message"|role":"assistant"|model":")')
_OPENHANDS_OBSERVED = (*("run", "run_ipython", "read", "write", "edit", "browse", "mcp", "delegate", "error", "think"),)
_DOCUMENTED = "the documented shape"


def _agent(
    name: str,
    title: str,
    roots: Roots | None = None,
    patterns: tuple[str, ...] = (),
    marks: tuple[bytes, ...] = (),
    *,
    module: str = "",
    survey: str = "",
    **facts: Any,
) -> Agent:
    """Return an agent; its module is called like it, and `survey` is the module that lists its sessions."""
    places_of_logs = {key: facts.pop(key) for key in Location._fields if key in facts}
    if survey:
        places_of_logs["survey"] = SurveyLater(f"core.agents.{survey}", "survey")
    location = None if roots is None else Location(roots, patterns, marks, **places_of_logs)
    return Agent(name, title, FormatsLater(f"core.agents.{module or name.replace('-', '_')}"), location, **facts)


_OWN = (
    _agent(
        "aider",
        "Aider",
        nowhere,
        (),
        (
            *(b"\n\n#### ", b"\n> Tokens: ", b"\n> Applied edit to ", b"\n> The LLM did not conform"),
            *(b"\n> Added ", b"\n> Running "),
        ),
    ),
    _agent(
        "antigravity",
        "Antigravity",
        places("~/.gemini/antigravity/brain", "~/.gemini/antigravity-cli/brain"),
        ("*/.system_generated/logs/transcript.jsonl",),
        (b'"source":"MODEL"', b'"type":"USER_INPUT"'),
        session=antigravity_conversation,
    ),
    _agent(
        "claude-code",
        "Claude Code",
        _claude_code_roots,
        ("*/*.jsonl", "*/*/local_*/.claude/projects/*/*.jsonl"),
        (b'"role":"user","content":"',),
        once=(_CLAUDE_RESULT, _CLAUDE_ANSWER),
        module="claude_code.reader",
        resume=("claude", "--resume", "{session}"),
        certain=True,
        versions="1.0.0 to 2.1.235",
        aside=b'"type":"progress"',
        passed_over="agent-",
        nested="subagents",
    ),
    _agent(
        "cline",
        "Cline",
        _cline_roots,
        (),
        (b'"type":"tool_result"', b'"role":"assistant"', b'"type":"ask"', b'"type":"say"'),
        survey="cline",
    ),
    _agent(
        "codebuddy",
        "CodeBuddy",
        places("~/.codebuddy/projects", "~/.workbuddy/projects"),
        ("*/*.jsonl",),
        (b'"function_call_result"', *_ROLES),
        seen=_DOCUMENTED,
    ),
    _agent(
        "codex",
        "Codex",
        places(
            "{CODEX_HOME:~/.codex}/sessions",
            "{CODEX_HOME:~/.codex}/archived_sessions",
            "~/.trae/cli/sessions",
            "~/.trae/cli/archived_sessions",
            "{INTERPRETER_HOME:~/.openinterpreter}/sessions",
            "{INTERPRETER_HOME:~/.openinterpreter}/archived_sessions",
        ),
        ("rollout-*.jsonl", "rollout-*.jsonl.zst", "*/*/*/rollout-*.jsonl", "*/*/*/rollout-*.jsonl.zst"),
        (b'_call_output"', b'"type":"user_message"', b'"type":"UserMessage"'),
        once=(re.compile(rb'"total_token_usage":\{"input_tokens":(\d{1,15})'),),
        module="codex.reader",
        resume=("codex", "resume", "{session}"),
        prompt=("codex", "queue", "--thread={session}", "--message={text}"),
        certain=True,
        versions="0.39 to 0.147; Trae CLI 0.200",
    ),
    _agent(
        "copilot-cli",
        "Copilot CLI",
        places("{COPILOT_HOME:~/.copilot}"),
        ("**/events.jsonl",),
        (b'"type":"tool.execution_complete"', b'"type":"assistant.message"', b'"type":"user.message"'),
        module="copilot",
        resume=("copilot", "--resume", "{session}"),
        versions="1.0.34 to 1.0.64",
        ended=b'"session.shutdown"',
    ),
    _agent(
        "crush",
        "Crush",
        lambda environment, home: places(
            "{CRUSH_GLOBAL_DATA}" if folder(environment, "CRUSH_GLOBAL_DATA") else "{data}/crush"
        )(environment, home),
        survey="crush",
        elsewhere=True,
    ),
    _agent(
        "cursor",
        "Cursor",
        places("~/.cursor/projects"),
        ("*/agent-transcripts/*/*.jsonl", "*/agent-transcripts/*.jsonl"),
        (*_ROLES, b'"type":"tool_use"'),
        resume=("cursor-agent", "--resume", "{session}"),
        beside="subagents",
    ),
    _agent(
        "devin",
        "Devin CLI",
        places("{data}/devin/cli/transcripts", "{library}/devin/cli/transcripts"),
        ("*.json",),
        (b'"source_call_id"', b'"source":"agent"'),
        module="atif:DEVIN",
        seen=_DOCUMENTED,
    ),
    _agent(
        "droid",
        "Droid",
        places("~/.factory/sessions"),
        ("*/*.jsonl", "*.jsonl"),
        (b'"tool_use_id"', b'"role":"assistant"'),
        versions="0.81",
    ),
    _agent(
        "gemini",
        "Gemini CLI",
        lambda environment, home: [(folder(environment, "GEMINI_CLI_HOME") or home) / ".gemini" / "tmp"],
        ("*/chats/session-*.json", "*/chats/session-*.jsonl"),
        (b'"functionResponse":{', b'"type":"gemini"', b'"type":"user"'),
        resume=("gemini", "--resume", "{session}"),
        nested=".",
    ),
    _agent("goose", "Goose", _goose_roots, survey="goose"),
    _agent(
        "grok",
        "Grok Build",
        places("{GROK_HOME:~/.grok}/sessions"),
        ("*/*/updates.jsonl",),
        (b'"sessionUpdate":"tool_call"', b'"turn_completed"', b'"user_message_chunk"'),
        resume=("grok", "--resume", "{session}"),
        seen="chat histories of others' tests; updates by their documented shape",
        session=_folder_name,
    ),
    _agent(
        "hermes",
        "Hermes",
        places("{HERMES_HOME:~/.hermes}"),
        resume=("hermes", "--resume", "{session}"),
        seen="real rows, no real database",
        survey="hermes",
    ),
    _agent(
        "kimi",
        "Kimi",
        places(
            "{KIMI_CODE_HOME:~/.kimi-code}/sessions",
            "{KIMI_SHARE_DIR:~/.kimi}/sessions",
            "{settings}/kimi-desktop/daimon-share/daimon/runtime/kimi-code/home/sessions",
        ),
        versions="wire 1.1 to 1.10 of the CLI, 1.4 of Kimi Code",
        marks=(b'"tool.result"', b'"step.end"', b'"turn.prompt"', b'"ToolResult"', b'"StatusUpdate"'),
        survey="kimi",
    ),
    _agent(
        "kiro",
        "Kiro",
        places(
            "{KIRO_HOME:~/.kiro}/sessions/cli",
            "{data}/kiro-cli",
            "{data}/amazon-q",
            "{settings}/kiro-cli",
            "{settings}/amazon-q",
            "{settings}/Kiro/User/globalStorage/kiro.kiroagent/workspace-sessions",
        ),
        seen="real logs of the CLI; older CLI and editor by their documented shape",
        versions="CLI 2",
        survey="kiro",
    ),
    _agent(
        "managed-agents",
        "Claude managed agents",
        nowhere,
        (),
        (b'"agent.tool_result"', b'"span.model_request_end"', b'"user.message"'),
        seen=_DOCUMENTED,
    ),
    _agent(
        "mini-swe-agent",
        "mini-swe-agent",
        nowhere,
        (),
        (b'"role":"user"', b'"role":"user"', b'"role":"tool"', b'"role":"tool"'),
        versions="1.15",
    ),
    _agent(
        "mistral-vibe",
        "Mistral Vibe",
        places("{VIBE_HOME:~/.vibe}/logs/session"),
        ("*/messages.jsonl",),
        (b'"role":"tool"', b'"role":"assistant"', b'"role":"user"'),
        session=_folder_name,
    ),
    _agent(
        "opencode",
        "OpenCode",
        places("{data}/opencode", "{data}/kilo", "{data}/mimocode", "{data}/icodemate"),
        (),
        (b'"type":"tool"', b'"role":"assistant"', b'"role":"user"'),
        module="opencode.reader",
        resume=("opencode", "-s", "{session}"),
        versions="1.14 to 1.18",
        survey="opencode.store",
    ),
    _agent(
        "openclaw",
        "OpenClaw",
        _openclaw_roots,
        seen="logs of others' tests; its database by the documented shape",
        versions="log version 3",
        survey="openclaw",
    ),
    _agent(
        "openhands",
        "OpenHands",
        _openhands_roots,
        ("*/events",),
        (
            *(f'"observation":"{name}"'.encode() for name in _OPENHANDS_OBSERVED),
            *(b'"model_response":{', b'"action_risk":', b'"kind":"ObservationEvent"'),
            *(b'"kind":"MessageEvent"', b'"key":"stats"'),
        ),
        module="openhands.reader",
        versions="V0 and V1",
        survey="openhands.conversation",
    ),
    _agent(
        "pi",
        "pi",
        _pi_roots,
        ("*/*.jsonl", "*.jsonl"),
        (b'"role":"toolResult"', b'"role":"assistant"', b'"role":"user"'),
        resume=("pi", "--session", "{path}"),
        versions="log versions 1 and 3",
    ),
    _agent(
        "qwen",
        "Qwen Code",
        _qwen_roots,
        ("*/chats/*.jsonl",),
        (b'"type":"assistant"', b'"type":"tool_result"', b'"type":"user"'),
        resume=("qwen", "--resume", "{session}"),
        versions="0.21",
        beside="../subagents/{session}",
    ),
    _agent("swe-agent", "SWE-agent", nowhere, (), (b'"observation":', b'"observation":')),
    _agent(
        "vscode-chat",
        "VS Code Copilot Chat",
        _editor_users,
        tuple(
            f"{place}/*.{ending}"
            for place in ("workspaceStorage/*/chatSessions", "globalStorage/emptyWindowChatSessions")
            for ending in ("jsonl", "json")
        ),
        (b'"toolInvocationSerialized"', b'"requestId"'),
        seen="simplified snapshots; its log of operations by the documented shape",
    ),
    _agent(
        "zed",
        "Zed",
        places("{data}/zed/threads", "{library}/Zed/threads", "{LOCALAPPDATA}/Zed/threads"),
        seen=_DOCUMENTED,
        survey="zed",
    ),
)
_GENERAL = (
    _agent(
        "acp",
        "Agent Client Protocol",
        places("{data}/nooscope/acp", "{library}/nooscope/acp"),
        ("*.jsonl",),
        (b'"sessionUpdate":"tool_call"', b'"session/prompt"'),
        general=True,
        seen="the example client and agent of the protocol's SDK",
        versions="v1",
    ),
    _agent(
        "atif",
        "ATIF trajectories",
        nowhere,
        (),
        (b'"source_call_id"', b'"source":"agent"'),
        general=True,
        seen="trajectories of other producers",
        versions="v1.4 to v1.7",
    ),
    _agent("chat", "Chat completions", general=True),
    _agent(
        "nooscope",
        "Open event format",
        places("{data}/nooscope/received", "{library}/nooscope/received"),
        ("*.jsonl",),
        (b'"kind":"tool_use"', b'"kind":"turn"', b'"kind":"prompt"'),
        module="open_events",
        general=True,
        ended=b'"kind":"session_end"',
    ),
)

AGENTS: tuple[Agent, ...] = _OWN + _GENERAL  # In alphabetical order; formats that belong to no single agent come last.


def agent_named(name: str) -> Agent:
    """Return one of our agents by its name."""
    return next(agent for agent in AGENTS if agent.name == name)
