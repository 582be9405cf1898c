"""The context runs full and is cut."""

from __future__ import annotations

from sample_sessions.stage.actor import Actor
from sample_sessions.stage.phrases import explore, implement
from sample_sessions.stage.world import World
from sample_sessions.stories.programs import CLAUDE, moment
from sample_sessions.stories.story import Story

STORE = tuple(
    f"crates/store/src/{name}.rs"
    for name in ("page", "cursor", "split", "journal", "recover", "cache", "freelist", "checksum")
)
TREE = tuple(f"crates/tree/src/{name}.rs" for name in ("node", "walk", "merge", "range"))
TESTS = "crates/store/tests/split.rs"
NOTES = "CLAUDE.md"
SUMMARY = """\
Summary of the work so far:
1. The person wants pages of mosaicdb to be split without a full rewrite of the journal.
2. Read: all of crates/store, and node, walk, merge and range of the tree crate.
3. Done: split.rs writes a half page first; journal.rs has a new record kind; three tests added.
4. Open: recover.rs has to understand the new record. Next: edit recover.rs, then run the tests."""


def _world() -> World:
    return World(
        "mosaicdb",
        "page node cursor record journal segment key",
        "split merge flush seal pin walk",
        test="cargo test -p store",
        size=3,
    )


def _tell(agent: Actor) -> None:
    agent.context = 57_000
    agent.ask(
        "Here is the design note again, with the three files of the old format (attached). Please go on: "
        "pages should be split without rewriting the whole journal. Read all of crates/store first."
    )
    agent.narrate("Attachments and a long design note: a quarter of the window is used before work begins.")
    agent.test(68)
    agent.run("git log --oneline -5", "4be1c20 Seal pages before a flush\n91d0f7a Walk ranges without a copy")
    explore(agent, STORE[:5], ("fn split", "JournalRecord"))
    agent.narrate("Every file that is read stays in the context. The gauge is full when compaction is due.")
    agent.edit(TESTS, thought="A test for what is wanted.")
    explore(agent, (*STORE[5:], *TREE), ("fn flush", "checksum"))
    implement(agent, (STORE[2], STORE[3], TESTS), 5, passed=69)
    agent.narrate("Work goes well, but nothing ever leaves the context. Sleep pressure builds up, tick by tick.")
    for path in (STORE[3], STORE[4], STORE[2], STORE[0], TREE[0], STORE[5]):
        agent.run(f"git log -p -2 -- {path}", agent.world.text(path))
        agent.read(path)
        agent.edit(STORE[3])
    agent.narrate("Nine tenths of the way to compaction. The forecast counts the turns that are left.")
    implement(agent, (STORE[3], STORE[4]), 2, passed=74)
    for path in (STORE[1], TREE[1], STORE[4]):
        agent.read(path)
        agent.edit(STORE[4])
    agent.edit(NOTES, thought="I'll note what is open before the context is cut.")
    agent.narrate("Little room is left, and affect takes it as pressure. What is not noted now will be forgotten.")
    agent.test(75)
    agent.compact(SUMMARY, 24_600)
    agent.read(NOTES, thought="Back to the open point.")
    agent.narrate(
        "Compaction: 25 thousand tokens are left. The engine dreams, and half of the fatigue is gone.",
        "compaction auto",
        "dream compaction",
    )
    agent.read(STORE[4])
    agent.read(STORE[3])
    implement(agent, (STORE[4], STORE[3]), 6, passed=75)
    agent.commit("Split pages without rewriting the journal")
    agent.answer("A split writes one half page and one journal record now; recovery understands it, all tests pass.")
    agent.narrate("It read two files again, found the thread, and went on. A good summary is worth a lot.")


STORY = Story(
    name="full",
    title="A full context",
    sentence="A long task in a storage engine fills the context up to the point where it is compacted.",
    notice="The sleep panel: context on its way to compaction, the dream, and the drop after it.",
    program=CLAUDE,
    world=_world,
    start=moment("2026-02-16T10:20:09"),
    tell=_tell,
    must=("compaction auto", "dream compaction", "state deep_work", "signal flow_active"),
    never=("halt", "loop", "quarantine", "signal frustration_spike", "state stuck"),
)
