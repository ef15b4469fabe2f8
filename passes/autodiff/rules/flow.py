"""Which results of an op vary where one of its operands does.

Floats vary. An integer or a condition made of a float is piecewise constant where the table of rules says so; any other
(a float read as its bits) would carry a derivative out of sight of the rules, and is refused at its line. Both levels
ask here, so that an op without a rule is an error and never a zero.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from pykern.dialect.diagnostics import span_of
from pykern.errors import NotDifferentiable
from pykern.passes.autodiff.rules.table import is_cut

ONLY_LOOK = frozenset({"kern.print", "kern.assert", "kern.report_bounds", "cf.assert", "vector.print"})
"""Ops that only look at values, such as prints and assertions."""
_OF_SHAPES = frozenset({"memref.dim", "tensor.dim", "memref.rank", "tensor.rank"})


def varying_results(op: ir.Operation) -> Sequence[ir.Value]:
    """The results that vary if an operand of `op` does. Raises `NotDifferentiable` where a derivative would be lost."""
    if op.name == "kern.stop_gradient" or is_cut(op) or op.name in _OF_SHAPES:
        return []
    floats = [result for result in op.results if _holds_floats(result.type)]
    if op.results and not floats:
        _refuse_loss(op)
    return floats


def _refuse_loss(op: ir.Operation) -> None:
    """An op that makes no float of one: allowed where only a print or an assertion reads the result."""
    readers = [use.owner.name for result in op.results for use in result.uses]
    if all(name in ONLY_LOOK for name in readers):
        return
    if op.name.endswith(".bitcast"):
        reason, hint = "a float read as its bits has no derivative", "use pk.stop_gradient on what is read so"
    else:
        reason, hint = (
            f"`{op.name}` has no rule of differentiation",
            "use pk.stop_gradient, or other functions",
        )
    raise NotDifferentiable(reason, span_of(op.location), hint)


def _holds_floats(kind: ir.Type) -> bool:
    return isinstance(kind.element_type if isinstance(kind, ir.ShapedType) else kind, ir.FloatType)
