"""`nooscope inspect frame`, `diff`, `events`, `tree` and `trail`: one session, looked at closely."""

from __future__ import annotations

import argparse
from collections import Counter, deque
from typing import TYPE_CHECKING

from tui.cli import options, recordings, streams

if TYPE_CHECKING:
    from core.engine.mind.fabric import MindEvent
    from core.live.status import Status
    from core.report.conversation import ConversationTree, LogCheck, Node
    from core.report.now import Now
    from core.settings import Settings
    from core.timeline.timeline import Timeline


_REASONS = 4  # Lines of the outlook that are printed: its word and its strongest reasons.
_SIMILAR = 3
_PRESERVED = 10  # Similar episodes, and lines about the last compaction, on the page; JSON has all.


def add_frame_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--at", default="-1", metavar="PLACE", help=f"{options.PLACE} (default: end)")
    parser.add_argument("--agent", help="which agent (default: the main one)")
    help_text = "maximum tokens of similar earlier episodes (default: the setting)"
    parser.add_argument("--recall", type=options.positive_argument, metavar="TOKENS", help=help_text)
    parser.add_argument("--json", action="store_true", help="every reading, as JSON")
    recordings.add_log_options(parser)


def run_frame(args: argparse.Namespace) -> int:
    from msgspec.structs import replace

    from core.live.status import status_json
    from core.report import formatting
    from core.report.compaction import last_compaction, preserve_at
    from core.report.compaction import lines as preserved_lines
    from core.report.now import Landmarks, Teller, now_lines
    from core.report.page import frame_page
    from core.timeline.places import parse_place

    timeline = recordings.recording_of(args, options.settings_from(args).settings)
    index = parse_place(timeline, args.at)
    frame = timeline.at(index, options.known_agent(timeline, args.agent))
    cut = last_compaction(timeline, index, frame.agent)
    preserved = None if cut is None else preserve_at(timeline, cut)
    recalled = timeline.society_at(index).engine(frame.agent).mind.recall(tokens=args.recall)
    at = timeline.time_of(index)
    now = Teller().now(Landmarks(timeline.events, frame.agent), index)
    status = _status(timeline, index, at, now)
    if args.json:
        whole = {"index": index, "of": len(timeline), "status": status_json(status), "now": now, "frame": frame}
        print(formatting.readable_json({**whole, "recalled": recalled, "preserved": preserved}))
        return 0
    lines = [
        f"{_place(timeline, index)}, agent {frame.agent}",
        f"status  {status.word}: {status.reason}",
        *now_lines(replace(now, failures=0), at),
        "",
        *frame.receptor.facts.sentences,
        *frame.response.outlook.sentences_beside(status.word, frame.story.state, frame.story.regime)[:_REASONS],
        "",
        *frame_page(frame),
    ]
    if recalled:
        lines += ["", "Similar earlier episodes", *(f"  {each.score:.2f}  {each.line}" for each in recalled[:_SIMILAR])]
    if preserved is not None:
        lines += ["", "At the last compaction", *(f"  {line}" for line in preserved_lines(preserved)[:_PRESERVED])]
    lines += ["", "Every reading: --json"]
    streams.print_lines(lines)
    return 0


def _place(timeline: Timeline, index: int) -> str:
    from core.report.formatting import clock, count, moment

    at = timeline.time_of(index)
    since = clock(at - timeline.events[0].at)
    return f"after {index} of {count(len(timeline), 'event')}, {since} into the session ({moment(at)} UTC)"


def _status(timeline: Timeline, index: int, at: float, now: Now) -> Status:
    """Return the status at one place, as the screen shows it."""
    from core.live.status import Limits
    from core.live.status_facts import StatusHistory, with_now
    from core.report.turn_endings import EndingReader

    settings = timeline.settings
    history = StatusHistory(timeline, settings.response.notices.final)
    history.endings = EndingReader(None)
    facts = history.facts(index, timeline.society_at(index))
    status = history.status(facts, index, at, Limits.of(settings), ended=index == len(timeline))
    return with_now(status, now)


def add_diff_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_stretch_options(parser)
    parser.add_argument("--agent", help="which agent (default: the main one)")
    parser.add_argument("--json", action="store_true", help="every reading that differs, as JSON")
    recordings.add_log_options(parser)


