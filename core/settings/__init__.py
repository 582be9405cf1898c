"""Every tunable of every mechanism: default, bounds, step, unit and one sentence each."""

from __future__ import annotations

from core.settings.affect import AffectSettings
from core.settings.governor import GovernorSettings
from core.settings.group import Group
from core.settings.mind import MindSettings
from core.settings.program import ExtensionSettings, IngestSettings, NarratorSettings, ScreenSettings, TimelineSettings
from core.settings.receptor import ReceptorSettings
from core.settings.response import ResponseSettings


class Settings(Group):
    """The whole instrument."""

    receptor: ReceptorSettings = ReceptorSettings()
    mind: MindSettings = MindSettings()
    governor: GovernorSettings = GovernorSettings()
    affect: AffectSettings = AffectSettings()
    response: ResponseSettings = ResponseSettings()
    ingest: IngestSettings = IngestSettings()
    timeline: TimelineSettings = TimelineSettings()
    screen: ScreenSettings = ScreenSettings()
    narrator: NarratorSettings = NarratorSettings()
    extensions: ExtensionSettings = ExtensionSettings()
