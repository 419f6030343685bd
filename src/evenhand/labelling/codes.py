"""Codes, tokens and passwords: made at random, kept as hashes only.

An invite code has two halves. The first (the selector) finds its row by an index; only then is the
second half verified, by one argon2 hash, whatever the number of invites. Tokens of sessions and
links have 256 random bits: a plain SHA-256 of them is enough to keep and quick to look up.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from evenhand.core.errors import BadInput

_LETTERS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
_HALF = 8
SHORTEST_PASSWORD = 10


@dataclass(frozen=True)
class Codes:
    """Makes and verifies codes; how costly a hash is can be chosen."""

    hasher: PasswordHasher = field(default_factory=PasswordHasher)

    def invite(self) -> tuple[str, str, str]:
        """A new invite: the code to hand out, its selector and the hash of its other half."""
        letters = "".join(secrets.choice(_LETTERS) for _ in range(2 * _HALF))
        code = "-".join(letters[start : start + 4] for start in range(0, len(letters), 4))
        return code, letters[:_HALF], self.hasher.hash(letters[_HALF:])

    def verify(self, secret: str, hashed: str | None) -> bool:
        """Whether the secret belongs to the hash; without one it takes as long and is False."""
        try:
            return (
                self.hasher.verify(hashed or _nobodys(self.hasher), secret) and hashed is not None
            )
        except (VerifyMismatchError, InvalidHashError):
            return False

    def password(self, password: str) -> str:
        """The hash of a password that is long enough."""
        if not SHORTEST_PASSWORD <= len(password) <= 200:
            raise BadInput(f"the password needs {SHORTEST_PASSWORD} to 200 characters")
        return self.hasher.hash(password)


@cache
def _nobodys(hasher: PasswordHasher) -> str:
    """A hash nobody knows the secret of, as costly to verify as the others."""
    return hasher.hash(secrets.token_hex(16))


def halves(code: str) -> tuple[str, str]:
    """Selector and secret of a typed code; spaces, hyphens and small letters are forgiven.

    >>> halves("abcd-efgh jkmn-pqrs")
    ('ABCDEFGH', 'JKMNPQRS')
    """
    letters = re.sub(r"[^A-Z0-9]", "", code.upper())[: 2 * _HALF]
    return letters[:_HALF], letters[_HALF:]


def new_token() -> str:
    """A token nobody can guess."""
    return secrets.token_urlsafe(32)


def short_token() -> str:
    """A token for one form, unique and hard to guess."""
    return secrets.token_urlsafe(18)


def digest(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_name(taken: Callable[[str], bool]) -> str:
    """A pseudonym for a new annotator that says nothing about them."""
    while True:
        name = "p-" + "".join(secrets.choice(_LETTERS.lower()) for _ in range(6))
        if not taken(name):
            return name