def run_diff(args: argparse.Namespace) -> int:
    from core.report.formatting import readable_json
    from core.report.now import Landmarks, Teller
    from core.report.page import between, difference, difference_page
    from core.timeline.places import parse_place

    timeline = recordings.recording_of(args, options.settings_from(args).settings)
    begin, end = parse_place(timeline, args.begin), parse_place(timeline, args.end)
    agent = options.known_agent(timeline, args.agent)
    before, after = timeline.at(begin, agent), timeline.at(end, agent)
    if args.json:
        changes = difference(before, after)
        print(readable_json({"from": begin, "to": end, "of": len(timeline), "changes": changes}))
        return 0
    lines = []
    for label, index, frame in (("from", begin, before), ("to", end, after)):
        now = Teller().now(Landmarks(timeline.events, frame.agent), index)
        status = _status(timeline, index, timeline.time_of(index), now)
        lines += [f"{label:<8}{_place(timeline, index)}", f"        {status.word}: {status.reason}"]
    low, high = sorted((begin, end))
    lines += [f"{'between':<8}{between(timeline.events[low:high], after.agent)}", ""]
    lines += difference_page(before, after) or ["nothing differs"]
    streams.print_lines([*lines, "", "Every reading that differs: --json"])
    return 0


def add_events_arguments(parser: argparse.ArgumentParser) -> None:
    help_text = "start at this event number (default: all)"
    parser.add_argument("--since", type=int, default=0, metavar="NUMBER", help=help_text)
    parser.add_argument("--kind", action="append", metavar="NAME", help="only this kind; repeatable")
    parser.add_argument("--kinds", action="store_true", help="count the kinds instead")
    parser.add_argument("--json", action="store_true", help="as JSON, one event per line")
    recordings.add_log_options(parser)


def run_events(args: argparse.Namespace) -> int:
    from core.engine.mind.fabric import MIND_EVENTS, StateSnapshotCreated
    from core.errors import UsageError
    from core.events import MAIN
    from core.report.event_words import mind_json, mind_line
    from core.timeline.timeline import apply_due_changes

    names = {kind.__name__ for kind in MIND_EVENTS}
    kinds = set(args.kind or ())
    if kinds - names:
        unknown = sorted(kinds - names)[0]
        raise UsageError(f"unknown kind {unknown!r}; available: {', '.join(sorted(names))}")
    settings = options.settings_from(args).settings
    timeline = recordings.recording_of(args, settings)
    first, *later = timeline.changes
    society, changes = timeline.initial.society(first.settings), deque(later)
    reader = society.engine(MAIN).mind.heart.fabric.subscribe(max(0, args.since))
    counts = Counter[str]()
    stored = {frame.after: frame for frame in timeline.frames}
    for place, event in enumerate(timeline.events):
        society = apply_due_changes(timeline.initial, society, changes, place)
        society.step(event)
        heart = society.engine(MAIN).mind.heart
        news: list[tuple[int, MindEvent]] = reader.poll(heart.fabric)
        if (frame := stored.get(place + 1)) and heart.fabric.emitted >= args.since:
            size = len(frame.packed)
            snapshot = StateSnapshotCreated(event.at, heart.clock.gamma, frame.kind, frame.id, size)
            news.append((heart.fabric.emitted, snapshot))
        for number, event_of_mind in news:
            kind = type(event_of_mind).__name__
            if kinds and kind not in kinds:
                continue
            counts[kind] += 1
            if not args.kinds:
                line = mind_json(number, MAIN, event_of_mind).decode() if args.json else mind_line(MAIN, event_of_mind)
                print(line if args.json else f"{number:>7}  {line}")
    if args.kinds:
        for kind in sorted(names):
            print(f"{counts[kind]:>7}  {kind}")
    return 0


def add_tree_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--find", metavar="HASH", help="the node whose hash starts with this, and the path to it")
    help_text = "the model at a record, by its number, id or hash, and what came since"
    parser.add_argument("--go", metavar="RECORD", help=help_text)
    parser.add_argument("--note", metavar="TEXT", help="with --go: your own summary instead of what came since")
    parser.add_argument("--head", metavar="HASH", help="exit with 1 unless the log still leads to this head")
    parser.add_argument("--json", action="store_true", help="as JSON")
    recordings.add_log_options(parser)


def run_tree(args: argparse.Namespace) -> int:
    from core.logs.links import session_links
    from core.report.conversation import ConversationTree, check_log

    settings = options.settings_from(args).settings
    session, kit = recordings.one_session(args.path, settings)
    tree = ConversationTree(session_links(session, kit))
    if args.find:
        return _print_path_to(tree, args.find)
    if args.go:
        return _print_record(args, settings, tree)
    check = check_log(tree, session.path)
    changed = check.change is not None
    if args.json:
        _print_tree_json(tree, check)
    else:
        _print_tree(tree)
    if changed:
        streams.say(check.words())
    elif not args.json:
        print(check.words())
    if args.head:
        return _check_head(tree, args.head) or changed
    return int(changed)


