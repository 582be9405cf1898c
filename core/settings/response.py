"""Settings of the response: rules, delivery, learning, continuity and notices."""

from __future__ import annotations

from typing import Annotated, Literal

from core.settings.advice import AdviceSettings, CapSettings, GuardSettings
from core.settings.declared import Bounds
from core.settings.loops import LoopSettings
from core.settings.trust import ON, PERSON, PROJECT, higher, lower
from core.settings.tunable import Group, part, tunable

Clock = Annotated[str, Bounds(pattern=r"^$|^([01]\d|2[0-3]):[0-5]\d$", words="a time such as 22:00")]
Address = Annotated[str, Bounds(pattern=r"^$|^https?://\S+$", words="an address such as https://host/path")]


class ScoringSettings(Group, project=PERSON):
    """When a method fires."""

    threshold: float = tunable(
        0.15, "A method fires when its score is above this.", ge=0, le=1, step=0.01, project=lower(0.05)
    )
    mismatch: float = tunable(
        0.3,
        "What a score is multiplied with in a state that is not the method's.",
        ge=0,
        le=1,
        step=0.05,
        project=higher(0.6),
    )
    low: float = tunable(
        2400.0, "Rest of a method of low frequency.", ge=1, le=86_400, step=60, unit="s", project=lower(600)
    )
    medium: float = tunable(
        1200.0,
        "Rest of a method of medium frequency.",
        ge=1,
        le=86_400,
        step=60,
        unit="s",
        project=lower(300),
    )
    high: float = tunable(
        300.0, "Rest of a method of high frequency.", ge=1, le=86_400, step=10, unit="s", project=lower(60)
    )
    recovery: float = tunable(
        2.0, "Power with which a method comes back over its rest.", ge=0.5, le=6, step=0.5
    )


class ResponseEscalationSettings(Group, project=PERSON):
    """How much each trouble presses towards asking the person."""

    compound: float = tunable(0.8, "How much frustration with seeking presses.", ge=0, le=4, step=0.1)
    frustration: float = tunable(0.5, "How much frustration alone presses.", ge=0, le=4, step=0.1)
    seeking: float = tunable(0.25, "How much seeking alone presses.", ge=0, le=4, step=0.1)
    uncertainty: float = tunable(0.25, "How much uncertainty presses.", ge=0, le=4, step=0.1)
    fatigue: float = tunable(0.3, "How much fatigue presses.", ge=0, le=4, step=0.1)
    loop: float = tunable(
        1.0, "How much going round in circles presses.", ge=0, le=4, step=0.1, project=higher(1.5)
    )
    halt: float = tunable(
        0.7, "How much a governor that would halt presses.", ge=0, le=1, step=0.05, project=higher(1)
    )
    rearm: float = tunable(
        0.8,
        "Share of the threshold below which the person may be asked again.",
        ge=0,
        le=1,
        step=0.05,
        project=higher(0.95),
    )


class ActionSettings(Group, project=PERSON):
    """What the actions look at and how much they say."""

    recalled: int = tunable(3, "Past episodes a search names.", ge=1, le=20, step=1, project=PROJECT)
    alike: int = tunable(5, "Past episodes a look ahead compares.", ge=1, le=50, step=1, project=PROJECT)
    paths: int = tunable(3, "Paths a suggestion names of each kind.", ge=1, le=20, step=1, project=PROJECT)
    ahead: int = tunable(2, "Episodes ahead that a look ahead follows.", ge=1, le=10, step=1)
    pruned: float = tunable(
        0.15, "Share of all futures below which a look ahead leaves one out.", ge=0, le=0.9, step=0.05
    )
    likeness: float = tunable(
        0.8, "Likeness of actions from which a persona tells of one's own future.", ge=0, le=1, step=0.05
    )
    visits: int = tunable(
        3, "Visits that make a path worth going back to.", ge=1, le=50, step=1, project=PROJECT
    )
    left_after: float = tunable(
        300.0,
        "A path counts as left when not visited for so long.",
        ge=10,
        le=7200,
        step=10,
        unit="s",
        project=PROJECT,
    )
    left_within: float = tunable(
        3600.0,
        "A path left longer ago is not suggested.",
        ge=60,
        le=86_400,
        step=60,
        unit="s",
        project=PROJECT,
    )
    centre: float = tunable(
        0.5,
        "Share of the heat a folder needs to be the centre of work.",
        ge=0.1,
        le=1,
        step=0.05,
        project=PROJECT,
    )
    log: int = tunable(200, "Entries the action log keeps.", ge=10, le=5000, step=10)


