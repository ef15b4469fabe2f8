"""Whether a kernel gains from lanes of work-items.

What lies in one place for all lanes, or side by side, costs one access for W work-items; other accesses
are made lane by lane. Kernels without loops are left to LLVM, which sees the loop over work-items.
"""

from __future__ import annotations

from mlir import ir

from pykern.passes.analysis.cost_model.lengths import SHORT_ROW
from pykern.passes.analysis.cost_model.memory import LANES_PRIVATE_BYTES
from pykern.passes.analysis.cost_model.operations import ASSUMED_TRIPS, LANE_ACCESS_COST
from pykern.passes.analysis.cost_model.registers import COLUMN_SUMS
from pykern.passes.ir.index_arithmetic import affine_of
from pykern.passes.ir.values import is_inside
from pykern.passes.kernels import find, is_constant
from pykern.passes.vectorize.items.lanes import MEMORY_AT, Lanes, Scalar
from pykern.passes.vectorize.lanes import VARYING
from pykern.passes.vectorize.reduction import reduction_of


def refuse_if_slower(lanes: Lanes, rows: set[ir.Value], width: int) -> None:
    """Raises `Scalar` where lanes would make more accesses than they save."""
    together = alone = 0
    first_alone: ir.Operation | None = None
    rows_of_points = True
    for op in lanes.ops:
        if op.name not in MEMORY_AT:
            continue
        memory = op.operands[MEMORY_AT[op.name]]
        weight = ASSUMED_TRIPS ** depth(op, lanes.loop)
        same = not any(lanes.stride(i) != 0 for i in lanes.indices(op))
        if same or memory in rows or lanes.is_contiguous(op):
            together += weight
        else:
            alone += weight
            first_alone = first_alone or op
            rows_of_points = rows_of_points and _is_in_short_row(lanes, op)
    has_loops = any(op.name in ("scf.for", "scf.while") for op in lanes.ops)
    if not alone and not has_loops:
        raise Scalar("without a loop in the kernel the loop over work-items is vectorised as it is")
    if not has_loops and rows_of_points:
        raise Scalar("vectors hold several rows of points, and are taken apart in registers")
    if _are_streams(lanes):
        raise Scalar("its innermost loops go along memory, and are vectors themselves")
    if first_alone is not None and _are_sums_along_memory(lanes):
        raise Scalar(
            "its sums go along memory and may be reordered: they are vectors themselves", first_alone
        )
    computes = ASSUMED_TRIPS * _in_registers(lanes) if has_loops else _computes(lanes)
    if alone >= together + computes // LANE_ACCESS_COST:
        raise Scalar(
            "most accesses are made lane by lane; let the last index of the launch be the last index of arrays",
            first_alone,
        )
    private = {op.operands[MEMORY_AT[op.name]] for op in lanes.ops if op.name in MEMORY_AT}
    if sum(_bytes(m) for m in private if lanes.is_private(m)) * width > LANES_PRIVATE_BYTES:
        raise Scalar("private memory of all lanes is too large")


def _is_in_short_row(lanes: Lanes, op: ir.Operation) -> bool:
    """Whether an access is to one place, near the beginning, of the row that each work-item has of its own."""
    *others, row, last = [None, *lanes.indices(op)]
    place = None if last is None else is_constant(last)
    if place is None or not 0 <= place < SHORT_ROW or row is None:
        return False
    return lanes.stride(row) == 1 and not any(lanes.stride(i) != 0 for i in others if i is not None)


def _are_streams(lanes: Lanes) -> bool:
    """Whether all innermost loops write along arrays and carry nothing: LLVM makes vectors of them, also in a launch
    over one work-item."""
    loops = [op for op in lanes.ops if op.name == "scf.for" and not find(op, lambda o: bool(o.regions))]
    return bool(loops) and all(_is_stream(lanes, loop) for loop in loops)


def _is_stream(lanes: Lanes, loop: ir.Operation) -> bool:
    accesses = find(loop, lambda op: op.name in MEMORY_AT)
    if loop.results or not any(op.name == "memref.store" for op in accesses):
        return False
    if is_constant(loop.operands[1]) is not None or any(
        lanes.is_private(op.operands[MEMORY_AT[op.name]]) for op in accesses
    ):
        return False
    return all(_lies_along(lanes, op, loop) for op in accesses)


def _lies_along(lanes: Lanes, op: ir.Operation, loop: ir.Operation) -> bool:
    """Whether the iterations of a loop access neighbours in memory, or read the same."""
    *rows, last = [None, *lanes.indices(op)]
    form = None if last is None else affine_of(last, loop)
    if form is None or form.coefficient not in ((1,) if op.name == "memref.store" else (0, 1)):
        return False
    return not any(row is not None and is_inside(row, loop) for row in rows)


