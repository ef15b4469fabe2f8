"""The Fourier transform of rows: what functions of `numpy.fft` rest on.

Comes in: the parts of complex rows, f32 or f64. Goes out: the parts of their transforms. `fourier_code` writes a kernel
for the length; a length with a large prime factor is a convolution with a chirp, which is done by transforms of a
length that is a power of two (L. Bluestein, "A linear filtering approach to the computation of discrete Fourier
transform", 1970).
The transform is linear: its derivative is itself, and in reverse mode the inverse transform.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from mlir import ir
from mlir.dialects import arith

from pykern.data.promotion import promote
from pykern.data.source import Builtin, CapturedKernel, FunctionSource, KernelOptions
from pykern.frontend.complex_numbers import pair
from pykern.frontend.program import arguments, fourier_code
from pykern.frontend.program.composition import Composer, number, numbers
from pykern.frontend.program.differentiated_functions import Differentiated, call
from pykern.frontend.program.tensors import tensor_type
from pykern.frontend.program.values import Cell
from pykern.frontend.values import FunctionValue, TupleValue, TypeValue, Value
from pykern.passes.analysis.cost_model.fourier import CONSTANT_ROOTS
from pykern.types import DType, f32, f64

if TYPE_CHECKING:
    from pykern.frontend.program.translator import ProgramTranslator

_FILE = "<pykern.fourier>"
_LAUNCH = """\
def launched(xr, xi, wr, wi):
    yr, yi, zr, zi = empty_like(xr), empty_like(xr), empty_like(xr), empty_like(xr)
    transform_rows(xr, xi, yr, yi, zr, zi, wr, wi, ndrange=xr.shape[0])
    return yr, yi
