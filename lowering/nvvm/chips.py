"""NVIDIA's chips: limits of a group, and of what a multiprocessor holds at once.

Figures: CUDA C++ Programming Guide, "Compute Capabilities", table "Technical Specifications per Compute
Capability"; versions of PTX: Parallel Thread Execution ISA, "Release Notes".
"""

from __future__ import annotations

from dataclasses import dataclass

from pykern.types import STORAGE, STRONG

SUBGROUP = 32
MAX_GROUP = 1024
MAX_DEPTH = 64
"""Work-items of a group along z."""
STATIC_SHARED = 48 * 1024
"""Bytes of shared memory that code may ask for; a launch may ask for `Chip.shared`."""
REGISTERS = 64 * 1024
"""Of 32 bits, in a multiprocessor."""


DTYPES = tuple(dtype.name for dtype in (*STRONG, *STORAGE))


@dataclass(frozen=True)
class Chip:
    """A compute capability. `warps` and `groups` are the most a multiprocessor holds, `shared_total` its bytes of
    shared memory; `shared` the most of them a group may have; `ptx` the first version of PTX that knows it."""

    name: str
    ptx: int
    warps: int
    groups: int
    shared_total: int
    shared: int
    reserved: int = 1024
    """Bytes of shared memory that the system takes from each group."""
    redux: bool = True
    """Whether integers are reduced over a subgroup in one instruction."""
    extremes: bool = True
    """Whether a maximum of f32 that hands NaN on is one instruction."""
    dtypes: tuple[str, ...] = DTYPES
    float_atomics: tuple[str, ...] = ("f16", "f32", "f64")
    """Types that are added atomically in one instruction; others take a loop of compare and exchange."""

    matrix_unit: str = "m16n8k16"
    """The shape of the matrices of 16-bit floats that an instruction multiplies and sums in f32; empty: it has none."""

    warpgroup_unit: str = ""
    """The shape of those that four subgroups multiply together from shared memory; empty: there is none."""

    @property
    def subgroup_size(self) -> int:
        return SUBGROUP


def _kib(n: int) -> int:
    return n * 1024


_BF16_TOO = ("f16", "bf16", "f32", "f64")
_CHIPS = (
    Chip("sm_75", 63, 32, 16, _kib(64), _kib(64), reserved=0, redux=False, extremes=False, matrix_unit=""),
    Chip("sm_80", 70, 64, 32, _kib(164), _kib(163)),
    Chip("sm_86", 71, 48, 16, _kib(100), _kib(99)),
    Chip("sm_89", 78, 48, 24, _kib(100), _kib(99)),
    Chip("sm_90", 78, 64, 32, _kib(228), _kib(227), float_atomics=_BF16_TOO),
    Chip("sm_90a", 80, 64, 32, _kib(228), _kib(227), float_atomics=_BF16_TOO, warpgroup_unit="m64k16"),
    Chip("sm_100", 86, 64, 32, _kib(228), _kib(227), float_atomics=_BF16_TOO),
    Chip("sm_100a", 86, 64, 32, _kib(228), _kib(227), float_atomics=_BF16_TOO),
    Chip("sm_120", 87, 48, 24, _kib(100), _kib(99), float_atomics=_BF16_TOO),
    Chip("sm_120a", 87, 48, 24, _kib(100), _kib(99), float_atomics=_BF16_TOO),
)
CHIPS = {chip.name: chip for chip in _CHIPS}
