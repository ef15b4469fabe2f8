"""The second half of the programs' entry: arrays for the results, and the returned value.

Comes in: a plan and the state, for `pk_given` (arrays of `out`), `pk_fresh` and `pk_made` (NumPy's), `pk_value` (after
the run). Goes out: pointers in the state; an object.
"""

from __future__ import annotations

from llvmlite import ir

from pykern.abi import DENSE, RESULT_WORDS, STEP_KINDS, WRITEABLE
from pykern.lowering.llvm.entry import DATA
from pykern.lowering.llvm.program.builder import F64, I1, I8, I32, I64, NULL, PTR, Body, Value
from pykern.lowering.llvm.program.entry_state import (
    ARRAYS,
    LIST_ITEMS,
    NUMBERS,
    OBJECTS,
    RESULTS,
    SIZE,
    SLOT,
    SLOTS,
    plan_word,
    result_word,
    section,
    table,
    type_of,
)


def write_results(module: ir.Module) -> None:
    """Write them all."""
    _given(module)
    _fresh(module)
    _kept(module)
    _made(module)
    _leaf(module)
    _joined(module)
    _value(module)


def _given(module: ir.Module) -> None:
    """Whether `out` is an array for each result that can be written; they are the results then, not held yet."""
    f = Body(module, "pk_given", I1, [PTR, PTR, PTR])
    plan, out, state = f.arguments
    count = plan_word(f, plan, "given")
    f.need(f.is_(count, "!=", 0), I1(0))
    items = f.variable(NULL, PTR)
    first = f.function.append_basic_block()
    kind = type_of(f, out)
    with f.at.if_else(f.is_(count, "==", 1)) as (alone, several):
        with alone:
            f.store(out, f.place(state, RESULTS))
            f.store(f.place(state, RESULTS), items)
        with several:
            with f.at.if_else(f.is_(kind, "==", f.outside("PyTuple_Type"))) as (tuples, others):
                with tuples:
                    f.store(f.place(out, table(f, "tuple_items", I64)), items)
                with others:
                    f.need(f.is_(kind, "==", f.outside("PyList_Type")), I1(0))
                    f.store(f.load(PTR, out, LIST_ITEMS), items)
            f.need(f.is_(f.load(I64, out, SIZE), "==", count), I1(0))
    f.at.branch(first)
    f.at.position_at_end(first)
    record = f.variable(section(f, plan, "results_at"), PTR)
    slot = f.load(I64, state, SLOT)
    with f.loop(count) as n:
        at = f.load(PTR, record)
        array = f.word(f.load(PTR, items), n, PTR)
        f.need(f.is_(type_of(f, array), "==", table(f, "ndarray")), I1(0))
        wanted = f.place(at, 8 * RESULT_WORDS.index("descr"))
        f.need(f.call("pk_fits", I1, array, wanted, I64(DENSE | WRITEABLE)), I1(0))
        size = result_word(f, at, "bytes")
        f.need(f.call("pk_apart", I1, state, array, size, I64(1), I64(1)), I1(0))
        f.put(array, f.place(state, RESULTS), n)
        f.put(f.load(I64, array, DATA), f.place(state, SLOTS), f.at.add(slot, n))
        f.store(f.place(at, f.at.mul(result_word(f, at, "length"), I64(8))), record)
    f.at.ret(I1(1))


def _fresh(module: ir.Module) -> None:
    """Make an array for each result; of a number a place on the stack. False where there is no memory: an error is
    set, and the results made so far are there."""
    f = Body(module, "pk_fresh", I1, [PTR, PTR])
    plan, state = f.arguments
    record = f.variable(section(f, plan, "results_at"), PTR)
    slot = f.load(I64, state, SLOT)
    count = plan_word(f, plan, "results")
    with f.loop(count) as n:
        f.put(NULL, f.place(state, RESULTS), n)
    with f.loop(count) as n:
        at = f.load(PTR, record)
        cell = f.place(f.place(state, SLOTS), f.at.mul(f.at.add(slot, n), I64(8)))
        with f.at.if_else(f.is_(result_word(f, at, "number"), "!=", 0)) as (number, array):
            with number:
                place = f.place(f.place(state, NUMBERS), f.at.mul(n, I64(8)))
                f.store(place, cell)
            with array:
                descr = result_word(f, at, "descr", PTR)
                f.call("Py_IncRef", ir.VoidType(), descr)  # its reference is taken
                rank = f.at.trunc(result_word(f, at, "rank"), I32)
                make = table(f, "PyArray_NewFromDescr")
                lengths = f.place(at, 8 * len(RESULT_WORDS))
                made = f.call_pointer(
                    make, PTR, table(f, "ndarray"), descr, rank, lengths, NULL, NULL, I32(0), NULL
                )
                f.need(f.is_(made, "!=", NULL), I1(0))
                f.put(made, f.place(state, RESULTS), n)
                f.store(f.load(I64, made, DATA), cell)
        f.store(f.place(at, f.at.mul(result_word(f, at, "length"), I64(8))), record)
    f.at.ret(I1(1))


def _kept(module: ir.Module) -> None:
    """Let NumPy take kept memory for what is made next. What it took before, to be set again; null where nothing is
    changed: the user has a handler."""
    f = Body(module, "pk_kept", PTR, [])
    handle = table(f, "PyDataMem_SetHandler")
    before = f.call_pointer(handle, PTR, table(f, "handler"))
    with f.at.if_then(f.is_(before, "==", NULL), likely=False):
        f.call("PyErr_Clear", ir.VoidType())
        f.at.ret(NULL)
    with f.at.if_then(f.is_(before, "!=", table(f, "default_handler")), likely=False):
        f.call("Py_DecRef", ir.VoidType(), f.call_pointer(handle, PTR, before))
        f.call("Py_DecRef", ir.VoidType(), before)
        f.at.ret(NULL)
    f.at.ret(before)


