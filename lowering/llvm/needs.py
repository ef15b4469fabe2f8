"""Texts that compiled code is linked with because it calls them: memory, and signals.

Comes in: LLVM IR text. Goes out: the texts of `scratch` and `polls` that define what it calls.
"""

from __future__ import annotations

from pykern.lowering.llvm.polls import POLL, POLLING
from pykern.lowering.llvm.scratch import ALLOCATE, ALLOCATION


def needed_by(text: str) -> tuple[str, ...]:
    """What is to be linked to a module."""
    return tuple(added for name, added in ((ALLOCATE, ALLOCATION), (POLL, POLLING)) if name in text)
