"""MSL as the device `metal` takes it: words of 64 bits, memory that a launch sizes, and values of other lanes.

Numbers of a launch are words of 64 bits, as in launches of every other device. Arrays of a group's memory whose length
a launch gives are parameters, and the driver says how many bytes they have. Read next: `msl`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pykern.lowering.source.expressions import Expression, call
from pykern.lowering.source.language import Head
from pykern.lowering.source.msl import Metal
from pykern.lowering.source.options import SourceOptions

_NEED_DOUBLES = ("sin", "cos", "tan", "asinh", "acosh", "atanh", "atan2", "powf")
"""Functions whose arithmetic, as it is written out elsewhere, needs floats of 64 bits; MSL has its own."""
_SHUFFLES = {
    "idx": "simd_shuffle",
    "xor": "simd_shuffle_xor",
    "up": "simd_shuffle_up",
    "down": "simd_shuffle_down",
}


@dataclass
class NativeMetal(Metal):
    """MSL for launches of pykern's own."""

    native: tuple[str, ...] = tuple(f"math.{name}" for name in _NEED_DOUBLES)
    narrows: bool = True
    sized: bool = True

    @classmethod
    def of(cls, options: SourceOptions) -> NativeMetal:
        """The language of a device."""
        return cls(shuffles=options.simd)

    def sized_shared(self, name: str, kind: str, number: int, atomic: bool) -> str:
        return f"threadgroup {'atomic_' if atomic else ''}{kind} *{name} [[threadgroup({number})]]"

    def shuffle(self, mode: str, value: Expression, amount: Expression) -> str:
        return call(_SHUFFLES[mode], value, Expression(f"ushort({amount.text})")).text

    def kernel(self, head: Head) -> list[str]:
        sized = [each for each in head.shared if "[[threadgroup(" in each]
        lines = super().kernel(replace(head, shared=[each for each in head.shared if each not in sized]))
        at = lines.index("    uint3 local_id [[thread_position_in_threadgroup]],")
        return [*lines[:at], *(f"    {each}," for each in sized), *lines[at:]]
