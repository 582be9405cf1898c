"""Settings of the response: rules, delivery, learning, continuity and notices."""

from __future__ import annotations

from typing import Annotated, Literal

from core.settings.group import ON, PROJECT, Group, Spec, higher, lower

DetectorName = Literal["repeat", "failing", "oscillation", "retest", "rework", "stalled", "no_progress"]
Limit = Annotated[int, Spec(ge=0, le=10_000)]


class RepeatSettings(Group):
    """Repeated calls with the same results."""

    enabled: Annotated[bool, Spec("Detect identical calls with identical results.", project=ON)] = True
    times: Annotated[int, Spec("Times one call repeats in a row before it is a loop.", 2, 100, 1, project=lower(3))] = 6
    rounds: Annotated[int, Spec("Repeats of a round of calls that make a loop.", 2, 100, 1, project=lower(2))] = 4
    longest: Annotated[int, Spec("Calls in the longest round that is detected.", 1, 6, 1)] = 6


class FailingSettings(Group):
    """Calls that fail with no good edit or check in between."""

    enabled: Annotated[bool, Spec("Detect calls that keep failing.", project=ON)] = True
    times: Annotated[int, Spec("Failures with no successful edit or check between.", 2, 100, 1, project=lower(3))] = 12
    linger: Annotated[int, Spec("Calls without a failure after which the loop is over.", 1, 100, 1)] = 10


class OscillationSettings(Group):
    """Edits that undo one another."""

    enabled: Annotated[bool, Spec("Detect edits that undo one another.", project=ON)] = True
    flips: Annotated[int, Spec("Times an edit is undone or redone that make a loop.", 1, 100, 1, project=lower(2))] = 3
    kept: Annotated[int, Spec("Edits remembered at a time.", 4, 512, 4)] = 64
    linger: Annotated[int, Spec("Calls after the last undone edit until the loop is over.", 1, 100, 1)] = 10


class RetestSettings(Group):
    """A command that fails again although something was edited in between."""

    enabled: Annotated[bool, Spec("Detect commands that fail again after edits.", project=ON)] = True
    times: Annotated[int, Spec("Failures with an edit before each until it is a loop.", 2, 100, 1)] = 8
    kept: Annotated[int, Spec("Failing commands remembered at a time.", 4, 256, 4)] = 32


class ReworkSettings(Group):
    """Files edited again and again while calls fail and no check passes."""

    enabled: Annotated[bool, Spec("Detect files that are edited again and again.", project=ON)] = True
    times: Annotated[int, Spec("Edits of files edited before until it is a loop.", 2, 200, 1)] = 8
    failures: Annotated[int, Spec("Minimum number of failures of any kind besides them.", 0, 100, 1)] = 2
    kept: Annotated[int, Spec("Files remembered at a time.", 4, 512, 4)] = 64


class StalledSettings(Group):
    """Calls that bring nothing new."""

    enabled: Annotated[bool, Spec("Detect calls that bring nothing new.", project=ON)] = True
    window: Annotated[int, Spec("How many of the last calls are checked.", 4, 200, 1)] = 20
    times: Annotated[int, Spec("How many of those must bring nothing new.", 2, 200, 1)] = 16
    kept: Annotated[int, Spec("Results, edits and files remembered at a time.", 16, 8192, 16)] = 512


class NoProgressSettings(Group):
    """A long stretch of calls that edits no other file and passes no check."""

    enabled: Annotated[bool, Spec("Detect long stretches without progress after an edit.", project=ON)] = True
    times: Annotated[int, Spec("Calls since another file was edited or a check passed.", 2, 500, 1)] = 36
    troubles: Annotated[int, Spec("Minimum number of failures and repeated edits among them.", 0, 100, 1)] = 2
    kept: Annotated[int, Spec("Files remembered at a time.", 4, 512, 4)] = 64


