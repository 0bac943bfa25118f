"""Bytes that hold no word of a report, for caches and journals: only whoever has the text can open them.

A reading is looked up by its text, so whoever reads it has the text at hand: the text is the key. Content is
compressed and masked with a stream of SHAKE-256 over key and nonce. This keeps report text out of files in clear;
it does not keep apart who can guess the text.
"""

from __future__ import annotations

import hashlib
import os
import zlib

_NONCE = 8


def seal(content: bytes, *, key: str) -> bytes:
    """Compress and mask bytes.

    >>> unseal(seal(b"pleural effusion", key="No pleural effusion."), key="No pleural effusion.")
    b'pleural effusion'
    """
    nonce = os.urandom(_NONCE)
    return nonce + _masked(zlib.compress(content, 1), nonce, key)


def unseal(sealed: bytes, *, key: str) -> bytes:
    """Open what `seal` made.

    Raises:
        ValueError: The bytes were not sealed by this key.
    """
    try:
        return zlib.decompress(_masked(sealed[_NONCE:], sealed[:_NONCE], key))
    except zlib.error:
        raise ValueError("these bytes were not sealed by this text") from None


def _masked(content: bytes, nonce: bytes, key: str) -> bytes:
    stream = hashlib.shake_256(nonce + key.encode("utf-8", "surrogatepass")).digest(len(content))
    return (int.from_bytes(content) ^ int.from_bytes(stream)).to_bytes(len(content))
