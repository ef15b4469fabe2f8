"""Which of LLVM's passes code for the CPU goes through, as `opt -passes=` takes them.

O3 is for what people write: it cleans up again and again. What comes from here was simplified, freed of common
expressions and moved out of loops on the way, and most loops are vectorised by then. So each pass runs once, or twice
where others leave work for it: half the time of O3, and the same speed of code (`docs/design/compile-time.md`).

Comes in: LLVM IR text. Goes out: `Passes` for `codegen.generate`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pykern.passes.analysis.cost_model.code_size import MANY_SELECTS


@dataclass(frozen=True)
class Passes:
    """The optimiser's, `named`, and whether code generation reduces counters of loops to addresses.

    That is a quarter of its time for a product, whose loops count in elements already. `careful`: code generation, too,
    does without what is for speed alone.
    """

    named: str
    reduces_loops: bool = True
    careful: bool = False


O3 = Passes("default<O3>")

_COMBINE = "instcombine<no-verify-fixpoint>"
_END_CFG = (
    "simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;switch-to-lookup;"
    "no-keep-loops;hoist-common-insts;sink-common-insts>"
)


def _passes(*functions: str) -> str:
    cleaned = "cgscc(inline,function(sroa,early-cse<memssa>,simplifycfg))"
    return f"{cleaned},function({','.join(functions)}),globaldce"


GENERAL = _passes(
    _COMBINE,
    "loop-simplify,lcssa,loop-mssa(loop-rotate,licm,simple-loop-unswitch<nontrivial;trivial>)",
    f"simplifycfg,{_COMBINE}",
    "loop-simplify,lcssa,loop(loop-idiom,indvars,loop-deletion,loop-unroll-full)",
    # loops that jump threading cut off are no code any more, and loop-vectorize aborts over their accesses
    "gvn<>,dse,correlated-propagation,jump-threading,unreachableblockelim",
    f"loop-vectorize,{_COMBINE},simplifycfg",
    "slp-vectorizer,vector-combine,loop-unroll<O3>",
    f"{_COMBINE},loop-mssa(licm),{_END_CFG}",
)
"""Of kernels and programs."""

VECTORS = _passes(
    _COMBINE,
    "loop-simplify,lcssa,loop-mssa(loop-rotate,licm)",
    "loop-simplify,lcssa,loop(loop-unroll-full)",
    f"early-cse,{_COMBINE},loop-unroll<O3>,simplifycfg",
)
"""Of products: their loops compute with vectors, and their scalars are addresses."""

CAREFUL = Passes(_passes(_COMBINE, "simplifycfg"), reduces_loops=False, careful=True)
"""Of what LLVM died of before, and of code that is short in itself: nothing that looks at loops or makes vectors."""

_SCALAR_FLOAT = re.compile(
    r"= (?:f(?:add|sub|mul|div|rem|neg|cmp)|(?:tail )?call)\b[^\n<(]* (?:float|double|half|bfloat)\b"
)


def passes_for(text: str, product: bool) -> Passes:
    """Those for a module; `product`: it computes products of matrices, and perhaps more."""
    if product and not _SCALAR_FLOAT.search(text):
        return Passes(VECTORS, reduces_loops=False)
    many = text.count(" = select i1 ") > MANY_SELECTS
    return Passes(GENERAL.replace("slp-vectorizer,", "") if many else GENERAL)
