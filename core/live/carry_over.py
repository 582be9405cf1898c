"""Carry-over: what a live session inherits from earlier sessions and saves for later ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from core.engine.affect.policy import BUILT_IN
from core.engine.affect.reading import KeptAffect, Neighbour
from core.engine.mind.episode import Episode
from core.engine.percept import AGENT_STATES, AXES, Axis
from core.engine.receptor.persona import (
    Persona,
    Prior,
    distribution,
    encounter,
    likeness,
    make_persona,
    seeds,
    session_prior,
    take_over,
    usable,
    work_context,
)
from core.engine.response.rules import Learned, share_accepted
from core.engine.response.scoring import SessionTally
from core.engine.society import Society
from core.engine.society.engine import Step
from core.errors import StoreError
from core.events import MAIN, Event
from core.extension.hooks import Extension
from core.report.formatting import count
from core.settings import Settings
from core.settings.response import PersonaSettings
from core.store.carry_over import (
    AffectLeft,
    AffectStore,
    EpisodeStore,
    LearnedStore,
    PersonaStore,
    PriorStore,
    persona_folder,
)
from core.timeline.initial_state import PLAIN, InitialState

_AT_ONCE = 16  # Episodes written together.
_PERSONAS = 16  # Personas a look ahead may ask.
_DAY = 86_400.0


class CarryOver(Extension):
    """One live session between those before and those after it; used by one thread alone."""

    name = "carry-over"
    layer = 1
    about = "Starts a session with what was learned in earlier ones, and saves what it learned for later ones."

    def __init__(
        self,
        settings: Settings,
        *,
        initial: InitialState = PLAIN,
        prior: PriorStore | None = None,
        learned: LearnedStore | None = None,
        personas: PersonaStore | None = None,
        episodes: EpisodeStore | None = None,
        affect: AffectStore | None = None,
        use: bool = True,
    ) -> None:
        self.problems: list[str] = []  # Problems of the stores that were not reported yet.
        self.session = ""  # Whose episodes are kept.
        self.has_failed = False  # Whether the session gave up or is in trouble at its rest.
        self._initial = initial
        self._remembered = settings.mind.episodes.remembered
        self._episodes = episodes or EpisodeStore()
        self._ended: list[Episode] = []
        self._settings = settings.response
        self._bounds = (initial.policy or BUILT_IN).over(settings.affect)
        # How much of a persona's blend is taken over.
        self._accepted = share_accepted(self._bounds.modulation.acceptance.base)
        self._affect = affect or AffectStore()
        self._tool = ""
        self.project = ""  # The folder the session works in; blank if unknown.
        self._use = use
        self._prior_store = prior or PriorStore()
        self._learned_store = learned or LearnedStore()
        self.lessons: dict[Axis, float] = {}  # Changes of sensitivity that extensions ask for.
        self._personas = personas or _persona_store(self._settings.persona)
        self.learned = self._learned_store.read() if use else Learned()  # What the engines of the session are given.
        self._fires: dict[Axis, int] = {}
        self._seconds = 0.0

    def initial_state(self, session: str, seed: int, at: float) -> InitialState:
        """Return the state the session's minds start with at `at`."""
        self.session = session
        levels, notices = self.levels(at, seed)
        self.problems += notices
        prior = self._prior(at)
        affect = self._stored_affect(at)
        neighbours = self.neighbours(at)
        if neighbours:
            self.problems.append(f"{count(len(neighbours), 'other session')} at work in the same folder")
        return self._initial._replace(
            seed=seed,
            learned=self.learned,
            prior=levels,
            past=self._past(),
            thresholds=prior.ambient.adapted_thresholds if prior else None,
            patterns=prior.pattern_distribution if prior else None,
            personas=self._alike(prior),
            affect=affect,
            neighbours=tuple(one for one in neighbours if affect is None or one.session != affect.session),
        )

    def belongs(self, tool: str, project: str) -> None:
        """Set the agent and project of the session; without them no affect is stored or shared."""
        self._tool, self.project = tool, project

    def _stored_affect(self, at: float) -> KeptAffect | None:
        """The affect of the same agent at the end of its last session in the project."""
        if not self._use or not self.project:
            return None
        age = self._settings.prior.age * _DAY
        return self._affect.last(self.project, self._tool, self.session, at, age)

    def neighbours(self, at: float) -> tuple[Neighbour, ...]:
        """Other sessions working in the same folder, if the policy shares them."""
        contagion = self._bounds.contagion
        if not self._use or not contagion.sessions or not self.project:
            return ()
        return self._affect.neighbours(self.project, self.session, at, contagion.recent)

    def _prior(self, at: float) -> Prior | None:
        prior = self._prior_store.read() if self._use else None
        return prior if prior is not None and usable(prior, at, self._settings.prior) else None

    def _alike(self, prior: Prior | None) -> tuple[Persona, ...]:
        """The personas most like this agent, judged by its earlier sessions."""
        if self._personas is None or not self._use:
            return ()
        signature = prior.action_signature if prior else {}
        personas = self._personas.others()
        personas.sort(key=lambda one: (-likeness(signature, one.actions), one.origin.profile))
        return tuple(personas[:_PERSONAS])

    def _past(self) -> tuple[Episode, ...]:
        if not self._use:
            return ()
        try:
            with self._episodes as store:
                return tuple(store.recent(self._remembered, session=self.session, agent=MAIN))
        except StoreError as error:
            self.problems.append(str(error))
            return ()
        finally:
            self._take_notices()

    def _take_notices(self) -> None:
        """A damaged file that was set aside is something a person should know."""
        for store in (self._episodes, self._affect, self._personas):
            if store is not None:
                self.problems += store.notices
                store.notices.clear()

    def on_event(self, event: Event, step: Step, society: Society) -> None:
        """Keep an episode that an event of the main agent ended."""
        del society
        episode = step.thought.episode
        if episode is not None and self._use and event.agent == MAIN:
            self._ended.append(episode)
            if len(self._ended) >= _AT_ONCE:
                self._keep()

    def _keep(self) -> None:
        ended, self._ended = self._ended, []
        try:
            with self._episodes as store:
                store.save(self.session, MAIN, ended)
        except StoreError as error:
            self.problems.append(str(error))
        self._take_notices()

    def on_rest(self, society: Society) -> None:
        """Save what this session taught so far; faults are reported as problems."""
        self._keep()
        try:
            self.settle(society)
        except StoreError as error:
            self.problems.append(f"{error}; what was learned from this session is lost")
        self._take_notices()

    def levels(self, at: float, seed: int) -> tuple[Mapping[Axis, float] | None, list[str]]:
        """Baselines a session that starts at `at` begins with, and sentences about them."""
        prior = self._prior(at)
        notices = [*self._prior_store.file.notices, *self._learned_store.file.notices]
        if prior is None:
            return None, notices
        levels = seeds(prior)
        notices.append(f"baselines begin where {prior.session_count} earlier sessions left them")
        meeting = self._first_meeting(prior, seed)
        if meeting is not None:
            persona, blend, sentence = meeting
            levels = take_over(levels, persona, blend)
            notices.append(sentence)
        return levels, notices

    def _first_meeting(self, prior: Prior, seed: int) -> tuple[Persona, float, str] | None:
        if self._personas is None:
            return None
        encountered = encounter(self._personas.others(), prior.action_signature, seed, self._settings.persona)
        if encountered is None:
            return None
        meeting, persona = encountered
        meeting = replace(meeting, blend=min(1.0, meeting.blend * self._accepted))
        self._personas.add_encounter(meeting)
        if not meeting.blend:
            return None
        measures = f"similarity {meeting.likeness:.2f}, blend {meeting.blend:g}, seed {seed}"
        return persona, meeting.blend, f"met persona {meeting.profile[:8]} ({measures})"

    def settle(self, society: Society) -> None:
        """Leave what the session taught so far; may be called at every rest."""
        if not self._use:
            return
        engine = society.engine(MAIN)
        tally = engine.response.session()
        if not any(tally.actions.values()):
            return
        if self.project and not engine.affect.quarantined:
            outcome = "failure" if self.has_failed else "done" if engine.response.ended else ""
            left = AffectLeft(self.session, self._tool, tally.at, engine.affect.deviations, outcome)
            self._affect.leave(self.project, left)
        self._learn(tally, share_accepted(engine.affect.modulation.mutation_acceptance))
        levels = engine.receptor.levels()
        thresholds = dict(zip(AXES, levels[: len(AXES)], strict=True))
        baseline = dict(zip(AXES, levels[len(AXES) :], strict=True))
        session = session_prior(tally.at, baseline, thresholds, tally.patterns, tally.actions)
        if self._settings.prior.enabled:
            self._prior_store.settle(session, self._settings.prior)
        if self._personas is not None:
            self._leave(society, tally, session, self._personas)

    def _learn(self, tally: SessionTally, share: float) -> None:
        seconds = tally.seconds - self._seconds
        if seconds < self._settings.learning.least:
            return
        fires = {axis: count - self._fires.get(axis, 0) for axis, count in tally.fires.items()}
        self._learned_store.add(fires, seconds, tally.at, self._settings.learning, share, self.lessons)
        self.lessons.clear()
        self._seconds, self._fires = tally.seconds, dict(tally.fires)

    def _leave(self, society: Society, tally: SessionTally, session: Prior, personas: PersonaStore) -> None:
        engine = society.engine(MAIN)
        prior = self._prior_store.read()
        persona = make_persona(
            model=engine.mind.heart.tiers.model,
            sessions=prior.session_count if prior else 1,
            mean=tally.mean,
            variance=tally.variance,
            snapshots=tally.snapshots,
            seconds=tally.seconds,
            field_adjustment=dict(engine.receptor.read().meta.field),
            learned_delta=self.learned.deltas,
            patterns=session.pattern_distribution,
            states=distribution(tally.states, AGENT_STATES),
            actions=session.action_signature,
            context=work_context((leaf.path, leaf.count) for leaf in engine.receptor.heatmap.leaves),
            settings=self._settings.persona,
        )
        if persona is not None:
            personas.leave(persona)


def _persona_store(settings: PersonaSettings) -> PersonaStore | None:
    if not settings.on:
        return None
    return PersonaStore(Path(settings.folder).expanduser() if settings.folder else persona_folder())
