"""Digests that name texts and check files, by CPython's own code.

`hashlib` loads OpenSSL, which takes 3 ms, a tenth of what a program with kernels waits for when it starts.
"""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # another Python, or one built without it
    from hashlib import blake2b

__all__ = ["blake2b", "digest_of"]


def digest_of(text: str, size: int = 20) -> str:
    """Twice `size` hexadecimal digits."""
    return blake2b(text.encode(), digest_size=size).hexdigest()
