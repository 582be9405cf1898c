"""Every agent: its name, its formats and where it keeps its logs."""

from __future__ import annotations

import re
from pathlib import Path

from core.logs.agent import Agent, Environment, FormatsLater, Location, SurveyLater, folder, nowhere


def _settings_folders(environment: Environment, home: Path) -> list[Path]:
    """Where programs keep their settings, on all systems."""
    roaming = folder(environment, "APPDATA")
    return [home / ".config", home / "Library" / "Application Support", *filter(None, [roaming])]


def _data_folder(environment: Environment, home: Path) -> Path:
    return folder(environment, "XDG_DATA_HOME") or home / ".local" / "share"


def _folder_name(path: Path) -> str:
    """The id of a session whose folder is named by it."""
    return path.parent.name


def _acp_roots(environment: Environment, home: Path) -> list[Path]:
    bases = (_data_folder(environment, home), home / "Library" / "Application Support")
    return [base / "nooscope" / "acp" for base in bases]


ACP = Agent(
    "acp",
    "Agent Client Protocol",
    FormatsLater("core.agents.acp"),
    Location(_acp_roots, ("*.jsonl",), (b'"sessionUpdate":"tool_call"', b'"session/prompt"')),
    general=True,
    seen="the documented shape",
)


AIDER = Agent(
    "aider",
    "Aider",
    FormatsLater("core.agents.aider"),
    Location(
        nowhere,
        (),
        (
            *(b"\n\n#### ", b"\n> Tokens: ", b"\n> Applied edit to ", b"\n> The LLM did not conform"),
            *(b"\n> Added ", b"\n> Running "),
        ),
    ),
)


def antigravity_conversation(path: Path) -> str:
    """The conversation a transcript belongs to: the folder that holds what the system wrote."""
    for place in path.parents:
        if place.name == ".system_generated":
            return place.parent.name
    return ""


def _antigravity_roots(environment: Environment, home: Path) -> list[Path]:
    del environment
    return [home / ".gemini" / name / "brain" for name in ("antigravity", "antigravity-cli")]


ANTIGRAVITY = Agent(
    "antigravity",
    "Antigravity",
    FormatsLater("core.agents.antigravity"),
    Location(
        _antigravity_roots,
        ("*/.system_generated/logs/transcript.jsonl",),
        (b'"source":"MODEL"', b'"type":"USER_INPUT"'),
        session=antigravity_conversation,
    ),
)


ATIF = Agent(
    "atif",
    "ATIF trajectories",
    FormatsLater("core.agents.atif"),
    Location(nowhere, (), (b'"source_call_id"', b'"source":"agent"')),
    general=True,
    seen="trajectories of other producers",
)


CHAT = Agent("chat", "Chat completions", FormatsLater("core.agents.chat"), general=True)


def _claude_code_roots(environment: Environment, home: Path) -> list[Path]:
    named = environment.get("CLAUDE_CONFIG_DIR", "")
    bases = [Path(part).expanduser() for part in named.split(",") if part.strip()]
    bases = bases or [home / ".claude", home / ".config" / "claude"]
    forks = [folder(environment, "OPENCLAUDE_CONFIG_DIR") or home / ".openclaude", home / ".iflow"]
    desktop = [base / "Claude" / "local-agent-mode-sessions" for base in _settings_folders(environment, home)]
    return [*(base / "projects" for base in (*bases, *forks)), *desktop]


_CLAUDE_CODE_RESULT = re.compile(rb'"tool_use_id":"([^"]{1,100})"')
_CLAUDE_CODE_ANSWER = re.compile(rb'"id":"([^"]{1,100})","(?:type":"message"|role":"assistant"|model":")')
CLAUDE_CODE = Agent(
    "claude-code",
    "Claude Code",
    FormatsLater("core.agents.claude_code.reader"),
    Location(
        _claude_code_roots,
        ("*/*.jsonl", "*/*/local_*/.claude/projects/*/*.jsonl"),
        (b'"role":"user","content":"',),
        (_CLAUDE_CODE_RESULT, _CLAUDE_CODE_ANSWER),
        aside=b'"type":"progress"',
        passed_over="agent-",
        nested="subagents",
    ),
    resume=("claude", "--resume", "{session}"),
    certain=True,
)


