"""The keys that work everywhere; each has an id by which settings may move it."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from tui.widgets.common.key_line import permit_bindings

KEYS: list[BindingType] = [
    Binding("space", "toggle_play", "play", id="play.toggle", tooltip="Play or pause"),
    Binding("left", "step(-1)", "step", key_display="←→", id="play.back", tooltip="One event back"),
    Binding(
        "right", "step(1)", "step", show=False, key_display="→", id="play.on", tooltip="One event forward"
    ),
    Binding("shift+left", "step(-10)", "back 10", show=False, id="play.back10", tooltip="Ten events back"),
    Binding(
        "shift+right", "step(10)", "forward 10", show=False, id="play.on10", tooltip="Ten events forward"
    ),
    Binding("home", "seek(0)", "start", show=False, id="play.start", tooltip="To the first event"),
    Binding("end", "go_live", "end", show=False, id="play.end", tooltip="To the newest event, and follow"),
    Binding("comma", "speed(-1)", "slower", key_display=",", show=False, id="play.slower", tooltip="Slower"),
    Binding(
        "full_stop", "speed(1)", "faster", key_display=".", show=False, id="play.faster", tooltip="Faster"
    ),
    Binding("n", "jump(True)", "problem", id="jump.next", tooltip="To the next problem or question to you"),
    Binding(
        "N",
        "jump(False)",
        "previous problem",
        show=False,
        id="jump.previous",
        tooltip="To the previous problem or question",
    ),
    Binding("x", "jump(True, 'failure')", "failure", id="jump.failure", tooltip="To the next failed call"),
    Binding(
        "X",
        "jump(False, 'failure')",
        "previous failure",
        show=False,
        id="jump.failure_before",
        tooltip="To the failed call before",
    ),
    Binding("p", "jump(True, 'prompt')", "prompt", id="jump.prompt", tooltip="To your next prompt"),
    Binding(
        "P",
        "jump(False, 'prompt')",
        "previous prompt",
        show=False,
        id="jump.prompt_before",
        tooltip="To your prompt before",
    ),
    Binding(
        "b",
        "bookmark",
        "bookmark",
        show=False,
        id="bookmark.add",
        tooltip="Bookmark this moment with a note, or remove it",
    ),
    Binding("g", "goto", "go to", show=False, id="jump.goto", tooltip="To a time or an event"),
    Binding(
        "slash",
        "search",
        "search",
        show=False,
        key_display="/",
        id="search",
        tooltip="Find a mark, path or bookmark",
    ),
    Binding(
        "plus,equals_sign", "zoom(1)", "closer", show=False, id="timeline.closer", tooltip="Show less time"
    ),
    Binding("minus", "zoom(-1)", "wider", show=False, id="timeline.wider", tooltip="Show more time"),
    Binding("a", "agent(1)", "agent", show=False, id="agent.next", tooltip="The next agent of the session"),
    Binding("A", "agent(-1)", "agent", show=False, id="agent.previous", tooltip="The agent before"),
    Binding(
        "S",
        "show('agents')",
        "agents",
        show=False,
        id="show.agents",
        tooltip="Sub-agents: task, status, last action, cost",
    ),
    Binding("o", "sessions", "sessions", show=False, id="show.sessions", tooltip="Open another session"),
    Binding(
        "h",
        "words",
        "hide words",
        show=False,
        id="words.hide",
        tooltip="Hide all words of the log, or show them",
    ),
    Binding("t", "show('tuning')", "tune", id="show.tuning", tooltip="Every setting, and what it would do"),
    Binding("T", "tune_beside", "beside", show=False, id="show.tuning_beside", tooltip="Tune beside this"),
    Binding("f", "fleet", "fleet", id="show.fleet", tooltip="All sessions of this machine"),
    Binding(
        "c",
        "show('changes')",
        "changes",
        id="show.changes",
        tooltip="Files changed up to the playhead, with their diff",
    ),
    Binding(
        "e",
        "show('transcript')",
        "transcript",
        id="show.transcript",
        tooltip="All that was asked, done and said, searchable",
    ),
    Binding(
        "escape", "fleet_back", "fleet", show=False, id="show.fleet_back", tooltip="Back to all sessions"
    ),
    Binding("F", "find", "find", show=False, id="find.words", tooltip="Find words in all sessions"),
    Binding(
        "m",
        "show('mind')",
        "model",
        id="show.model",
        tooltip="The model: mind, governor, affect, response, branches",
    ),
    Binding(
        "s", "steer", "tell it", show=False, id="hand.steer", tooltip="Tell the agent one sentence of yours"
    ),
    *permit_bindings("permit"),
    Binding(
        "R", "resume", "resume", show=False, id="hand.resume", tooltip="Copy the command that resumes it"
    ),
    Binding(
        "W", "next_in_need", "next", show=False, id="hand.next", tooltip="The next session that needs you"
    ),
    Binding("J", "pane", "pane", show=False, id="hand.pane", tooltip="Go to its pane of tmux"),
    Binding(
        "l",
        "recap",
        "recap",
        show=False,
        id="show.recap",
        tooltip="Recap: what happened since you last looked",
    ),
    Binding(
        "E",
        "show('extensions')",
        "extensions",
        show=False,
        id="show.extensions",
        tooltip="What is installed beside nooscope, and its panels",
    ),
    Binding("question_mark", "show('help')", "help", key_display="?", id="show.help", tooltip="Every key"),
    Binding("q", "quit", "quit", show=False, id="quit", tooltip="Leave nooscope"),
]
"""In the order the footer and the help show them."""
