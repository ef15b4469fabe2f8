"""`__array_interface__`: the dict that it gives, read without NumPy where it names memory in NumPy's own terms.

Comes in: an object that has the attribute. Goes out: a view of the memory, or false: for a mask, for memory that the
dict leaves to another object's buffer, for elements that kernels have not, and for what is no plain int, tuple or str.
Then NumPy reads it. The dict lives until the launch is over, and what it holds with it.
"""

from __future__ import annotations

from pykern.lowering.llvm.adapt.frame import FALSE, MAX_RANK, SHAPE, STRIDES, TRUE
from pykern.lowering.llvm.adapt.views import DTYPES
from pykern.lowering.llvm.forget import clear
from pykern.lowering.llvm.python_objects import SIZE, integer, item_of, need_type, table
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I8, I64, NULL, PTR, Value

ORDERS = "<|="
"""Marks of the byte order that this machine has."""


def write_interface(module: Module) -> None:
    """Write `pk_interface(frame, view, value)`."""
    _numbers(module)
    _typestr(module)
    _told(module)
    f = Body(module, "pk_interface", TRUE.type, [PTR, PTR, PTR])
    frame, view, value = f.arguments
    name = table(f, "__array_interface__")
    told = f.call("pk_hold", PTR, frame, f.call("PyObject_GetAttr", PTR, value, name))
    good = f.variable(FALSE)
    with f.if_then(f.is_(told, "!=", NULL), likely=True):
        f.store(f.call("pk_told", TRUE.type, view, told), good)
    with f.if_then(f.not_(f.load(TRUE.type, good)), likely=False):
        clear(f)
    f.ret(f.load(TRUE.type, good))


def _numbers(module: Module) -> None:
    """`pk_numbers(tuple, count, place)`: so many ints of a tuple of that length; false, with or without an error, for
    others."""
    f = Body(module, "pk_numbers", TRUE.type, [PTR, I64, PTR])
    found, count, place = f.arguments
    need_type(f, found, f.outside("PyTuple_Type"), FALSE)
    f.need(f.is_(f.load(I64, found, SIZE), "==", count), FALSE)
    with f.loop(count) as n:
        f.put(integer(f, item_of(f, found, n), FALSE), place, n)
    f.ret(TRUE)


def _typestr(module: Module) -> None:
    """`pk_typestr_dtype(text)`: NumPy's dtype for a mark of order, a letter, and a digit; null for others."""
    f = Body(module, "pk_typestr_dtype", PTR, [PTR])
    (text,) = f.arguments
    mark, native = f.load(I8, text), FALSE
    for known in ORDERS:
        native = f.or_(native, f.is_(mark, "==", I8(ord(known))))
    f.need(native, NULL)
    letter = f.load(I8, text, 1)
    f.need(f.is_(letter, "!=", I8(0)), NULL)
    digit = f.load(I8, text, 2)
    f.need(f.is_(digit, "!=", I8(0)), NULL)
    f.need(f.is_(f.load(I8, text, 3), "==", I8(0)), NULL)
    for dtype in DTYPES:
        if not dtype.is_short:
            known = dtype.numpy.str
            same = f.and_(f.is_(letter, "==", I8(ord(known[1]))), f.is_(digit, "==", I8(ord(known[2]))))
            with f.if_then(same):
                f.ret(table(f, f"dtype.{dtype.name}"))
    f.ret(NULL)


def _told(module: Module) -> None:
    """`pk_told(view, dict)`."""
    f = Body(module, "pk_told", TRUE.type, [PTR, PTR])
    view, told = f.arguments
    need_type(f, told, f.outside("PyDict_Type"), FALSE)

    def item(name: str) -> Value:
        return f.call("PyDict_GetItemWithError", PTR, told, table(f, name))

    def absent(found: Value) -> Value:
        return f.or_(f.is_(found, "==", NULL), f.is_(found, "==", f.outside("_Py_NoneStruct")))

    f.need(absent(item("mask")), FALSE)
    data, shape, typestr, strides = (item(n) for n in ("data", "shape", "typestr", "strides"))
    for found, kind in ((data, "PyTuple_Type"), (shape, "PyTuple_Type"), (typestr, "PyUnicode_Type")):
        f.need(f.is_(found, "!=", NULL), FALSE)
        need_type(f, found, f.outside(kind), FALSE)
    text = f.call("PyUnicode_AsUTF8", PTR, typestr)
    f.need(f.is_(text, "!=", NULL), FALSE)
    descr = f.call("pk_typestr_dtype", PTR, text)
    f.need(f.is_(descr, "!=", NULL), FALSE)
    itemsize = f.sub(f.cast("zext", f.load(I8, text, 2), I64), ord("0"))
    rank = f.load(I64, shape, SIZE)
    f.need(f.is_(rank, "<=", MAX_RANK), FALSE)
    lengths = f.place(view, SHAPE)
    f.need(f.call("pk_numbers", TRUE.type, shape, rank, lengths), FALSE)
    with f.loop(rank) as n:
        f.need(f.is_(f.word(lengths, n), ">=", 0), FALSE)
    with f.if_else(absent(strides)) as (dense, strided):
        with dense:
            f.call("pk_dense", I64, view, rank, itemsize)
        with strided:
            f.need(f.call("pk_numbers", TRUE.type, strides, rank, f.place(view, STRIDES)), FALSE)
    f.need(f.is_(f.load(I64, data, SIZE), "==", 2), FALSE)
    address, readonly = (item_of(f, data, n) for n in range(2))
    place = f.cast("inttoptr", integer(f, address, FALSE), PTR)
    writeable = f.is_(readonly, "==", f.outside("_Py_FalseStruct"))
    f.need(f.or_(writeable, f.is_(readonly, "==", f.outside("_Py_TrueStruct"))), FALSE)
    may_write = f.cast("zext", writeable, I64)
    f.ret(f.call("pk_finish", TRUE.type, view, place, rank, itemsize, descr, may_write))
