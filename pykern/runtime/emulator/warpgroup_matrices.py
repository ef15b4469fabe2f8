"""Products of a warpgroup in NumPy: which registers and which chunks of shared memory hold the matrices.

Comes in: an instruction ``wgmma.mma_async``, and what its 128 threads bring. Goes out: `WarpgroupProduct`, whose
`store` leaves the sums. Fragments: PTX ISA, "Register Fragments and Shared Memory Matrix Layouts"; where rows lie:
"Strides" and "Matrix Descriptor Format". Products of floats are exact and are summed in f32 in NumPy's order, that of
the hardware being unspecified.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from pykern.runtime.emulator.faults import BAD_MATRIX
from pykern.runtime.emulator.operands import elements
from pykern.runtime.emulator.ptx import Instruction, UnknownPtx
from pykern.runtime.emulator.shared_accesses import Wrong
from pykern.runtime.emulator.tensor_maps import CHUNK, swizzled

ROWS = 64
_FORM = re.compile(
    r"wgmma\.mma_async\.sync\.aligned\.m64n(?P<columns>\d+)k(?P<depth>\d+)(?P<saturates>\.satfinite)?"
    r"\.(?P<result>\w+)\.(?P<a>\w+)\.(?P<b>\w+)"
)
_DTYPES: dict[str, np.dtype] = {
    "f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16), "tf32": np.dtype(np.float32),
    "e4m3": np.dtype(ml_dtypes.float8_e4m3fn), "e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "s8": np.dtype(np.int8), "u8": np.dtype(np.uint8),
}  # fmt: skip
_KINDS = ({"f16"}, {"bf16"}, {"tf32"}, {"e4m3", "e5m2"}, {"s8", "u8"})
"""Types of A and B that go together."""
_SWIZZLES = {0: 0, 1: 128, 2: 64, 3: 32}
_TF32 = np.uint32(-1 << 13 & 0xFFFFFFFF)


@dataclass(frozen=True)
class ProductForm:
    """The shape, types and immediate operands of one instruction."""

    columns: int
    depth: int
    result: str
    types: tuple[str, str]
    saturates: bool
    a_registers: int
    signs: tuple[int, int]
    transposed: tuple[bool, bool]
    """Whether A and B lie with their rows of A, columns of B, side by side."""

    @property
    def sums(self) -> int:
        """Registers of a thread's part of the result."""
        return self.columns // 2

    @property
    def words(self) -> int:
        """Of 32 bits, that a thread brings: sums, A or its descriptor, the descriptor of B, whether sums count."""
        return self.sums + (self.a_registers or 2) + 3


@functools.lru_cache(maxsize=1024)
def product_form(one: Instruction) -> ProductForm:
    """Raises `UnknownPtx` for forms that are not emulated."""
    found = _FORM.fullmatch(one.name)
    unknown = UnknownPtx(f"the instruction {one.name} {', '.join(one.operands[1:])}")
    if found is None:
        raise unknown
    columns, depth = int(found["columns"]), int(found["depth"])
    result, a, b = found["result"], found["a"], found["b"]
    whole = a in ("s8", "u8")
    known = any({a, b} <= kinds for kinds in _KINDS) and result == ("s32" if whole else "f32")
    if not known or depth * _DTYPES[a].itemsize != 32 or columns % 8 or not 8 <= columns <= 256:
        raise unknown
    registers = len(elements(one.operands[1])) if one.operands[1].startswith("{") else 0
    immediate = [int(operand) for operand in one.operands[4:]]
    transposable = (0 if registers else 1) + 1 if a in ("f16", "bf16") else 0
    if len(immediate) != (0 if whole else 2) + transposable or registers not in (0, 4):
        raise unknown
    if len(elements(one.operands[0])) != columns // 2 or (found["saturates"] and not whole):
        raise unknown
    signs = (1, 1) if whole else (immediate[0], immediate[1])
    turned = [bool(n) for n in immediate[2:]]
    transposed = (False, False) if not turned else (False, turned[0]) if registers else (turned[0], turned[1])
    return ProductForm(columns, depth, result, (a, b), bool(found["saturates"]), registers, signs, transposed)