_CLINE_EXTENSIONS = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")
_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf", "Positron", "Trae")


def _editor_users(environment: Environment, home: Path) -> list[Path]:
    """The folders in which editors of VS Code's family keep what extensions write."""
    bases = _settings_folders(environment, home)
    users = [base / editor / "User" for base in bases for editor in _EDITORS]
    return [*users, home / ".vscode-server" / "data" / "User"]


def _cline_roots(environment: Environment, home: Path) -> list[Path]:
    own = folder(environment, "CLINE_DATA_DIR") or home / ".cline" / "data"
    users = _editor_users(environment, home)
    kept = [user / "globalStorage" / extension for user in users for extension in _CLINE_EXTENSIONS]
    return [own / "sessions", *(base / "tasks" for base in (own, *kept))]


_CLINE_MARKS = (b'"type":"tool_result"', b'"role":"assistant"', b'"type":"ask"', b'"type":"say"')
CLINE = Agent(
    "cline",
    "Cline",
    FormatsLater("core.agents.cline.reader"),
    Location(_cline_roots, (), _CLINE_MARKS, survey=SurveyLater("core.agents.cline.reader", "survey_cline")),
)


CODEBUDDY = Agent(
    "codebuddy",
    "CodeBuddy",
    FormatsLater("core.agents.codebuddy"),
    Location(
        lambda _, home: [home / name / "projects" for name in (".codebuddy", ".workbuddy")],
        ("*/*.jsonl",),
        (b'"function_call_result"', b'"role":"user"', b'"role":"assistant"'),
    ),
    seen="the documented shape",
)


def _codex_roots(environment: Environment, home: Path) -> list[Path]:
    bases = [folder(environment, "CODEX_HOME") or home / ".codex", home / ".trae" / "cli"]
    return [base / name for base in bases for name in ("sessions", "archived_sessions")]


CODEX = Agent(
    "codex",
    "Codex",
    FormatsLater("core.agents.codex.reader"),
    Location(
        _codex_roots,
        ("rollout-*.jsonl", "rollout-*.jsonl.zst", "*/*/*/rollout-*.jsonl", "*/*/*/rollout-*.jsonl.zst"),
        (b'_call_output"', b'"type":"user_message"', b'"type":"UserMessage"'),
        (re.compile(rb'"total_token_usage":\{"input_tokens":(\d{1,15})'),),
    ),
    resume=("codex", "resume", "{session}"),
    certain=True,
)


def _copilot_roots(environment: Environment, home: Path) -> list[Path]:
    return [folder(environment, "COPILOT_HOME") or home / ".copilot"]


COPILOT = Agent(
    "copilot-cli",
    "Copilot CLI",
    FormatsLater("core.agents.copilot"),
    Location(
        _copilot_roots,
        ("**/events.jsonl",),
        (b'"type":"tool.execution_complete"', b'"type":"assistant.message"', b'"type":"user.message"'),
        ended=b'"session.shutdown"',
    ),
    resume=("copilot", "--resume", "{session}"),
)


def _crush_roots(environment: Environment, home: Path) -> list[Path]:
    named = folder(environment, "CRUSH_GLOBAL_DATA")
    return [named or (folder(environment, "XDG_DATA_HOME") or home / ".local" / "share") / "crush"]


CRUSH = Agent(
    "crush",
    "Crush",
    FormatsLater("core.agents.crush"),
    Location(_crush_roots, survey=SurveyLater("core.agents.crush", "survey_crush"), elsewhere=True),
)


def _cursor_roots(environment: Environment, home: Path) -> list[Path]:
    del environment
    return [home / ".cursor" / "projects"]


CURSOR = Agent(
    "cursor",
    "Cursor",
    FormatsLater("core.agents.cursor"),
    Location(
        _cursor_roots,
        ("*/agent-transcripts/*/*.jsonl", "*/agent-transcripts/*.jsonl"),
        (b'"role":"user"', b'"role":"assistant"', b'"type":"tool_use"'),
        beside="subagents",
    ),
    resume=("cursor-agent", "--resume", "{session}"),
)


def _devin_roots(environment: Environment, home: Path) -> list[Path]:
    bases = (_data_folder(environment, home), home / "Library" / "Application Support")
    return [base / "devin" / "cli" / "transcripts" for base in bases]


