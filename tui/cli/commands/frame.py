"""`nooscope frame`: a whole mind at one moment."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from msgspec.structs import replace

from core.report import formatting as words
from tui.cli.carried import add_plain_option, initial_states_of
from tui.cli.command import CliCommand
from tui.cli.options import add_settings_options, known_agent, positive_argument, settings_from

if TYPE_CHECKING:
    from core.live.status import Status
    from core.report.now import Now
    from core.timeline.timeline import Timeline


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a log")
    parser.add_argument(
        "--at",
        default="-1",
        metavar="PLACE",
        help="an event's number, -1 for the last, 00:41:12, 41m or an ISO time",
    )
    parser.add_argument("--agent", help="which agent (default: the main one)")
    parser.add_argument(
        "--recall",
        type=positive_argument,
        metavar="TOKENS",
        help="most tokens that past episodes like this moment may take (default: the setting)",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_plain_option(parser)
    add_settings_options(parser)


def _run(args: argparse.Namespace) -> int:
    from core.live.status import status_json
    from core.report.compaction import last_compaction, preserve_at
    from core.report.compaction import lines as preserved_lines
    from core.report.difference import all_readings
    from core.report.now import Landmarks, Teller, now_lines
    from core.timeline.places import parse_place
    from tui.cli.recordings import recording_at

    timeline = recording_at(args.path, initial_states_of(args, settings_from(args).settings))
    index = parse_place(timeline, args.at)
    frame = timeline.at(index, known_agent(timeline, args.agent))
    cut = last_compaction(timeline, index, frame.agent)
    preserved = None if cut is None else preserve_at(timeline, cut)
    recalled = timeline.society_at(index).engine(frame.agent).mind.recall(tokens=args.recall)
    at = timeline.time_of(index)
    now = Teller().now(Landmarks(timeline.events, frame.agent), index)
    status = _status(timeline, index, at, now)
    if args.json:
        whole = {
            "index": index,
            "of": len(timeline),
            "status": status_json(status),
            "now": now,
            "frame": frame,
            "recalled": recalled,
            "preserved": preserved,
        }
        print(words.readable_json(whole))
        return 0
    print(f"after {index} of {words.count(len(timeline), 'event')}, agent {words.plain(frame.agent)}")
    print(words.plain(f"status  {status.word}: {status.reason}"))
    print(f"state   {frame.story.state.replace('_', ' ')}")
    for line in now_lines(replace(now, failures=0), at):
        print(words.plain(line))
    for sentence in (*frame.receptor.facts.sentences, *frame.response.outlook.sentences):
        print(words.plain(sentence))
    for line in all_readings(frame):
        print(words.plain(line))
    print("\nmoments like this")
    for each in recalled:
        print(words.plain(f"{each.score:.2f}  {each.line}"))
    if not recalled:
        print("none comes to mind")
    if preserved is not None:
        print("\nat the last compaction")
        for line in preserved_lines(preserved):
            print(words.plain(line))
    return 0


def _status(timeline: Timeline, index: int, at: float, now: Now) -> Status:
    """How the session stood there, as the screen says it."""
    from core.live.need_words import with_now
    from core.live.status import Limits
    from core.live.status_history import StatusHistory
    from core.report.turn_endings import EndingReader

    settings = timeline.settings
    history = StatusHistory(timeline, settings.response.notices.final)
    history.endings = EndingReader(None)
    facts = history.facts(index, timeline.society_at(index))
    status = history.status(facts, index, at, Limits.of(settings), ended=index == len(timeline))
    return with_now(status, now)


COMMAND = CliCommand(_add_arguments, _run)
