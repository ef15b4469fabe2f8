"""Names of source targets: ``source:wgsl``, ``source:opencl-c+words``; the languages by themselves mean the same."""

from __future__ import annotations

from dataclasses import dataclass

from pykern.data.target import Target
from pykern.lowering.gpu.options import chip_and_options

FRAGMENT_UNIT, BFLOAT_UNIT = "simdgroup8x8", "simdgroup8x8+bf16"
"""As in `pykern.dialect.fragments`, which loads MLIR."""
LANGUAGES = ("c", "opencl-c", "cuda-cpp", "hip-cpp", "msl", "wgsl")
OFFSETS = ("opencl-c", "wgsl")
"""Languages whose launches take whole buffers: where an array of a program begins is a number."""


@dataclass(frozen=True)
class SourceOptions:
    """`words`: numbers are 64-bit words and arrays have offsets, as drivers of pykern's own launch code. Else numbers
    have their own types, and lengths are below 2**30 (in C below 2**63).
    `small`: every element's position in its array fits in 32 bits.
    `comments`: lines of Python stand as comments above what they became.
    `i64`, `f16`, `f64`: numbers that a device of WebGPU has besides those of 32 bits; those of `f64` come with `i64`.
    `lavapipe`: the code reports what Mesa's driver for processors leaves out silently.
    `simd`: a device of Metal has subgroups of 32 work-items that exchange values, and multiply 8x8 matrices.
    `bfloat`: its language has `bfloat` (3.1, of macOS 14), so that such matrices are of bf16, too.
    `subgroups4` to `subgroups32`: so many work-items of a device of WebGPU exchange values, always."""

    words: bool = False
    small: bool = False
    comments: bool = False
    i64: bool = False
    f16: bool = False
    f64: bool = False
    lavapipe: bool = False
    simd: bool = False
    bfloat: bool = False
    subgroups4: bool = False
    subgroups8: bool = False
    subgroups16: bool = False
    subgroups32: bool = False

    @property
    def lanes(self) -> int:
        """How many work-items of a device of WebGPU exchange values; 0 where none do."""
        sizes = {4: self.subgroups4, 8: self.subgroups8, 16: self.subgroups16, 32: self.subgroups32}
        return max((size for size, asked in sizes.items() if asked), default=0)


def matrix_unit(target: Target) -> str:
    """The unit of a target that multiplies small matrices: Metal's, where subgroups have 32 work-items."""
    language, options = options_of(target)
    if language != "msl" or not options.simd:
        return ""
    return BFLOAT_UNIT if options.bfloat else FRAGMENT_UNIT


def options_of(target: Target) -> tuple[str, SourceOptions]:
    """The language and the options. Raises `TargetError` for those that there are not."""
    return chip_and_options(target, {name: name for name in LANGUAGES}, SourceOptions)
