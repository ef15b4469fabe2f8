"""The content of a kernel's entry in the store: its binary, its description as JSON, and the sizes of both.

Comes in: an `Artifact`, or bytes. Goes out: the parts to write, or the artifact. Nothing is unpickled.
"""

from __future__ import annotations

import struct

from pykern.compiler.artifact_json import from_json, to_json
from pykern.data.artifact import Artifact

_SIZES = struct.Struct("<QQ")
"""Bytes of the binary, bytes of the description; stands last."""
_NOT_DESCRIBED = ("binary", "stages")
"""The binary stands before; the texts of stages are only made on demand."""


def pack(artifact: Artifact) -> tuple[bytes, bytes, bytes]:
    """The parts of an entry: binary, description, sizes. Raises TypeError for what is not plain data."""
    description = to_json(artifact, _NOT_DESCRIBED).encode()
    return artifact.binary, description, _SIZES.pack(len(artifact.binary), len(description))


def parse(key: str, data: bytes) -> Artifact | None:
    """The artifact of `key`, or None where the bytes are of another version of pykern."""
    if len(data) < _SIZES.size:
        return None
    binary_size, description_size = _SIZES.unpack_from(data, len(data) - _SIZES.size)
    if binary_size + description_size + _SIZES.size != len(data):
        return None
    try:
        artifact = from_json(data[binary_size : -_SIZES.size], binary=data[:binary_size])
    except (ValueError, TypeError, KeyError):  # written by another version of the dataclasses
        return None
    return artifact if isinstance(artifact, Artifact) and artifact.key == key else None
