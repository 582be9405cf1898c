"""Looking everywhere, knowing nothing."""

from __future__ import annotations

from sample_sessions.stage.actor import Actor
from sample_sessions.stage.phrases import implement, wander
from sample_sessions.stage.world import World
from sample_sessions.stories.programs import GEMINI, moment
from sample_sessions.stories.story import Story

PLACES = (
    "cmd/harborlight/main.go",
    "internal/beacon/beacon.go",
    "internal/beacon/signal.go",
    "internal/route/router.go",
    "internal/route/table.go",
    "internal/berth/berth.go",
    "internal/berth/queue.go",
    "internal/pilot/roster.go",
    "pkg/wire/frame.go",
    "pkg/wire/codec.go",
    "internal/notice/mail.go",
    "internal/notice/board.go",
)
MISSING = (
    "reserveSlot",
    "SlotReservation",
    "slot_reservation",
    "ErrSlotTaken",
    "reservationTTL",
    "expireReservation",
    "SLOT_TTL",
    "releaseSlot",
    "holdSlot",
)
REAL = ("internal/berth/lease.go", "internal/berth/lease_test.go", "internal/berth/clock.go")


def _world() -> World:
    return World(
        "harborlight",
        "berth lease pilot beacon route notice",
        "grant extend release schedule signal",
        test="go test ./...",
    )


def _tell(agent: Actor) -> None:
    agent.ask("Slot reservations never expire. Make them expire after ten minutes.")
    agent.narrate("The person says slot reservation. The code has another word for it, which the agent does not know.")
    agent.find("**/*reservation*.go")
    wander(agent, PLACES[:3], MISSING[:3])
    agent.narrate(
        "Only reads and empty searches: wandering. Seeking and uncertainty fire, two sides of not knowing.",
        "pattern wandering",
        "signal seeking_spike",
        "signal uncertainty_spike",
    )
    wander(agent, PLACES[3:7], MISSING[3:7])
    agent.narrate("Seven files, no edit, yet frustration is nil: nothing failed, the agent just does not know.")
    wander(agent, PLACES[7:], MISSING[7:])
    agent.search("expire", where="internal/notice")
    agent.interrupt(after=6.0)
    agent.ask(
        "Stop, that is my fault: a reservation is called a lease in the code. See internal/berth/lease.go.", after=21.0
    )
    agent.narrate("The person interrupts and gives the missing word.", "prompt interrupt")
    agent.search("type Lease", *REAL[:1], where="internal/berth")
    agent.read(REAL[0], thought="A lease, then.")
    agent.read(REAL[2])
    implement(agent, REAL, 9, passed=12)
    agent.commit("Let leases expire after ten minutes")
    agent.answer("Leases now expire after ten minutes; the clock is handed in, so the test does not wait.")
    agent.narrate("Edits again. Wandering turned into implementation, and seeking falls.", "pattern implementation")


STORY = Story(
    name="wander",
    title="Wandering without knowledge",
    sentence="A search for a word the code does not use: many reads, empty searches, and no edit.",
    notice="Seeking and uncertainty rise while frustration stays low, until the person interrupts.",
    program=GEMINI,
    world=_world,
    start=moment("2026-02-12T15:03:18"),
    tell=_tell,
    must=(
        "pattern wandering",
        "signal seeking_spike",
        "signal uncertainty_spike",
        "prompt interrupt",
        "pattern implementation",
    ),
    never=(
        "halt",
        "quarantine",
        "signal frustration_spike",
        "signal compound_frustration_seeking",
        "state stuck",
        "compaction",
    ),
)
