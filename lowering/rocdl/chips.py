"""AMD's chips: limits of a group, and of what a compute unit holds at once.

Figures: LLVM, "User Guide for AMDGPU Backend" and AMDGPUBaseInfo (granules, waves a SIMD); AMD, instruction set
architecture guides of CDNA 2, CDNA 3, CDNA 4, RDNA 3 and RDNA 4 (registers, local data share).
"""

from __future__ import annotations

from dataclasses import dataclass

from pykern.types import STORAGE, STRONG

MAX_GROUP = 1024
DTYPES = tuple(dtype.name for dtype in (*STRONG, *STORAGE))


@dataclass(frozen=True)
class Chip:
    """An instruction set. `waves` is the most a SIMD holds, `vgprs` its registers of 32 bits a lane, given in
    units of `granule`; `simds` a unit that a group runs on has, which shares `shared_total` bytes."""

    name: str
    subgroup_size: int
    waves: int
    vgprs: int
    granule: int
    simds: int
    groups: int
    shared: int
    """Bytes of shared memory that a group may have."""
    shared_total: int
    matrix_unit: str
    """The unit of `pykern.dialect.matrix_units` that it has."""
    float_atomics: tuple[str, ...] = ("f32", "f64")
    """Types that are added atomically in one instruction; others take a loop of compare and exchange."""
    dtypes: tuple[str, ...] = DTYPES

    @property
    def is_cdna(self) -> bool:
        return self.subgroup_size == 64


_K = 1024
_CHIPS = (
    Chip("gfx90a", 64, 8, 512, 8, 4, 16, 64 * _K, 64 * _K, "gfx90a"),
    Chip("gfx942", 64, 8, 512, 8, 4, 16, 64 * _K, 64 * _K, "gfx942"),
    Chip("gfx950", 64, 8, 512, 8, 4, 16, 160 * _K, 160 * _K, "gfx950"),
    Chip("gfx1100", 32, 16, 1536, 24, 4, 32, 64 * _K, 128 * _K, "gfx11", ("f32",)),
    Chip("gfx1201", 32, 16, 1536, 24, 4, 32, 64 * _K, 128 * _K, "gfx12", ("f32",)),
)
CHIPS = {chip.name: chip for chip in _CHIPS}
