"""The user at the other end of a connection within this machine, from the kernel's tables."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Mapping
from pathlib import Path

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LOCAL, _REMOTE, _USER = 1, 2, 7

Address = tuple[str, int]


def peer_user(peer: Address, here: Address, tables: tuple[Path, ...] = _TABLES) -> int | None:
    """Return the user id behind `peer` of a connection to `here`, or None if the system does not say."""
    return _user(peer, here, _read_users(tables))


class PeerUsers:
    """The users behind connections that came at once: the tables, slow to read, are read once for all of them."""

    def __init__(self, tables: tuple[Path, ...] = _TABLES) -> None:
        self._tables = tables
        self._users: dict[tuple[str, str], int] = {}

    def user_of(self, peer: Address, here: Address) -> int | None:
        """As `peer_user`; what was read is forgotten before the loop can accept another connection."""
        if not self._users:
            self._users = _read_users(self._tables)
            asyncio.get_running_loop().call_soon(self._users.clear)
        return _user(peer, here, self._users)


def _read_users(tables: tuple[Path, ...]) -> dict[tuple[str, str], int]:
    """Users by the two ends of their connections, as the tables write them: ours, then theirs."""
    users: dict[tuple[str, str], int] = {}
    for table in tables:
        with contextlib.suppress(OSError, ValueError):
            for line in table.read_text("ascii").splitlines()[1:]:
                row = line.split()
                if len(row) > _USER:
                    users.setdefault((row[_REMOTE], row[_LOCAL]), int(row[_USER]))
    return users


def _user(peer: Address, here: Address, users: Mapping[tuple[str, str], int]) -> int | None:
    pairs = ((ours, theirs) for ours in _written(here) for theirs in _written(peer))
    return next((users[pair] for pair in pairs if pair in users), None)


def tells_users() -> bool:
    """Whether the system reports the user at the other end, tried with a connection of our own."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            here = server.getsockname()
            with socket.create_connection(here) as client:
                return peer_user(client.getsockname(), here) == os.getuid()
    except (OSError, AttributeError):
        return False


def _written(address: Address) -> list[str]:
    """Return an address in the table's notation; an IPv4 address may also be listed as IPv6."""
    host, port = address[0].partition("%")[0], address[1]
    if ":" in host:
        bits = socket.inet_pton(socket.AF_INET6, host)
    else:
        short = socket.inet_pton(socket.AF_INET, host)
        mapped = b"\0" * 10 + b"\xff\xff" + short
        return [f"{_turned(each)}:{port:04X}" for each in (short, mapped)]
    return [f"{_turned(bits)}:{port:04X}"]


def _turned(bits: bytes) -> str:
    """Each four bytes in the order of this machine."""
    words = [bits[place : place + 4] for place in range(0, len(bits), 4)]
    return "".join(f"{int.from_bytes(word, 'little'):08X}" for word in words)