class LoopSettings(Group):
    """When going in circles is reported."""

    repeat: RepeatSettings = RepeatSettings()
    failing: FailingSettings = FailingSettings()
    oscillation: OscillationSettings = OscillationSettings()
    retest: RetestSettings = RetestSettings()
    rework: ReworkSettings = ReworkSettings()
    stalled: StalledSettings = StalledSettings()
    no_progress: NoProgressSettings = NoProgressSettings()
    growth: Annotated[float, Spec("Growth of its count to report a loop again.", 1.1, 10, 0.1, project=lower(1.5))] = (
        2.0
    )
    cooldown: Annotated[
        float, Spec("Time before the same loop is reported again.", 0, 7200, 10, "s", project=lower(60))
    ] = 300.0
    tools: Annotated[dict[str, dict[DetectorName, Limit]], Spec("Limits per tool and detector; 0 never reports.")] = {}


Address = Annotated[str, Spec(pattern=r"^$|^https?://\S+$", words="an address such as https://host/path")]
LocalAddress = Annotated[
    str, Spec(pattern=r"^$|^http://[^/\s]+:\d+/?$", words="an address such as http://10.0.0.5:8422")
]


class AdviceSettings(Group):
    """Advice to an agent whose hooks were installed with --advise or --guard."""

    level: Annotated[
        Literal["off", "hint", "full"], Spec("Advice the agent gets: none, only for loops and halts, or all.")
    ] = "hint"
    urgent: Annotated[int, Spec("Priority at which advice counts as urgent for a hint.", 0, 255, 5)] = 200
    rest: Annotated[int, Spec("Actions a rule stays silent after it fired; doubles each time.", 1, 1000, 1)] = 10
    kept: Annotated[int, Spec("Sentences remembered, so that none is sent twice.", 10, 10_000, 10)] = 500
    silence: Annotated[float, Spec("Share of advice withheld at random, to measure its effect.", 0, 0.9, 0.1)] = 0.0
    seed: Annotated[int, Spec("Random seed; the same seed withholds the same advice.", 0, 10**9, 1)] = 0
    within: Annotated[int, Spec("Actions within which the same problem counts as having come back.", 1, 200, 1)] = 10


class GuardSettings(Group):
    """Calls for which an agent under --guard needs a permit."""

    read: Annotated[tuple[str, ...], Spec("Further tools that only read, by name or pattern.")] = ()
    write: Annotated[tuple[str, ...], Spec("Further tools that write, by name or pattern.")] = ()
    privileged: Annotated[tuple[str, ...], Spec("Further tools that need you, by name or pattern.")] = ()
    commands: Annotated[tuple[str, ...], Spec("Patterns of commands that need you, besides destructive ones.")] = (
        "sudo *", "su *", "doas *", "chmod -R *", "chown -R *", "* | sh", "* | bash", "npm publish*",
    )  # fmt: skip
    paths: Annotated[tuple[str, ...], Spec("Patterns of paths whose writing needs you.")] = (
        "*/.ssh/*", "*/.gnupg/*", "*/.env", ".env", "*/.git/*", ".git/*", "/etc/*", "*/.claude/settings*",
        "*/.codex/*", "*/nooscope/*",
    )  # fmt: skip
    lifetime: Annotated[float, Spec("How long a permit is valid.", 1, 3600, 5, "s")] = 120.0
    wait: Annotated[float, Spec("How long a call waits for you before the agent asks.", 0, 500, 1, "s")] = 20.0
    steps: Annotated[bool, Spec("A halt caused only by the number of steps also blocks writes.")] = False
    tool_trust: Annotated[
        float, Spec("Trust required of a call, computed by the model, from which writing needs you.", 0, 1, 0.05)
    ] = 0.6
    quarantine: Annotated[bool, Spec("While the agent's affect is quarantined, writing needs your approval.")] = True
    executing: Annotated[bool, Spec("Without the confidence to execute, writing needs your approval.")] = True
    budget: Annotated[
        float, Spec("Share of the budget left at or below which writing needs you.", 0, 1, 0.05, project=higher(0.5))
    ] = 0.0


