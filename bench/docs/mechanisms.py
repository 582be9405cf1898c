"""Every mechanism of the model: where it is computed, what it changes, where it is seen, and its proof."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.docs.tables import table

ROOT = Path(__file__).resolve().parents[2]


class Mechanism(NamedTuple):
    """One row; `computed` and `proof` are looked up, so that neither can name what is not there."""

    part: str
    name: str
    computed: str
    """`module:name` in core."""
    changes: str
    seen: str
    proof: str
    """`file::test` below tests."""


def _rows(part: str, *rows: tuple[str, str, str, str, str]) -> tuple[Mechanism, ...]:
    return tuple(Mechanism(part, *row) for row in rows)


_RECEPTOR = _rows(
    "receptor",
    (
        "emotion engine",
        "receptor.emotion:EmotionEngine",
        "the six axes, and through them what fires",
        "Emotion panel, `frame`",
        "core/receptor/test_emotion.py::test_every_impulse_of_the_table",
    ),
    (
        "ambient baseline",
        "receptor.ambient:AmbientEstimator",
        "every threshold of B and of A",
        "thresholds beside each axis",
        "core/receptor/test_ambient.py::test_the_average_follows_by_its_time_constant",
    ),
    (
        "commander",
        "receptor.commander:Commander",
        "pattern impulses and states",
        "pattern on the main screen",
        "core/receptor/test_commander.py::test_six_patterns",
    ),
    (
        "path heatmap",
        "receptor.heatmap:Heatmap",
        "shifts of context, paths that are suggested",
        "Paths panel",
        "core/receptor/test_heatmap.py::test_more_than_half_of_five_new_is_a_shift",
    ),
    (
        "neuron A, the flow gate",
        "receptor.gate:FlowGate",
        "silences advice while work flows",
        "Neuron triangle",
        "core/receptor/test_receptor.py::test_smooth_work_flows_and_silences_everything_else",
    ),
    (
        "neuron B",
        "receptor.neuron:EmotionNeuron",
        "the signals",
        "Signals panel",
        "core/receptor/test_triangle.py::test_an_axis_fires_at_its_threshold",
    ),
    (
        "neuron C, the meta neuron",
        "receptor.meta:MetaNeuron",
        "the field on B's thresholds, never on A's",
        "Neuron triangle",
        "core/receptor/test_laws.py::test_though_the_meta_neuron_changes_what_fires_and_with_it_flow",
    ),
    (
        "method scoring",
        "response.scoring:Scorer",
        "which method speaks",
        "Signals, `rules`",
        "core/response/test_scoring.py::test_a_score_is_the_product_of_its_factors",
    ),
    (
        "learned delta",
        "response.learned:learn",
        "sensitivity of the methods in later sessions",
        "`frame`, `doctor`",
        "core/response/test_learned.py::test_learning_changes_the_interpretation_and_never_the_sensor",
    ),
    (
        "prior",
        "receptor.prior:blended",
        "the baselines a session begins with",
        "a line at the start of `watch`, `doctor`",
        "core/receptor/test_prior.py::"
        "test_a_prior_of_one_run_changes_the_next_runs_first_thresholds_and_nothing_else",
    ),
    (
        "persona and encounter",
        "receptor.persona:encounter",
        "leans the baselines towards an alike persona's",
        "a line at the start of `watch`",
        "core/receptor/test_persona.py::test_taking_over_leans_and_never_replaces",
    ),
    (
        "context snapshot",
        "response.actions:persist",
        "a checkpoint on disk while a session is watched",
        "`bookmarks`, flags on the timeline",
        "core/live/test_driver.py::test_a_snapshot_that_a_method_asks_for_is_kept_while_it_is_news",
    ),
)

_MECHANISMS = _rows(
    "cognitive mechanisms",
    (
        "attention salience",
        "mind.salience:Salience",
        "what is attended to, and what is news after a change of regime",
        "Salience panel",
        "core/mind/test_salience.py::test_relevance_by_kind_and_regime",
    ),
    (
        "sleep pressure",
        "mind.sleep:SleepPressure",
        "when dreams come",
        "Context and sleep panel",
        "core/mind/test_dreams.py::test_pressure_brings_a_dream_at_the_next_delta_tick_and_not_before",
    ),
    (
        "dreams",
        "mind.dreams:Dreams",
        "compresses episodes, forgets, rebalances salience",
        "Mind screen",
        "core/mind/test_dreams.py::test_a_dream_compresses_collects_rebalances_and_asks_for_a_frame",
    ),
    (
        "habituation",
        "mind.habituation:Habituation",
        "novelty, for salience and for the governor",
        "Mind screen",
        "core/mind/test_mind.py::test_novelty_wears_off_with_the_calls_pattern",
    ),
    (
        "homeostasis: tool trust",
        "mind.homeostasis:Homeostasis.tool_trust",
        "how much what a class of tool does weighs in salience",
        "Mind screen",
        "core/test_knobs.py::test_tool_trust_weighs_commands_above_looks",
    ),
    (
        "homeostasis: tier bias",
        "mind.homeostasis:Homeostasis.tier_bias",
        "which model a moment is said to deserve",
        "Mind screen",
        "core/test_knobs.py::test_a_knob_changes_what_it_should_and_nothing_else",
    ),
    (
        "homeostasis: dream mode",
        "mind.homeostasis:Homeostasis",
        "dreams come at a lower pressure and need not wait for a delta tick",
        "Mind screen",
        "core/test_knobs.py::test_a_knob_changes_what_it_should_and_nothing_else",
    ),
    (
        "compensation chain",
        "store.compensation:Chain",
        "undoes a write of several steps as a whole",
        "errors, `doctor`",
        "core/store/test_compensation.py::test_an_error_undoes_every_step_in_reverse_order",
    ),
    (
        "rollback checkpoint",
        "store.compensation:Chain",
        "puts the files back where undoing fails",
        "the error that tells so, `doctor`",
        "core/store/test_compensation.py::test_files_are_put_back_from_the_checkpoint_where_undoing_fails",
    ),
    (
        "named checkpoints",
        "timeline.checkpoints:Checkpoints",
        "a place one can return to, checked",
        "`b`, the palette, `bookmarks --return`",
        "core/timeline/test_checkpoints.py::test_a_return_is_checked_against_the_recording",
    ),
    (
        "event-driven wakeups",
        "mind.wakeup:Wakeups",
        "ticks between the scheduled ones",
        "Mind screen",
        "core/mind/test_mind.py::test_a_prompt_wakes_the_mind_unless_a_theta_tick_is_near",
    ),
)

_MIND = _rows(
    "runtime of the mind",
    (
        "cortical state",
        "mind.cortical:CorticalState",
        "what episodes, gate and mood are read from",
        "Mind screen",
        "core/mind/test_cortical.py::test_each_writer_changes_its_own_group_only",
    ),
    (
        "adaptive clock",
        "mind.clock:Clock",
        "when everything that ticks does",
        "Mind screen",
        "core/mind/test_clock.py::test_gamma_interval_shrinks_with_violations",
    ),
    (
        "inference gate and budget",
        "mind.tiers:Tiers",
        "pace of the clock, the tier a moment deserves",
        "Mind screen",
        "core/mind/test_tiers.py::test_the_throttle_bands",
    ),
    (
        "state snapshots",
        "timeline.keyframes:KeyFrames",
        "any place can be seeked",
        "playhead",
        "core/timeline/test_keyframes.py::"
        "test_whole_frames_lean_on_one_that_stands_alone_and_are_smaller_for_it",
    ),
    (
        "episodic replay",
        "mind.mind:Mind.recall",
        "what methods say of moments like this; affect decides how wide",
        "`frame`, the memo",
        "core/test_knobs.py::test_a_knob_changes_what_it_should_and_nothing_else",
    ),
    (
        "tick metrics",
        "mind.metrics:Metrics",
        "one record a tick",
        "`analyze --metrics`",
        "core/mind/test_metrics.py::test_a_record_holds_what_happened_since_the_last",
    ),
    (
        "event fabric",
        "mind.fabric:Fabric",
        "what the mind says of itself, the last 10,000",
        "dumps alone: nobody listens yet",
        "core/mind/test_fabric.py::test_10050_events_keep_10000_from_number_50",
    ),
    (
        "branches: Sim",
        "timeline.branch:edited",
        "what would have fired with other settings",
        "Tuning, `whatif`",
        "core/timeline/test_branch.py",
    ),
    (
        "ChronoNav",
        "report.chrono:ChronoNav",
        "every move is recorded in a chain; a return says what changed",
        "a note on the screen, `trail`, `recap`",
        "tui/feed/test_feed.py::test_moves_are_chained_and_kept_over_visits",
    ),
    (
        "CompactionPreserve",
        "report.compaction:preserve",
        "what stood and what was open when the context was cut",
        "`analyze`, `frame`",
        "core/report/test_compaction.py::test_passing_through_keeps_what_a_recording_would",
    ),
    (
        "conversation tree",
        "report.conversation:ConversationTree",
        "a log that was edited is found",
        "`tree`",
        "core/report/test_conversation.py",
    ),
    (
        "intervention queue",
        "response.interventions:InterventionQueue",
        "when a word would be said, and what came of it",
        "the response in `frame`",
        "core/response/test_response.py::test_interventions_wait_for_their_windows",
    ),
)

_GOVERNOR = _rows(
    "governor",
    (
        "appraisal and budgets",
        "governor.kinetics:Kinetics",
        "effort, risk, exploration, persistence",
        "Governance screen",
        "core/governor/test_kinetics.py::test_each_pressure_grants_by_its_weights_and_frustration_takes",
    ),
    (
        "states and halts",
        "governor.machine:Machine",
        "a notice where it would halt",
        "Governance screen, notices",
        "core/governor/test_governor.py::test_our_own_profile_can_reach_these_halts",
    ),
)

_AFFECT = _rows(
    "affective field",
    (
        "seven control fields",
        "affect.affect:Affect",
        "the eight parameters below",
        "Governance screen",
        "core/affect/test_update.py::test_repeated_failure_makes_careful",
    ),
    (
        "promotion and fading",
        "affect.modulation:Modulator",
        "which items of salience are promoted, and how fast others fade",
        "Salience panel",
        "core/mind/test_salience.py::test_unpromoted_items_fade_faster_when_affect_says_so",
    ),
    (
        "escalation",
        "response.escalation:Escalation",
        "how soon the person is asked",
        "notices",
        "core/response/test_escalation.py::test_affect_decides_how_soon",
    ),
    (
        "breadth",
        "mind.mind:Mind.alike",
        "how many past episodes are recalled",
        "the memo, `frame`",
        "core/test_knobs.py::test_a_knob_changes_what_it_should_and_nothing_else",
    ),
    (
        "branches",
        "timeline.branch:dream",
        "how many stretches a dream branch recombines",
        "Governance screen",
        "core/timeline/test_branch.py",
    ),
    (
        "persistence",
        "response.loops.detector:LoopDetector.update",
        "retries before the loop and failure detectors speak",
        "notices, Signals",
        "core/test_knobs.py::test_persistence_is_the_number_of_failures_let_pass",
    ),
    (
        "acceptance",
        "response.learned:share_accepted",
        "how much of a lesson and of a persona is taken over",
        "`doctor`",
        "core/test_knobs.py::test_acceptance_is_how_much_of_a_lesson_is_taken_over",
    ),
    (
        "delegation",
        "affect.modulation:Modulator",
        "nothing yet: there is no delegate to prefer",
        "Governance screen",
        "core/affect/test_update.py::test_starts_at_rest_and_bends_nothing",
    ),
    (
        "quarantine",
        "affect.quarantine:Quarantine",
        "tightens thresholds, stops contagion",
        "Governance screen",
        "core/affect/test_contagion.py::test_nothing_leaves_quarantine",
    ),
    (
        "contagion and inheritance",
        "affect.commons:Commons",
        "fields of parent, sub-agents and neighbours",
        "Governance screen",
        "core/affect/test_contagion.py::test_each_hop_weakens",
    ),
    (
        "lineage",
        "affect.lineage:Lineage",
        "a changed record is found",
        "Governance screen",
        "core/affect/test_laws.py::test_tampering_with_any_entry_is_found",
    ),
    (
        "separation",
        "governor.governor:Governor.step",
        "affect is no input of the governor's gate",
        "the same halts at any affect",
        "core/affect/test_separation.py::test_maximal_and_minimal_affect_give_the_same_verdicts",
    ),
)

MECHANISMS = (*_RECEPTOR, *_MECHANISMS, *_MIND, *_GOVERNOR, *_AFFECT)


def missing(mechanism: Mechanism) -> list[str]:
    """What a row names and does not exist."""
    found = []
    module, _, name = mechanism.computed.partition(":")
    try:
        thing: object = importlib.import_module(f"core.{module}")
        for part in name.split("."):
            thing = getattr(thing, part)
    except (ImportError, AttributeError):
        found.append(mechanism.computed)
    file, _, test = mechanism.proof.partition("::")
    path = ROOT / "tests" / file
    if not path.is_file() or (test and f"def {test}(" not in path.read_text("utf-8")):
        found.append(mechanism.proof)
    return found


def mechanisms() -> str:
    """All of them as a table; a row that names what is not there is an error."""
    lost = [f"{each.name}: {what}" for each in MECHANISMS for what in missing(each)]
    if lost:
        raise ValueError(f"mechanisms that name what does not exist: {'; '.join(lost)}")
    return table(
        ("part", "mechanism", "computed in", "what it changes", "where it is seen", "proof"),
        (
            (
                each.part,
                each.name,
                f"`core.{each.computed.replace(':', '.')}`",
                each.changes,
                each.seen,
                f"`{each.proof.rpartition('::')[2].rpartition('/')[2]}`",
            )
            for each in MECHANISMS
        ),
    )


TABLES: dict[str, Callable[..., str]] = {"mechanisms": mechanisms}
