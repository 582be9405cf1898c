
export default function (pi) {
  let session = "pi"
  const base = (context) => {
    session = context?.sessionManager?.getSessionId?.() ?? session
    return { session_id: session, cwd: process.cwd() }
  }
  pi.on("before_agent_start", async (event, context) => {
    await tell({ ...base(context), hook_event_name: "UserPromptSubmit", prompt: text(event?.prompt) })
  })
  pi.on("tool_call", async (event, context) => {
    const said = await tell({ ...base(context), hook_event_name: "PreToolUse", tool_name: event.toolName,
      tool_input: event.input, tool_use_id: event.toolCallId })
    if (said.deny) return { block: true, reason: said.deny }
  })
  pi.on("tool_result", async (event, context) => {
    const words = (event.content ?? []).map((part) => text(part?.text)).join("\n")
    const said = await tell({ ...base(context), hook_event_name: "PostToolUse", tool_name: event.toolName,
      tool_input: event.input, tool_use_id: event.toolCallId,
      tool_response: { output: words, is_error: event.isError === true } })
    if (said.context)
      pi.sendMessage({ customType: "nooscope", content: said.context, display: true }, { deliverAs: "steer" })
  })
  pi.on("agent_end", async (_, context) => { await tell({ ...base(context), hook_event_name: "Stop" }) })
}
