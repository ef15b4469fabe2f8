"""`ndrange` as entries take it: Python integers, or a tuple of them, and ranges that begin elsewhere than at 0.

Comes in: what a call gives as `ndrange`. Goes out: the same, of exact types: NumPy's integers and others with
`__index__` become ints, `range(n)` becomes n, a `torch.Size` a tuple; or null, where Python has to look at it. The
rules are those of `pykern.data.index_space`.
"""

from __future__ import annotations

from pykern.lowering.llvm.adapt.frame import MAX_RANK
from pykern.lowering.llvm.forget import clear
from pykern.lowering.llvm.python_objects import LENGTH, SIZE, START, STEP, items_of, type_of
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I1, I64, NULL, PTR, VOID

TUPLE_SUBCLASS = 1 << 26
"""Py_TPFLAGS_TUPLE_SUBCLASS."""


def write_space(module: Module) -> None:
    """Write `pk_space(frame, value)`; what is new is held by the frame."""
    _is(module)
    _extent(module)
    _space(module)


def _is(module: Module) -> None:
    """`pk_is(value, number)`: whether it is an int of that value."""
    f = Body(module, "pk_is", I1, [PTR, I64])
    value, number = f.arguments
    f.need(f.is_(type_of(f, value), "==", f.outside("PyLong_Type")), I1(0))
    found = f.call("PyLong_AsLongLong", I64, value)
    with f.if_then(f.is_(found, "==", -1), likely=False):
        clear(f)  # one that does not fit
    f.ret(f.is_(found, "==", number))


def _extent(module: Module) -> None:
    """`pk_extent(frame, value)`: of one dimension; a reference that is not the caller's."""
    f = Body(module, "pk_extent", PTR, [PTR, PTR])
    frame, value = f.arguments
    kind = type_of(f, value)
    with f.if_then(f.is_(kind, "==", f.outside("PyLong_Type")), likely=True):
        f.ret(value)
    with f.if_then(f.is_(kind, "==", f.outside("PyRange_Type"))):
        starts, steps = f.load(PTR, value, START), f.load(PTR, value, STEP)
        plain = f.and_(f.call("pk_is", I1, starts, I64(0)), f.call("pk_is", I1, steps, I64(1)))
        f.ret(f.select(plain, f.load(PTR, value, LENGTH), value))
    f.need(f.is_(kind, "!=", f.outside("PyBool_Type")), NULL)
    made = f.call("PyNumber_Index", PTR, value)
    with f.if_then(f.is_(made, "==", NULL), likely=False):
        clear(f)
        f.ret(NULL)
    f.ret(f.call("pk_hold", PTR, frame, made))


def _space(module: Module) -> None:
    f = Body(module, "pk_space", PTR, [PTR, PTR])
    frame, value = f.arguments
    kind = type_of(f, value)
    flags = f.call("PyType_GetFlags", I64, kind)
    with f.if_then(f.is_(f.and_(flags, TUPLE_SUBCLASS), "==", 0)):
        f.ret(f.call("pk_extent", PTR, frame, value))
    count = f.load(I64, value, SIZE)
    f.need(f.is_(count, "<=", MAX_RANK), NULL)
    items, found = items_of(f, value), f.stack(f"[{MAX_RANK} x ptr], align 16")
    other = f.variable(f.cast("zext", f.is_(kind, "!=", f.outside("PyTuple_Type")), I64))
    with f.loop(count) as n:
        item = f.word(items, n, PTR)
        extent = f.call("pk_extent", PTR, frame, item)
        f.need(f.is_(extent, "!=", NULL), NULL)
        f.put(extent, found, n)
        with f.if_then(f.is_(extent, "!=", item)):
            f.store(1, other)
    f.need(f.is_(f.load(I64, other), "!=", 0), value)
    f.ret(f.call("pk_tuple", PTR, frame, found, count))


def write_tuple(module: Module) -> None:
    """`pk_tuple(frame, values, count)`: a tuple of them, held by the frame; null without memory."""
    f = Body(module, "pk_tuple", PTR, [PTR, PTR, I64])
    frame, values, count = f.arguments
    made = f.call("pk_hold", PTR, frame, f.call("PyTuple_New", PTR, count))
    with f.if_then(f.is_(made, "==", NULL), likely=False):
        clear(f)
        f.ret(NULL)
    items = items_of(f, made)
    with f.loop(count) as n:
        value = f.word(values, n, PTR)
        f.call("Py_IncRef", VOID, value)
        f.put(value, items, n)
    f.ret(made)
