"""The cost model: parameters of a schedule from the sizes, the caches and the vector registers.

Comes in: `Problem`, the sizes and the way operands lie, and `Cpu`. Goes out: a `Schedule`. Read next: `schedule`.
Costs are cycles of one term of a register tile: two fused multiply-adds or two loads a cycle, each sum at most
once in the four cycles that a multiply-add takes. What does not fill a tile costs as if it did.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pykern.data.schedule import Schedule
from pykern.environment.machine import Cpu
from pykern.passes.analysis.cost_model.caches import (
    CACHE_WAYS,
    LINE_BYTES,
    PAGE_BYTES,
    SECOND_CACHE_PANELS,
    STREAMED_SECOND_CACHES,
)
from pykern.passes.analysis.cost_model.lengths import FEWEST_COPIED, FEWEST_COPIED_LINES, SLICE_TERMS
from pykern.passes.analysis.cost_model.registers import (
    DIRECT_TILE_ROWS,
    LINE_VECTOR_CYCLES,
    MATVEC_ROWS,
    MULTIPLY_ADD_CYCLES,
    PACKED_TILE_VECTORS,
    SPARE_PACKED_REGISTERS,
    SPARE_REGISTERS,
    STREAMED_ROWS,
    STREAMED_TERMS,
    VECTOR_CYCLES,
)
from pykern.passes.analysis.cost_model.threads import CONTRACTION_CYCLES, READ_BYTES_PER_CYCLE

QUADS = 4
"""Terms of a group of bytes."""


@dataclass(frozen=True)
class Problem:
    """A contraction in numbers: products of the lengths of its rows, columns, terms and batches."""

    m: int
    n: int
    k: int
    batch: int
    bits: int
    """Bits of a sum."""
    factor_bits: int
    """Bits of an element of a factor in memory."""
    is_float: bool
    row: int
    """Length of the one dimension that tiles have rows of; 1: none."""
    lane: int
    """Length of the dimension that lies along vectors."""
    unit_right: bool
    """Whether the right factor lies side by side along the lanes."""
    packable: bool
    """Whether both factors have a dimension of their own: rows and lanes."""
    simple: bool = False
    """Whether rows, lanes and terms are at most one dimension each, and there is no batch."""
    term_stride: int = 1
    """Bytes from one term of the left factor to the next."""
    group: int = 1
    """Terms that one instruction sums into a lane of a tile."""
    is_matvec: bool = False
    """Whether it is a matrix times a vector, and both lie along the terms."""


def schedule_for(problem: Problem, cpu: Cpu) -> Schedule:
    """The schedule of a contraction."""
    if problem.is_matvec and not problem.unit_right:
        return Schedule("dots", MATVEC_ROWS, 1, unroll=2)
    if packs(problem, cpu):
        is_line = cpu.vector_bytes >= LINE_BYTES
        rows, vectors = packed_tile(problem, cpu)
        term = vectors * cpu.vector_bytes
        panel = max(cpu.l1, min(cpu.l2 // SECOND_CACHE_PANELS, SLICE_TERMS * term)) if is_line else cpu.l1
        depth = problem.group * panel // term
        slices = (problem.m + problem.n) * depth * problem.factor_bits // 8
        if problem.k > 2 * depth and slices <= cpu.l2 and panel < 2 * cpu.l1:
            depth *= 2  # both factors are thin: threads meet less often
        tile_bytes = rows * depth * problem.bits // 8 // problem.group
        # row tiles pass in long lines, also from the third cache: a panel is fetched for as many of them as can be
        block = max(1, cpu.l2 * 5 // 4 // tile_bytes)
        return Schedule("packed", rows, vectors, depth, block, unroll=1)
    if streams(problem, cpu):
        rows, vectors = min(problem.row, STREAMED_ROWS), 4 if problem.row == 1 else 2
        line, most = problem.lane * problem.bits // 8, cpu.l1 // 2 // problem.row
        piece = line if line <= most else max(PAGE_BYTES, most // PAGE_BYTES * PAGE_BYTES)
        block = -(-piece // (vectors * cpu.vector_bytes))
        return Schedule("direct", rows, vectors, STREAMED_TERMS, block, STREAMED_TERMS)
    return Schedule("direct", *register_tile(problem, cpu, 6), unroll=1)


def can_take(problem: Problem, schedule: Schedule, cpu: Cpu) -> bool:
    """Whether a schedule from elsewhere fits the contraction and the registers."""
    if schedule.form == "packed" and not problem.packable:
        return False
    if schedule.form == "dots":
        return problem.is_matvec and schedule.rows * schedule.unroll + 3 <= cpu.registers
    if schedule.form == "direct" and (not problem.unit_right or (schedule.depth and not problem.simple)):
        return False
    fits = 1 <= schedule.rows * schedule.vectors + schedule.vectors < cpu.registers
    return fits and schedule.unroll >= 1 and schedule.depth >= 0 and schedule.block >= 0


def shares(problem: Problem, cpu: Cpu) -> bool:
    """Whether the work outlasts a fork and join of threads several times."""
    multiplied = problem.m * problem.n * problem.k * problem.batch / (2 * cpu.lanes(problem.bits))
    read = (
        problem.batch * problem.k * (problem.m + problem.n) * problem.factor_bits / 8 / READ_BYTES_PER_CYCLE
    )
    return max(multiplied, read) > CONTRACTION_CYCLES


def packs(problem: Problem, cpu: Cpu) -> bool:
    """Whether copying both factors pays: each element is read often enough, or cannot be read as it is."""
    if not problem.packable:
        return False
    if not problem.unit_right or _thrashes(problem, cpu):
        return True
    if problem.group > 1:  # only what is packed has terms of a group side by side
        return min(problem.m, problem.n) >= FEWEST_COPIED
    size = right_bytes(problem)
    if cpu.vector_bytes >= LINE_BYTES:  # what is read of a row are whole lines: as quick where they are
        large = problem.m > FEWEST_COPIED_LINES or size > 8 * cpu.l2
        return size > 2 * cpu.l2 and large and min(problem.m, problem.n) >= FEWEST_COPIED
    fewest = FEWEST_COPIED if size > 2 * cpu.l2 else 2 * FEWEST_COPIED if size > cpu.l2 else 3 * FEWEST_COPIED
    return size > cpu.l2 * 3 // 8 and min(problem.m, problem.n) >= fewest


def _thrashes(problem: Problem, cpu: Cpu) -> bool:
    """Whether terms of the left factor lie so far apart that those of a tile push each other out of the first cache.

    A term is a line there, and lines some powers of two apart share the cache's sets.
    """
    apart = max(LINE_BYTES, math.gcd(problem.term_stride, cpu.l1 // CACHE_WAYS))
    return problem.term_stride > LINE_BYTES and problem.k > cpu.l1 // apart // 2


def streams(problem: Problem, cpu: Cpu) -> bool:
    """Whether the right factor is large beside the work on it."""
    if not (problem.simple and problem.unit_right) or problem.lane < 8 * cpu.lanes(problem.bits):
        return False
    if problem.m <= STREAMED_ROWS:
        return right_bytes(problem) > cpu.l2 // 2
    again = (
        problem.m > register_tile(problem, cpu, 6)[0]
    )  # lines that one tile of rows has read are gone for the next
    return problem.m < FEWEST_COPIED and again and right_bytes(problem) > STREAMED_SECOND_CACHES * cpu.l2


def right_bytes(problem: Problem) -> int:
    """Bytes of one batch of the right factor."""
    return problem.n * problem.k * problem.factor_bits // 8


def packed_tile(problem: Problem, cpu: Cpu) -> tuple[int, int]:
    """Rows and vectors of a tile whose factors are copied.

    What a tile has beyond the result is multiplied, too.
    """
    if cpu.vector_bytes < LINE_BYTES:
        return register_tile(problem, cpu, 3 if cpu.vector_bytes <= 16 else 2)  # short vectors take three
    columns = -(-problem.lane // cpu.lanes(problem.bits))

    lines = 2 if problem.group == QUADS else 1  # of bytes the right factor is summed, too (`narrow`)

    def cost(tile: tuple[int, int]) -> float:
        rows, vectors = tile
        return (
            -(-problem.row // rows)
            * -(-columns // vectors)
            * cycles(rows + lines - 1, vectors, LINE_VECTOR_CYCLES)
        )

    held = cpu.registers - SPARE_PACKED_REGISTERS
    return min(
        (
            (rows, vectors)
            for vectors in range(1, min(PACKED_TILE_VECTORS, columns) + 1)
            for rows in range(1, min(problem.row, held // vectors - lines) + 1)
        ),
        key=cost,
    )


def register_tile(problem: Problem, cpu: Cpu, most: int) -> tuple[int, int]:
    """Rows and vectors, `most` of them, of the tile with the least cost over the whole result."""
    lanes = cpu.lanes(problem.bits)
    is_line = cpu.vector_bytes >= LINE_BYTES
    spare = (
        SPARE_REGISTERS[cpu.registers] - is_line
    )  # AVX-512 multiplies with one element of memory: none is loaded before
    highest = max(problem.row, 1) if most <= 3 else min(max(problem.row, 1), DIRECT_TILE_ROWS)
    widest = min(most, -(-problem.lane // lanes))
    vector = LINE_VECTOR_CYCLES if is_line else VECTOR_CYCLES
    best, least = (1, 1), float("inf")
    for vectors in range(1, widest + 1):
        for rows in range(1, highest + 1):
            if rows * vectors + vectors + spare > cpu.registers:
                break
            cost = _total(problem.row, problem.lane, rows, vectors, lanes, vector)
            if cost < least:
                best, least = (rows, vectors), cost
    return best


def _total(m: int, n: int, rows: int, vectors: int, lanes: int, vector: float) -> float:
    total = 0.0
    columns = -(-n // lanes)
    for r, many in ((rows, m // rows), (m % rows, 1)):
        for v, often in ((vectors, columns // vectors), (columns % vectors, 1)):
            if r and v:
                total += many * often * cycles(r, v, vector)
    return total


def cycles(rows: int, vectors: int, vector: float = VECTOR_CYCLES) -> float:
    """One term of a tile. `vector`: what a vector of the right factor costs beside, more where it is a line."""
    return max(rows * vectors / 2, (rows + vectors) / 2, MULTIPLY_ADD_CYCLES) + 0.1 * rows + vector * vectors