def _are_sums_along_memory(lanes: Lanes) -> bool:
    """Whether all loops are reductions that may be reordered, over elements that lie side by side: a lane for each
    work-item would read every one of its elements by itself."""
    loops = [op for op in lanes.ops if op.name == "scf.for"]
    return bool(loops) and all(_is_sum_along_memory(lanes, loop) for loop in loops)


def _is_sum_along_memory(lanes: Lanes, loop: ir.Operation) -> bool:
    inside = find(loop, lambda op: True)
    if any(op.regions for op in inside):
        return False
    if not loop.results or any(reduction_of(loop, place) is None for place in range(len(loop.results))):
        return False
    accesses = [op for op in inside if op.name in MEMORY_AT]
    return all(op.name == "memref.load" and _lies_along(lanes, op, loop) for op in accesses)


def columns_carried(lanes: Lanes) -> int:
    """How many vectors a loop carries that reads and writes one row after the other, neighbours in each of them, where
    it is all that takes time: then more lanes are quicker, which go along rows for longer. 0 for other loops, and for
    those that carry too much; 1 where nothing is carried."""
    loops = [op for op in lanes.ops if op.name == "scf.for"]
    if len(loops) != 1 or is_constant(loops[0].operands[1]) is not None:
        return 0
    carried = [r for r in loops[0].results if lanes.stride(r) is VARYING]
    inside = find(loops[0], lambda op: True)
    if len(carried) > COLUMN_SUMS or any(
        op.regions or op.name.startswith(("math.", "kern.")) for op in inside
    ):
        return 0
    accesses = [op for op in inside if op.name in MEMORY_AT]
    moving = [op for op in accesses if any(lanes.stride(i) != 0 for i in lanes.indices(op))]
    is_down = all(
        lanes.is_contiguous(op) and any(is_inside(i, loops[0]) for i in lanes.indices(op)[:-1])
        for op in moving
    )
    return max(1, len(carried)) if moving and is_down else 0


def suits_integers(lanes: Lanes) -> bool:
    """Whether lanes gain for a kernel without floats: LLVM makes vectors of a loop that sums integers along memory, so
    only loops in registers do, and those that read neighbours. Counting equal cells and a matrix times a vector are
    several times slower in lanes.
    """
    loops = [op for op in lanes.ops if op.name == "scf.for"]
    if not any(lanes.stride(r) is VARYING for loop in loops for r in loop.results):
        return False
    for loop in loops:
        moving = [
            op
            for op in find(loop, lambda op: op.name in MEMORY_AT)
            if any(is_inside(index, loop) for index in lanes.indices(op))
        ]
        same = [op for op in moving if all(lanes.stride(i) == 0 for i in lanes.indices(op))]
        side_by_side = [op for op in moving if op not in same and lanes.is_contiguous(op)]
        if moving and (not side_by_side or len(same) + len(side_by_side) < len(moving)):
            return False
    return True


def _computes(lanes: Lanes) -> int:
    """Operations on floats that differ between work-items, of a kernel without loops: where a loop walks along memory,
    as a layer norm's over its row, LLVM vectorises that loop, and lanes are an order of magnitude slower."""
    counted = (op for op in lanes.ops if op.results and lanes.stride(op.results[0]) is VARYING)
    return sum(
        1
        for op in counted
        if op.name.startswith(("arith.", "math.")) and isinstance(op.results[0].type, ir.FloatType)
    )


def _in_registers(lanes: Lanes) -> int:
    """Operations that differ between work-items, in loops that touch no memory: nothing else makes vectors of them."""
    loops = [op for op in lanes.ops if op.name in ("scf.for", "scf.while")]
    quiet = [
        loop
        for loop in loops
        if not find(loop, lambda op: op.name in MEMORY_AT or op.name.startswith("kern."))
    ]
    return sum(
        1
        for loop in quiet
        for op in find(loop, lambda op: op.name.startswith(("arith.", "math.")))
        if any(lanes.stride(r) is VARYING for r in op.results)
    )


def depth(op: ir.Operation, loop: ir.Operation) -> int:
    """Loops around an op, within `loop`."""
    count, parent = 0, op.parent
    while parent is not None and parent.operation != loop:
        count += parent.operation.name == "scf.for"
        parent = parent.operation.parent
    return count


def _bytes(memory: ir.Value) -> int:
    kind = ir.MemRefType(memory.type)
    size = 8 if isinstance(kind.element_type, ir.IndexType) else max(1, kind.element_type.width // 8)
    for length in kind.shape:
        size *= length
    return size