class WarpgroupProduct:
    """One product. `lanes` are the words of each thread; other products of the kernel may have more."""

    def __init__(self, form: ProductForm, lanes: np.ndarray) -> None:
        self.form, self.lanes = form, lanes
        self.rest = lanes[:, form.sums : form.words]
        begin = form.a_registers or 2
        self.b = self._descriptor(begin)
        self.a = None if form.a_registers else self._descriptor(0)

    def _descriptor(self, number: int) -> int:
        """Of the words from `number` on; all threads bring the same one."""
        words = self.rest[:, number : number + 2]
        if (words != words[0]).any():
            raise Wrong(BAD_MATRIX, 0)
        low, high = (int(word) for word in words[0])
        return high << 32 | low

    def chunks(self) -> list[np.ndarray | None]:
        """The places of the chunks of A and of B in shared memory; None for A in registers."""
        form = self.form
        found: list[np.ndarray | None] = [None]
        if self.a is not None:
            found = [_places(self.a, ROWS, form.transposed[0])]
        return [*found, _places(self.b, form.columns, form.transposed[1])]

    def store(self, matrices: list[np.ndarray | None]) -> None:
        """Sum the products of the chunks that were read, and leave the sums with the threads."""
        form = self.form
        a = self._held() if matrices[0] is None else _matrix(matrices[0], form.types[0], form.transposed[0])
        assert matrices[1] is not None
        b = _matrix(matrices[1], form.types[1], form.transposed[1])
        counts = self.rest[:, -1]
        if (counts != counts[0]).any():
            raise Wrong(BAD_MATRIX, 0)
        kind = np.int32 if form.result == "s32" else np.float32
        rows, columns = _sums_at(form.columns)
        total = np.zeros((ROWS, form.columns), kind)
        if counts[0]:
            total[rows, columns] = self.lanes[:, : form.sums].view(kind)
        products = (form.signs[0] * a) @ (form.signs[1] * b.T)
        if form.result == "s32":  # exact in f32
            wide = total.astype(np.int64) + products.astype(np.int64)
            total = (np.clip(wide, -(2**31), 2**31 - 1) if form.saturates else wide).astype(np.int32)
        else:
            total = total + products
        self.lanes[:, : form.sums] = total[rows, columns].view(np.uint32)

    def _held(self) -> np.ndarray:
        """A in registers: of each warp, 16 rows."""
        words = np.ascontiguousarray(self.rest[:, : self.form.a_registers])
        packed = 4 // _DTYPES[self.form.types[0]].itemsize
        values = _floats(words.view(np.uint8).reshape(128, 4, 4), self.form.types[0]).reshape(128, 4, packed)
        found = np.zeros((ROWS, self.form.depth), np.float32)
        thread = np.arange(128)[:, None, None]
        register, number = np.arange(4)[None, :, None], np.arange(packed)[None, None, :]
        row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (register % 2)
        term = packed * (thread % 4) + 4 * packed * (register // 2) + number
        found[row, term] = values
        return found


@functools.cache
def _sums_at(columns: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows and columns of each thread's sums."""
    thread, number = np.arange(128)[:, None], np.arange(columns // 2)[None]
    row = 16 * (thread // 32) + thread % 32 // 4 + 8 * (number // 2 % 2)
    return row, 8 * (number // 4) + 2 * (thread % 4) + number % 2


def _places(descriptor: int, lines: int, transposed: bool) -> np.ndarray:
    """Of the two chunks of terms of each line; transposed, of the chunks of lines of each of 16 terms."""
    begin = (descriptor & 0x3FFF) << 4
    leading, stride = ((descriptor >> at & 0x3FFF) << 4 for at in (16, 32))
    width = _SWIZZLES[descriptor >> 62 & 3]
    if descriptor >> 49 & 7:
        raise Wrong(BAD_MATRIX, begin)
    if not transposed:
        line, chunk = np.arange(lines)[:, None], np.arange(2)[None]
        pitch, along = (CHUNK, leading) if width == 0 else (width, CHUNK)
        return swizzled(begin + line // 8 * stride + line % 8 * pitch + chunk * along, width)
    term, chunk = np.arange(16)[:, None], np.arange(lines // 8)[None]
    if width == 0:
        return begin + term // 8 * leading + term % 8 * CHUNK + chunk * stride
    panel = width // CHUNK
    plain = begin + chunk // panel * leading + term // 8 * stride + term % 8 * width + chunk % panel * CHUNK
    return swizzled(plain, width)


def _matrix(chunks: np.ndarray, kind: str, transposed: bool) -> np.ndarray:
    """Lines by terms."""
    values = _floats(chunks, kind)
    values = values.reshape(values.shape[0], -1)
    return values.T if transposed else values


def _floats(data: np.ndarray, kind: str) -> np.ndarray:
    """Bytes, along the last axis, as numbers that f32 holds."""
    data = np.ascontiguousarray(data)
    if kind == "tf32":
        return (data.view(np.uint32) & _TF32).view(np.float32)
    return data.view(_DTYPES[kind]).astype(np.float32)
