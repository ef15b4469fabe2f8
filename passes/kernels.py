"""Small questions every pass over a kernel asks: which function, which attributes, which ops."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence

from mlir import ir
from mlir.dialects import arith

from pykern.dialect import attributes as kern
from pykern.dialect.attribute_forms import integers_of
from pykern.dialect.collectives import CONVERGENT
from pykern.dialect.diagnostics import span_of
from pykern.errors import VerifyError

GROUP_OPS = CONVERGENT | {
    "kern.local_id",
    "kern.group_id",
    "kern.group_size",
    "kern.num_groups",
    "kern.subgroup_size",
    "kern.subgroup_id",
    "kern.lane_id",
    "kern.local_linear_id",
    "kern.shared",
    "kern.dynamic_shared",
}
"""Ops that only mean something in a workgroup."""


BUFFERS = ("kern.shared", "kern.private", "kern.dynamic_shared")
"""Ops that make memory of a kernel's own."""
MEMORY_OPERAND = {"memref.load": 0, "memref.store": 1, "kern.atomic_rmw": 1, "kern.atomic_cas": 2}
"""Which operand is the memory; the indices follow it."""
WRITTEN_OPERAND = {name: number for name, number in MEMORY_OPERAND.items() if name != "memref.load"}
"""The same of ops that write."""


def identity(op: ir.Operation) -> int:
    """The address of an op. The bindings' own hash of an op follows its contents and changes with them."""
    return _pointer(op._CAPIPtr, b"mlir.ir.Operation._CAPIPtr")


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def kernels(module: ir.Module) -> Iterator[ir.Operation]:
    """The functions marked `kern.kernel`, whatever function op they are by now."""
    for op in list(module.body.operations):
        if kern.KERNEL in op.operation.attributes:
            yield op.operation


def programs(module: ir.Module) -> list[ir.Operation]:
    """The functions marked `kern.program`."""
    return [o.operation for o in module.body.operations if kern.PROGRAM in o.operation.attributes]


def symbols(module: ir.Module) -> dict[str, ir.Operation]:
    """The symbols of a module, by name."""
    ops = [op.operation for op in module.body.operations if "sym_name" in op.attributes]
    return {ir.StringAttr(op.attributes["sym_name"]).value: op for op in ops}


def unaliased_loops(module: ir.Module, mark: str = "") -> Iterator[ir.Operation]:
    """Loops of kernels whose arrays share no memory, inner ones first; with `mark`, those that have the attribute."""
    for kernel in kernels(module):
        if kern.NOALIAS in kernel.attributes:
            yield from [loop for loop in named(kernel, "scf.for") if not mark or mark in loop.attributes]


def body(kernel: ir.Operation) -> ir.Block:
    return kernel.regions[0].blocks[0]


def terminator(block: ir.Block) -> ir.Operation:
    return block.operations[len(block.operations) - 1].operation


def argument_marks(function: ir.Operation) -> list[ir.DictAttr]:
    """The attributes of each argument of a function, `{}` where it has none."""
    given = list(ir.ArrayAttr(function.attributes["arg_attrs"])) if "arg_attrs" in function.attributes else []
    count = len(list(body(function).arguments))
    return [*map(ir.DictAttr, given[:count]), *[ir.DictAttr.get({})] * (count - len(given))]


def update_type(function: ir.Operation, results: Sequence[ir.Type] = ()) -> None:
    """Let the function's type, and its arguments' attributes where there are any, be of what its body takes now."""
    inputs = [argument.type for argument in body(function).arguments]
    if "arg_attrs" in function.attributes:
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(argument_marks(function))
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, list(results)))


def dimension_of(kernel: ir.Operation, depth: int) -> int:
    """The dimension of the index space that one of the loops over a kernel's work-items runs over; the outermost loop
    has depth 0."""
    order = integers(kernel, kern.LOOP_ORDER)
    return depth if order is None else order[depth]


def rank(kernel: ir.Operation) -> int:
    """Dimensions of the index space. Raises `VerifyError` where the kernel does not say."""
    if kern.RANK not in kernel.attributes:
        raise VerifyError("a kernel needs `kern.rank`, such as kern.rank = 1 : i64", span_of(kernel.location))
    return ir.IntegerAttr(kernel.attributes[kern.RANK]).value


def group(kernel: ir.Operation) -> tuple[int, ...]:
    """The workgroup of a kernel. Raises `VerifyError` where the kernel does not say: work-items have no places yet."""
    size = integers(kernel, kern.WORKGROUP)
    if size is None:
        raise comes_after(kernel, "kernels with `kern.workgroup`", "kern-place-work-items")
    return size


def comes_after(op: ir.Operation, what: str, before: str) -> VerifyError:
    """The error of a pass that finds IR of a stage before the one it is for: it takes `what`, which `before` makes."""
    return VerifyError(f"this pass takes {what}", span_of(op.location), hint=f"run {before} before it")


def integers(kernel: ir.Operation, name: str) -> tuple[int, ...] | None:
    """An attribute that is an array of integers, in either of MLIR's two forms, or None where there is none."""
    return integers_of(kernel.attributes[name]) if name in kernel.attributes else None


def function_around(op: ir.Operation) -> ir.Operation:
    """The function that an op stands in, or is."""
    while op.name != "func.func":
        assert op.parent is not None
        op = op.parent.operation
    return op


def find(root: ir.Operation, wanted: Callable[[ir.Operation], bool]) -> list[ir.Operation]:
    """Ops under `root` for which `wanted` holds, in order, `root` not among them."""
    found: list[ir.Operation] = []
    advance, add = ir.WalkResult.ADVANCE, found.append

    def visit(op: ir.Operation) -> ir.WalkResult:
        if wanted(op):
            add(op)
        return advance

    root.walk(visit)
    if found and found[-1] == root:  # the walk is post-order
        found.pop()
    return found


def named(root: ir.Operation, *names: str) -> list[ir.Operation]:
    """Ops under `root` with one of the names."""
    found: list[ir.Operation] = []
    advance, add = ir.WalkResult.ADVANCE, found.append

    def visit(op: ir.Operation) -> ir.WalkResult:  # as `find`, with one call for each op rather than two
        if op.name in names:
            add(op)
        return advance

    root.walk(visit)
    if found and found[-1] == root:
        found.pop()
    return found


def replace(op: ir.Operation, values: list[ir.Value]) -> None:
    """Put `values` in place of the results and erase the op."""
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.erase()


def index_constant(value: int) -> ir.Value:
    kind = ir.IndexType.get()
    number = ir.IntegerAttr.get(kind, value)
    # the bindings' own class takes twice the time, and a product has two hundred
    return ir.Operation.create("arith.constant", results=[kind], attributes={"value": number}).result


def index_arithmetic(name: str, a: ir.Value, b: ir.Value) -> ir.Value:
    """`arith.<name>` of two indices."""
    return ir.Operation.create(f"arith.{name}", results=[a.type], operands=[a, b]).result


def dense_strides(lengths: list[ir.Value]) -> list[ir.Value]:
    """Strides in elements of a dense array, the last index fastest. Made where the builder stands."""
    if not lengths:
        return []
    strides = [index_constant(1)]
    for length in reversed(lengths[1:]):
        strides.insert(0, arith.MulIOp(strides[0], length).result)
    return strides


def is_constant(value: ir.Value) -> int | None:
    """The integer an `arith.constant` gives, or None."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant":
        return None
    attribute = owner.attributes["value"]
    return ir.IntegerAttr(attribute).value if isinstance(attribute, ir.IntegerAttr) else None
