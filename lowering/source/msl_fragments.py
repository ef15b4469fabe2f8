"""Metal's matrices of subgroups, `simdgroup_matrix`, as lines of a kernel.

Source: Metal Shading Language Specification, "SIMD-group Matrix Data Types" and "SIMD-group Matrix Functions". Loops
over matrices are written as loops that the compiler shall unroll, as registers have no numbers that are computed.
"""

from __future__ import annotations

from dataclasses import dataclass

UNROLLED = "#pragma clang loop unroll(full)"


@dataclass(frozen=True)
class Moved:
    """Matrices that are moved: their array, the numbers of it, the place of the first in memory, and how far apart
    they and their rows are. `kind` is the type of their elements, where that of the memory is of its bits."""

    held: str
    first: int
    count: int
    memory: str
    place: str
    apart: int
    row: int
    kind: str = ""


def declared(name: str, kind: str, count: int) -> list[str]:
    """An array of matrices."""
    return [f"simdgroup_{kind}8x8 {name}[{count}];"]


def cleared(name: str, kind: str, count: int) -> list[str]:
    """Zeros in all of them."""
    return _loop("n", count, f"{name}[n] = make_filled_simdgroup_matrix<{kind}, 8, 8>(0);")


def loaded(moved: Moved) -> list[str]:
    """From a group's memory."""
    return _moved("simdgroup_load", moved)


def stored(moved: Moved) -> list[str]:
    """To a group's memory."""
    return _moved("simdgroup_store", moved)


def multiplied(sums: str, left: tuple[str, int], right: tuple[str, int]) -> list[str]:
    """Each of the left factor times each of the right one, added to its sum."""
    one = f"{sums}[r * {right[1]} + c]"
    inner = _loop("c", right[1], f"simdgroup_multiply_accumulate({one}, {left[0]}[r], {right[0]}[c], {one});")
    return [UNROLLED, f"for (int r = 0; r < {left[1]}; r++) {{", *(f"    {line}" for line in inner), "}"]


def _moved(function: str, moved: Moved) -> list[str]:
    number = f"{moved.first} + n" if moved.first else "n"
    place = f"&{moved.memory}[{moved.place} + n * {moved.apart}]"
    if moved.kind:
        place = f"(threadgroup {moved.kind} *){place}"
    return _loop("n", moved.count, f"{function}({moved.held}[{number}], {place}, {moved.row});")


def _loop(counter: str, count: int, line: str) -> list[str]:
    return [UNROLLED, f"for (int {counter} = 0; {counter} < {count}; {counter}++) {{", f"    {line}", "}"]
