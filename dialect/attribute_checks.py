"""Attributes named `kern.*` are declared, hold what they were declared to hold, and stand where they may.

Comes in: an op of a module that came from outside, or that a pass left. Goes out: nothing, or a `VerifyError` at the
op's place. Passes read attributes without asking again. Read next: `attributes` (the declarations), `kernels`
(attributes of kernels that have to agree with one another).
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.dialect.kernels import check_kernel
from pykern.errors import VerifyError


def check_attributes(root: ir.Operation) -> None:
    """Raises `VerifyError` where an attribute of an op, or of an argument of a function, is not of its form."""
    wrong: list[VerifyError] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        try:
            _check_op(op)
        except VerifyError as error:  # the bindings make a RuntimeError of what goes through a walk
            wrong.append(error)
            return ir.WalkResult.INTERRUPT
        return ir.WalkResult.ADVANCE

    root.walk(visit)
    if wrong:
        raise wrong[0]


def _check_op(op: ir.Operation) -> None:
    for name in op.attributes:
        if name.startswith(kern.PREFIX):
            _check(op, name, lambda name=name: op.attributes[name])
        elif name in ("arg_attrs", "res_attrs"):
            _check_arguments(op, op.attributes[name])
    if kern.KERNEL in op.attributes:
        check_kernel(op)


def _check_arguments(op: ir.Operation, given: ir.Attribute) -> None:
    for marks in given if isinstance(given, ir.ArrayAttr) else ():
        for named in marks if isinstance(marks, ir.DictAttr) else ():
            if named.name.startswith(kern.PREFIX):
                _check(op, named.name, lambda named=named: named.attr, of_argument=True)


def _check(
    op: ir.Operation, name: str, read: Callable[[], ir.Attribute], *, of_argument: bool = False
) -> None:
    declared = kern.ATTRIBUTES.get(name)
    if declared is None:
        near = get_close_matches(name, kern.ATTRIBUTES, 1)
        hint = f"did you mean `{near[0]}`?" if near else "attributes of your own want a prefix of your own"
        raise VerifyError(f"there is no attribute `{name}`", span_of(op.location), hint)
    try:
        wrong = declared.form(op, read())
    except TypeError:  # the bindings have no class for arrays of some types
        wrong = "is of a kind that nothing here reads"
    if wrong is None and not declared.may_stand(None if of_argument else op):
        wrong = f"marks {declared.places}, and this is {'an argument' if of_argument else 'none'}"
    if wrong is not None:
        raise VerifyError(f"attribute `{name}` of `{op.name}` {wrong}", span_of(op.location))
