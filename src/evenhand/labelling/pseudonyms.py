"""Handles, links and e-mail addresses as pseudonyms keyed by the campaign's secret.

The same handle is the same pseudonym throughout a campaign, so that a conversation can be followed,
and another one in any other campaign. Without the secret nobody can try names until one fits. What
counts as a handle, a link or an address is decided where reports mask them
(:mod:`evenhand.reports.masking`). A name written out in a text is not found.

>>> hidden = Pseudonyms(b"sixteen bytes ok")
>>> text = hidden.text("@Jane see https://example.org/x, says @jane")
>>> text.count(hidden.handle("jane")), "example" in text
(2, False)
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from evenhand.reports.masking import PATTERNS

_LENGTH = 7
_HELD = re.compile("\x00(\\d+)\x00")
_ANY = re.compile(r"[@＠﹫/]|\.\S")
"""What every handle, link and address has; most texts have none of it and are done with at once."""
_NOT_OF_A_NAME = re.compile(r"[^\w.@-]")


@dataclass(frozen=True)
class Pseudonyms:
    """Pseudonyms of one campaign."""

    secret: bytes = field(repr=False)

    def text(self, text: str) -> str:
        """The text with every handle, link and address replaced (and NUL letters left out)."""
        found: list[str] = []

        def restored(part: str) -> str:
            return _HELD.sub(lambda match: found[int(match[1])], part)

        def keeping(pseudonym: Callable[[str], str]) -> Callable[[re.Match[str]], str]:
            def keep(match: re.Match[str]) -> str:
                found.append(pseudonym(restored(match[0])))
                return f"\x00{len(found) - 1}\x00"  # a pseudonym must not be found again

            return keep

        text = text.replace("\x00", "")
        if not _ANY.search(text):
            return text
        for pattern, kind in PATTERNS:
            text = pattern.sub(keeping(getattr(self, kind)), text)
        return restored(text)

    def handle(self, handle: str) -> str:
        """A pseudonym for a handle, the same with and without @ and in any case."""
        name = handle.casefold().removeprefix("/").removeprefix("u/")
        return f"@user-{self._key('handle', _NOT_OF_A_NAME.sub('', name).lstrip('@'))}"

    def link(self, link: str) -> str:
        """A pseudonym for a link."""
        return f"[link-{self._key('link', link)}]"

    def email(self, address: str) -> str:
        """A pseudonym for an e-mail address."""
        return f"[e-mail-{self._key('e-mail', address.casefold())}]"

    def author(self, author: str) -> str:
        """A pseudonym for an author, unlike that of the same name as a handle."""
        return f"author-{self._key('author', author)}"

    def target(self, target: str) -> str:
        """A pseudonym for a person the posts are about."""
        return f"person-{self._key('target', target)}"

    def annotator(self, name: str) -> str:
        """What an annotator is called in an export: not the name they sign in with."""
        return f"annotator-{self._key('annotator', name)}"

    def post(self, post: str) -> str:
        """What a post is called where its text is published: its id may lead to the author."""
        return f"post-{self._key('post', post, 10)}"

    def fingerprint(self) -> str:
        """What tells whether a database belongs to this secret."""
        return self._key("fingerprint", "")

    def _key(self, kind: str, value: str, length: int = _LENGTH) -> str:
        message = f"{kind}\x1f{value}".encode()
        digest = hashlib.blake2b(message, key=self.secret[:64], digest_size=10).digest()
        return base64.b32encode(digest).decode().lower()[:length]
