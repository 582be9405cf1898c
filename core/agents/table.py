"""Every agent: its name, its formats, where it keeps its logs, and which versions of it were read."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain
from pathlib import Path

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
    return [(runtime_folder or home / ".qwen") / "projects"]


_ROLES = (b'"role":"user"', b'"role":"assistant"')
_CLAUDE_RESULT = re.compile(rb'"tool_use_id":"([^"]{1,100})"')
_CLAUDE_ANSWER = re.compile(rb'"id":"([^"]{1,100})","(?:type":"message"|role":"assistant"|model":")')
_OPENHANDS_OBSERVED = (*("run", "run_ipython", "read", "write", "edit", "browse", "mcp", "delegate", "error", "think"),)
_DOCUMENTED = "the documented shape"

_OWN = (
    Agent(
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
    ),
    Agent(
        "antigravity",
        "Antigravity",
        FormatsLater("core.agents.antigravity"),
        Location(
            places("~/.gemini/antigravity/brain", "~/.gemini/antigravity-cli/brain"),
            ("*/.system_generated/logs/transcript.jsonl",),
            (b'"source":"MODEL"', b'"type":"USER_INPUT"'),
            session=antigravity_conversation,
        ),
    ),
    Agent(
        "claude-code",
        "Claude Code",
        FormatsLater("core.agents.claude_code.reader"),
        Location(
            _claude_code_roots,
            ("*/*.jsonl", "*/*/local_*/.claude/projects/*/*.jsonl"),
            (b'"role":"user","content":"',),
            (_CLAUDE_RESULT, _CLAUDE_ANSWER),
            aside=b'"type":"progress"',
            passed_over="agent-",
            nested="subagents",
        ),
        resume=("claude", "--resume", "{session}"),
        certain=True,
        versions="1.0.0 to 2.1.235",
    ),
    Agent(
        "cline",
        "Cline",
        FormatsLater("core.agents.cline"),
        Location(
            _cline_roots,
            (),
            (b'"type":"tool_result"', b'"role":"assistant"', b'"type":"ask"', b'"type":"say"'),
            survey=SurveyLater("core.agents.cline", "survey_cline"),
        ),
    ),
    Agent(
        "codebuddy",
        "CodeBuddy",
        FormatsLater("core.agents.codebuddy"),
        Location(
            places("~/.codebuddy/projects", "~/.workbuddy/projects"),
            ("*/*.jsonl",),
            (b'"function_call_result"', *_ROLES),
        ),
        seen=_DOCUMENTED,
    ),
    Agent(
        "codex",
        "Codex",
        FormatsLater("core.agents.codex.reader"),
        Location(
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
            (re.compile(rb'"total_token_usage":\{"input_tokens":(\d{1,15})'),),
        ),
        resume=("codex", "resume", "{session}"),
        prompt=("codex", "queue", "--thread", "{session}", "--message", "{text}"),
        certain=True,
        versions="0.39 to 0.147; Trae CLI 0.200",
    ),
    Agent(
        "copilot-cli",
        "Copilot CLI",
        FormatsLater("core.agents.copilot"),
        Location(
            places("{COPILOT_HOME:~/.copilot}"),
            ("**/events.jsonl",),
            (b'"type":"tool.execution_complete"', b'"type":"assistant.message"', b'"type":"user.message"'),
            ended=b'"session.shutdown"',
        ),
        resume=("copilot", "--resume", "{session}"),
        versions="1.0.34 to 1.0.64",
    ),
    Agent(
        "crush",
        "Crush",
        FormatsLater("core.agents.crush"),
        Location(
            lambda environment, home: places(
                "{CRUSH_GLOBAL_DATA}" if folder(environment, "CRUSH_GLOBAL_DATA") else "{data}/crush"
            )(environment, home),
            survey=SurveyLater("core.agents.crush", "survey_crush"),
            elsewhere=True,
        ),
    ),
    Agent(
        "cursor",
        "Cursor",
        FormatsLater("core.agents.cursor"),
        Location(
            places("~/.cursor/projects"),
            ("*/agent-transcripts/*/*.jsonl", "*/agent-transcripts/*.jsonl"),
            (*_ROLES, b'"type":"tool_use"'),
            beside="subagents",
        ),
        resume=("cursor-agent", "--resume", "{session}"),
    ),
    Agent(
        "devin",
        "Devin CLI",
        FormatsLater("core.agents.atif:DEVIN"),
        Location(
            places("{data}/devin/cli/transcripts", "{library}/devin/cli/transcripts"),
            ("*.json",),
            (b'"source_call_id"', b'"source":"agent"'),
        ),
        seen=_DOCUMENTED,
    ),
    Agent(
        "droid",
        "Droid",
        FormatsLater("core.agents.droid"),
        Location(places("~/.factory/sessions"), ("*/*.jsonl", "*.jsonl"), (b'"tool_use_id"', b'"role":"assistant"')),
        versions="0.81",
    ),
    Agent(
        "gemini",
        "Gemini CLI",
        FormatsLater("core.agents.gemini"),
        Location(
            lambda environment, home: [(folder(environment, "GEMINI_CLI_HOME") or home) / ".gemini" / "tmp"],
            ("*/chats/session-*.json", "*/chats/session-*.jsonl"),
            (b'"functionResponse":{', b'"type":"gemini"', b'"type":"user"'),
            nested=".",
        ),
        resume=("gemini", "--resume", "{session}"),
    ),
    Agent(
        "goose",
        "Goose",
        FormatsLater("core.agents.goose"),
        Location(_goose_roots, survey=SurveyLater("core.agents.goose", "survey_goose")),
    ),
    Agent(
        "grok",
        "Grok Build",
        FormatsLater("core.agents.grok"),
        Location(
            places("{GROK_HOME:~/.grok}/sessions"),
            ("*/*/updates.jsonl",),
            (b'"sessionUpdate":"tool_call"', b'"turn_completed"', b'"user_message_chunk"'),
            session=_folder_name,
        ),
        resume=("grok", "--resume", "{session}"),
        seen="chat histories of others' tests; updates by their documented shape",
    ),
    Agent(
        "hermes",
        "Hermes",
        FormatsLater("core.agents.hermes"),
        Location(places("{HERMES_HOME:~/.hermes}"), survey=SurveyLater("core.agents.hermes", "survey_hermes")),
        resume=("hermes", "--resume", "{session}"),
        seen="real rows, no real database",
    ),
    Agent(
        "kimi",
        "Kimi",
        FormatsLater("core.agents.kimi"),
        Location(
            places(
                "{KIMI_CODE_HOME:~/.kimi-code}/sessions",
                "{KIMI_SHARE_DIR:~/.kimi}/sessions",
                "{settings}/kimi-desktop/daimon-share/daimon/runtime/kimi-code/home/sessions",
            ),
            marks=(b'"tool.result"', b'"step.end"', b'"turn.prompt"', b'"ToolResult"', b'"StatusUpdate"'),
            survey=SurveyLater("core.agents.kimi", "survey_kimi"),
        ),
        versions="wire 1.1 to 1.10 of the CLI, 1.4 of Kimi Code",
    ),
    Agent(
        "kiro",
        "Kiro",
        FormatsLater("core.agents.kiro"),
        Location(
            places(
                "{KIRO_HOME:~/.kiro}/sessions/cli",
                "{data}/kiro-cli",
                "{data}/amazon-q",
                "{settings}/kiro-cli",
                "{settings}/amazon-q",
                "{settings}/Kiro/User/globalStorage/kiro.kiroagent/workspace-sessions",
            ),
            survey=SurveyLater("core.agents.kiro", "survey_kiro"),
        ),
        seen="real logs of the CLI; older CLI and editor by their documented shape",
        versions="CLI 2",
    ),
    Agent(
        "managed-agents",
        "Claude managed agents",
        FormatsLater("core.agents.managed_agents"),
        Location(nowhere, (), (b'"agent.tool_result"', b'"span.model_request_end"', b'"user.message"')),
        seen=_DOCUMENTED,
    ),
    Agent(
        "mini-swe-agent",
        "mini-swe-agent",
        FormatsLater("core.agents.mini_swe_agent"),
        Location(nowhere, (), (b'"role":"user"', b'"role":"user"', b'"role":"tool"', b'"role":"tool"')),
        versions="1.15",
    ),
    Agent(
        "mistral-vibe",
        "Mistral Vibe",
        FormatsLater("core.agents.mistral_vibe"),
        Location(
            places("{VIBE_HOME:~/.vibe}/logs/session"),
            ("*/messages.jsonl",),
            (b'"role":"tool"', b'"role":"assistant"', b'"role":"user"'),
            session=_folder_name,
        ),
    ),
    Agent(
        "opencode",
        "OpenCode",
        FormatsLater("core.agents.opencode.reader"),
        Location(
            places("{data}/opencode", "{data}/kilo", "{data}/mimocode", "{data}/icodemate"),
            (),
            (b'"type":"tool"', b'"role":"assistant"', b'"role":"user"'),
            survey=SurveyLater("core.agents.opencode.store", "survey_opencode"),
        ),
        resume=("opencode", "-s", "{session}"),
        versions="1.14 to 1.18",
    ),
    Agent(
        "openclaw",
        "OpenClaw",
        FormatsLater("core.agents.openclaw"),
        Location(_openclaw_roots, survey=SurveyLater("core.agents.openclaw", "survey_openclaw")),
        seen="logs of others' tests; its database by the documented shape",
        versions="log version 3",
    ),
    Agent(
        "openhands",
        "OpenHands",
        FormatsLater("core.agents.openhands.reader"),
        Location(
            _openhands_roots,
            ("*/events",),
            (
                *(f'"observation":"{name}"'.encode() for name in _OPENHANDS_OBSERVED),
                *(b'"model_response":{', b'"action_risk":', b'"kind":"ObservationEvent"'),
                *(b'"kind":"MessageEvent"', b'"key":"stats"'),
            ),
            survey=SurveyLater("core.agents.openhands.conversation", "survey_openhands"),
        ),
        versions="V0 and V1",
    ),
    Agent(
        "pi",
        "pi",
        FormatsLater("core.agents.pi"),
        Location(
            _pi_roots, ("*/*.jsonl", "*.jsonl"), (b'"role":"toolResult"', b'"role":"assistant"', b'"role":"user"')
        ),
        resume=("pi", "--session", "{path}"),
        versions="log versions 1 and 3",
    ),
    Agent(
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
        versions="0.21",
    ),
    Agent(
        "swe-agent",
        "SWE-agent",
        FormatsLater("core.agents.swe_agent"),
        Location(nowhere, (), (b'"observation":', b'"observation":')),
    ),
    Agent(
        "vscode-chat",
        "VS Code Copilot Chat",
        FormatsLater("core.agents.vscode_chat"),
        Location(
            _editor_users,
            tuple(
                f"{place}/*.{ending}"
                for place in ("workspaceStorage/*/chatSessions", "globalStorage/emptyWindowChatSessions")
                for ending in ("jsonl", "json")
            ),
            (b'"toolInvocationSerialized"', b'"requestId"'),
        ),
        seen="simplified snapshots; its log of operations by the documented shape",
    ),
    Agent(
        "zed",
        "Zed",
        FormatsLater("core.agents.zed"),
        Location(
            places("{data}/zed/threads", "{library}/Zed/threads", "{LOCALAPPDATA}/Zed/threads"),
            survey=SurveyLater("core.agents.zed", "survey_zed"),
        ),
        seen=_DOCUMENTED,
    ),
)
_GENERAL = (
    Agent(
        "acp",
        "Agent Client Protocol",
        FormatsLater("core.agents.acp"),
        Location(
            places("{data}/nooscope/acp", "{library}/nooscope/acp"),
            ("*.jsonl",),
            (b'"sessionUpdate":"tool_call"', b'"session/prompt"'),
        ),
        general=True,
        seen="the example client and agent of the protocol's SDK",
        versions="v1",
    ),
    Agent(
        "atif",
        "ATIF trajectories",
        FormatsLater("core.agents.atif"),
        Location(nowhere, (), (b'"source_call_id"', b'"source":"agent"')),
        general=True,
        seen="trajectories of other producers",
        versions="v1.4 to v1.7",
    ),
    Agent("chat", "Chat completions", FormatsLater("core.agents.chat"), general=True),
    Agent(
        "nooscope",
        "Open event format",
        FormatsLater("core.agents.open_events"),
        Location(
            places("{data}/nooscope/received", "{library}/nooscope/received"),
            ("*.jsonl",),
            (b'"kind":"tool_use"', b'"kind":"turn"', b'"kind":"prompt"'),
            ended=b'"kind":"session_end"',
        ),
        general=True,
    ),
)

AGENTS: tuple[Agent, ...] = _OWN + _GENERAL  # In alphabetical order; formats that belong to no single agent come last.


def agent_named(name: str) -> Agent:
    """Return one of our agents by its name."""
    return next(agent for agent in AGENTS if agent.name == name)
