"""Every mechanism of the model: where it is computed, what it changes, where it is seen, and its proof."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.docs.tables import table
from core.mind.fabric import MIND_EVENTS

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
        "header, Mind screen (usual patterns beside it)",
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
        "heatmap: changed on disk",
        "live.disk:changed_files",
        "the sixth dimension; a live session is told of it as a recorded change",
        "a star in the Paths panel, path suggestions",
        "core/timeline/test_neighbours.py::test_a_file_changed_on_disk_is_seen_in_the_project_alone",
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
        "beside each threshold, Response screen, `rules`, `doctor`",
        "core/response/test_learned.py::test_learning_changes_the_interpretation_and_never_the_sensor",
    ),
    (
        "prior",
        "receptor.prior:blended",
        "baselines, C's field and the usual patterns a session begins with",
        "a line at the start of `watch`, `doctor`, Mind screen",
        "core/receptor/test_prior.py::test_a_prior_of_one_run_changes_the_next_runs_first_thresholds_and_nothing_else",
    ),
    (
        "persona and encounter",
        "receptor.persona:encounter",
        "leans the baselines towards an alike persona's; a look ahead asks them all",
        "a line at the start of `watch`",
        "core/receptor/test_persona.py::test_taking_over_leans_and_never_replaces",
    ),
    (
        "future probe",
        "response.actions:probe",
        "says what followed alike moments and how alike personas fare",
        "Response screen, `frame`",
        "core/response/test_foresight.py::test_personas_that_work_alike_are_asked",
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
        "how much a class of tool weighs in salience; writing needs the person from a bound on",
        "Mind screen, `permits`",
        "core/test_knobs.py::test_tool_trust_weighs_commands_above_looks",
    ),
    (
        "homeostasis: tier bias",
        "mind.homeostasis:Homeostasis.tier_bias",
        "which model a moment is said to deserve, and what the router prefers",
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
        "ticks between the scheduled ones; a person's own rules beside the six",
        "Mind screen, `rules`",
        "core/mind/test_mind.py::test_a_prompt_wakes_the_mind_unless_a_theta_tick_is_near",
    ),
    (
        "wakeup rules",
        "response.wakeup_rules:read_wakeups",
        "conditions of a file that wake the mind",
        "Mind screen, `rules`",
        "core/response/test_wakeup_rules.py::test_a_rule_of_ones_own_wakes_the_mind",
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
        "Mind screen, `frame`, the memo",
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
        "what the mind and its rooms did, the last 10,000, each kind told below",
        "Mind screen, `events`, `watch --mind`, extensions",
        "core/mind/test_fabric.py::test_10050_events_keep_10000_from_number_50",
    ),
    (
        "branches: Sim",
        "timeline.branch:edited",
        "what would have fired with other settings; what was foreseen beside what came",
        "Tuning, Branches screen, `whatif`",
        "core/report/test_branches.py::test_what_was_foreseen_stands_beside_what_came",
    ),
    (
        "branches: PreSteer",
        "timeline.branch:pre_steer",
        "what a word would do, before it is said",
        "Branches screen, `whatif --steer`",
        "core/report/test_branches.py::test_a_word_is_tried_before_it_is_said",
    ),
    (
        "branches: Dream",
        "timeline.branch:dream",
        "what fires where past stretches come in another order",
        "Branches screen, `whatif --dream`",
        "core/report/test_branches.py::test_a_dreams_findings_are_taken_over_by_their_strength",
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
        "Context panel, `analyze`, `frame`, `watch --headless`, hooks",
        "core/report/test_compaction.py::test_passing_through_keeps_what_a_recording_would",
    ),
    (
        "conversation tree",
        "report.conversation:ConversationTree",
        "a log that was edited is found",
        "Branches screen, `tree`",
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
        "how many past episodes are recalled and paths suggested",
        "Mind screen, the memo, `frame`",
        "core/test_knobs.py::test_a_knob_changes_what_it_should_and_nothing_else",
    ),
    (
        "branches",
        "timeline.branch:dream",
        "how many stretches a dream branch recombines",
        "Branches screen, Governance screen",
        "core/test_knobs.py::test_a_knob_changes_what_it_should_and_nothing_else",
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
        "how much of a lesson and a persona is taken over; which of a dream's findings count",
        "`doctor`",
        "core/test_knobs.py::test_acceptance_is_how_much_of_a_lesson_is_taken_over",
    ),
    (
        "acceptance of a model's words",
        "narrator.claims:accepted_claims",
        "how much of a sentence its facts must hold before it is taken over",
        "`why`, `recap --prose`, `i` in the recap: *not taken over*",
        "core/narrator/test_router.py::"
        "test_a_proposal_needs_more_support_the_stricter_affect_is_and_nothing_else_changes",
    ),
    (
        "delegation",
        "response.delegates:Delegates.order",
        "the order of ways to go on: alone, or by a sub-agent that did well",
        "Governance screen, what alerts say",
        "core/response/test_foresight.py::test_delegation_orders_the_ways_to_go_on",
    ),
    (
        "delegation to models",
        "narrator.router:Router.tell",
        "the order in which models are asked, and whether any elsewhere is",
        "the line on who told, `why`",
        "core/narrator/test_router.py::test_delegation_orders_whom_the_router_asks",
    ),
    (
        "composition: confidence",
        "mind.heart:Heart.begin",
        "how fast the confidence of the gate fades and comes back",
        "Mind screen",
        "core/test_knobs.py::test_a_knob_changes_what_it_should_and_nothing_else",
    ),
    (
        "composition: forecasting",
        "response.actions:probe",
        "how many futures are looked at, how far, and which are left out",
        "Response screen",
        "core/response/test_foresight.py::test_affect_widens_deepens_and_prunes_the_look_ahead",
    ),
    (
        "composition: discovery",
        "response.actions:suggest",
        "whether known or rare paths are suggested",
        "Response screen",
        "core/response/test_foresight.py::test_familiarity_decides_what_is_suggested",
    ),
    (
        "kept by agent and project",
        "store.affect:AffectStore",
        "the fields the next session of an agent in a project begins with",
        "Governance screen (lineage)",
        "core/timeline/test_neighbours.py::test_affect_is_kept_by_agent_and_project_and_fades",
    ),
    (
        "neighbouring sessions",
        "society:Society.hear",
        "fields and attention, when another session in the folder reports",
        "Governance screen",
        "core/timeline/test_neighbours.py::test_a_report_is_the_peer_stimulus_and_moves_affect_within_its_limits",
    ),
    (
        "six canonical fields",
        "report.agent_fields:agent_fields",
        "nothing: they are what an agent carries beside its affect",
        "Governance screen",
        "core/report/test_agent_fields.py::test_the_six_fields_follow_the_session",
    ),
    (
        "quarantine",
        "affect.quarantine:Quarantine",
        "tightens thresholds, stops contagion; advice passes a second check or goes to the person",
        "Governance screen",
        "core/response/test_foresight.py::test_advice_in_quarantine_passes_a_second_check_or_the_person",
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
        "affect is not an input of the governor's gate",
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


_DOCUMENT_EVENTS: tuple[tuple[str, str], ...] = (
    ("HeartbeatTick", "Ticked"),
    ("ToolCall", "ToolCalled"),
    ("ToolResult", "ToolReturned"),
    ("AffectUpdate", "AffectUpdated"),
    ("VitalityUpdate", "VitalityUpdated"),
    ("PhaseTransition", "PhaseChanged"),
    ("PositionOpened", "FileOpened"),
    ("PositionClosed", "none: nothing tells that an agent is done with a file"),
    ("ThinkingStart", "ThinkingStarted"),
    ("ThinkingEnd", "ThinkingEnded"),
    ("TurnStart", "none: logs tell an answer once it is there, not when it was begun"),
    ("TurnEnd", "TurnEnded"),
    ("ModelSelected", "ModelSelected"),
    ("SleepPressureThreshold", "SleepDue"),
    ("HabituationDecay", "Habituated"),
    ("HomeostasisIntervention", "Regulated"),
    ("CompensationRollback", "none: our own writes happen outside the mind; errors and `doctor` tell"),
    ("StateSnapshotCreated", "SnapshotAsked; key frames are the recording's, outside the mind"),
    ("PolicyTripwire", "PolicyTripped"),
    ("OwnerMessage", "OwnerSpoke"),
    ("ChainConfirmation", "WorkConfirmed"),
    ("PheromoneSpike", "TraceSeen"),
    ("DreamRequest", "DreamRequested"),
    ("Shutdown", "SessionOver"),
)


def fabric_events() -> str:
    """The kinds of events on the fabric, each with what it says."""
    return table(
        ("event", "what it says", "fields"),
        (
            (f"`{kind.__name__}`", (kind.__doc__ or "").splitlines()[0], ", ".join(kind._fields[1:]))
            for kind in MIND_EVENTS
        ),
    )


def document_events() -> str:
    """The events the documents name, and what each is here."""
    known = {kind.__name__ for kind in MIND_EVENTS}
    lost = [ours for _, ours in _DOCUMENT_EVENTS if ours.split(";")[0] not in known and "none:" not in ours]
    if lost:
        raise ValueError(f"events that do not exist: {', '.join(lost)}")
    return table(("named in the documents", "here"), _DOCUMENT_EVENTS)


TABLES: dict[str, Callable[..., str]] = {
    "mechanisms": mechanisms,
    "fabric": fabric_events,
    "named": document_events,
}