def _made(module: ir.Module) -> None:
    """`pk_fresh` of large results: in kept memory where that is loaded."""
    f = Body(module, "pk_made", I1, [PTR, PTR])
    f.function.attributes.add("noinline")  # small results are in a hurry
    with f.at.if_then(f.is_(table(f, "handler"), "==", NULL)):
        f.at.ret(f.call("pk_fresh", I1, *f.arguments))
    before = f.call("pk_kept", PTR)
    good = f.call("pk_fresh", I1, *f.arguments)
    with f.at.if_then(f.is_(before, "!=", NULL), likely=True):
        error = [f.variable(NULL, PTR) for _ in range(3)]  # nothing is set with an error on its way
        f.call("PyErr_Fetch", ir.VoidType(), *error)
        f.call("Py_DecRef", ir.VoidType(), f.call_pointer(table(f, "PyDataMem_SetHandler"), PTR, before))
        f.call("Py_DecRef", ir.VoidType(), before)
        f.call("PyErr_Restore", ir.VoidType(), *[f.load(PTR, e) for e in error])
    f.at.ret(good)


def _leaf(module: ir.Module) -> None:
    """A new reference to what a step makes of nothing; null where there is an error."""
    f = Body(module, "pk_leaf", PTR, [PTR, PTR])
    step, state = f.arguments
    number = f.load(I64, step, 8)
    place = f.variable(NULL, PTR)
    unknown = f.function.append_basic_block()
    choice = f.at.switch(f.load(I64, step), unknown)
    f.at.position_at_end(unknown)
    f.at.unreachable()

    def case(kind: str) -> None:
        block = f.function.append_basic_block(kind)
        choice.add_case(I64(STEP_KINDS[kind]), block)
        f.at.position_at_end(block)

    def known(value: Value) -> None:
        f.call("Py_IncRef", ir.VoidType(), value)
        f.at.ret(value)

    def number_at() -> Value:
        """Where the number stands: in an array of `out`, or on the stack."""
        f.store(f.place(f.place(state, NUMBERS), f.at.mul(number, I64(8))), place)
        held = f.word(f.place(state, RESULTS), number, PTR)
        with f.at.if_then(f.is_(held, "!=", NULL)):
            f.store(f.load(PTR, held, DATA), place)
        return f.load(PTR, place)

    case("argument")
    known(f.word(f.place(state, ARRAYS), number, PTR))
    case("result")
    known(f.word(f.place(state, RESULTS), number, PTR))
    case("object")
    known(f.load(PTR, step, 8))
    case("float")
    f.at.ret(f.call("PyFloat_FromDouble", PTR, f.load(F64, number_at())))
    case("int")
    f.at.ret(f.call("PyLong_FromLongLong", PTR, f.load(I64, number_at())))
    case("bool")
    truth = f.is_(f.at.zext(f.load(I8, number_at()), I64), "!=", 0)
    known(f.at.select(truth, f.outside("_Py_TrueStruct"), f.outside("_Py_FalseStruct")))
    case("scalar")
    make, descr = table(f, "PyArray_Scalar"), f.load(PTR, step, 16)
    f.at.ret(f.call_pointer(make, PTR, number_at(), descr, NULL))


def _joined(module: ir.Module) -> None:
    """A tuple of these values, or what a step calls makes of them; their references are taken."""
    f = Body(module, "pk_joined", PTR, [PTR, PTR, I64])
    step, values, count = f.arguments
    with f.at.if_then(f.is_(f.load(I64, step), "==", STEP_KINDS["call"])):
        made = f.call("PyObject_Vectorcall", PTR, f.load(PTR, step, 16), values, count, NULL)
        with f.loop(count) as n:
            f.call("Py_DecRef", ir.VoidType(), f.word(values, n, PTR))
        f.at.ret(made)
    made = f.call("PyTuple_New", PTR, count)
    with f.at.if_then(f.is_(made, "==", NULL), likely=False):
        with f.loop(count) as n:
            f.call("Py_DecRef", ir.VoidType(), f.word(values, n, PTR))
        f.at.ret(NULL)
    items = f.place(made, table(f, "tuple_items", I64))
    with f.loop(count) as n:
        f.put(f.word(values, n, PTR), items, n)
    f.at.ret(made)


def _value(module: ir.Module) -> None:
    """Put the returned value together; null where there is an error."""
    f = Body(module, "pk_value", PTR, [PTR, PTR])
    plan, state = f.arguments
    steps, values = section(f, plan, "steps_at"), f.place(state, OBJECTS)  # the arguments have been read
    made = f.variable(0)
    value = f.variable(NULL, PTR)
    with f.loop(plan_word(f, plan, "steps")) as n:
        step = f.place(steps, f.at.mul(n, I64(24)))
        with f.at.if_else(f.is_(f.load(I64, step), "<", STEP_KINDS["tuple"]), likely=True) as (leaf, several):
            with leaf:
                f.store(f.call("pk_leaf", PTR, step, state), value)
            with several:
                count = f.load(I64, step, 8)
                f.store(f.at.sub(f.load(I64, made), count), made)
                last = f.place(values, f.at.mul(f.load(I64, made), I64(8)))
                f.store(f.call("pk_joined", PTR, step, last, count), value)
        with f.at.if_then(f.is_(f.load(PTR, value), "==", NULL), likely=False):
            with f.loop(f.load(I64, made)) as k:
                f.call("Py_DecRef", ir.VoidType(), f.word(values, k, PTR))
            f.at.ret(NULL)
        f.put(f.load(PTR, value), values, f.load(I64, made))
        f.add(made, 1)
    f.at.ret(f.load(PTR, value))
