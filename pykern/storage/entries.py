"""What a file of the store holds, and how it is known to be sound.

Comes in: a kind, a key and bytes; or the bytes of a file. Goes out: the footer to write after them; or the bytes again.
The footer's checksum is over kind, key and content: a file that was changed, cut off, renamed or moved is noticed.
The content stands first, so that a shared object with its footer still loads in place.
"""

from __future__ import annotations

import struct

from pykern.data.digests import blake2b

_MAGIC = b"pykern 3"
"""Begins the footer; its number rises when the form of an entry changes."""
_FOOTER = struct.Struct("<8sQ32s")
"""Magic, bytes of the content, checksum."""
OVERHEAD = _FOOTER.size


def footer(kind: str, key: str, parts: tuple[bytes, ...]) -> bytes:
    """What stands after the content, which is `parts` one after the other."""
    return _FOOTER.pack(_MAGIC, sum(map(len, parts)), _checksum(kind, key, parts))


def content(kind: str, key: str, data: bytes) -> bytes | None:
    """The content of the entry `key` in the bytes of a file, or None where one bit of it is wrong."""
    size = len(data) - _FOOTER.size
    if size < 0:
        return None
    magic, told, checksum = _FOOTER.unpack_from(data, size)
    found = data[:size]
    sound = magic == _MAGIC and told == size and checksum == _checksum(kind, key, (found,))
    return found if sound else None


def _checksum(kind: str, key: str, parts: tuple[bytes, ...]) -> bytes:
    digest = blake2b(f"{kind}/{key}\n".encode(), digest_size=32)
    for part in parts:
        digest.update(part)
    return digest.digest()
