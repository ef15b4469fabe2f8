"""Elementwise updates of read-only arguments write to new memory, without a copy of the argument first.

Comes in: tensors, before bufferization. Goes out: for ``x + 1`` as an op with `x` as its output operand:

    before: t = copy of x;  t[i] = t[i] + 1
    after:  t = new memory;  t[i] = x[i] + 1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from pykern.passes.framework import Pass
from pykern.passes.ir.structured import Structured, generic, reduces, reduction_loops
from pykern.passes.ir.values import has_uses
from pykern.passes.kernels import body, programs


@dataclass(frozen=True)
class ReadArguments(Pass):
    """Make a read-only argument an input of an elementwise op that has it as an output and reads it.

    Otherwise bufferization copies the argument, and the op then goes over the copy: two passes over memory for one.

    In:  linalg.generic on tensors, `bufferization.writable` on arguments.
    Out: the same ops, with the argument among the inputs and an empty tensor as the output.
    """

    name: ClassVar[str] = "kern-read-arguments"

    def run(self, module: ir.Module) -> bool:
        changed = False
        for function in programs(module):
            fixed = _fixed(function)
            readers = dict.fromkeys(use.owner.operation for argument in fixed for use in argument.uses)
            for op in readers:
                if op.name == "linalg.generic" and not reduces(op):
                    changed |= _read(op, fixed)
        return changed


def _fixed(function: ir.Operation) -> list[ir.Value]:
    """The arguments that may not be written."""
    arguments = list(body(function).arguments)
    if "arg_attrs" not in function.attributes:
        return []
    marks = [ir.DictAttr(each) for each in ir.ArrayAttr(function.attributes["arg_attrs"])]
    return [
        argument
        for argument, known in zip(arguments, marks, strict=True)
        if "bufferization.writable" in known and not ir.BoolAttr(known["bufferization.writable"]).value
    ]


def _read(op: ir.Operation, fixed: list[ir.Value]) -> bool:
    view = Structured(op)
    count = len(view.inputs)
    moved = [
        n
        for n, target in enumerate(view.outputs)
        if target in fixed and has_uses(view.output_argument(n)) and view.output_map(n).is_permutation
    ]
    if not moved:
        return False
    inputs = [*view.inputs, *(view.outputs[n] for n in moved)]
    maps = [*view.maps[:count], *(view.output_map(n) for n in moved), *view.maps[count:]]
    with ir.InsertionPoint(op), op.location:
        outputs = list(view.outputs)
        for n in moved:
            outputs[n] = ir.Operation.create("tensor.empty", results=[outputs[n].type]).results[0]
        made = generic(inputs, outputs, maps, reduction_loops(op))
    arguments = list(body(made).arguments)
    for n, old in enumerate(view.arguments):
        new = arguments[n if n < count else n + len(moved)]
        old.replace_all_uses_with(arguments[count + moved.index(n - count)] if n - count in moved else new)
    place = ir.InsertionPoint(body(made))
    for each in (*view.ops, view.terminator):
        each.detach_from_parent()
        place.insert(each)
    for old, new in zip(op.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
    return True