DEVIN = Agent(
    "devin",
    "Devin CLI",
    FormatsLater("core.agents.atif:DEVIN"),
    Location(_devin_roots, ("*.json",), (b'"source_call_id"', b'"source":"agent"')),
    seen="the documented shape",
)


def _droid_roots(_environment: Environment, home: Path) -> list[Path]:
    return [home / ".factory" / "sessions"]


DROID = Agent(
    "droid",
    "Droid",
    FormatsLater("core.agents.droid"),
    Location(_droid_roots, ("*/*.jsonl", "*.jsonl"), (b'"tool_use_id"', b'"role":"assistant"')),
)


def _gemini_roots(environment: Environment, home: Path) -> list[Path]:
    return [(folder(environment, "GEMINI_CLI_HOME") or home) / ".gemini" / "tmp"]


GEMINI = Agent(
    "gemini",
    "Gemini CLI",
    FormatsLater("core.agents.gemini"),
    Location(
        _gemini_roots,
        ("*/chats/session-*.json", "*/chats/session-*.jsonl"),
        (b'"functionResponse":{', b'"type":"gemini"', b'"type":"user"'),
        nested=".",
    ),
    resume=("gemini", "--resume", "{session}"),
)


def _goose_roots(environment: Environment, home: Path) -> list[Path]:
    moved = folder(environment, "GOOSE_PATH_ROOT")
    if moved is not None:
        return [moved / "data" / "sessions"]
    kept = (folder(environment, "XDG_DATA_HOME") or home / ".local" / "share") / "goose" / "sessions"
    windows = folder(environment, "APPDATA")
    return [kept, *([windows / "Block" / "goose" / "data" / "sessions"] if windows else [])]


GOOSE = Agent(
    "goose",
    "Goose",
    FormatsLater("core.agents.goose"),
    Location(_goose_roots, survey=SurveyLater("core.agents.goose", "survey_goose")),
)


GROK = Agent(
    "grok",
    "Grok Build",
    FormatsLater("core.agents.grok"),
    Location(
        lambda environment, home: [(folder(environment, "GROK_HOME") or home / ".grok") / "sessions"],
        ("*/*/updates.jsonl",),
        (b'"sessionUpdate":"tool_call"', b'"turn_completed"', b'"user_message_chunk"'),
        session=_folder_name,
    ),
    resume=("grok", "--resume", "{session}"),
    seen="chat histories of others' tests, updates by their documented shape",
)


HERMES = Agent(
    "hermes",
    "Hermes",
    FormatsLater("core.agents.hermes"),
    Location(
        lambda environment, home: [folder(environment, "HERMES_HOME") or home / ".hermes"],
        survey=SurveyLater("core.agents.hermes", "survey_hermes"),
    ),
    resume=("hermes", "--resume", "{session}"),
    seen="real rows, no real database",
)


def _kimi_roots(environment: Environment, home: Path) -> list[Path]:
    old = folder(environment, "KIMI_SHARE_DIR") or home / ".kimi"
    new = folder(environment, "KIMI_CODE_HOME") or home / ".kimi-code"
    work = "kimi-desktop/daimon-share/daimon/runtime/kimi-code/home/sessions"
    desktop = [base / work for base in _settings_folders(environment, home)]
    return [new / "sessions", old / "sessions", *desktop]


KIMI = Agent(
    "kimi",
    "Kimi",
    FormatsLater("core.agents.kimi"),
    Location(
        _kimi_roots,
        marks=(b'"tool.result"', b'"step.end"', b'"turn.prompt"', b'"ToolResult"', b'"StatusUpdate"'),
        survey=SurveyLater("core.agents.kimi", "survey_kimi"),
    ),
)


def _kiro_roots(environment: Environment, home: Path) -> list[Path]:
    own = (folder(environment, "KIRO_HOME") or home / ".kiro") / "sessions" / "cli"
    settings = _settings_folders(environment, home)
    older = [_data_folder(environment, home), *settings]
    editor = "Kiro/User/globalStorage/kiro.kiroagent/workspace-sessions"
    return [
        own,
        *(base / name for base in older for name in ("kiro-cli", "amazon-q")),
        *(base / editor for base in settings),
    ]


