"""Every tunable of every mechanism: default, bounds, step, unit and one sentence each."""

from __future__ import annotations

from core.settings.affect import AffectSettings
from core.settings.extensions import ExtensionSettings
from core.settings.governor import GovernorSettings
from core.settings.logs import IngestSettings
from core.settings.mind import MindSettings
from core.settings.narrator import NarratorSettings
from core.settings.receptor import ReceptorSettings
from core.settings.response import ResponseSettings
from core.settings.screen import ScreenSettings
from core.settings.timeline import TimelineSettings
from core.settings.tunable import Group, part


class Settings(Group):
    """The whole instrument."""

    receptor: ReceptorSettings = part(ReceptorSettings, "From tool uses to emotion axes and signals.")
    mind: MindSettings = part(MindSettings, "Attention, sleep, habituation, homeostasis, clock.")
    governor: GovernorSettings = part(GovernorSettings, "Bounded agency.")
    affect: AffectSettings = part(AffectSettings, "The policy-bounded affect field.")
    response: ResponseSettings = part(ResponseSettings, "From a firing to the right word.")
    ingest: IngestSettings = part(IngestSettings, "From logs to events.")
    timeline: TimelineSettings = part(TimelineSettings, "Recording, seeking, playing.")
    screen: ScreenSettings = part(ScreenSettings, "What is shown, and how.")
    narrator: NarratorSettings = part(NarratorSettings, "Prose made by a model, where you want it.")
    extensions: ExtensionSettings = part(ExtensionSettings, "What is installed beside nooscope.")


__all__ = ["Settings"]
