
export const Nooscope = async ({ client, directory }) => {
  const base = (session) => ({ session_id: session, cwd: directory })
  const permission = async (session, asked) => {
    const command = [asked.patterns ?? asked.pattern ?? []].flat().join(" ")
    const call = { ...base(session), tool_name: text(asked.permission ?? asked.type),
      tool_use_id: text(asked.id), tool_input: { command } }
    const said = await tell({ ...call, hook_event_name: "PermissionRequest" })
    if (said.permission) await client.postSessionIdPermissionsPermissionId(
      { path: { id: session, permissionID: asked.id }, body: { response: said.permission } })
  }
  return {
    "chat.message": async (input, output) => {
      const said = (output?.parts ?? []).map((part) => text(part?.text)).join("\n")
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
      if (said.context) output.output = `${output.output}\n\n${said.context}`
    },
    event: async ({ event }) => {
      const session = event?.properties?.sessionID
      if (!session) return
      if (event.type === "session.idle") await tell({ ...base(session), hook_event_name: "Stop" })
      if (event.type === "permission.asked" || event.type === "permission.updated")
        permission(session, event.properties).catch(() => {})
      if (event.type === "permission.replied")
        await tell({ ...base(session), hook_event_name: "PermissionReplied",
          tool_use_id: text(event.properties.requestID ?? event.properties.permissionID) })
    },
  }
}
