"""Random tokens: given out once, kept as a hash, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable

_BYTES = 32  # 256 bits: nothing to guess, so a plain hash without salt or stretching is enough


def new_token() -> str:
    """A token of 43 characters that may stand in an address.

    >>> len(new_token()), new_token() == new_token()
    (43, False)
    """
    return secrets.token_urlsafe(_BYTES)


def token_hash(token: str) -> str:
    """Hash stored for a token: the SHA-256 of its text, in hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def is_known(token: str, hashes: Iterable[str]) -> bool:
    """True if one of the hashes is that of the token; takes as long for a wrong one as for a right one.

    >>> is_known("right", [token_hash("right")]), is_known("wrong", [token_hash("right")])
    (True, False)
    """
    match = False
    own = token_hash(token)
    for candidate in hashes:
        match |= hmac.compare_digest(own, candidate)
    return match


def bearer(header: str | None) -> str | None:
    """The token of an `Authorization: Bearer ...` header, or None.

    >>> bearer("Bearer abc"), bearer("bearer  abc "), bearer("Basic abc"), bearer(None)
    ('abc', 'abc', None, None)
    """
    match = re.fullmatch(r"(?i:bearer) +([!-~]{1,512}) *", header or "")
    return match[1] if match else None