class CapSettings(Group):
    """How much agents may spend; without --guard hooks a cap can warn but not hold anything."""

    session_dollars: Annotated[float, Spec("Cost cap of one session; 0 for no cap.", 0, 100_000, 1, "$")] = 0.0
    session_tokens: Annotated[int, Spec("Tokens per session, sent and received; 0 for no cap.", 0, 10**12, 100_000)] = 0
    all_dollars: Annotated[float, Spec("Daily cost cap of sessions with hooks; 0 for none.", 0, 100_000, 1, "$")] = 0.0
    all_tokens: Annotated[int, Spec("Daily token cap of sessions with hooks; 0 for none.", 0, 10**12, 100_000)] = 0
    warn: Annotated[float, Spec("Share of a cap at which you are warned.", 0.1, 1, 0.05)] = 0.8
    burn: Annotated[float, Spec("Multiple of your normal token use that warns you; 0: never.", 0, 1000, 1)] = 10.0
    reached: Annotated[
        Literal["ask", "stop"], Spec("At a cap, hold each call and ask you, or end the turn (Claude Code).")
    ] = "ask"


class PhoneSettings(Group):
    """Answering an agent from a phone or another machine; off until an address is set."""

    address: Annotated[LocalAddress, Spec("Address for phones, such as http://10.0.0.5:8422; or none.")] = ""
    ntfy: Annotated[Address, Spec("Address of the ntfy topic that gets a notice with buttons; blank for none.")] = ""
    words: Annotated[bool, Spec("Notices and pages show the command or question, not only the tool.")] = False
    lifetime: Annotated[float, Spec("How long a link works.", 10, 86_400, 60, "s")] = 600.0


Clock = Annotated[str, Spec(pattern=r"^$|^([01]\d|2[0-3]):[0-5]\d$", words="a time such as 22:00")]


class ScoringSettings(Group):
    """When a method fires."""

    threshold: Annotated[float, Spec("A method fires above this score.", 0, 1, 0.01, project=lower(0.05))] = 0.15
    mismatch: Annotated[float, Spec("Factor on a score in other states.", 0, 1, 0.05, project=higher(0.6))] = 0.3
    low: Annotated[float, Spec("Cooldown at low frequency.", 1, 86_400, 60, "s", project=lower(600))] = 2400.0
    medium: Annotated[float, Spec("Cooldown at medium frequency.", 1, 86_400, 60, "s", project=lower(300))] = 1200.0
    high: Annotated[float, Spec("Cooldown at high frequency.", 1, 86_400, 10, "s", project=lower(60))] = 300.0
    recovery: Annotated[float, Spec("Exponent with which a method recovers during its cooldown.", 0.5, 6, 0.5)] = 2.0


class ResponseEscalationSettings(Group):
    """How much each trouble presses towards asking the person."""

    compound: Annotated[float, Spec("Weight of frustration together with seeking.", 0, 4, 0.1)] = 0.8
    frustration: Annotated[float, Spec("Weight of frustration alone.", 0, 4, 0.1)] = 0.5
    seeking: Annotated[float, Spec("Weight of seeking alone.", 0, 4, 0.1)] = 0.25
    uncertainty: Annotated[float, Spec("Weight of uncertainty.", 0, 4, 0.1)] = 0.25
    fatigue: Annotated[float, Spec("Weight of fatigue.", 0, 4, 0.1)] = 0.3
    loop: Annotated[float, Spec("Weight of a loop.", 0, 4, 0.1, project=higher(1.5))] = 1.0
    halt: Annotated[float, Spec("Weight of a governor that would halt.", 0, 1, 0.05, project=higher(1))] = 0.7
    rearm: Annotated[
        float,
        Spec("Share of the threshold below which the person may be asked again.", 0, 1, 0.05, project=higher(0.95)),
    ] = 0.8


