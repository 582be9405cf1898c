"""Every tunable of every mechanism: default, bounds, step, unit and one sentence each."""

from __future__ import annotations

from core.settings.affect import AffectSettings
from core.settings.extras import ExtensionSettings, NarratorSettings, TimelineSettings
from core.settings.governor import GovernorSettings
from core.settings.group import Group
from core.settings.logs import IngestSettings
from core.settings.mind import MindSettings
from core.settings.receptor import ReceptorSettings
from core.settings.response import ResponseSettings
from core.settings.screen import ScreenSettings


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
