"""The call itself: `pk_adapt` puts it into the form that entries know, tries them one by one, and else calls Python.

Comes in: a vectorcall that no entry of the kernel's object took. Goes out: what an entry gives, or Python's way.
Entries are called with an object of cells that has one entry alone and falls to `pk_missed`: so it is known which of
them ran, and what it has written. Read next: `places`, `space`, `arrays`; `after_launch` is what comes behind a launch.
"""

from __future__ import annotations

from pykern.data.abi import ENTRIES, FOREIGN, KERNEL_CELLS
from pykern.lowering.llvm.adapt.after_launch import write_after
from pykern.lowering.llvm.adapt.frame import (
    CELLS,
    CHANGED,
    FALSE,
    FRAME,
    HELD,
    NAMES,
    NUMBER,
    OF_JAX,
    OUTPUTS,
    POSITIONAL,
    TENSORS,
    TRUE,
    VALUES,
    VIEWS,
    cell,
)
from pykern.lowering.llvm.adapt.outputs import write_outputs
from pykern.lowering.llvm.adapt.places import write_places
from pykern.lowering.llvm.adapt.space import write_space, write_tuple
from pykern.lowering.llvm.forget import clear
from pykern.lowering.llvm.python_objects import DESCR, SIZE, items_of, table, type_of
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I64, NULL, PTR, VOID, Value

BASIC_SIZE = 32
"""Byte offset in a type: the bytes of its objects; the cells are the last."""


def write_calls(module: Module) -> None:
    """Write `pk_adapt` and `pk_missed`, functions of Python's with METH_FASTCALL | METH_KEYWORDS."""
    write_tuple(module)
    write_space(module)
    write_places(module)
    _kind(module)
    _value(module)
    write_outputs(module)
    _put(module)
    write_after(module)
    _tried(module)
    _missed(module)
    _adapt(module)


def cells_of(f: Body, value: Value) -> Value:
    """The cells at the end of a kernel's or a program's object."""
    size = f.load(I64, type_of(f, value), BASIC_SIZE)
    return f.place(value, f.sub(size, 8 * len(KERNEL_CELLS)))


def _kind(module: Module) -> None:
    """`pk_kind(value)`: the bits of `FOREIGN` of its type, 0 for others."""
    f = Body(module, "pk_kind", I64, [PTR])
    (value,) = f.arguments
    found = f.call("PyDict_GetItemWithError", PTR, table(f, "kinds"), type_of(f, value))
    with f.if_then(f.is_(found, "==", NULL)):
        clear(f)
        f.ret(0)
    f.ret(f.call("PyLong_AsLongLong", I64, found))


def _value(module: Module) -> None:
    """`pk_value(frame, number)`: whether it may be as it is, or there is a view of it now."""
    f = Body(module, "pk_value", TRUE.type, [PTR, I64])
    frame, number = f.arguments
    values = f.place(frame, VALUES)
    value = f.word(values, number, PTR)
    kind = type_of(f, value)
    is_array = f.is_(kind, "==", table(f, "ndarray"))
    foreign = f.variable(FOREIGN["subclass"])
    with f.if_else(is_array) as (array, other):
        with array:
            descr = f.load(PTR, value, DESCR)
            f.need(f.is_(f.call("pk_numpy_dtype", PTR, descr), "!=", descr), TRUE)
        with other:
            for known in ("PyFloat_Type", "PyLong_Type", "PyBool_Type"):
                f.need(f.is_(kind, "!=", f.outside(known)), TRUE)
            f.store(f.call("pk_kind", I64, value), foreign)
            f.need(f.is_(f.load(I64, foreign), "!=", 0), TRUE)
    view = f.call("pk_new_view", PTR, frame)
    f.need(f.is_(view, "!=", NULL), FALSE)
    f.need(f.call("pk_view", TRUE.type, frame, view, value, f.load(I64, foreign)), FALSE)
    f.store(number, view, NUMBER)
    f.put(view, values, number)
    f.store(1, frame, CHANGED)
    f.ret(TRUE)


