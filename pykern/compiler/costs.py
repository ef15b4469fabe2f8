"""Counting what a work-item reads, writes and computes.

Comes in: a module on the kern stage, with one kernel. Goes out: `Costs`. Nothing is estimated: accesses and
operations are counted as they stand, with what encloses them. Read next: `pykern.data.costs`.
"""

from __future__ import annotations

from collections.abc import Mapping

from mlir import ir

from pykern.data.costs import Access, Costs, Executions, Work
from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.passes import kernels
from pykern.passes.kernels import MEMORY_OPERAND, is_constant

IDS = frozenset({"kern.global_id", "kern.local_id", "kern.group_id"})
_FLOPS = {"addf": 1, "subf": 1, "mulf": 1, "divf": 1, "remf": 1, "negf": 1, "maximumf": 1, "minimumf": 1,
          "maxnumf": 1, "minnumf": 1}  # fmt: skip
_CASTS = {"index_cast", "index_castui", "extsi", "extui", "trunci"}
_KINDS = {"memref.load": "load", "memref.store": "store"}

Sum = Mapping[object, int]
"""A sum of symbols with factors: ``("id", 1)``, values that are the same for all work-items; 1 is the constant."""


def has_ids(module: ir.Module) -> bool:
    """Whether work-items still ask who they are: the stage that is counted."""
    return bool(kernels.named(module.operation, *IDS))


def costs_of(module: ir.Module) -> Costs | None:
    """What one work-item does; None where there is not exactly one kernel."""
    found = list(kernels.kernels(module))
    if len(found) != 1:
        return None
    kernel = found[0]
    names = _argument_names(kernel)
    accesses, work = [], []
    fastest = kernels.rank(kernel) - 1
    for op in kernels.find(kernel, lambda op: op.name in MEMORY_OPERAND or flops_of(op) > 0):
        span = span_of(op.location)
        file, line = ("", 0) if span is None else (span.file, span.line)
        executions = executions_of(op, kernel)
        if op.name in MEMORY_OPERAND:
            at = MEMORY_OPERAND[op.name]
            memory = op.operands[at]
            pattern, step = _pattern(list(op.operands)[at + 1 :], fastest)
            kind = _KINDS.get(op.name, "atomic")
            accesses.append(Access(names(memory), kind, _size(memory), file, line, executions, pattern, step))
        else:
            name, dtype = op.name.split(".")[1].removesuffix("f"), str(op.results[0].type)
            work.append(Work(name, dtype, flops_of(op), file, line, executions))
    arguments = tuple(names(a) for a in kernels.body(kernel).arguments)
    return Costs(tuple(accesses), tuple(work), kernels.rank(kernel), arguments)


def flops_of(op: ir.Operation) -> int:
    dialect, _, name = op.name.partition(".")
    if len(op.results) != 1 or not isinstance(op.results[0].type, ir.FloatType):
        return 0
    if dialect == "arith":
        return _FLOPS.get(name, 0)
    return 0 if dialect != "math" else 2 if name == "fma" else 1


def _argument_names(kernel: ir.Operation):
    given = list(kernels.body(kernel).arguments)
    marks = ir.ArrayAttr(kernel.attributes["arg_attrs"]) if "arg_attrs" in kernel.attributes else []
    known = {}
    for number, argument in enumerate(given):
        mark = ir.DictAttr(marks[number]) if len(marks) else {}
        known[argument] = ir.StringAttr(mark[kern.NAME]).value if kern.NAME in mark else f"%arg{number}"

    def name(memory: ir.Value) -> str:
        while not isinstance(memory.owner, ir.Block) and memory.owner.operation.name.startswith("memref."):
            operands = list(memory.owner.operation.operands)
            if not operands or not isinstance(operands[0].type, ir.MemRefType):
                break  # an alloca
            memory = operands[0]
        if memory in known:
            return known[memory]
        owner = memory.owner
        shared = not isinstance(owner, ir.Block) and "shared" in owner.operation.name
        return "shared" if shared else "private"

    return name


def _size(memory: ir.Value) -> int:
    element = ir.MemRefType(memory.type).element_type
    return 8 if isinstance(element, ir.IndexType) else max(1, element.width // 8)


def executions_of(op: ir.Operation, kernel: ir.Operation) -> Executions:
    times, loops = 1, []
    parent = op.parent
    while parent is not None and parent.operation != kernel:
        around = parent.operation
        if around.name == "scf.for":
            bounds = [is_constant(v) for v in list(around.operands)[:3]]
            known = [b for b in bounds if b is not None]
            if len(known) == 3 and known[2]:
                times *= len(range(known[0], known[1], known[2]))
            else:
                loops.append(_line(around))
        elif around.name == "scf.while":
            loops.append(_line(around))
        parent = around.parent
    return Executions(times, tuple(reversed(loops)))


def _line(op: ir.Operation) -> int:
    span = span_of(op.location)
    return 0 if span is None else span.line


def _pattern(indices: list[ir.Value], fastest: int) -> tuple[str, int]:
    """What the work-items beside each other touch, by the id of the fastest dimension in each index."""
    found = [_affine(index) for index in indices]
    if any(index is None for index in found):
        return "scattered", 0
    factors = [_factor(index, fastest) for index in found if index is not None]
    if not any(factors):
        return "same", 0
    if any(factors[:-1]):
        return "strided", 0
    return ("neighbours", 1) if abs(factors[-1]) == 1 else ("strided", factors[-1])


def _factor(index: Sum, fastest: int) -> int:
    return index.get(("id", fastest), 0)


def _affine(value: ir.Value) -> Sum | None:
    """The value as a sum; None where work-items differ in it in another way."""
    number = is_constant(value)
    if number is not None:
        return {1: number}
    if isinstance(value.owner, ir.Block):
        return {value: 1}
    op = value.owner.operation
    dialect, _, name = op.name.partition(".")
    if op.name in ("kern.global_id", "kern.local_id"):
        return {("id", ir.IntegerAttr(op.attributes["dim"]).value): 1}
    if op.name == "kern.group_id":
        return {value: 1}
    parts = [_affine(operand) for operand in op.operands]
    if any(part is None for part in parts):
        return None
    sums = [part for part in parts if part is not None]
    if dialect == "arith" and name in _CASTS:
        return sums[0]
    if dialect == "arith" and name in ("addi", "subi"):
        return _plus(sums[0], sums[1], -1 if name == "subi" else 1)
    if dialect == "arith" and name == "muli":
        for one, other in (sums, sums[::-1]):
            if set(one) <= {1}:
                return {symbol: factor * one.get(1, 0) for symbol, factor in other.items()}
    same = not any(isinstance(symbol, tuple) for part in sums for symbol in part)
    return {value: 1} if same and not op.name.endswith("load") and "atomic" not in op.name else None


def _plus(left: Sum, right: Sum, sign: int) -> Sum:
    total = dict(left)
    for symbol, factor in right.items():
        total[symbol] = total.get(symbol, 0) + sign * factor
    return {symbol: factor for symbol, factor in total.items() if factor}
