"""It looks like trouble and is none."""

from __future__ import annotations

from sample_sessions.stage.actor import Actor
from sample_sessions.stage.phrases import explore
from sample_sessions.stage.world import World
from sample_sessions.stories.programs import CODEX, moment
from sample_sessions.stories.story import ALARMS, Story

PARTS = ("button", "dialog", "drawer", "field", "grid", "menu", "panel", "slider", "switch", "tabs", "toast", "tooltip")
INDEX = "src/components/index.ts"
THEME = "src/theme/tokens.ts"
TESTS = ("src/components/field/field.test.ts", "src/components/grid/grid.test.ts")


def _world() -> World:
    return World(
        "willow-ui",
        "button panel field token theme slot icon",
        "render focus align resize toggle",
        test="npx vitest run",
    )


def _tell(agent: Actor) -> None:
    agent.ask("Give every component a folder of its own, its test beside it, and fix the imports. Then watch CI.")
    agent.narrate("A tidy-up: dozens of nearly identical commands are about to come. Is that a loop?")
    passed = 88
    agent.test(passed)
    agent.read("scripts/move.mjs", thought="There is a script for moving files; good.")
    explore(agent, (INDEX, THEME))
    for place, part in enumerate(PARTS):
        agent.run(
            f'node scripts/move.mjs "{part}"',
            f"moved src/components/{part}.ts to src/components/{part}/{part}.ts",
            took=(0.2, 0.5),
        )
        if place % 2:
            agent.edit(INDEX)
        if place % 4 == 3:
            agent.test(passed)
    agent.narrate(
        "Twelve moves, alike but for a name, and each did something. No detector fires.", "signal flow_active"
    )
    agent.edit(TESTS[0])
    agent.test(86, "src/components/field/field.test.ts > aligns its label | Cannot find module '../theme'")
    for place in range(6):
        agent.edit((TESTS[0], THEME, TESTS[1])[place % 3])
        agent.test(passed + place // 2)
    agent.narrate("Tests after every edit, one red among many green: that is care, not trial and error.")
    agent.commit("Give every component a folder of its own")
    agent.run("git push origin HEAD", "To git.example.test:willow/willow-ui.git\n   1f0c2aa..9b7e014  HEAD -> folders")
    agent.narrate("Now it waits for CI, and asks again and again.")
    for turn in range(9):
        tests = "queued" if turn < 2 else "running"
        status = f"build   running  {turn * 45 + 20}s\nlint    success\ntests   {tests}"
        agent.run("sleep 45 && ci status --branch folders", status, took=(45.5, 46.5))
    agent.narrate("The same question every 45 seconds repeats itself too. It is recognized as waiting.")
    agent.run(
        "sleep 45 && ci status --branch folders", "build   success\nlint    success\ntests   success", took=(45.5, 46.5)
    )
    agent.answer("All twelve components have a folder of their own now, and CI is green.")
    agent.narrate("Thirty commands that looked alike, and not one alarm.")


STORY = Story(
    name="lookalike",
    title="An innocent look-alike",
    sentence="Many equal moves, tests after every edit, and a long wait for CI.",
    notice="What does not happen: no loop, no spike, no halt, although much repeats itself.",
    program=CODEX,
    world=_world,
    start=moment("2026-02-19T16:48:12"),
    tell=_tell,
    must=("signal flow_active", "state deep_work", "pattern implementation"),
    never=(
        *ALARMS,
        "signal seeking_spike",
        "signal uncertainty_spike",
        "regime crisis",
        "regime turbulence",
        "compaction",
    ),
)
