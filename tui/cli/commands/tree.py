"""`nooscope tree`: the conversation as the log tells it, with its branches, and whether it was edited."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from tui.cli.command import CliCommand
from tui.cli.options import add_settings_options, settings_from

if TYPE_CHECKING:
    from core.report.conversation import ConversationTree, Node


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a log")
    parser.add_argument(
        "--find", metavar="HASH", help="the node whose content hash starts like this, and the path to it"
    )
    parser.add_argument("--head", metavar="HASH", help="exit with 1 unless the log still leads to this head")
    parser.add_argument("--json", action="store_true", help="as JSON")
    add_settings_options(parser)


def _run(args: argparse.Namespace) -> int:
    from core.logs.links import session_links
    from core.report.conversation import ConversationTree
    from tui.cli.recordings import one_session

    settings = settings_from(args).settings
    session, kit = one_session(args.path, settings)
    tree = ConversationTree(session_links(session, kit))
    if args.find:
        return _print_way(tree, args.find)
    if args.json:
        _print_json(tree)
    else:
        _print_text(tree)
    if args.head:
        return _check(tree, args.head)
    return 0


def _check(tree: ConversationTree, wanted: str) -> int:
    node = tree.find(wanted)
    if node is None:
        print(f"nooscope: no line of the log leads to {wanted}: it was edited or cut since", file=sys.stderr)
        return 1
    print("unchanged up to this head")
    return 0


def _print_way(tree: ConversationTree, wanted: str) -> int:
    node = tree.find(wanted)
    if node is None:
        print(f"nooscope: no node's hash begins with {wanted}", file=sys.stderr)
        return 1
    for step in tree.path(node.id):
        print(_said(step))
    return 0


def _print_text(tree: ConversationTree) -> None:
    from core.report.formatting import count, plain

    head = tree.head
    print(f"{count(len(tree), 'node')}, {count(len(tree.roots), 'root')}, {count(tree.orphans, 'orphan')}")
    if head is not None:
        print(f"head {plain(head.id, 40)}  {head.content_hash.hex()}")
    for branch in tree.branches():
        print(f"  {branch.kind:<10} {count(branch.nodes, 'node'):>12}  from {plain(branch.start, 40)}")


def _print_json(tree: ConversationTree) -> None:
    from core.report.formatting import readable_json

    head = tree.head
    told = {
        "nodes": len(tree),
        "roots": len(tree.roots),
        "orphans": tree.orphans,
        "head": None if head is None else {"id": head.id, "hash": head.content_hash.hex()},
        "branches": [branch._asdict() for branch in tree.branches()],
    }
    print(readable_json(told))


def _said(node: Node) -> str:
    from core.report.formatting import moment, plain

    label = plain(node.label, 60)
    return f"{node.content_hash.hex()[:16]}  {moment(node.at):<16}  {node.kind:<10} {label}"


COMMAND = CliCommand(_add_arguments, _run)
