"""`out=` of array programs: arrays of other libraries, for which NumPy arrays stand meanwhile.

Comes in: what a call gives as `out`, an object or a tuple. Goes out: the same with NumPy arrays, which the entry may
count references of; `after_launch` puts the objects themselves into the value that the program returns.
"""

from __future__ import annotations

from pykern.lowering.llvm.adapt.frame import CHANGED, FALSE, MADE, MOST_VIEWS, TRUE, VALUES
from pykern.lowering.llvm.forget import clear
from pykern.lowering.llvm.python_objects import (
    DATA,
    DESCR,
    DIMS,
    FLAGS,
    NDIM,
    SIZE,
    STRIDES,
    WRITEABLE,
    items_of,
    table,
    type_of,
)
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I32, I64, NULL, PTR, VOID


def write_outputs(module: Module) -> None:
    """Write `pk_outputs(frame, number)`."""
    _output(module)
    _outputs(module)


def _output(module: Module) -> None:
    """`pk_output(frame, value)`: the array that stands for it, itself where it is none of those, null where Python has
    to look at it."""
    f = Body(module, "pk_output", PTR, [PTR, PTR])
    frame, value = f.arguments
    with f.if_then(f.is_(type_of(f, value), "==", table(f, "ndarray")), likely=True):
        f.ret(value)
    kind = f.call("pk_kind", I64, value)
    f.need(f.is_(kind, "!=", 0), value)
    view = f.call("pk_new_view", PTR, frame)
    f.need(f.is_(view, "!=", NULL), NULL)
    f.need(f.call("pk_view", TRUE.type, frame, view, value, kind), NULL)
    descr = f.load(PTR, view, DESCR)
    f.call("Py_IncRef", VOID, descr)  # its reference is taken
    flags = f.and_(f.load(I32, view, FLAGS), I32(WRITEABLE))
    parts = (
        f.load(I32, view, NDIM),
        f.load(PTR, view, DIMS),
        f.load(PTR, view, STRIDES),
        f.load(PTR, view, DATA),
    )
    make = table(f, "PyArray_NewFromDescr")
    array = f.call_pointer(make, PTR, table(f, "ndarray"), descr, *parts, flags, NULL)
    with f.if_then(f.is_(array, "==", NULL), likely=False):
        clear(f)
        f.ret(NULL)
    f.store(array, view, MADE)
    f.ret(f.call("pk_hold", PTR, frame, array))


def _outputs(module: Module) -> None:
    """Whether what stands at that place, in the values of the frame, is such that the call may be tried."""
    f = Body(module, "pk_outputs", TRUE.type, [PTR, I64])
    frame, number = f.arguments
    values = f.place(frame, VALUES)
    out = f.word(values, number, PTR)
    made = f.variable(out)
    with f.if_else(f.is_(type_of(f, out), "==", f.outside("PyTuple_Type"))) as (several, one):
        with several:
            count, items = f.load(I64, out, SIZE), items_of(f, out)
            f.need(f.is_(count, "<=", MOST_VIEWS), TRUE)
            found, other = f.stack(f"[{MOST_VIEWS} x ptr], align 16"), f.variable(0)
            with f.loop(count) as n:
                item = f.word(items, n, PTR)
                array = f.call("pk_output", PTR, frame, item)
                f.need(f.is_(array, "!=", NULL), FALSE)
                f.put(array, found, n)
                with f.if_then(f.is_(array, "!=", item)):
                    f.store(1, other)
            with f.if_then(f.is_(f.load(I64, other), "!=", 0)):
                f.store(f.call("pk_tuple", PTR, frame, found, count), made)
        with one:
            f.store(f.call("pk_output", PTR, frame, out), made)
    given = f.load(PTR, made)
    f.need(f.is_(given, "!=", NULL), FALSE)
    with f.if_then(f.is_(given, "!=", out)):
        f.put(given, values, number)
        f.store(1, frame, CHANGED)
    f.ret(TRUE)
