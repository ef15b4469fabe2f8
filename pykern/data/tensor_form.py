"""What a tensor map says of an array, as text among a kernel's arguments: compiled code names it, the host makes it.

Goes out: `TensorForm`. Its text is ``tensor_map 0 f16 64,256 128 64,128``: the argument whose memory it is of, the
type, lengths, the bytes between elements of all dimensions but the first, the lengths of a box; the fastest dimension
comes first. Rows of a box have 128 bytes, and are permuted so (see `pykern.dialect.warpgroups`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

MAP = "tensor_map"
NBYTES, ALIGNMENT = 128, 64
"""Of a map."""
MOST_DIMENSIONS = 5
MOST_STRIDE = 1 << 40
"""Bytes."""
MOST_LENGTH = 1 << 31
"""Corners of boxes are 32-bit numbers with a sign."""


@dataclass(frozen=True)
class TensorForm:
    """One map. `argument` counts the kernel's arguments; -1 where it is not known yet."""

    kind: str
    lengths: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    argument: int = -1

    @cached_property
    def text(self) -> str:
        numbers = (",".join(map(str, each)) or "-" for each in (self.lengths, self.strides, self.box))
        return " ".join((MAP, str(self.argument), self.kind, *numbers))

    @classmethod
    def of(cls, text: str) -> TensorForm | None:
        """None for the text of another argument."""
        name, *rest = text.split(" ")
        if name != MAP:
            return None
        argument, kind, *lists = rest
        lengths, strides, box = (tuple(map(int, each.split(","))) if each != "-" else () for each in lists)
        return cls(kind, lengths, strides, box, int(argument))
