"""OpenCode's hooks: a plugin module of our own that edits nothing but the end of a tool's output."""

from __future__ import annotations

from pathlib import Path

from core.agents.hook import AgentHooks, HookFile, Installing
from core.agents.plugin_hooks import answer_plugin, module, read_plugin_call

_MODULE = """
export const Nooscope = async ({ directory }) => {
  const base = (session) => ({ session_id: session, cwd: directory })
  return {
    "chat.message": async (input, output) => {
      const said = (output?.parts ?? []).map((part) => text(part?.text)).join("\\n")
      await tell({ ...base(input.sessionID), hook_event_name: "UserPromptSubmit", prompt: said })
    },
    "tool.execute.before": async (input, output) => {
      const said = await tell({ ...base(input.sessionID), hook_event_name: "PreToolUse",
        tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID })
      if (said.deny) throw new Error(said.deny)
    },
    "tool.execute.after": async (input, output) => {
      const code = output?.metadata?.exit
      const said = await tell({ ...base(input.sessionID), hook_event_name: "PostToolUse",
        tool_name: input.tool, tool_input: input.args, tool_use_id: input.callID,
        tool_response: { output: text(output.output), is_error: typeof code === "number" && code !== 0 } })
      if (said.context) output.output = `${output.output}\\n\\n${said.context}`
    },
    event: async ({ event }) => {
      const session = event?.properties?.sessionID
      if (!session) return
      if (event.type === "session.idle") await tell({ ...base(session), hook_event_name: "Stop" })
      if (event.type === "permission.asked" || event.type === "permission.updated")
        await tell({ ...base(session), hook_event_name: "PermissionRequest" })
    },
  }
}
"""


def opencode_hook_file(to: Installing) -> HookFile:
    """A module beside others, for the person or the project."""
    config = to.environment.get("XDG_CONFIG_HOME")
    folder = (Path(config) if config else to.home / ".config") / "opencode"
    if to.project is not None:
        folder = to.project / ".opencode"
    values = {name: to.command(name) for name in ("FOLDER", "MODE", "DEADLINE")}
    return HookFile(
        folder / "plugins" / "nooscope.js", {}, own=True, text=module(_MODULE, "opencode", values)
    )


HOOKS = AgentHooks(
    "opencode",
    "opencode",
    opencode_hook_file,
    read_plugin_call,
    answer_plugin,
    limits="a sentence goes to the end of a tool's output; a call that needs you is denied at first",
)
