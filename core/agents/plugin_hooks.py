"""Agents that load a module of ours: it posts what happens to the intake, and never stops the agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.agents.hook import HookCall, HookMoment, HookReply, read_common

MOMENTS: dict[str, HookMoment] = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before_tool",
    "PostToolUse": "after_tool",
    "PermissionRequest": "permission",
    "Stop": "stop",
    "SessionEnd": "session_end",
}

POST = """\
import { readFileSync, existsSync } from "node:fs"
import { request } from "node:http"

const FOLDER = @FOLDER@
const AGENT = @AGENT@
const MODE = @MODE@
const DEADLINE = @DEADLINE@

function send(path, value, patience) {
  return new Promise((done) => {
    try {
      if (!existsSync(FOLDER + "/socket")) return done("")
      const token = readFileSync(FOLDER + "/token", "utf8").split(": ")[1].trim()
      const body = JSON.stringify(value)
      const asked = request({
        socketPath: FOLDER + "/socket", method: "POST", path,
        headers: { Host: "localhost", "X-Nooscope-Token": token, "Content-Type": "application/json",
          "Content-Length": Buffer.byteLength(body) },
      }, (answer) => {
        let said = ""
        answer.setEncoding("utf8")
        answer.on("data", (piece) => { said += piece })
        answer.on("end", () => done(answer.statusCode === 200 ? said : ""))
        answer.on("error", () => done(""))
      })
      const late = setTimeout(() => { asked.destroy(); done("") }, patience)
      asked.on("close", () => clearTimeout(late))
      asked.on("error", () => done(""))
      asked.end(body)
    } catch { done("") }
  })
}

async function tell(value) {
  let said = await send(`/hook/${AGENT}/${MODE}`, value, DEADLINE)
  if (said.startsWith("wait ")) {
    const [, number, seconds] = said.trim().split(" ")
    said = await send(`/wait/${AGENT}/${number}`, value, 1000 * Number(seconds))
  }
  try { return said ? JSON.parse(said) : {} } catch { return {} }
}

const text = (value) => typeof value === "string" ? value.slice(0, 200000) : ""
"""


def module(body: str, agent: str, values: Mapping[str, str]) -> str:
    """The text of a module."""
    import json

    made = POST + body
    for name, value in {**values, "AGENT": json.dumps(agent)}.items():
        made = made.replace(f"@{name}@", value)
    return made


def read_plugin_call(value: Mapping[str, Any]) -> HookCall | None:
    """What a module of ours posts."""
    return read_common(value, MOMENTS)


def answer_plugin(call: HookCall, reply: HookReply) -> dict[str, Any] | None:
    """What a module of ours understands."""
    if call.moment == "before_tool" and reply.verdict:
        return {"deny": reply.reason}
    if reply.context and call.moment in ("after_tool", "prompt"):
        return {"context": reply.context}
    return None
