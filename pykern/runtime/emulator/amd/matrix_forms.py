"""Products of small matrices by a wave: shapes and types of the instructions, and which lane holds which elements.

Goes out: `form_of`. The maps are those that AMD's matrix instruction calculator prints, and of CDNA 4, which it has not
got, those of the instruction set's guide. Lanes stand in groups of as many as the matrix has lines; a lane holds terms
of the line of its number in the group, and of the result elements of the column of that number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "i8": 8, "iu8": 8}
_MFMA = {
    "f16": ((16, 16), (16, 32), (32, 8), (32, 16)),
    "bf16": ((16, 16), (16, 32), (32, 8), (32, 16)),
    "f32": ((16, 4), (32, 2)),
    "f64": ((16, 4),),
    "i8": ((16, 16), (16, 32), (16, 64), (32, 8), (32, 16), (32, 32)),
}
"""Lines and terms of the products of each type that are one matrix, not several."""
_WMMA = ("f16", "bf16", "iu8")
_NAME = re.compile(r"v_(mfma|wmma)_(f32|f64|i32)_(\d+)x\d+x(\d+)_?(iu8|i8|bf16|f16|f32|f64)(_1k)?")


@dataclass(frozen=True)
class MatrixForm:
    """One instruction. `side` lines of each factor, `depth` terms of each line, elements of type `kind`."""

    side: int
    depth: int
    kind: str
    result: str
    lanes: int
    words: int
    """Registers that hold a factor's part of a lane."""
    flushes: bool = False
    """Whether subnormals of factors are 0: floats of 16 bits on CDNA 2."""
    interleaved: bool = False
    """RDNA 4: groups of lanes take four terms in turn, rather than a half of them each."""

    @property
    def groups(self) -> int:
        return self.lanes // self.side

    @property
    def copies(self) -> int:
        """RDNA 3: each group of lanes holds all terms, and computes with its own copy."""
        return self.groups if self.words * 32 == self.depth * self.bits else 1

    @property
    def bits(self) -> int:
        return _BITS[self.kind]

    @property
    def held(self) -> str:
        """The type that products are summed in."""
        return "i32" if self.result == "i32" else self.result

    @property
    def sums(self) -> int:
        """Elements of the result that a lane holds."""
        return self.side // self.groups

    def term(self, group: int, element: int) -> int:
        """The term that is a lane's `element`-th."""
        if self.copies > 1:
            return element
        if self.interleaved:
            return 8 * (element // 4) + 4 * group + element % 4
        return self.depth // self.groups * group + element

    def row(self, group: int, number: int) -> int:
        """The row of a lane's `number`-th element of the result."""
        if self.copies > 1 or self.result == "f64":
            return self.groups * number + group
        if self.lanes == 32:
            return self.sums * group + number
        return 4 * self.groups * (number // 4) + 4 * group + number % 4


def names() -> str:
    """Names of all instructions, as CDNA 2 and as later chips write them."""
    found = []
    for kind, shapes in _MFMA.items():
        result = {"f64": "f64", "i8": "i32"}.get(kind, "f32")
        for side, depth in shapes:
            begin = f"v_mfma_{result}_{side}x{side}x{depth}"
            found += [f"{begin}_{kind}", f"{begin}{kind}{'_1k' if kind == 'bf16' else ''}"]
    found += [f"v_wmma_{'i32' if kind == 'iu8' else 'f32'}_16x16x16_{kind}" for kind in _WMMA]
    return " ".join(found)


def form_of(name: str, registers: int, lanes: int) -> MatrixForm | None:
    """The form of an instruction whose factors take so many registers; None where there is none with these."""
    found = _NAME.fullmatch(name)
    assert found is not None, "names come from `names`"
    how, result, side, depth, kind, _ = found.groups()
    older = how == "mfma" and f"_{kind}" not in name.removeprefix(f"v_mfma_{result}")
    form = MatrixForm(
        int(side), int(depth), kind, result, lanes, registers,
        flushes=older and _BITS[kind] == 16,
        interleaved=how == "wmma" and registers == 4 and kind != "iu8",
    )  # fmt: skip
    held = form.side * form.depth * form.bits // 32
    if how == "mfma":
        return form if lanes == 64 and registers * lanes == held else None
    return form if lanes == 32 and registers * lanes in (held, 2 * held) else None
