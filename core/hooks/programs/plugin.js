import { appendFileSync, readFileSync, existsSync } from "node:fs"
import { request } from "node:http"

const FOLDER = @FOLDER@
const AGENT = @AGENT@
const MODE = @MODE@
const DEADLINE = @DEADLINE@
const GONE = ["ECONNREFUSED", "ENOENT", "FailedToOpenSocket", "ConnectionRefused"] // of node and of bun

// The answer; null if there was none, undefined if nobody serves.
function send(path, value, patience) {
  return new Promise((done) => {
    try {
      if (!existsSync(FOLDER + "/socket")) return done(undefined)
      const token = readFileSync(FOLDER + "/token", "utf8").split(": ")[1].trim()
      const body = JSON.stringify(value)
      const asked = request({
        socketPath: FOLDER + "/socket", method: "POST", path,
        headers: { Host: "localhost", "X-Nooscope-Token": token, "Content-Type": "application/json",
          "X-Nooscope-Parent": process.pid, "Content-Length": Buffer.byteLength(body) },
      }, (answer) => {
        let said = ""
        answer.setEncoding("utf8")
        answer.on("data", (piece) => { said += piece })
        answer.on("end", () => done(answer.statusCode === 200 ? said : null))
        answer.on("error", () => done(null))
      })
      const late = setTimeout(() => { asked.destroy(); done(null) }, patience)
      asked.on("close", () => clearTimeout(late))
      asked.on("error", (fault) => done(GONE.includes(fault.code) ? undefined : null))
      asked.end(body)
    } catch { done(null) }
  })
}

function note(value, why) {
  try {
    appendFileSync(FOLDER + "/unanswered",
      `${Math.floor(Date.now() / 1000)} ${why} ${value.session_id} ${text(value.tool_name)}\n`)
  } catch {}
}

async function tell(value) {
  const guarded = MODE.startsWith("guard") && value.hook_event_name === "PreToolUse"
  const first = () => send(`/hook/${AGENT}/${MODE}`, value, guarded ? Math.max(DEADLINE, 1000) : DEADLINE)
  let said = await first()
  let held = false
  for (let tries = 0; tries < 10; tries++) {
    if (said?.startsWith("wait ")) {
      held = true
      const [, number, seconds] = said.trim().split(" ")
      said = await send(`/wait/${AGENT}/${number}`, value, 1000 * Number(seconds))
    }
    if (!held || typeof said === "string") break
    await new Promise((done) => setTimeout(done, 300))
    said = await first()
  }
  if (guarded && typeof said !== "string") {
    note(value, held || said === null ? "late" : "down")
    return held || said === null ? { deny: "nooscope: no decision was made in time; ask the person" } : {}
  }
  if (said?.startsWith("answer ")) {
    const [, number, seconds] = said.trim().split(" ")
    said = await send(`/answer/${AGENT}/${number}`, {}, 1000 * Number(seconds))
  }
  try { return said ? JSON.parse(said) : {} } catch { return {} }
}

const text = (value) => typeof value === "string" ? value.slice(0, 200000) : ""
