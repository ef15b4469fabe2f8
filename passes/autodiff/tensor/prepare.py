"""A copy of a tensor program in the one form the rules know.

Elementwise ops on tensors become linalg and cheap ones are joined, shifts in maps become slices, and
what varies and is neither a counted loop nor a known reduction becomes a counted loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from mlir import ir
from mlir.dialects import func
from mlir.passmanager import PassManager

from pykern.passes.autodiff.tensor.activity import varied
from pykern.passes.autodiff.tensor.bounds import bound_loops
from pykern.passes.autodiff.tensor.counted import count_while
from pykern.passes.autodiff.tensor.functions import name_of
from pykern.passes.autodiff.tensor.join import join_cheap
from pykern.passes.autodiff.tensor.sequential import run_in_order
from pykern.passes.autodiff.tensor.shifts import cut_shifts
from pykern.passes.autodiff.tensor.strips import split_loops
from pykern.passes.kernels import find


@contextmanager
def prepared(function: func.FuncOp, active: Sequence[int], checkpoint: str) -> Iterator[func.FuncOp]:
    """The copy, for reverse mode for the arguments `active`; it lives as long as the context."""
    module = copied(function)
    join_cheap(module)
    copy = first_function(module)
    with function.location:
        for rewrite in (count_while, run_in_order, cut_shifts):
            _everywhere(copy, active, rewrite)
        bound_loops(copy.operation)
        split_loops(copy, checkpoint)
    yield copy


def first_function(module: ir.Module) -> func.FuncOp:
    return next(op for op in module.body.operations if isinstance(op, func.FuncOp))


def copied(function: func.FuncOp) -> ir.Module:
    """A module of a copy of `function` alone, its calls inlined, its elementwise ops in linalg."""
    source = function.operation.parent
    assert source is not None
    calls = find(function.operation, lambda op: op.name == "func.call")
    module = ir.Module.create(function.location)
    with ir.InsertionPoint(module.body):
        function.operation.clone()
        if calls:
            for op in source.regions[0].blocks[0].operations:
                if isinstance(op, func.FuncOp) and name_of(op) != name_of(function):
                    op.operation.clone().attributes["sym_visibility"] = ir.StringAttr.get("private")
    inlined = "inline," if calls else ""
    PassManager.parse(f"builtin.module({inlined}convert-elementwise-to-linalg)").run(module.operation)
    return module


def _everywhere(
    function: func.FuncOp, active: Sequence[int], rewrite: Callable[[ir.Operation, set[ir.Value]], bool]
) -> None:
    """Rewrite op after op until nothing changes; what varies is found anew after each."""
    changed = True
    while changed:
        values = varied(function.operation, [function.arguments[k] for k in active])
        changed = any(rewrite(op, values) for op in find(function.operation, lambda _: True))