class MemoSettings(Group, project=PERSON):
    """The notices that could be handed to the agent."""

    size: int = tunable(3, "Notices the memo holds.", ge=1, le=20, step=1)
    tokens: int = tunable(200, "Tokens the memo's text may take.", ge=20, le=4000, step=10, unit="tokens")


class QueueSettings(Group, project=PERSON):
    """Interventions that wait for their moment."""

    size: int = tunable(32, "Interventions that may wait at once.", ge=1, le=500, step=1)
    deadline: float = tunable(
        1800.0, "An intervention that waited longer is dropped.", ge=10, le=86_400, step=10, unit="s"
    )
    kept: int = tunable(100, "Past interventions that are kept.", ge=5, le=2000, step=5)
    follow: int = tunable(
        10, "Acts after which the effect of an intervention is noted.", ge=1, le=200, step=1
    )


class LearningSettings(Group, project=PERSON):
    """How sensitivity follows what is usual for this agent, across sessions."""

    enabled: bool = tunable(True, "Let sensitivity learn from session to session.")
    rate: float = tunable(0.03, "How much one stretch of work moves sensitivity.", ge=0, le=0.3, step=0.01)
    memory: float = tunable(0.3, "Weight of the newest stretch in what is expected.", ge=0, le=1, step=0.05)
    least: float = tunable(
        300.0, "Shorter stretches of work teach nothing.", ge=0, le=7200, step=30, unit="s"
    )
    bound: float = tunable(0.3, "Furthest sensitivity may move either way.", ge=0, le=1, step=0.05)


class PriorSettings(Group, project=PERSON):
    """What one session hands to the next."""

    enabled: bool = tunable(True, "Begin a session with what was normal in earlier ones.")
    blend: float = tunable(0.3, "Weight of the newest session in the prior.", ge=0, le=1, step=0.05)
    age: float = tunable(7.0, "An older prior is not used.", ge=0.1, le=365, step=0.5, unit="d")


class PersonaSettings(Group, project=PERSON):
    """Anonymous statistics shared through a folder."""

    on: bool = tunable(True, "Leave a persona after a session, and perhaps meet another's.")
    folder: str = tunable("", "Folder where personas are left and met; empty for nooscope's own.")
    chance: float = tunable(0.3, "Chance that a persona in the folder is met.", ge=0, le=1, step=0.05)
    snapshots: int = tunable(2, "Snapshots of a session that a persona needs at least.", ge=2, le=100, step=1)
    confidence: float = tunable(0.4, "Mean confidence that a persona needs at least.", ge=0, le=1, step=0.05)
    near: float = tunable(0.8, "Likeness above which a persona is kin.", ge=0, le=1, step=0.05)
    far: float = tunable(0.5, "Likeness below which a persona is a stranger.", ge=0, le=1, step=0.05)
    kin: float = tunable(0.5, "How much of a kin's persona is taken over.", ge=0, le=1, step=0.05)
    cousin: float = tunable(0.2, "How much of a less alike persona is taken over.", ge=0, le=1, step=0.05)


