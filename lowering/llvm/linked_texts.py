"""Texts that compiled code is linked with because it calls them: memory, and prints.

Comes in: LLVM IR text. Goes out: the texts of `scratch` and `reports` that define what it calls.
"""

from __future__ import annotations

from pykern.lowering.llvm.reports import CALL_PYTHON, TELLING
from pykern.lowering.llvm.scratch import ALLOCATE, ALLOCATION, RESIZE


def needed_by(text: str) -> tuple[str, ...]:
    """What is to be linked to a module."""
    memory = (ALLOCATION,) if may_run_out(text) else ()
    return (*memory, TELLING) if CALL_PYTHON in text else memory


def may_run_out(text: str) -> bool:
    """Whether code asks for memory while it runs, and so has to be in a launch that it can leave."""
    return ALLOCATE in text or RESIZE in text