KIRO = Agent(
    "kiro",
    "Kiro",
    FormatsLater("core.agents.kiro"),
    Location(_kiro_roots, survey=SurveyLater("core.agents.kiro", "survey_kiro")),
    seen="real logs of the CLI; older CLI and editor by their documented shape",
)


MANAGED_AGENTS = Agent(
    "managed-agents",
    "Claude managed agents",
    FormatsLater("core.agents.managed_agents"),
    Location(nowhere, (), (b'"agent.tool_result"', b'"span.model_request_end"', b'"user.message"')),
    seen="the documented shape",
)


MINI_SWE_AGENT = Agent(
    "mini-swe-agent",
    "mini-swe-agent",
    FormatsLater("core.agents.mini_swe_agent"),
    Location(nowhere, (), (b'"role":"user"', b'"role":"user"', b'"role":"tool"', b'"role":"tool"')),
)


MISTRAL_VIBE = Agent(
    "mistral-vibe",
    "Mistral Vibe",
    FormatsLater("core.agents.mistral_vibe"),
    Location(
        lambda environment, home: [(folder(environment, "VIBE_HOME") or home / ".vibe") / "logs" / "session"],
        ("*/messages.jsonl",),
        (b'"role":"tool"', b'"role":"assistant"', b'"role":"user"'),
        session=_folder_name,
    ),
)


def _open_events_roots(environment: Environment, home: Path) -> list[Path]:
    base = folder(environment, "XDG_DATA_HOME") or home / ".local" / "share"
    return [place / "nooscope" / "received" for place in (base, home / "Library" / "Application Support")]


OPEN_EVENTS = Agent(
    "nooscope",
    "Open event format",
    FormatsLater("core.agents.open_events"),
    Location(
        _open_events_roots,
        ("*.jsonl",),
        (b'"kind":"tool_use"', b'"kind":"turn"', b'"kind":"prompt"'),
        ended=b'"kind":"session_end"',
    ),
    general=True,
)


def _opencode_roots(environment: Environment, home: Path) -> list[Path]:
    kept = folder(environment, "XDG_DATA_HOME") or home / ".local" / "share"
    return [kept / name for name in ("opencode", "kilo", "mimocode", "icodemate")]


_OPENCODE_MARKS = (b'"type":"tool"', b'"role":"assistant"', b'"role":"user"')
OPENCODE = Agent(
    "opencode",
    "OpenCode",
    FormatsLater("core.agents.opencode.reader"),
    Location(
        _opencode_roots,
        (),
        _OPENCODE_MARKS,
        survey=SurveyLater("core.agents.opencode.store", "survey_opencode"),
    ),
    resume=("opencode", "-s", "{session}"),
)


def _openclaw_roots(environment: Environment, home: Path) -> list[Path]:
    named = folder(environment, "OPENCLAW_STATE_DIR")
    names = (".openclaw", ".clawdbot", ".moltbot", ".moldbot", ".kimi_openclaw", ".qclaw")
    return [base / "agents" for base in ([named] if named else [home / name for name in names])]


OPENCLAW = Agent(
    "openclaw",
    "OpenClaw",
    FormatsLater("core.agents.openclaw"),
    Location(_openclaw_roots, survey=SurveyLater("core.agents.openclaw", "survey_openclaw")),
    seen="logs of others' tests; its database by the documented shape",
)


def _openhands_roots(environment: Environment, home: Path) -> list[Path]:
    base = folder(environment, "OPENHANDS_PERSISTENCE_DIR") or home / ".openhands"
    return [folder(environment, "OPENHANDS_CONVERSATIONS_DIR") or base / "conversations"]


_OPENHANDS_DONE = (
    "run",
    "run_ipython",
    "read",
    "write",
    "edit",
    "browse",
    "mcp",
    "delegate",
    "error",
    "think",
)
_OPENHANDS_MARKS = (
    *(f'"observation":"{name}"'.encode() for name in _OPENHANDS_DONE),
    b'"model_response":{',
    b'"action_risk":',
    b'"kind":"ObservationEvent"',
    b'"kind":"MessageEvent"',
    b'"key":"stats"',
)
OPENHANDS = Agent(
    "openhands",
    "OpenHands",
    FormatsLater("core.agents.openhands.reader"),
    Location(
        _openhands_roots,
        ("*/events",),
        _OPENHANDS_MARKS,
        survey=SurveyLater("core.agents.openhands.conversation", "survey_openhands"),
    ),
)


