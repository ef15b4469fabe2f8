"""Texts that compiled code is linked with because it calls them: memory, and signals.

Comes in: LLVM IR text. Goes out: the texts of `scratch` and `polls` that define what it calls.
"""

from __future__ import annotations

from pykern.lowering.llvm.polls import POLL, POLLING
from pykern.lowering.llvm.scratch import ALLOCATE, ALLOCATION, GIVING_UP, NO_MEMORY


def needed_by(text: str) -> tuple[str, ...]:
    """What is to be linked to a module."""
    found = [added for name, added in ((ALLOCATE, ALLOCATION), (POLL, POLLING)) if name in text]
    return (*found, GIVING_UP) if may_run_out(text) else tuple(found)


def may_run_out(text: str) -> bool:
    """Whether code asks for memory while it runs, and so has to be in a launch that it can leave."""
    return ALLOCATE in text or NO_MEMORY in text
