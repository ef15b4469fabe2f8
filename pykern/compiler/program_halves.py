"""The two programs of `pk.vjp`: one that runs with the primal and keeps residuals, one that pulls cotangents back.

Comes in: a program's vjp, and which half is asked for. Goes out: that half as a program. The forward half gives, as a
tuple, the program's own value, the residuals, the name under which `jit` finds the source of the other half
(`ProgramSource.pullback_name`), and which floats of the value are constants: these take no cotangent;
and, if arguments and results are borrowed, which residuals they are (`Halves.keep_forward`), and whether it would take
products, loops or launches to compute the others again. Read next:
`passes.autodiff.raised.halves`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mlir import ir
from mlir.dialects import func

from pykern.dialect import attributes as kern
from pykern.passes.autodiff.tensor.halves import Halves
from pykern.passes.autodiff.tensor.values import is_float
from pykern.passes.framework import Upstream, run_pass
from pykern.passes.kernels import integers
from pykern.types import BY_NAME


def forward_half(
    module: ir.Module, primal: func.FuncOp, made: func.FuncOp, tree: Any, name: str, borrowed: bool
) -> Any:
    """Leave of the vjp `made` what needs no cotangent; the form of its results. What the primal writes is written."""
    updated = list(integers(primal.operation, kern.UPDATED) or ())
    halves = _halves(module, primal, made, borrowed)
    saves_work = halves.saves_work
    lent = halves.keep_forward(len(updated), borrowed)
    first = len(primal.type.results) - len(updated)
    residuals = [{"array": first + n} for n in range(lent.count(""))]
    constants = ",".join(str(n) for n, constant in enumerate(_floats(tree, primal)) if constant)
    said = [
        {"constant": name},
        {"constant": constants},
        *([{"constant": ",".join(lent)}, {"constant": saves_work}] if borrowed else ()),
    ]
    return {"tuple": [tree, {"tuple": residuals}, *said]}


def _floats(tree: Any, primal: func.FuncOp) -> Iterator[bool]:
    """For every float of a value, in order, whether it is a constant."""
    if not isinstance(tree, dict):
        return
    for kind in ("array", "scalar"):
        if kind in tree and is_float(primal.type.results[tree[kind]]):
            yield False
    if is_float_constant(tree):
        yield True
    for item in (*tree.get("tuple", ()), *tree.get("dict", {}).values()):
        yield from _floats(item, primal)


def is_float_constant(leaf: Any) -> bool:
    """Whether a part of a value is a float that is known when compiling."""
    if not isinstance(leaf, dict) or "constant" not in leaf:
        return False
    return BY_NAME[leaf["dtype"]].is_float if "dtype" in leaf else isinstance(leaf["constant"], float)


def backward_half(module: ir.Module, primal: func.FuncOp, made: func.FuncOp, borrowed: bool) -> None:
    """Leave of the vjp `made` what takes cotangents and residuals to gradients."""
    _halves(module, primal, made, borrowed).keep_backward()


def _halves(module: ir.Module, primal: func.FuncOp, made: func.FuncOp, borrowed: bool) -> Halves:
    given = [a.type for a in made.arguments]  # without the cotangents of what is updated
    attributes = made.operation.attributes
    attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(given, made.type.results))
    attributes["arg_attrs"] = ir.ArrayAttr.get(list(attributes["arg_attrs"])[: len(given)])
    run_pass(Upstream("canonicalize,cse", bodies=True), module)
    return Halves.of(made, len(primal.arguments), len(primal.type.results), borrowed)
