"""From a place in memory to a view: lengths, steps, NumPy's flags, and the dtype.

Comes in: what a protocol says of an array. Goes out: the head of an array as NumPy writes it
(`_UpdateContiguousFlags` and `IsAligned` in its sources), or false. Read next: `arrays`.
"""

from __future__ import annotations

import numpy as np

from pykern.data.abi import dlpack_code
from pykern.lowering.llvm.adapt.frame import FALSE, MAX_RANK, SHAPE, STRIDES, TRUE
from pykern.lowering.llvm.python_objects import (
    ALIGNED,
    C_CONTIGUOUS,
    DATA,
    DESCR,
    DIMS,
    FLAGS,
    NDIM,
    WRITEABLE,
    table,
)
from pykern.lowering.llvm.python_objects import STRIDES as STRIDES_AT
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I8, I32, I64, NULL, PTR, Value
from pykern.types import BY_NAME, by_numpy_name

F_CONTIGUOUS = 2
DTYPES = tuple(d for d in BY_NAME.values() if not d.weak)
NATIVE = "@=<"
"""Marks of the byte order that this machine has, in formats of the module struct."""
FORMATS = {"b": "bhilqn", "u": "BHILQN", "f": "efd", "?": "?"}
"""Letters of formats: signed, unsigned, floats, and truth; bytes decide the rest."""
TYPE_NUMBER, BYTE_ORDER = 28, 26
"""Byte offsets in a PyArray_Descr."""
DENSE_NUMBERS = {np.dtype(c).num: np.dtype(c).name for c in "?bBhHiIlLqQefd"}
"""NumPy's numbers of types, and their names; several have one meaning."""


def write_views(module: Module) -> None:
    """Write them all."""
    _dense(module)
    _finish(module)
    _dlpack_dtype(module)
    _format_dtype(module)
    _numpy_dtype(module)


def _dense(module: Module) -> None:
    """`pk_dense(view, rank, itemsize)`: strides of C's order."""
    f = Body(module, "pk_dense", I64, [PTR, I64, I64])
    view, rank, itemsize = f.arguments
    step = f.variable(itemsize)
    with f.loop(rank) as n:
        axis = f.sub(f.sub(rank, 1), n)
        f.put(f.load(I64, step), f.place(view, STRIDES), axis)
        f.store(f.mul(f.load(I64, step), f.word(f.place(view, SHAPE), axis)), step)
    f.ret(0)


def copy_axes(
    f: Body, view: Value, rank: Value, axes: tuple[Value, Value], unit: Value, itemsize: Value
) -> None:
    """Lengths and strides into the view; strides are in units, and none at all where elements are dense."""
    lengths, steps = axes
    with f.loop(rank) as n:
        f.put(f.word(lengths, n), f.place(view, SHAPE), n)
    with f.if_else(f.is_(steps, "==", NULL)) as (dense, strided):
        with dense:
            f.call("pk_dense", I64, view, rank, itemsize)
        with strided, f.loop(rank) as n:
            f.put(f.mul(f.word(steps, n), unit), f.place(view, STRIDES), n)


def _finish(module: Module) -> None:
    """`pk_finish(view, data, rank, itemsize, descr, writeable)`: lengths and strides in bytes are there. False where
    there is no memory and there should be."""
    f = Body(module, "pk_finish", FALSE.type, [PTR, PTR, I64, I64, PTR, I64])
    view, data, rank, itemsize, descr, writeable = f.arguments
    f.need(f.is_(descr, "!=", NULL), FALSE)
    lengths, steps = f.place(view, SHAPE), f.place(view, STRIDES)
    odd = f.variable(f.cast("ptrtoint", data, I64))
    elements, c_step, f_step = f.variable(1), f.variable(itemsize), f.variable(itemsize)
    c_order, f_order = f.variable(C_CONTIGUOUS), f.variable(F_CONTIGUOUS)
    with f.loop(rank) as n:
        length, step = f.word(lengths, n), f.word(steps, n)
        f.store(f.mul(f.load(I64, elements), length), elements)
        with f.if_then(f.is_(length, ">", 1)):
            f.store(f.or_(f.load(I64, odd), step), odd)
        _follow(f, length, step, f_step, f_order)
        back = f.sub(f.sub(rank, 1), n)
        _follow(f, f.word(lengths, back), f.word(steps, back), c_step, c_order)
    empty = f.is_(f.load(I64, elements), "==", 0)
    f.need(f.or_(empty, f.is_(data, "!=", NULL)), FALSE)
    orders = f.or_(f.load(I64, c_order), f.load(I64, f_order))
    orders = f.select(empty, C_CONTIGUOUS | F_CONTIGUOUS, orders)
    even = f.is_(f.and_(f.load(I64, odd), f.sub(itemsize, 1)), "==", 0)
    aligned = f.select(f.or_(even, empty), ALIGNED, I64(0))
    written = f.select(f.is_(writeable, "!=", 0), WRITEABLE, I64(0))
    flags = f.or_(f.or_(orders, aligned), written)
    f.store(data, view, DATA)
    f.store(f.cast("trunc", rank, I32), view, NDIM)
    f.store(lengths, view, DIMS)
    f.store(steps, view, STRIDES_AT)
    f.store(descr, view, DESCR)
    f.store(f.cast("trunc", flags, I32), view, FLAGS)
    f.ret(TRUE)


