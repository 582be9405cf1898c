
"use strict";
(() => {
  const film = JSON.parse(document.getElementById("data").textContent);
  const col = film.columns, names = film.names, count = col.at.length;
  const $ = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const MARKS = {halt: "■", quarantine: "▣", signal: "▲", method: "◆", compaction: "▽", prompt: "│"};
  const RANK = Object.keys(MARKS);
  const ALERTS = new Set(["signal", "halt", "quarantine", "method"]);
  const SIGNS = {success: "✓", failure: "✗", empty: "∅", rejected: "⊘", collateral: "~", pending: "…"};
  const KINDS = {session_start: "·", prompt: "│", turn: "◦", compaction: "▽", agent_start: "+", agent_end: "+", session_end: "·"};
  const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64];
  const ROWS = 15, LONGEST = 2000;
  const kind = (i) => names.kind[col.kind[i]];
  const outcome = (i) => names.outcome[col.outcome[i]];
  const text = (node, words) => { if (node.textContent !== words) node.textContent = words; };
  let at = Math.max(0, col.at.length - 1), playing = false, speed = 2, timer = 0;

  const two = (n) => String(n).padStart(2, "0");
  const clock = (s) => {
    const whole = Math.max(0, Math.floor(s)), h = Math.floor(whole / 3600);
    return (h ? h + ":" + two(Math.floor(whole % 3600 / 60)) : Math.floor(whole / 60)) + ":" + two(whole % 60);
  };

  /* The last place at or before `i` that fits, or -1: found once for all places. */
  const latest = (fits) => {
    const found = new Int32Array(count);
    for (let i = 0, last = -1; i < count; i++) { if (fits(i)) last = i; found[i] = last; }
    return found;
  };
  const isFailure = (i) => outcome(i) === "failure";
  const isUse = (i) => kind(i) === "tool_use";
  const isPrompt = (i) => kind(i) === "prompt";
  const asked = col.asked;
  const doing = latest(isUse);
  /* The last failure since the prompt that nothing of the same kind has solved, or -1. */
  const failed = new Int32Array(count), open = new Map();
  for (let i = 0; i < count; i++) {
    if (asked[i] !== (i ? asked[i - 1] : -1)) open.clear();
    if (outcome(i) === "success" || outcome(i) === "empty") open.delete(col.what[i]);
    if (isFailure(i)) open.set(col.what[i], i);
    failed[i] = Math.max(-1, ...open.values());
  }
  const said = latest((i) => kind(i) === "turn" && col.line[i].length > 0);
  const calls = [], failures = [], prompts = [], alerts = [];
  for (let i = 0; i < count; i++) {
    if (isUse(i)) calls.push(i);
    if (isFailure(i)) failures.push(i);
    if (isPrompt(i)) prompts.push(i);
  }
  for (const [place, what] of film.marks) {
    if (ALERTS.has(what) && alerts[alerts.length - 1] !== place) alerts.push(place);
  }

  const make = (name, attributes) => {
    const node = document.createElementNS(SVG, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    return node;
  };
  const strip = $("strip");
  let head = null;
  /* Calls upwards and failed ones downwards, the context as a line, marks above. */
  const draw = () => {
    const width = Math.max(200, strip.clientWidth), tall = strip.clientHeight || 110, top = 16;
    strip.setAttribute("viewBox", "0 0 " + width + " " + tall);
    strip.replaceChildren();
    const cells = Math.max(1, Math.min(count, Math.floor(width / 5))), wide = width / cells;
    const cell = (i) => Math.min(cells - 1, Math.floor(i * cells / Math.max(1, count)));
    const good = new Array(cells).fill(0), bad = new Array(cells).fill(0), marks = new Map();
    for (const i of calls) (isFailure(i) ? bad : good)[cell(i)]++;
    for (const [place, what] of film.marks) {
      const rank = RANK.indexOf(what), c = Math.floor(cell(place) * wide / 12);
      if (rank >= 0 && (!marks.has(c) || rank < marks.get(c))) marks.set(c, rank);
    }
    let most = 1, worst = 1;
    for (let c = 0; c < cells; c++) { most = Math.max(most, good[c]); worst = Math.max(worst, bad[c]); }
    const floor = Math.round(top + (tall - top) * .66), up = (floor - top) / most, down = (tall - floor - 1) / worst;
    strip.append(make("line", {class: "floor", x1: 0, x2: width, y1: floor, y2: floor}));
    for (let c = 0; c < cells; c++) {
      const g = good[c] * up, b = bad[c] * down, gap = wide > 3 ? 1 : 0;
      if (g) strip.append(make("rect", {class: "ok", x: c * wide, y: floor - g, width: wide - gap, height: g}));
      if (b) strip.append(make("rect", {class: "bad", x: c * wide, y: floor + 1, width: wide - gap, height: b}));
    }
    let path = "";
    for (let i = 0; i < count; i += Math.max(1, Math.floor(count / width))) {
      path += (path ? "L" : "M") + ((i + .5) * width / count).toFixed(1) + " " + (floor - col.context[i] / 100 * (floor - top)).toFixed(1);
    }
    if (col.context.some((v) => v > 0)) strip.append(make("path", {class: "ctx", d: path}));
    for (const [c, rank] of marks) {
      const sign = make("text", {class: "mark", x: Math.min(width - 6, c * 12 + 6), y: 11});
      sign.textContent = MARKS[RANK[rank]];
      strip.append(sign);
    }
    head = make("line", {class: "head", y1: 0, y2: tall});
    strip.append(head);
    place();
  };
  const place = () => {
    if (!head) return;
    const x = (at + .5) * Math.max(200, strip.clientWidth) / Math.max(1, count);
    head.setAttribute("x1", x);
    head.setAttribute("x2", x);
  };

  const axes = $("axes").tBodies[0], bars = [];
  for (const name of film.axisNames) {
    const row = axes.insertRow(), label = document.createElement("th"), bar = document.createElement("div"), fill = document.createElement("i");
    label.scope = "row";
    label.textContent = name;
    row.append(label);
    bar.className = "bar";
    bar.append(fill);
    row.insertCell().append(bar);
    bars.push([fill, row.insertCell()]);
  }

  const line = (i) => {
    if (i < 0) return "";
    const words = col.line[i][0];
    return words ? (isUse(i) ? col.what[i] + "  —  " + words : words) : col.what[i];
  };
  const ago = (i) => i < 0 ? "" : "  (" + clock(col.at[at] - col.at[i]) + " ago)";
  const list = $("events");
  const listed = () => {
    const first = Math.max(0, Math.min(at - Math.floor(ROWS / 2), count - ROWS)), rows = [];
    for (let i = first; i < Math.min(count, first + ROWS); i++) {
      const row = document.createElement("li"), how = outcome(i);
      row.dataset.place = i;
      if (how) row.className = how;
      if (i === at) row.setAttribute("aria-current", "true");
      for (const [name, words] of [["t", clock(col.at[i])], ["g", SIGNS[how] || KINDS[kind(i)] || ""], ["w", line(i)], ["o", how]]) {
        const part = document.createElement("span");
        part.className = name;
        part.textContent = words;
        row.append(part);
      }
      rows.push(row);
    }
    list.replaceChildren(...rows);
  };
  const spoken = () => {
    if (!film.words) return;
    const box = $("words"), told = [];
    for (let i = Math.max(0, at - 1); i <= Math.min(count - 1, at + 1); i++) {
      const words = film.words[i];
      if (!words.length) continue;
      const title = document.createElement("h3");
      title.textContent = clock(col.at[i]) + "  " + col.what[i] + (outcome(i) ? "  " + SIGNS[outcome(i)] + " " + outcome(i) : "") + (i === at ? "  ◀ now" : "");
      told.push(title);
      for (const each of words) {
        if (!each) continue;
        const part = document.createElement("pre");
        part.tabIndex = 0;
        part.textContent = each;
        told.push(part);
      }
    }
    if (!told.length) {
      const none = document.createElement("p");
      none.className = "quiet";
      none.textContent = "No words belong to this event; step on to the next one.";
      told.push(none);
    }
    box.replaceChildren(...told);
  };
  const show = () => {
    if (!count) return;
    const [word, why] = names.status[col.status[at]].split("\t");
    text($("glyph"), film.glyphs[word] || "·");
    text($("word"), word);
    text($("why"), why || "");
    $("status").dataset.level = word === "done" ? 1 : col.level[at];
    text($("asked"), asked[at] < 0 ? "nothing yet" : line(asked[at]) + ago(asked[at]));
    text($("call"), doing[at] >= 0 && outcome(doing[at]) === "pending" ? "now" : "last");
    text($("doing"), doing[at] < 0 ? "nothing yet" : (SIGNS[outcome(doing[at])] || "") + " " + line(doing[at]));
    const bad = failed[at];
    text($("failed"), bad < 0 ? "nothing unsolved since the prompt" : "✗ " + col.what[bad] + (col.line[bad][1] ? ": " + col.line[bad][1] : "") + ago(bad));
    text($("said"), said[at] < 0 ? (film.level === "strict" ? "words are left out" : "no words of an answer so far") : line(said[at]));
    text($("clock"), "event " + (at + 1).toLocaleString("en") + " of " + count.toLocaleString("en") + ", " + clock(col.at[at]));
    text($("cost"), film.priced ? (film.unpriced ? "at least " : "") + "$" + col.cost[at].toFixed(2) : "cost unknown");
    col.axes[at].forEach((value, n) => {
      bars[n][0].style.width = Math.min(100, value) + "%";
      const before = at > 9 ? col.axes[at - 10][n] : 0, sign = value > before + 2 ? " ▲" : value < before - 2 ? " ▼" : " ·";
      text(bars[n][1], (value / 100).toFixed(2) + sign);
    });
    text($("who"), names.agent[col.agent[at]] === "main" ? "" : "of " + names.agent[col.agent[at]]);
    text($("state"), "state " + names.state[col.state[at]].replace("_", " ") + ", regime " + names.regime[col.regime[at]]);
    text($("context"), "context " + col.context[at] + "% of the way to compaction");
    const scrub = $("scrub");
    scrub.value = at;
    scrub.setAttribute("aria-valuetext", "event " + (at + 1) + ", " + clock(col.at[at]) + ", " + word);
    text($("speed"), SPEEDS[speed] + "×");
    text($("play"), playing ? "‖ pause" : "▶ play");
    place();
    listed();
    spoken();
  };
  const go = (to) => {
    at = Math.max(0, Math.min(count - 1, to));
    show();
  };
  const jump = (places, on) => {
    const found = on ? places.find((p) => p > at) : places.filter((p) => p < at).pop();
    if (found !== undefined) go(found);
  };
  const tick = () => {
    if (!playing) return;
    if (at >= count - 1) { hold(); return; }
    const wait = Math.min(LONGEST, Math.max(0, (col.at[at + 1] - col.at[at]) * 1000)) / SPEEDS[speed];
    timer = setTimeout(() => { go(at + 1); tick(); }, Math.max(16, wait));
  };
  const hold = () => { playing = false; clearTimeout(timer); show(); };
  const toggle = () => {
    if (playing) { hold(); return; }
    if (at >= count - 1) at = 0;
    playing = true;
    show();
    tick();
  };
  const faster = (by) => {
    speed = Math.max(0, Math.min(SPEEDS.length - 1, speed + by));
    show();
    if (playing) { clearTimeout(timer); tick(); }
  };
  const still = (then) => (...given) => { if (playing) hold(); then(...given); };
  const help = () => { const box = $("help"); if (box.open) box.close(); else box.showModal(); };
  const deeds = {
    start: still(() => go(0)), end: still(() => go(count - 1)), back: still(() => go(at - 1)), on: still(() => go(at + 1)),
    play: toggle, slower: () => faster(-1), faster: () => faster(1), help,
    failure: still(() => jump(failures, true)), alert: still(() => jump(alerts, true)), prompt: still(() => jump(prompts, true)),
  };
  const keys = {
    " ": toggle, Home: deeds.start, End: deeds.end, ",": deeds.slower, ".": deeds.faster, "?": help,
    x: deeds.failure, X: still(() => jump(failures, false)), n: deeds.alert, N: still(() => jump(alerts, false)),
    p: deeds.prompt, P: still(() => jump(prompts, false)),
  };
  $("keys").addEventListener("click", (event) => {
    const deed = deeds[event.target.dataset && event.target.dataset.do];
    if (deed) deed();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if ($("help").open && event.key !== "?") return;
    const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (by) { event.preventDefault(); if (playing) hold(); go(at + by * (event.shiftKey ? 10 : 1)); return; }
    if (event.key === " " && event.target.tagName === "BUTTON") return;
    const deed = keys[event.key];
    if (deed) { event.preventDefault(); deed(); }
  });
  $("scrub").max = Math.max(0, count - 1);
  $("scrub").addEventListener("input", still(() => go(Number($("scrub").value))));
  const point = (event) => {
    const box = strip.getBoundingClientRect();
    if (playing) hold();
    go(Math.floor((event.clientX - box.left) / box.width * count));
  };
  strip.addEventListener("pointerdown", (event) => { strip.setPointerCapture(event.pointerId); point(event); });
  strip.addEventListener("pointermove", (event) => { if (event.buttons) point(event); });
  list.addEventListener("click", (event) => {
    const row = event.target.closest("li");
    if (row) { if (playing) hold(); go(Number(row.dataset.place)); }
  });
  addEventListener("resize", draw);

  text($("when"), film.madeUp ? "the log has no times; these are estimates" : new Date(film.started * 1000).toISOString().slice(0, 16).replace("T", " ") + " UTC");
  text($("legend"), calls.length + " calls, " + failures.length + " failed (✗, below the line); curve: context; ▲ signal  ◆ advice  ■ would halt  ▣ quarantine  ▽ compaction  │ prompt");
  const words = {strict: "All words and names were left out.", excerpts: "Prompts, commands and errors are cut to a line, and secrets in them are redacted by shape.", transcript: "Secrets in the words are redacted by shape."};
  text($("ending"), film.ending.filter(Boolean).join(": "));
  for (const line of film.outcome) {
    const row = document.createElement("li");
    row.textContent = line;
    $("outcome").append(row);
  }
  text($("about"), words[film.level] + " Made by nooscope. This page contains everything it shows and uses no network.");
  $("transcript").hidden = !film.words;
  if (!count) { text($("word"), "no events"); return; }
  draw();
  show();
})();