def _folders_below(folder: Path) -> list[Path]:
    """The agent folders of all profiles; none if the folder may not be read."""
    try:
        return sorted(folder.glob("*/agent"))
    except PermissionError:
        return []


def _pi_roots(environment: Environment, home: Path) -> list[Path]:
    own = folder(environment, "PI_CODING_AGENT_DIR") or home / ".pi" / "agent"
    omp = folder(environment, "OMP_CODING_AGENT_DIR") or home / ".omp" / "agent"
    profiles = _folders_below(home / ".omp" / "profiles")
    return [base / "sessions" for base in (own, omp, *profiles, home / ".prime" / "agent")]


PI = Agent(
    "pi",
    "pi",
    FormatsLater("core.agents.pi"),
    Location(
        _pi_roots,
        ("*/*.jsonl", "*.jsonl"),
        (b'"role":"toolResult"', b'"role":"assistant"', b'"role":"user"'),
    ),
    resume=("pi", "--session", "{path}"),
)


def _qwen_roots(environment: Environment, home: Path) -> list[Path]:
    named = folder(environment, "QWEN_RUNTIME_DIR") or folder(environment, "QWEN_HOME")
    return [(named or home / ".qwen") / "projects"]


QWEN = Agent(
    "qwen",
    "Qwen Code",
    FormatsLater("core.agents.qwen"),
    Location(
        _qwen_roots,
        ("*/chats/*.jsonl",),
        (b'"type":"assistant"', b'"type":"tool_result"', b'"type":"user"'),
        beside="../subagents/{session}",
    ),
    resume=("qwen", "--resume", "{session}"),
)


SWE_AGENT = Agent(
    "swe-agent",
    "SWE-agent",
    FormatsLater("core.agents.swe_agent"),
    Location(nowhere, (), (b'"observation":', b'"observation":')),
)


VSCODE_CHAT = Agent(
    "vscode-chat",
    "VS Code Copilot Chat",
    FormatsLater("core.agents.vscode_chat"),
    Location(
        _editor_users,
        (
            *("workspaceStorage/*/chatSessions/*.jsonl", "workspaceStorage/*/chatSessions/*.json"),
            *(
                "globalStorage/emptyWindowChatSessions/*.jsonl",
                "globalStorage/emptyWindowChatSessions/*.json",
            ),
        ),
        (b'"toolInvocationSerialized"', b'"requestId"'),
    ),
    seen="simplified snapshots; its log of operations by the documented shape",
)


def _zed_roots(environment: Environment, home: Path) -> list[Path]:
    local = folder(environment, "LOCALAPPDATA")
    bases = [_data_folder(environment, home) / "zed", home / "Library" / "Application Support" / "Zed"]
    return [base / "threads" for base in (*bases, *([local / "Zed"] if local else []))]


ZED = Agent(
    "zed",
    "Zed",
    FormatsLater("core.agents.zed"),
    Location(_zed_roots, survey=SurveyLater("core.agents.zed", "survey_zed")),
    seen="the documented shape",
)


AGENTS: tuple[Agent, ...] = tuple(
    sorted(
        (
            ACP,
            AIDER,
            ANTIGRAVITY,
            ATIF,
            CHAT,
            CLAUDE_CODE,
            CLINE,
            CODEBUDDY,
            CODEX,
            COPILOT,
            CRUSH,
            CURSOR,
            DEVIN,
            DROID,
            GEMINI,
            GOOSE,
            GROK,
            HERMES,
            KIMI,
            KIRO,
            MANAGED_AGENTS,
            MINI_SWE_AGENT,
            MISTRAL_VIBE,
            OPEN_EVENTS,
            OPENCODE,
            OPENCLAW,
            OPENHANDS,
            PI,
            QWEN,
            SWE_AGENT,
            VSCODE_CHAT,
            ZED,
        ),
        key=lambda agent: agent.general,
    )
)
"""In alphabetical order; formats that belong to no single agent come last."""