"""


def _transform(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "fourier_transform", "real imag inverse", args, keywords)
    made = Composer(t, node)
    parts = [made.array(given["real"]), made.array(given["imag"])]
    kind = _kind(*parts)
    shape = parts[0].shape
    n = shape[-1]
    rows = [made.reshaped(made.array(made.cast(p, kind)), math.prod(shape[:-1]), n) for p in parts]
    if arguments.flag(
        t, node, given["inverse"], "`inverse`"
    ):  # of i times the conjugate, which is both parts exchanged
        imag, real = transformed(made, rows[1], rows[0])
    else:
        real, imag = transformed(made, *rows)
    return TupleValue(tuple(made.reshaped(part, *shape) for part in (real, imag)))


def _joined(t: ProgramTranslator, node: ast.Call, args: list[Value], keywords: dict) -> Value:
    given = arguments.bind(t, node, "complex_of_parts", "real imag", args, keywords)
    return pair(given["real"], given["imag"])


def _kind(real: Cell, imag: Cell) -> DType:
    kind = promote(real.dtype, imag.dtype)
    if not kind.is_float:
        return f64
    return kind if kind.bits >= 32 else f32


def transformed(made: Composer, real: Cell, imag: Cell) -> tuple[Cell, Cell]:
    """The parts of the transforms of rows (batch, n)."""
    if not real.size or real.shape[1] == 1:
        return real, imag
    found = call(made, _FOURIER, real, imag)
    return found[0], found[1]


def _primal(made: Composer, real: Cell, imag: Cell) -> list[Cell]:
    n = real.shape[1]
    if fourier_code.stages(n) is None:
        return _by_chirp(made, real, imag)
    name = "transform_rows"
    kernel = FunctionSource(
        name, _FILE, 1, fourier_code.text(n, name), (("index", Builtin("index")), ("range", Builtin("range")))
    )
    captured = CapturedKernel(kernel, (), KernelOptions(False, False))
    source = FunctionSource(
        "launched", _FILE, 1, _LAUNCH, ((name, captured), ("empty_like", Builtin("empty_like")))
    )
    tables = _roots(made, n, real.dtype)
    found = made.t.called_with(made.node, FunctionValue(source), [real, imag, *tables], {})
    assert isinstance(found, TupleValue)
    return [made.array(part) for part in found.items]


def _reverse(made: Composer, real: Cell, imag: Cell, yr: Cell, yi: Cell, gr: Cell, gi: Cell) -> list[Cell]:
    return list(reversed(transformed(made, gi, gr)))


def _forward(made: Composer, real: Cell, imag: Cell, yr: Cell, yi: Cell, dr: Cell, di: Cell) -> list[Cell]:
    return list(transformed(made, dr, di))


_FOURIER = Differentiated("fft", _primal, _reverse, _forward)


# -- roots of unity -------------------------------------------------------------------------------


def _roots(made: Composer, n: int, kind: DType) -> tuple[Cell, Cell]:
    """The tables of all stages, one behind the other."""
    tables = []
    for radix, parts, order in fourier_code.roots(n):
        if parts > 1:
            tables.append(_table(made, radix, parts, order, n <= CONSTANT_ROOTS, kind))
    if not tables:
        nothing = made.cell("zeros", number(1), TypeValue(kind))
        return nothing, nothing
    real, imag = (made.cell("concatenate", TupleValue(tuple(pair[k] for pair in tables))) for k in range(2))
    return real, imag


def _table(
    made: Composer, radix: int, parts: int, order: int, is_constant: bool, kind: DType
) -> tuple[Cell, Cell]:
    """The roots ``exp(-2 pi i j p / order)`` for j from 1 and all p, j by j."""
    j = np.arange(1, radix)[:, None]
    if is_constant:
        real, imag = _constants(j * np.arange(parts), order, kind)
        return made.reshaped(real, -1), made.reshaped(imag, -1)
    step = 1 << (parts.bit_length() // 2)
    blocks = -(-parts // step)
    (ar, ai), (br, bi) = (
        _constants(j * steps, order, kind) for steps in (step * np.arange(blocks), np.arange(step))
    )
    ar, ai = (made.reshaped(x, radix - 1, blocks, 1) for x in (ar, ai))
    br, bi = (made.reshaped(x, radix - 1, 1, step) for x in (br, bi))
    real = made.op("-", made.op("*", ar, br), made.op("*", ai, bi))
    imag = made.op("+", made.op("*", ar, bi), made.op("*", ai, br))
    found = []
    for whole in (real, imag):
        rows = made.reshaped(made.array(whole), radix - 1, blocks * step)
        found.append(made.reshaped(made.part(rows, 1, 0, parts), -1))
    return found[0], found[1]


def _constants(powers: np.ndarray, order: int, kind: DType) -> tuple[Cell, Cell]:
    angles = -2 * np.pi * (powers % order) / order
    real, imag = (_constant(f(angles), kind) for f in (np.cos, np.sin))
    return real, imag


def _constant(values: np.ndarray, kind: DType) -> Cell:
    shape = values.shape
    held = np.ascontiguousarray(values, dtype=kind.name.replace("f", "float"))
    attribute = ir.DenseElementsAttr.get(held, type=tensor_type(kind, ()).element_type, shape=list(shape))
    return Cell(kind, shape, arith.ConstantOp(tensor_type(kind, shape), attribute).result)


# -- lengths with large prime factors -------------------------------------------------------------


def _by_chirp(made: Composer, real: Cell, imag: Cell) -> list[Cell]:
    """By ``j k == (j^2 + k^2 - (k - j)^2) / 2``: a convolution of ``x c`` with the conjugate of a chirp c, times c."""
    n = real.shape[1]
    kind = real.dtype
    m = 1 << (2 * n - 2).bit_length()
    squares = np.arange(n, dtype=np.int64) ** 2 % (2 * n)
    cr, ci = _constants(squares, 2 * n, kind)
    wrapped = np.zeros(m, np.complex128)
    wrapped[:n] = np.exp(1j * np.pi * squares / n)
    wrapped[m - n + 1 :] = wrapped[1:n][::-1]
    spectrum = np.fft.fft(wrapped) / m
    fr, fi = _constant(spectrum.real, kind), _constant(spectrum.imag, kind)
    wide = [_padded(made, x, m) for x in _times(made, (real, imag), (cr, ci))]
    mixed = _times(made, transformed(made, *wide), (fr, fi))
    back = transformed(made, mixed[1], mixed[0])
    short = tuple(made.part(x, 1, 0, n) for x in (back[1], back[0]))
    return list(_times(made, short, (cr, ci)))


def _padded(made: Composer, x: Cell, m: int) -> Cell:
    batch, n = x.shape
    behind = made.cell("zeros", numbers((batch, m - n)), TypeValue(x.dtype))
    return made.cell("concatenate", TupleValue((x, behind)), number(1))


def _times(made: Composer, a: tuple[Cell, ...], b: tuple[Cell, ...]) -> tuple[Cell, Cell]:
    real = made.op("-", made.op("*", a[0], b[0]), made.op("*", a[1], b[1]))
    imag = made.op("+", made.op("*", a[0], b[1]), made.op("*", a[1], b[0]))
    return made.array(real), made.array(imag)


HANDLERS: dict[str, Callable] = {"fourier_transform": _transform, "complex_of_parts": _joined}