def _follow(f: Body, length: Value, step: Value, expected: Value, order: Value) -> None:
    """One axis further in an order: an axis of one element has any step."""
    with f.if_then(f.is_(length, "!=", 1)):
        with f.if_then(f.is_(step, "!=", f.load(I64, expected))):
            f.store(0, order)
        f.store(f.mul(f.load(I64, expected), length), expected)


def _dlpack_dtype(module: Module) -> None:
    """`pk_dlpack_dtype(type)`: NumPy's dtype for the four bytes of a DLDataType, null for others; 0 until the dtype is
    known."""
    f = Body(module, "pk_dlpack_dtype", PTR, [I32])
    (found,) = f.arguments
    for dtype in DTYPES:
        word = dlpack_code(dtype.kind, dtype.name) | 8 * dtype.itemsize << 8 | 1 << 16
        with f.if_then(f.is_(found, "==", I32(word))):
            f.ret(table(f, f"dtype.{dtype.name}"))
    f.ret(NULL)


def _format_dtype(module: Module) -> None:
    """`pk_format_dtype(format, itemsize)`: the dtype of a letter, or of one behind a mark of this byte order."""
    f = Body(module, "pk_format_dtype", PTR, [PTR, I64])
    text, itemsize = f.arguments
    at = f.variable(text)
    with f.if_then(f.is_(text, "==", NULL)):  # as the protocol has it: unsigned bytes
        f.ret(table(f, "dtype.u8"))
    first = f.load(I8, text)
    for mark in NATIVE:
        with f.if_then(f.is_(first, "==", I8(ord(mark)))):
            f.store(f.place(text, 1), at)
    letter, behind = f.load(I8, f.load(PTR, at)), f.load(I8, f.load(PTR, at), 1)
    f.need(f.is_(letter, "!=", I8(0)), NULL)
    f.need(f.is_(behind, "==", I8(0)), NULL)
    for kind, letters in FORMATS.items():
        known = FALSE
        for one in letters:
            known = f.or_(known, f.is_(letter, "==", I8(ord(one))))
        with f.if_then(known):
            for dtype in DTYPES:
                if dtype.name in BY_FORMAT[kind]:
                    with f.if_then(f.is_(itemsize, "==", dtype.itemsize)):
                        f.ret(table(f, f"dtype.{dtype.name}"))
            f.ret(NULL)
    f.ret(NULL)


BY_FORMAT = {
    "b": ("i8", "i16", "i32", "i64"),
    "u": ("u8", "u16", "u32", "u64"),
    "f": ("f16", "f32", "f64"),
    "?": ("bool",),
}
"""What the letters of `FORMATS` are."""


def _numpy_dtype(module: Module) -> None:
    """`pk_numpy_dtype(descr)`: NumPy's own object for a dtype that is equal to it, as arrays have that were pickled;
    the very same where there is none."""
    f = Body(module, "pk_numpy_dtype", PTR, [PTR])
    (descr,) = f.arguments
    swapped = f.is_(f.load(I8, descr, BYTE_ORDER), "==", I8(ord(">")))
    f.need(f.xor(swapped, TRUE), descr)
    number = f.load(I32, descr, TYPE_NUMBER)
    for known, name in DENSE_NUMBERS.items():
        ours = by_numpy_name(name)
        assert ours is not None
        with f.if_then(f.is_(number, "==", I32(known))):
            f.ret(table(f, f"dtype.{ours.name}"))
    f.ret(descr)


assert MAX_RANK == 8, "lengths of views have room for as many as kernels take"