def _check_head(tree: ConversationTree, head: str) -> int:
    node = tree.find(head)
    if node is None:
        streams.say(f"no line of the log leads to {head}: the log was edited or truncated")
        return 1
    print("unchanged up to this head")
    return 0


def _print_path_to(tree: ConversationTree, prefix: str) -> int:
    node = tree.find(prefix)
    if node is None:
        streams.say(f"no node's hash begins with {prefix}")
        return 1
    for step in tree.path(node.id):
        print(_node_line(step))
    return 0


def _print_record(args: argparse.Namespace, settings: Settings, tree: ConversationTree) -> int:
    """Go back from the end of the recording to a record, and print the model there."""
    from core.report.chrono import ChronoNav, SummaryPolicy, frame_lines, place_after
    from core.report.formatting import count

    node = tree.resolve(args.go)
    timeline = recordings.recording_of(args, settings)
    policy = SummaryPolicy("custom", text=args.note) if args.note else SummaryPolicy("narrative")
    place = place_after(timeline.events, node.where)
    summary = ChronoNav(timeline).move(place, timeline.time_of(len(timeline)), policy, node.id)
    print(_node_line(node))
    print(f"record {node.place + 1}, {count(len(tree.path(node.id)), 'record')} from the start; event {place}")
    streams.print_lines([*frame_lines(timeline.at(place)), "", "since then:", *summary])
    return 0


def _print_tree(tree: ConversationTree) -> None:
    from core.report.formatting import count, plain

    head = tree.head
    print(f"{count(len(tree), 'node')}, {count(len(tree.roots), 'root')}, {count(tree.orphans, 'orphan')}")
    if head is not None:
        print(f"head {plain(head.id, 40)}  {head.content_hash.hex()}")
    for branch in tree.branches():
        print(f"  {branch.kind:<10} {count(branch.nodes, 'node'):>12}  from {plain(branch.start, 40)}")


def _print_tree_json(tree: ConversationTree, check: LogCheck) -> None:
    from core.report.formatting import readable_json

    head, change = tree.head, check.change
    content = {
        "nodes": len(tree),
        "roots": len(tree.roots),
        "orphans": tree.orphans,
        "head": None if head is None else {"id": head.id, "hash": head.content_hash.hex()},
        "branches": [branch._asdict() for branch in tree.branches()],
        "compared": check.compared,
        "changed": None if change is None else {"file": change.file, "record": change.place + 1},
    }
    print(readable_json(content))


def _node_line(node: Node) -> str:
    from core.report.formatting import moment, plain

    label = plain(node.label, 60)
    return f"{node.content_hash.hex()[:16]}  {moment(node.at):<16}  {node.kind:<10} {label}"


def add_trail_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a log")
    parser.add_argument("--verify", action="store_true", help="only verify the chain; exit with 1 if it was altered")
    parser.add_argument("--head", metavar="HASH", help="also check that this hash of a move is in the chain")
    parser.add_argument("--json", action="store_true", help="as JSON")
    options.add_settings_options(parser)


def run_trail(args: argparse.Namespace) -> int:
    from core.errors import StoreError
    from core.report.chrono import Trail, trail_lines
    from core.report.formatting import count, plain, readable_json
    from core.store.bookmarks import TrailStore

    settings = options.settings_from(args).settings
    session, _ = recordings.one_session(args.path, settings)
    trail = Trail(settings.timeline.navigation.kept)
    try:
        trail.load(TrailStore(session.id).read())
    except StoreError as error:
        streams.say(error)
        return 1
    if args.head and not any(visit.hash.startswith(args.head) for visit in trail.visits):
        streams.say(f"no recorded move has the hash {plain(args.head, 64)}")
        return 1
    if args.json:
        visits = [visit._asdict() for visit in trail.visits]
        print(readable_json({"moves": visits, "head": trail.head, "sound": True}))
        return 0
    if not args.verify:
        streams.print_lines(trail_lines(trail, trail.visits[0].at if trail.visits else 0.0))
    print(f"{count(len(trail), 'move')}, the chain is intact" if len(trail) else "no moves are recorded")
    return 0
