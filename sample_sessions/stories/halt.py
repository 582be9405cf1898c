"""A wall, and an agent that keeps running into it."""

from __future__ import annotations

from sample_sessions.stage.actor import Actor
from sample_sessions.stage.world import World
from sample_sessions.stories.programs import OPENHANDS, moment
from sample_sessions.stories.story import Story

REFUSED = (
    "Looking in indexes: http://mirror.example.test/simple\n"
    "WARNING: Retrying (Retry(total={left}, connect=None, read=None)) after connection broken by "
    "'NewConnectionError: Failed to establish a new connection: [Errno 111] Connection refused'\n"
    "ERROR: Could not find a version that satisfies the requirement {what} (from versions: none)\n"
    "ERROR: No matching distribution found for {what}"
)
READ_ONLY = "[Errno 30] Read-only file system: '/home/dev/saltmarsh/{path}'"
WANTED = ("2.4.1", "2.4.0", "2.4.1", "2.3.9", "2.4.1", "2.4.0", "2.3.8", "2.4.1")
EDITS = (
    ("requirements.txt", "reedwarden==2.2.0", "reedwarden==2.4.1"),
    ("pip.conf", "timeout = 20", "timeout = 60"),
    ("setup.cfg", "reedwarden==2.2.0", "reedwarden>=2.3"),
)


def _world() -> World:
    world = World("saltmarsh", "marsh reed sample gauge survey layer", "map clip blend draw load", test="pytest -q")
    world.put("requirements.txt", "shorebird>=1.8\nreedwarden==2.2.0\ntidewrack~=0.9\n")
    world.put("pip.conf", "[global]\nindex-url = http://mirror.example.test/simple\ntimeout = 20\n")
    world.put("setup.cfg", "[options]\ninstall_requires =\n    reedwarden==2.2.0\n    shorebird\n")
    return world


def _install(agent: Actor, turn: int) -> None:
    what = f"reedwarden=={WANTED[turn % len(WANTED)]}"
    agent.run(f"pip install {what}", REFUSED.format(left=4 - turn % 4, what=what), 1, took=(3.0, 16.0))


def _round(agent: Actor, turn: int) -> None:
    _install(agent, turn)
    path, old, new = EDITS[turn % len(EDITS)]
    agent.edit(
        path,
        old,
        new,
        fault=READ_ONLY.format(path=path),
        thought=("Another version may do.", "Perhaps the mirror.")[turn % 2],
    )


def _tell(agent: Actor) -> None:
    agent.ask("Upgrade reedwarden to 2.4 in saltmarsh and make the survey maps draw again.")
    agent.narrate("The sandbox is read-only and its package mirror is down. The agent knows neither.")
    agent.read("saltmarsh/maps.py")
    for turn in range(4):
        _round(agent, turn)
    agent.narrate(
        "Every install fails, every edit is rejected by the disk: trial and error, and stuck.",
        "pattern trial_error",
        "state stuck",
        "governor RECOVERING",
    )
    for turn in range(4, 7):
        _round(agent, turn)
    agent.narrate(
        "pip fails again and again: a loop. The governor would halt here; it only watches, so work goes on.",
        "loop failing",
        "halt STAGNATION",
    )
    for turn in range(7, 14):
        _round(agent, turn)
    agent.run("curl -sSf http://mirror.example.test/simple/", "curl: (7) Failed to connect to mirror.example.test", 7)
    agent.answer("I could not install reedwarden 2.4: the mirror refuses connections and the checkout is read-only.")
    agent.narrate("A dozen more attempts and the same answer: that is what the halt would have saved.")


STORY = Story(
    name="halt",
    title="Where the governor would halt",
    sentence="Attempt after attempt to install a package, with the mirror down and the disk read-only.",
    notice="Effort and persistence run out; the governor says where it would have halted, and why.",
    program=OPENHANDS,
    world=_world,
    start=moment("2026-02-18T11:05:27"),
    tell=_tell,
    must=("halt STAGNATION", "loop failing", "governor RECOVERING", "state stuck", "signal frustration_spike"),
    never=("compaction", "signal flow_active", "state deep_work"),
)
