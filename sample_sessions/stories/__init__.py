"""All stories, in the order they are best watched."""

from __future__ import annotations

from sample_sessions.stories import flow, full, halt, lookalike, shift, silence, storm, stuck, wander
from sample_sessions.stories.story import Story

STORIES: tuple[Story, ...] = (
    flow.STORY,
    stuck.STORY,
    wander.STORY,
    shift.STORY,
    full.STORY,
    storm.STORY,
    halt.STORY,
    lookalike.STORY,
    silence.STORY,
)