class NoticeSettings(Group, project=PERSON):
    """How the person is told, and when not."""

    needs_you: bool = tunable(True, "Tell when an agent needs the person.", project=ON)
    risk: bool = tunable(True, "Tell when an agent is at risk.", project=ON)
    done: bool = tunable(True, "Tell when an agent is done or waits for input.", project=ON)
    bell: bool = tunable(True, "Ring the terminal's bell.")
    desktop: Literal["off", "osc9", "osc777"] = tunable(
        "off", "Escape code for a desktop notice, as the terminal knows it."
    )
    command: tuple[str, ...] = tunable((), "Command to run with a notice, as a list of words.")
    webhook: Address = tunable("", "Web address a notice is sent to as JSON.")
    timeout: float = tunable(
        5.0, "How long a command or web address may take.", ge=0.1, le=60, step=0.5, unit="s"
    )
    retries: int = tunable(2, "Times a failed web request is tried again.", ge=0, le=10, step=1)
    pause: float = tunable(
        1.0, "Pause before the first new try; then it doubles.", ge=0, le=60, step=0.5, unit="s"
    )
    waiting: int = tunable(16, "Notices that may wait for a slow command or address.", ge=1, le=500, step=1)
    quiet_from: Clock = tunable("", "Start of quiet hours by the local clock, such as 22:00.")
    quiet_until: Clock = tunable("", "End of quiet hours by the local clock, such as 07:30.")
    muted: tuple[str, ...] = tunable((), "Rules that never tell.")
    idle: float = tunable(
        60.0, "A live agent that is still for so long has stopped.", ge=5, le=3600, step=5, unit="s"
    )
    final: tuple[str, ...] = tunable(
        ("end_turn", "stop", "stop_sequence", "completed"), "Words with which logs end an agent's turn."
    )
    asking: tuple[str, ...] = tunable(
        (
            "AskUserQuestion",
            "ExitPlanMode",
            "ask_user",
            "ask_question",
            "request_user_input",
            "ask_user_question",
            "exit_plan_mode",
            "question",
            "plan_exit",
            "AskUser",
            "ExitSpecMode",
            "AskQuestion",
            "ask_followup_question",
            "notify_user",
        ),
        "Tools that wait for the person while they are open.",
    )


class OutlookSettings(Group, project=PERSON):
    """Whether a run goes worse or better than is usual for its agent."""

    base_rate: float = tunable(
        0.0, "Share of this agent's runs that go wrong; 0 where nobody knows.", ge=0, le=0.99, step=0.01
    )
    own_shift: float = tunable(
        0.0, "Mean shift of this agent's own runs, which is its usual.", ge=-5, le=5, step=0.05
    )
    usual: float = tunable(0.4, "A shift of fewer log-odds either way is as usual.", ge=0, le=3, step=0.05)
    telling: float = tunable(0.05, "A count that adds fewer log-odds is not named.", ge=0, le=1, step=0.01)


class ResponseSettings(Group, project=PERSON):
    """From a firing to the right word at the right time."""

    loops: LoopSettings = part(LoopSettings, "When going round in circles is worth a word.")
    outlook: OutlookSettings = part(OutlookSettings, "How the run goes, against what is usual.")
    scoring: ScoringSettings = part(ScoringSettings, "When a method fires.")
    escalation: ResponseEscalationSettings = part(ResponseEscalationSettings, "When the person is asked.")
    actions: ActionSettings = part(ActionSettings, "What the actions look at.")
    memo: MemoSettings = part(MemoSettings, "Notices that could be handed to the agent.")
    queue: QueueSettings = part(QueueSettings, "Interventions that wait for their moment.")
    advice: AdviceSettings = part(AdviceSettings, "What the agent is told.")
    guard: GuardSettings = part(GuardSettings, "What the agent needs a permit for.")
    caps: CapSettings = part(CapSettings, "How much agents may spend.")
    learning: LearningSettings = part(LearningSettings, "How sensitivity learns across sessions.")
    prior: PriorSettings = part(PriorSettings, "What one session hands to the next.")
    persona: PersonaSettings = part(PersonaSettings, "Anonymous statistics shared through a folder.")
    notices: NoticeSettings = part(NoticeSettings, "How the person is told.")
