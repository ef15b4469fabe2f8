"""What an entry may take, and what comes behind its launch: writes are counted, `out` comes back as it was given.

Comes in: "writes" of the entry (`pykern.data.abi`) and the frame. Goes out: the value of the call.
"""

from __future__ import annotations

from pykern.data.abi import FOREIGN, WRITES_FLAGS
from pykern.lowering.llvm.adapt.frame import (
    FALSE,
    KIND,
    MADE,
    MOST_VIEWS,
    NUMBER,
    OF_JAX,
    ORIGINAL,
    OUTPUTS,
    TENSORS,
    TRUE,
    VIEWS,
    view_at,
)
from pykern.lowering.llvm.python_objects import SIZE, items_of, table, type_of
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I64, NULL, PTR, VOID, Value


def write_after(module: Module) -> None:
    """Write `pk_may_take(frame, writes)`, `pk_after(frame, value, writes)` and `pk_as_given(frame, value)`."""
    _may_take(module)
    _counted(module)
    _given(module)
    _after(module)
    _as_given(module)


def _flag(f: Body, writes: Value, name: str) -> Value:
    return f.is_(f.and_(writes, 1 << WRITES_FLAGS[name]), "!=", 0)


def _may_take(module: Module) -> None:
    """An entry that hands arrays out may not have views of them; arrays of `out` are found in plain tuples alone."""
    f = Body(module, "pk_may_take", TRUE.type, [PTR, I64])
    frame, writes = f.arguments
    hands_out, nested = _flag(f, writes, "hands_out"), _flag(f, writes, "nested")
    with f.loop(f.load(I64, frame, VIEWS)) as n:
        view = view_at(f, frame, n)
        given = f.is_(f.load(PTR, view, MADE), "!=", NULL)
        f.need(f.xor(f.select(given, nested, hands_out), TRUE), FALSE)
    f.ret(TRUE)


def _counted(module: Module) -> None:
    """`pk_counted(frame, writes)`: tell PyTorch which tensors were written; false with an error."""
    f = Body(module, "pk_counted", TRUE.type, [PTR, I64])
    frame, writes = f.arguments
    written, count = f.stack(f"[{MOST_VIEWS} x ptr], align 16"), f.variable(0)
    with f.loop(f.load(I64, frame, VIEWS)) as n:
        view = view_at(f, frame, n)
        tensor = f.is_(f.load(I64, view, KIND), "==", FOREIGN["tensor"])
        number = f.load(I64, view, NUMBER)
        is_out = f.is_(number, "<", 0)
        bit = f.and_(f.lshr(writes, f.select(is_out, 0, number)), 1)
        with f.if_then(f.and_(tensor, f.or_(is_out, f.is_(bit, "!=", 0)))):
            f.put(f.load(PTR, view, ORIGINAL), written, f.load(I64, count))
            f.increase(count, 1)
    f.need(f.is_(f.load(I64, count), "!=", 0), TRUE)
    tensors = f.call("pk_tuple", PTR, frame, written, f.load(I64, count))
    f.need(f.is_(tensors, "!=", NULL), FALSE)
    given = f.stack("ptr")
    f.store(tensors, given)
    told = f.call("PyObject_Vectorcall", PTR, table(f, "torch.increment_version"), given, I64(1), NULL)
    f.need(f.is_(told, "!=", NULL), FALSE)
    f.call("Py_DecRef", VOID, told)
    f.ret(TRUE)


def _given(module: Module) -> None:
    """`pk_given(frame, value)`: the object of `out` that a NumPy array stood for, with a reference of its own in place
    of the array's; the very same value where it is no such array."""
    f = Body(module, "pk_given", PTR, [PTR, PTR])
    frame, value = f.arguments
    with f.loop(f.load(I64, frame, VIEWS)) as n:
        view = view_at(f, frame, n)
        with f.if_then(f.is_(f.load(PTR, view, MADE), "==", value)):
            original = f.load(PTR, view, ORIGINAL)
            f.call("Py_IncRef", VOID, original)
            f.call("Py_DecRef", VOID, value)
            f.ret(original)
    f.ret(value)


def _as_given(module: Module) -> None:
    """`pk_as_given(frame, value)`: the value of a program with tensors for its arrays, where it was given tensors and
    no `out`, else with arrays of JAX, where it was given some; takes the value's reference."""
    f = Body(module, "pk_as_given", PTR, [PTR, PTR])
    frame, value = f.arguments
    f.need(f.is_(value, "!=", NULL), NULL)
    tensors = f.is_(f.load(I64, frame, TENSORS), "!=", 0)
    f.need(f.or_(tensors, f.is_(f.load(I64, frame, OF_JAX), "!=", 0)), value)
    f.need(f.is_(f.load(I64, frame, OUTPUTS), "==", 0), value)
    given = f.stack("ptr")
    f.store(value, given)
    maker = f.select(tensors, table(f, "torch.given_tensors"), table(f, "jax.given_arrays"))
    made = f.call("PyObject_Vectorcall", PTR, maker, given, I64(1), NULL)
    f.call("Py_DecRef", VOID, value)
    f.ret(made)


def _after(module: Module) -> None:
    """Also where a signal handler has raised: a part was written then."""
    f = Body(module, "pk_after", PTR, [PTR, PTR, I64])
    frame, made, writes = f.arguments
    result = f.variable(made)
    with f.if_then(f.is_(f.load(I64, frame, TENSORS), "!=", 0)):
        error = [f.variable(NULL) for _ in range(3)]
        f.call("PyErr_Fetch", VOID, *error)
        with f.if_then(f.call("pk_counted", TRUE.type, frame, writes), likely=True):
            f.call("PyErr_Restore", VOID, *[f.load(PTR, e) for e in error])
            f.ret(f.call("pk_returned", PTR, frame, f.load(PTR, result)))
        for one in (result, *error):  # what counting has raised is told
            f.call("Py_DecRef", VOID, f.load(PTR, one))
        f.ret(NULL)
    f.ret(f.call("pk_returned", PTR, frame, made))

    f = Body(module, "pk_returned", PTR, [PTR, PTR])
    frame, value = f.arguments
    f.need(f.is_(f.load(I64, frame, VIEWS), "!=", 0), value)
    f.need(f.is_(value, "!=", NULL), NULL)
    with f.if_then(f.is_(type_of(f, value), "==", f.outside("PyTuple_Type"))):
        items = items_of(f, value)  # of a tuple that nobody else has
        with f.loop(f.load(I64, value, SIZE)) as n:
            f.put(f.call("pk_given", PTR, frame, f.word(items, n, PTR)), items, n)
        f.ret(value)
    f.ret(f.call("pk_given", PTR, frame, value))
