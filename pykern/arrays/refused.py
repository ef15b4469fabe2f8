"""The error for an argument that is an array and cannot be taken as it is."""

from __future__ import annotations

from pykern.errors import ARGUMENT_TYPE, KernelTypeError


def refused(name: str, what: str, instead: str) -> KernelTypeError:
    """The error for an argument that is an array of another meaning."""
    return KernelTypeError(f"`{name}` is {what}", hint=instead, code=ARGUMENT_TYPE)