class ActionSettings(Group):
    """How far the actions look and how much text they write."""

    recalled: Annotated[int, Spec("Past episodes a search names.", 1, 20, 1, project=PROJECT)] = 3
    alike: Annotated[int, Spec("Past episodes that a prediction compares.", 1, 50, 1, project=PROJECT)] = 5
    paths: Annotated[int, Spec("Paths a suggestion names of each kind.", 1, 20, 1, project=PROJECT)] = 3
    ahead: Annotated[int, Spec("Episodes that a prediction looks ahead.", 1, 10, 1)] = 2
    pruned: Annotated[float, Spec("Share of all futures below which one is dropped.", 0, 0.9, 0.05)] = 0.15
    likeness: Annotated[float, Spec("Similarity from which a persona predicts the agent.", 0, 1, 0.05)] = 0.8
    visits: Annotated[int, Spec("Visits that make a path worth going back to.", 1, 50, 1, project=PROJECT)] = 3
    left_after: Annotated[
        float,
        Spec("A path counts as left when it has not been visited for this long.", 10, 7200, 10, "s", project=PROJECT),
    ] = 300.0
    left_within: Annotated[float, Spec("Older paths are not suggested.", 60, 86_400, 60, "s", project=PROJECT)] = 3600.0
    centre: Annotated[float, Spec("Share of heat that makes a folder central.", 0.1, 1, 0.05, project=PROJECT)] = 0.5
    log: Annotated[int, Spec("Entries the action log keeps.", 10, 5000, 10)] = 200


class MemoSettings(Group):
    """The hot memo: notices for the agent."""

    size: Annotated[int, Spec("Notices in the memo.", 1, 20, 1)] = 3
    tokens: Annotated[int, Spec("Tokens the memo's text may take.", 20, 4000, 10, "tokens")] = 200


class QueueSettings(Group):
    """Interventions that wait for their moment."""

    size: Annotated[int, Spec("Maximum number of waiting interventions.", 1, 500, 1)] = 32
    deadline: Annotated[float, Spec("An intervention that has waited longer is dropped.", 10, 86_400, 10, "s")] = 1800.0
    kept: Annotated[int, Spec("Past interventions that are kept.", 5, 2000, 5)] = 100
    follow: Annotated[int, Spec("Actions after which the effect of an intervention is recorded.", 1, 200, 1)] = 10


class LearningSettings(Group):
    """How sensitivity follows what is usual for this agent, across sessions."""

    enabled: Annotated[bool, Spec("Let sensitivity learn from session to session.")] = True
    rate: Annotated[float, Spec("How much one stretch of work moves sensitivity.", 0, 0.3, 0.01)] = 0.03
    memory: Annotated[float, Spec("Weight of the newest stretch in what is expected.", 0, 1, 0.05)] = 0.3
    least: Annotated[float, Spec("Shorter stretches of work teach nothing.", 0, 7200, 30, "s")] = 300.0
    bound: Annotated[float, Spec("Maximum change of sensitivity in either direction.", 0, 1, 0.05)] = 0.3


class PriorSettings(Group):
    """The part of one session that the next one starts with."""

    enabled: Annotated[bool, Spec("Begin a session with what was normal in earlier ones.")] = True
    blend: Annotated[float, Spec("Weight of the newest session in the prior.", 0, 1, 0.05)] = 0.3
    age: Annotated[float, Spec("An older prior is not used.", 0.1, 365, 0.5, "d")] = 7.0


class PersonaSettings(Group):
    """Anonymous statistics shared through a folder."""

    on: Annotated[bool, Spec("Save a persona after a session, and sometimes meet another one.")] = True
    folder: Annotated[str, Spec("Folder of shared personas; empty for nooscope's own.")] = ""
    chance: Annotated[float, Spec("Chance that a persona in the folder is met.", 0, 1, 0.05)] = 0.3
    snapshots: Annotated[int, Spec("Minimum number of snapshots of a session for a persona.", 2, 100, 1)] = 2
    confidence: Annotated[float, Spec("Minimum mean confidence for a persona.", 0, 1, 0.05)] = 0.4
    near: Annotated[float, Spec("Similarity above which a persona counts as close.", 0, 1, 0.05)] = 0.8
    far: Annotated[float, Spec("Similarity below which a persona counts as a stranger.", 0, 1, 0.05)] = 0.5
    kin: Annotated[float, Spec("How much of a close persona is adopted.", 0, 1, 0.05)] = 0.5
    cousin: Annotated[float, Spec("How much of a less similar persona is adopted.", 0, 1, 0.05)] = 0.2


