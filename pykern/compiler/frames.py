"""Messages between the user's process and the compiler process: a length, then a pickle.

Both ends are pykern's own, joined by pipes that nobody else holds; that is why pickles will do.
A message is a tuple that starts with its kind:

to the compiler    ``("compile", number, a pickled KernelSource, keep_stages)``
from the compiler  ``("ready", pid)`` once it can compile, or ``("unable", KernelError)``
for each request   ``("begun", number)``, then ``("done", number, Artifact)``
                   or ``("error", number, KernelError)``
"""

from __future__ import annotations

import os
import pickle
import struct
from typing import Any

_LENGTH = struct.Struct("<Q")
_CHUNK = 1 << 20


def encode(message: tuple[Any, ...]) -> bytes:
    """`message` with its length before it. Raises what pickle raises where something cannot cross."""
    body = pickle.dumps(message, protocol=5)
    return _LENGTH.pack(len(body)) + body


def write(handle: int, frame: bytes) -> None:
    """Write all of `frame` to a file descriptor. Raises OSError where the reader is gone."""
    view = memoryview(frame)
    while view:
        view = view[os.write(handle, view[:_CHUNK]) :]


def read(handle: int) -> Any:
    """The next message from a file descriptor, or None at its end, also in the middle of a message."""
    head = _exactly(handle, _LENGTH.size)
    if head is None:
        return None
    body = _exactly(handle, *_LENGTH.unpack(head))
    return None if body is None else pickle.loads(body)


def _exactly(handle: int, size: int) -> bytearray | None:
    data = bytearray()
    while len(data) < size:
        piece = os.read(handle, min(size - len(data), _CHUNK))
        if not piece:
            return None
        data += piece
    return data