def _put(module: Module) -> None:
    """`pk_put(cells, args, positional, names, frame)`: whether the call is another one now, that may be tried."""
    f = Body(module, "pk_put", TRUE.type, [PTR, PTR, I64, PTR, PTR])
    cells, *_, frame = f.arguments
    f.need(f.call("pk_places", TRUE.type, *f.arguments), FALSE)
    values, positional, names = (
        f.place(frame, VALUES),
        f.load(I64, frame, POSITIONAL),
        f.load(PTR, frame, NAMES),
    )
    with f.loop(positional) as n:
        f.need(f.call("pk_value", TRUE.type, frame, n), FALSE)
    with f.if_then(f.is_(names, "!=", NULL), likely=True), f.loop(f.load(I64, names, SIZE)) as n:
        name, place = f.word(items_of(f, names), n, PTR), f.add(positional, n)
        value = f.word(values, place, PTR)
        program = f.is_(f.load(I64, cells, cell("program")), "!=", 0)
        with f.if_else(program) as (of_program, of_kernel):
            with of_program, f.if_else(f.is_(name, "==", table(f, "out"))) as (out, argument):
                with out:
                    f.store(1, frame, OUTPUTS)
                    f.need(f.call("pk_outputs", TRUE.type, frame, place), FALSE)
                with argument:
                    f.need(f.call("pk_value", TRUE.type, frame, place), FALSE)
            with of_kernel, f.if_then(f.is_(name, "==", table(f, "ndrange")), likely=True):
                space = f.call("pk_space", PTR, frame, value)
                f.need(f.is_(space, "!=", NULL), FALSE)
                with f.if_then(f.is_(space, "!=", value)):
                    f.put(space, values, place)
                    f.store(1, frame, CHANGED)
    f.ret(f.is_(f.load(I64, frame, CHANGED), "!=", 0))


def _tried(module: Module) -> None:
    """`pk_tried(object, frame)`: the value of the entry that took the call, null with an error; `missed` else."""
    f = Body(module, "pk_tried", PTR, [PTR, PTR])
    this, frame = f.arguments
    cells, mine, missed = cells_of(f, this), f.place(frame, CELLS), table(f, "missed")
    alone = f.place(mine, f.sub(f.cast("ptrtoint", this, I64), f.cast("ptrtoint", cells, I64)))
    program = f.load(I64, cells, cell("program"))
    with f.loop(ENTRIES) as n:
        entry = f.word(f.place(cells, cell("entry0")), n, PTR)
        f.need(f.is_(entry, "!=", NULL), missed)
        writes = f.word(f.place(cells, cell("writes0")), n)
        fits = f.call("pk_may_take", TRUE.type, frame, writes)
        with f.if_then(fits, likely=True):
            f.store(f.load(PTR, cells, cell("guards")), mine, cell("guards"))
            f.store(missed, mine, cell("slow"))
            f.store(entry, mine, cell("entry0"))
            f.store(NULL, mine, cell("entry1"))
            first = f.load(PTR, cells, cell("vectorcall"))
            code = f.select(f.is_(program, "!=", 0), first, entry)
            f.need(f.is_(code, "!=", NULL), missed)
            values, positional = f.place(frame, VALUES), f.load(I64, frame, POSITIONAL)
            made = f.call_pointer(code, PTR, alone, values, positional, f.load(PTR, frame, NAMES))
            with f.if_then(f.is_(made, "!=", missed)):
                after = f.call("pk_after", PTR, frame, made, writes)
                with f.if_then(f.is_(program, "!=", 0)):
                    f.ret(f.call("pk_as_given", PTR, frame, after))
                f.ret(after)
            f.call("Py_DecRef", VOID, made)
    f.ret(missed)


def _missed(module: Module) -> None:
    """What an entry calls for Python: nothing is done, and what comes back says so."""
    f = Body(module, "pk_missed", PTR, [PTR, PTR, I64, PTR])
    missed = table(f, "missed")
    f.call("Py_IncRef", VOID, missed)
    f.ret(missed)


def _adapt(module: Module) -> None:
    """Of a kernel's or program's object."""
    f = Body(module, "pk_adapt", PTR, [PTR, PTR, I64, PTR])
    this, args, positional, names = f.arguments
    frame = f.stack(f"[{FRAME // 8} x i64], align 16")
    for word in (CHANGED, VIEWS, TENSORS, OF_JAX, OUTPUTS, HELD):
        f.store(0, frame, word)
    cells = cells_of(f, this)
    made = f.variable(table(f, "missed"))
    with f.if_then(f.call("pk_put", TRUE.type, cells, args, positional, names, frame), likely=True):
        f.store(f.call("pk_tried", PTR, this, frame), made)
    value = f.load(PTR, made)
    error = [f.variable(NULL) for _ in range(3)]  # what is given back may run code
    with f.if_then(f.is_(value, "==", NULL), likely=False):
        f.call("PyErr_Fetch", VOID, *error)
    f.call("pk_release", VOID, frame)
    with f.if_then(f.is_(value, "==", NULL), likely=False):
        f.call("PyErr_Restore", VOID, *[f.load(PTR, e) for e in error])
    f.need(f.is_(value, "==", table(f, "missed")), value)
    python = f.load(PTR, cells, cell("python"))
    f.ret(f.call("PyObject_Vectorcall", PTR, python, args, positional, names))