class NoticeSettings(Group):
    """How and when the person is notified."""

    needs_you: Annotated[bool, Spec("Notify you when an agent needs you.", project=ON)] = True
    risk: Annotated[bool, Spec("Notify you when an agent is at risk.", project=ON)] = True
    done: Annotated[bool, Spec("Notify you when an agent is done or waits for input.", project=ON)] = True
    bell: Annotated[bool, Spec("Ring the terminal's bell.")] = True
    desktop: Annotated[
        Literal["off", "osc9", "osc777"], Spec("Escape code for a desktop notice, as the terminal knows it.")
    ] = "off"
    command: Annotated[tuple[str, ...], Spec("Command to run with a notice, as a list of words.")] = ()
    webhook: Annotated[Address, Spec("Web address a notice is sent to as JSON.")] = ""
    timeout: Annotated[float, Spec("How long a command or web address may take.", 0.1, 60, 0.5, "s")] = 5.0
    retries: Annotated[int, Spec("Times a failed web request is tried again.", 0, 10, 1)] = 2
    pause: Annotated[float, Spec("Pause before the first new try; then it doubles.", 0, 60, 0.5, "s")] = 1.0
    waiting: Annotated[int, Spec("Notices that may wait for a slow command or address.", 1, 500, 1)] = 16
    quiet_from: Annotated[Clock, Spec("Start of quiet hours by the local clock, such as 22:00.")] = ""
    quiet_until: Annotated[Clock, Spec("End of quiet hours by the local clock, such as 07:30.")] = ""
    muted: Annotated[tuple[str, ...], Spec("Rules that never notify.")] = ()
    idle: Annotated[float, Spec("A live agent that is silent for this long counts as stopped.", 5, 3600, 5, "s")] = 60.0
    final: Annotated[tuple[str, ...], Spec("Words with which logs end an agent's turn.")] = (
        "end_turn", "stop", "stop_sequence", "completed",
    )  # fmt: skip
    asking: Annotated[tuple[str, ...], Spec("Tools that wait for the person while they are open.")] = (
        "AskUserQuestion", "ExitPlanMode", "ask_user", "ask_question", "request_user_input", "ask_user_question",
        "exit_plan_mode", "question", "plan_exit", "AskUser", "ExitSpecMode", "AskQuestion", "ask_followup_question",
        "notify_user",
    )  # fmt: skip


Weight = Annotated[float, Spec(ge=-5, le=5)]


class OutlookSettings(Group):
    """Whether a run goes worse or better than is usual for its agent."""

    base_rate: Annotated[float, Spec("Share of this agent's runs that fail; 0 if unknown.", 0, 0.99, 0.01)] = 0.0
    own_shift: Annotated[float, Spec("Mean shift of this agent's own runs, which is its usual.", -5, 5, 0.05)] = 0.0
    usual: Annotated[float, Spec("A smaller shift in log-odds, either way, counts as usual.", 0, 3, 0.05)] = 0.4
    telling: Annotated[float, Spec("A count that adds fewer log-odds is not listed.", 0, 1, 0.01)] = 0.05
    weights: Annotated[dict[str, dict[str, Weight]], Spec("What your labels add to the shipped weights.")] = {}


class ResponseSettings(Group):
    """From signals to notices and advice."""

    loops: LoopSettings = LoopSettings()
    outlook: OutlookSettings = OutlookSettings()
    scoring: ScoringSettings = ScoringSettings()
    escalation: ResponseEscalationSettings = ResponseEscalationSettings()
    actions: ActionSettings = ActionSettings()
    memo: MemoSettings = MemoSettings()
    queue: QueueSettings = QueueSettings()
    advice: AdviceSettings = AdviceSettings()
    guard: GuardSettings = GuardSettings()
    caps: CapSettings = CapSettings()
    phone: PhoneSettings = PhoneSettings()
    learning: LearningSettings = LearningSettings()
    prior: PriorSettings = PriorSettings()
    persona: PersonaSettings = PersonaSettings()
    notices: NoticeSettings = NoticeSettings()
