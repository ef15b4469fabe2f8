"""What a file of the cache holds, and how it is known to be sound.

Comes in: an `Artifact`, or the bytes of a file. Goes out: the parts to write, or the artifact.
One file holds an entry: the binary, its description as JSON, and a footer with a checksum of both.
A shared object with bytes after its end loads as before, and one file cannot disagree with itself.
Nothing is unpickled.
"""

from __future__ import annotations

import struct
from hashlib import blake2b

from pykern.artifact import Artifact
from pykern.compiler.artifact_json import from_json, to_json

_MAGIC = b"pykern 2"
"""First cell of the footer; its number rises when the form of an entry changes."""
_FOOTER = struct.Struct("<8sQQ32s")
"""Magic, bytes of the binary, bytes of the description, checksum of all that stands before."""
_NOT_DESCRIBED = ("binary", "stages")
"""The binary stands before; the texts of stages are only made on demand."""


def pack(artifact: Artifact) -> tuple[bytes, bytes, bytes]:
    """The parts of a file: binary, description, footer."""
    description = to_json(artifact, _NOT_DESCRIBED).encode()
    checksum = _checksum(artifact.binary, description)
    return (
        artifact.binary,
        description,
        _FOOTER.pack(_MAGIC, len(artifact.binary), len(description), checksum),
    )


def parse(key: str, data: bytes) -> Artifact | None:
    """The artifact of `key` in the bytes of a file, or None where one bit of it is wrong."""
    if len(data) < _FOOTER.size:
        return None
    magic, binary_size, description_size, checksum = _FOOTER.unpack_from(data, len(data) - _FOOTER.size)
    if magic != _MAGIC or binary_size + description_size + _FOOTER.size != len(data):
        return None
    binary, description = data[:binary_size], data[binary_size : -_FOOTER.size]
    if _checksum(binary, description) != checksum:
        return None
    try:
        artifact = from_json(description, binary=binary)
    except (ValueError, TypeError, KeyError):  # written by another version of the dataclasses
        return None
    return artifact if isinstance(artifact, Artifact) and artifact.key == key else None


def _checksum(*parts: bytes) -> bytes:
    digest = blake2b(digest_size=32)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()
