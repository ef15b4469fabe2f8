"""The passes of a kernel for the CPU, from the kern stage to the llvm dialect.

Comes in: a kernel, one work-item. Goes out: a function over a part of a launch. Read next: `loop_pipeline`.
"""

from __future__ import annotations

from pykern.lowering.llvm.loop_pipeline import loop_pipeline
from pykern.lowering.llvm.tapes import LowerTapes
from pykern.passes.arithmetic.expand_fp8 import ExpandFp8
from pykern.passes.arithmetic.vector_math.expand_library import ExpandLibrary
from pykern.passes.framework import Pipeline
from pykern.passes.kernel.expand_ndrange import ExpandNdrange
from pykern.passes.kernel.substitute_known import SubstituteKnown

CALLED_NO_MORE = "hypot"
"""Functions of the C library that are written out, because arithmetic is several times quicker in vectors."""


def cpu_pipeline(machine: str = "", short_floats: bool = True, alone: bool = False) -> Pipeline:
    """From work-items to loops, and down to the llvm dialect. The arguments are those of `loop_pipeline`."""
    loops = Pipeline(
        (
            SubstituteKnown(),  # everything below sees constants
            ExpandLibrary(functions=CALLED_NO_MORE),  # before lanes, which call no functions
            LowerTapes(groups=True),  # there a tape is private memory of the work-item
            *([ExpandFp8()] if short_floats else []),  # everything below sees bytes
            ExpandNdrange(),  # everything below sees ordinary loops
        )
    )
    return loops + loop_pipeline(machine, short_floats, alone=alone)
