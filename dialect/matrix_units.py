"""Units of GPUs that multiply small matrices: their instructions, and which lane holds which elements.

Goes out: `UNITS`, by the names that targets give `kern-make-kernels`. An instruction adds the product of a left and a
right factor to sums. Its lanes hold words of 32 bits with successive terms of one line: a row of the left factor, or a
column of the right one. Elements smaller than a word are packed, the first one in the lowest bits. On NVIDIA lane
``4 * g + t`` holds of the left factor word `t` of the rows `g` and `g + 8`, then word `t + 4` of both, and of the right
one the same words of column `g` (PTX ISA, "Matrix Fragments for mma.m16n8k16" and "... for mma.m16n8k32"). On AMD's
chips there are `groups` of 16 lanes, of which each has 16 lines, and its own words of them, in any order that is the
same in both factors; on RDNA 3 both halves of a subgroup hold all words (AMD, matrix instruction calculator). On NVIDIA
f64 are so, too, but of 8 lines: lane ``4 * g + t`` holds one term of line `g` (PTX ISA, "Matrix Fragments for
mma.m8n8k4 with .f64 floating point type").
"""

from __future__ import annotations

from dataclasses import dataclass

Types = tuple[str, str]
"""Of the left and of the right factor: ``f16``, ``bf16``, ``f32``, ``f64``, ``s8``, ``u8``."""
BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "s8": 8, "u8": 8}
SUMS = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64", "s8": "i32", "u8": "i32"}
"""Types that products are summed in; integers wrap."""


@dataclass(frozen=True)
class MatrixInstruction:
    """An instruction of `lanes` lanes. Lane ``across * g + t`` holds the sum number `n` of row ``steps[0] * g +
    cells[n][0]`` and column ``steps[1] * t + cells[n][1]``."""

    lanes: int
    rows: int
    columns: int
    bits: int
    """Of an element of the factors."""
    words: tuple[int, int]
    """Of a lane, of the left and of the right factor."""
    across: int
    steps: tuple[int, int]
    cells: tuple[tuple[int, int], ...]
    groups: int = 0
    """Groups of lanes that hold a line's words between them; 0: the instruction that loads matrices lays them out."""
    lanes_of_line: bool = False
    """Whether the lanes that hold a line's words between them are neighbours; else they are a group apart."""


_QUAD = (0, 0), (0, 1), (8, 0), (8, 1)
"""Sums of a lane on NVIDIA."""


def _mma(bits: int) -> MatrixInstruction:
    return MatrixInstruction(32, 16, 8, bits, (4, 2), 4, (1, 2), _QUAD)


def _double() -> MatrixInstruction:
    return MatrixInstruction(32, 8, 8, 64, (2, 2), 4, (1, 2), ((0, 0), (0, 1)), 4, lanes_of_line=True)


def _mfma(bits: int, words: int) -> MatrixInstruction:
    apart = 4 if bits == 64 else 1
    cells = tuple((apart * n, 0) for n in range(4))
    return MatrixInstruction(64, 16, 16, bits, (words, words), 16, (4 // apart, 1), cells, 4)


def _wmma(bits: int, words: int, both: bool) -> MatrixInstruction:
    """`both`: each half of the subgroup holds all terms."""
    apart, step = (2, 1) if both else (1, 8)
    cells = tuple((apart * n, 0) for n in range(8))
    return MatrixInstruction(32, 16, 16, bits, (words, words), 16, (step, 1), cells, 1 if both else 2)


def _same(types: str, instruction: MatrixInstruction) -> dict[Types, MatrixInstruction]:
    return {(name, name): instruction for name in types.split()}


def _bytes(instruction: MatrixInstruction) -> dict[Types, MatrixInstruction]:
    return {(left, right): instruction for left in ("s8", "u8") for right in ("s8", "u8")}


_CDNA = _same("f32", _mfma(32, 1)) | _same("f64", _mfma(64, 2))
UNITS: dict[str, dict[Types, MatrixInstruction]] = {
    "m16n8k16": _same("f16 bf16", _mma(16)) | _same("f64", _double()) | _bytes(_mma(8)),
    "gfx90a": _same("f16 bf16", _mfma(16, 2)) | _same("s8", _mfma(8, 1)) | _CDNA,
    "gfx942": _same("f16 bf16", _mfma(16, 2)) | _same("s8", _mfma(8, 2)) | _CDNA,
    "gfx950": _same("f16 bf16", _mfma(16, 4)) | _same("s8", _mfma(8, 4)) | _CDNA,
    "gfx11": _same("f16 bf16", _wmma(16, 8, True)) | _bytes(_wmma(8, 4, True)),
    "gfx12": _same("f16 bf16", _wmma(16, 4, False)) | _bytes(_wmma(8, 2, False)),
}
"""For each unit its instructions by the types of the factors."""
