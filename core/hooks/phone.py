"""Answers from a phone or another machine: single-use links, a page that shows what they allow, and ntfy."""

from __future__ import annotations

import secrets
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from hmac import compare_digest
from html import escape
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qs, urlsplit

import msgspec

from core.errors import Refused
from core.hooks.receiver import LOOPBACK, Answer, Receiver, Request
from core.live.hook_signs import PermitQuestion
from core.settings.response import PhoneSettings

_BODY = 8_192
_PATIENCE = 5.0
_CONNECTIONS = 32
_KEY_BYTES = 24
_HTML = "text/html; charset=utf-8"
_HEADERS = (
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'\r\n"
    "Referrer-Policy: same-origin\r\nCache-Control: no-store\r\n"
)
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>nooscope</title><style>
body {{ font: 18px system-ui, sans-serif; max-width: 36em; margin: 2em auto; padding: 0 1em; }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; background: #8882; padding: .6em; }}
button, a {{ font-size: 1em; padding: .6em 1.2em; margin: .3em .5em .3em 0; }}
</style></head><body>{body}</body></html>
"""
Verdict = Literal["once", "deny"]
# Answers a question: its number, the verdict, by whom, and options; blank, or why it was not taken.
Decide = Callable[[int, Verdict, str, Sequence[str]], str]
Send = Callable[[str, Mapping[str, Any]], object]  # Posts JSON to an address; must not wait.


class _Link(NamedTuple):
    question: PermitQuestion
    verdict: Verdict
    expires: float


class PhoneLinks:
    """The links of the questions that wait; used from the hook server's loop only.

    A GET changes nothing. A link belongs to one question, ends with it, and works once.
    """

    def __init__(self, settings: PhoneSettings, decide: Decide, clock: Callable[[], float], send: Send) -> None:
        self._settings = settings
        self._decide = decide
        self._clock = clock
        self._send = send
        self._near = urlsplit(settings.address).hostname in LOOPBACK
        # By a hash of the key, so that looking one up says nothing about the others.
        self._links: dict[bytes, _Link] = {}
        self._keys: dict[int, dict[Verdict, str]] = {}
        self.token = secrets.token_urlsafe(_KEY_BYTES)  # Opens the list of questions, for whoever started the server.

    def receiver(self) -> Receiver:
        """A server for phones at the configured address."""
        place = urlsplit(self._settings.address)
        address = place.hostname or "127.0.0.1", place.port or 0
        origin, most = self._settings.address.rstrip("/"), _CONNECTIONS
        return Receiver(self.handle, *address, _BODY, patience=_PATIENCE, connections=most, origin=origin)

    def update(self, questions: Iterable[PermitQuestion]) -> None:
        """Make links for new questions and send their notices; drop the links of finished ones."""
        waiting = {one.number: one for one in questions if not one.late}
        for number in [number for number in self._keys if number not in waiting]:
            self._drop_links(number)
            del self._keys[number]
        for number, question in waiting.items():
            if number not in self._keys:
                self._add(question)

    def _add(self, question: PermitQuestion) -> None:
        expires = self._clock() + self._settings.lifetime
        verdicts: tuple[Verdict, ...] = ("once", "deny")
        keys = {verdict: secrets.token_urlsafe(_KEY_BYTES) for verdict in verdicts}
        self._keys[question.number] = keys
        for verdict, key in keys.items():
            self._links[_hash(key)] = _Link(question, verdict, expires)
        if self._settings.ntfy:
            address, _, topic = self._settings.ntfy.rstrip("/").rpartition("/")
            self._send(address, self._notice_body(topic, question, keys))

    def _notice_body(self, topic: str, question: PermitQuestion, keys: Mapping[Verdict, str]) -> dict[str, Any]:
        """The notice with its buttons; a call whose words are not in it is shown before it is allowed."""
        has_words = self._settings.words and question.kind != "question"
        deny = {"action": "http", "method": "POST"}
        allow = deny if has_words else {"action": "view"}
        actions = [
            {**allow, "label": "Allow", "url": self._url(keys["once"]), "clear": True},
            {**deny, "label": "Deny", "url": self._url(keys["deny"]), "clear": True},
        ]
        words = self._words(question)
        return {"topic": topic, "title": "an agent needs you", "message": words, "actions": actions}

    def _url(self, key: str) -> str:
        return f"{self._settings.address.rstrip('/')}/p/{key}"

    def _words(self, question: PermitQuestion) -> str:
        """The request in words, or only its tool if words are off."""
        if self._settings.words:
            return f"{question.tool}: {question.what}"
        return f"{question.tool} (text is hidden: response.phone.words)"

    def _drop_links(self, number: int) -> None:
        """End both links of a question; while it waits, it gets no new ones."""
        for key in self._keys.get(number, {}).values():
            self._links.pop(_hash(key), None)

    def handle(self, request: Request) -> Answer:
        """Answer one request; raises `Refused`."""
        match request.path.strip("/").split("/"):
            case ["p", key]:
                return self._link_page(request, key)
            case ["list", token] if request.method in ("GET", "HEAD"):
                if not compare_digest(token.encode(), self.token.encode()):
                    raise Refused(404, "not found")
                return self._list_page()
        raise Refused(404, "not found")

    def _link_page(self, request: Request, key: str) -> Answer:
        link = self._links.get(_hash(key))
        if link is None or link.expires <= self._clock():
            return _page("<p>This link is used, expired or answered elsewhere. Nothing was changed.</p>", 410)
        if request.method in ("GET", "HEAD"):
            return self._confirm_page(link)
        if request.method != "POST":
            raise Refused(405, "open it, or send it with POST")
        if request.from_here and not self._near:
            return _page("<p>These links are for other machines; here, `nooscope hooks permits` answers.</p>", 403)
        if link.question.choices and link.verdict == "once" and not self._settings.words:
            return _page("<p>Words are off, so a question cannot be answered from here.</p>", 403)
        fields = parse_qs(request.body.decode("utf-8", "replace"))
        answers = [fields.get(f"a{place}", [""])[0] for place in range(len(link.question.choices))]
        if link.verdict == "once" and not all(answers):
            return self._confirm_page(link)
        self._drop_links(link.question.number)
        fault = self._decide(link.question.number, link.verdict, "phone", answers)
        if fault:
            return _page(f"<p>{escape(fault)}</p>", 409)
        return _page(f"<p>{'Allowed, once.' if link.verdict == 'once' else 'Denied.'}</p>")

    def _confirm_page(self, link: _Link) -> Answer:
        """Show what a link does; the button does it."""
        question = link.question
        options = "".join(
            f"<p>{escape(one.question)} <select name='a{place}'>"
            + "".join(f"<option>{escape(option)}</option>" for option in one.options)
            + "</select></p>"
            for place, one in enumerate(question.choices)
            if link.verdict == "once" and self._settings.words
        )
        word = "Allow this once" if link.verdict == "once" else "Deny this"
        return _page(
            f"<p>An agent asks for this:</p><pre>{escape(self._words(question))}</pre>"
            f"<form method='post'>{options}<button>{word}</button></form>"
        )

    def _list_page(self) -> Answer:
        rows = []
        for keys in self._keys.values():
            link = self._links.get(_hash(keys["once"]))
            if link is not None:
                links = f"<a href='/p/{keys['once']}'>Allow …</a><a href='/p/{keys['deny']}'>Deny …</a>"
                rows.append(f"<pre>{escape(self._words(link.question))}</pre><p>{links}</p>")
        return _page("".join(rows) or "<p>Nothing waits for you.</p>")


def _hash(key: str) -> bytes:
    return sha256(key.encode("utf-8", "replace")).digest()


def _page(body: str, status: int = 200) -> Answer:
    return Answer(_PAGE.format(body=body).encode(), _HTML, status, _HEADERS)


def post_json(address: str, value: Mapping[str, Any], token: str = "") -> None:
    """Post JSON from a thread of its own; a notice that cannot be sent changes nothing."""
    threading.Thread(target=_post, args=(address, value, token), name="nooscope-ntfy", daemon=True).start()


def _post(address: str, value: Mapping[str, Any], token: str) -> None:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    try:
        request = urllib.request.Request(  # noqa: S310 settings allow http and https only
            address, msgspec.json.encode(value), headers
        )
        with urllib.request.urlopen(request, timeout=_PATIENCE):  # noqa: S310
            pass
    except (OSError, ValueError, urllib.error.HTTPError):
        pass
