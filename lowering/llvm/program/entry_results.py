"""The second half of the programs' entry: arrays for the results, and the returned value.

Comes in: a plan and the state, for `pk_given` (arrays of `out`), `pk_fresh` and `pk_made` (NumPy's), `pk_value` (after
the run). Goes out: pointers in the state; an object.
"""

from __future__ import annotations

from pykern.data.abi import DENSE, RESULT_WORDS, STEP_KINDS, WRITEABLE
from pykern.lowering.llvm.program.entry_state import (
    ARRAYS,
    NUMBERS,
    OBJECTS,
    RESULTS,
    SLOT,
    SLOTS,
    plan_word,
    result_word,
    section,
)
from pykern.lowering.llvm.python_objects import DATA, LIST_ITEMS, SIZE, table, type_of
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import F64, I1, I8, I32, I64, NULL, PTR, VOID, Value


def write_results(module: Module) -> None:
    """Write them all."""
    _given(module)
    _fresh(module)
    _kept(module)
    _made(module)
    _leaf(module)
    _joined(module)
    _value(module)


def _given(module: Module) -> None:
    """Whether `out` is an array for each result that can be written; they are the results then, not held yet."""
    f = Body(module, "pk_given", I1, [PTR, PTR, PTR])
    plan, out, state = f.arguments
    count = plan_word(f, plan, "given")
    f.need(f.is_(count, "!=", 0), I1(0))
    items = f.variable(NULL)
    first = f.new_block()
    kind = type_of(f, out)
    with f.if_else(f.is_(count, "==", 1)) as (alone, several):
        with alone:
            f.store(out, f.place(state, RESULTS))
            f.store(f.place(state, RESULTS), items)
        with several:
            with f.if_else(f.is_(kind, "==", f.outside("PyTuple_Type"))) as (tuples, others):
                with tuples:
                    f.store(f.place(out, table(f, "tuple_items", I64)), items)
                with others:
                    f.need(f.is_(kind, "==", f.outside("PyList_Type")), I1(0))
                    f.store(f.load(PTR, out, LIST_ITEMS), items)
            f.need(f.is_(f.load(I64, out, SIZE), "==", count), I1(0))
    f.branch(first)
    f.block = first
    record = f.variable(section(f, plan, "results_at"))
    slot = f.load(I64, state, SLOT)
    with f.loop(count) as n:
        at = f.load(PTR, record)
        array = f.word(f.load(PTR, items), n, PTR)
        f.need(f.is_(type_of(f, array), "==", table(f, "ndarray")), I1(0))
        wanted = f.place(at, 8 * RESULT_WORDS.index("descr"))
        f.need(f.call("pk_fits", I1, array, wanted, DENSE | WRITEABLE), I1(0))
        size = result_word(f, at, "bytes")
        f.need(f.call("pk_apart", I1, state, array, size, 1, 1), I1(0))
        f.put(array, f.place(state, RESULTS), n)
        f.put(f.load(I64, array, DATA), f.place(state, SLOTS), f.add(slot, n))
        f.store(f.place(at, f.mul(result_word(f, at, "length"), 8)), record)
    f.ret(I1(1))


def _fresh(module: Module) -> None:
    """Make an array for each result; of a number a place on the stack. False where there is no memory: an error is
    set, and the results made so far are there."""
    f = Body(module, "pk_fresh", I1, [PTR, PTR])
    plan, state = f.arguments
    record = f.variable(section(f, plan, "results_at"))
    slot = f.load(I64, state, SLOT)
    count = plan_word(f, plan, "results")
    with f.loop(count) as n:
        f.put(NULL, f.place(state, RESULTS), n)
    with f.loop(count) as n:
        at = f.load(PTR, record)
        cell = f.place(f.place(state, SLOTS), f.mul(f.add(slot, n), 8))
        with f.if_else(f.is_(result_word(f, at, "number"), "!=", 0)) as (number, array):
            with number:
                place = f.place(f.place(state, NUMBERS), f.mul(n, 8))
                f.store(place, cell)
            with array:
                descr = result_word(f, at, "descr", PTR)
                f.call("Py_IncRef", VOID, descr)  # its reference is taken
                rank = f.cast("trunc", result_word(f, at, "rank"), I32)
                make = table(f, "PyArray_NewFromDescr")
                lengths = f.place(at, 8 * len(RESULT_WORDS))
                made = f.call_pointer(
                    make, PTR, table(f, "ndarray"), descr, rank, lengths, NULL, NULL, I32(0), NULL
                )
                f.need(f.is_(made, "!=", NULL), I1(0))
                f.put(made, f.place(state, RESULTS), n)
                f.store(f.load(I64, made, DATA), cell)
        f.store(f.place(at, f.mul(result_word(f, at, "length"), 8)), record)
    f.ret(I1(1))


def _kept(module: Module) -> None:
    """Let NumPy take kept memory for what is made next. What it took before, to be set again; null where nothing is
    changed: the user has a handler."""
    f = Body(module, "pk_kept", PTR, [])
    handle = table(f, "PyDataMem_SetHandler")
    before = f.call_pointer(handle, PTR, table(f, "handler"))
    with f.if_then(f.is_(before, "==", NULL), likely=False):
        f.call("PyErr_Clear", VOID)
        f.ret(NULL)
    with f.if_then(f.is_(before, "!=", table(f, "default_handler")), likely=False):
        f.call("Py_DecRef", VOID, f.call_pointer(handle, PTR, before))
        f.call("Py_DecRef", VOID, before)
        f.ret(NULL)
    f.ret(before)


def _made(module: Module) -> None:
    """`pk_fresh` of large results: in kept memory where that is loaded."""
    f = Body(module, "pk_made", I1, [PTR, PTR])
    f.attributes.append("noinline")  # small results are in a hurry
    with f.if_then(f.is_(table(f, "handler"), "==", NULL)):
        f.ret(f.call("pk_fresh", I1, *f.arguments))
    before = f.call("pk_kept", PTR)
    good = f.call("pk_fresh", I1, *f.arguments)
    with f.if_then(f.is_(before, "!=", NULL), likely=True):
        error = [f.variable(NULL) for _ in range(3)]  # nothing is set with an error on its way
        f.call("PyErr_Fetch", VOID, *error)
        f.call("Py_DecRef", VOID, f.call_pointer(table(f, "PyDataMem_SetHandler"), PTR, before))
        f.call("Py_DecRef", VOID, before)
        f.call("PyErr_Restore", VOID, *[f.load(PTR, e) for e in error])
    f.ret(good)


def _leaf(module: Module) -> None:
    """A new reference to what a step makes of nothing; null where there is an error."""
    f = Body(module, "pk_leaf", PTR, [PTR, PTR])
    step, state = f.arguments
    number = f.load(I64, step, 8)
    place = f.variable(NULL)
    unknown = f.new_block("unknown")
    blocks = {kind: f.new_block(kind) for kind, n in STEP_KINDS.items() if n < STEP_KINDS["tuple"]}
    f.switch(f.load(I64, step), {STEP_KINDS[kind]: b for kind, b in blocks.items()}, unknown)
    f.block = unknown
    f.unreachable()

    def known(value: Value) -> None:
        f.call("Py_IncRef", VOID, value)
        f.ret(value)

    def number_at() -> Value:
        """Where the number stands: in an array of `out`, or on the stack."""
        f.store(f.place(f.place(state, NUMBERS), f.mul(number, 8)), place)
        held = f.word(f.place(state, RESULTS), number, PTR)
        with f.if_then(f.is_(held, "!=", NULL)):
            f.store(f.load(PTR, held, DATA), place)
        return f.load(PTR, place)

    f.block = blocks["argument"]
    known(f.word(f.place(state, ARRAYS), number, PTR))
    f.block = blocks["result"]
    known(f.word(f.place(state, RESULTS), number, PTR))
    f.block = blocks["object"]
    known(f.load(PTR, step, 8))
    f.block = blocks["float"]
    f.ret(f.call("PyFloat_FromDouble", PTR, f.load(F64, number_at())))
    f.block = blocks["int"]
    f.ret(f.call("PyLong_FromLongLong", PTR, f.load(I64, number_at())))
    f.block = blocks["bool"]
    truth = f.is_(f.cast("zext", f.load(I8, number_at()), I64), "!=", 0)
    known(f.select(truth, f.outside("_Py_TrueStruct"), f.outside("_Py_FalseStruct")))
    f.block = blocks["scalar"]
    make, descr = table(f, "PyArray_Scalar"), f.load(PTR, step, 16)
    f.ret(f.call_pointer(make, PTR, number_at(), descr, NULL))


def _joined(module: Module) -> None:
    """A tuple of these values, or what a step calls makes of them; their references are taken."""
    f = Body(module, "pk_joined", PTR, [PTR, PTR, I64])
    step, values, count = f.arguments
    with f.if_then(f.is_(f.load(I64, step), "==", STEP_KINDS["call"])):
        made = f.call("PyObject_Vectorcall", PTR, f.load(PTR, step, 16), values, count, NULL)
        with f.loop(count) as n:
            f.call("Py_DecRef", VOID, f.word(values, n, PTR))
        f.ret(made)
    made = f.call("PyTuple_New", PTR, count)
    with f.if_then(f.is_(made, "==", NULL), likely=False):
        with f.loop(count) as n:
            f.call("Py_DecRef", VOID, f.word(values, n, PTR))
        f.ret(NULL)
    items = f.place(made, table(f, "tuple_items", I64))
    with f.loop(count) as n:
        f.put(f.word(values, n, PTR), items, n)
    f.ret(made)


def _value(module: Module) -> None:
    """Put the returned value together; null where there is an error."""
    f = Body(module, "pk_value", PTR, [PTR, PTR])
    plan, state = f.arguments
    steps, values = section(f, plan, "steps_at"), f.place(state, OBJECTS)  # the arguments have been read
    made = f.variable(0)
    value = f.variable(NULL)
    with f.loop(plan_word(f, plan, "steps")) as n:
        step = f.place(steps, f.mul(n, 24))
        with f.if_else(f.is_(f.load(I64, step), "<", STEP_KINDS["tuple"]), likely=True) as (leaf, several):
            with leaf:
                f.store(f.call("pk_leaf", PTR, step, state), value)
            with several:
                count = f.load(I64, step, 8)
                f.store(f.sub(f.load(I64, made), count), made)
                last = f.place(values, f.mul(f.load(I64, made), 8))
                f.store(f.call("pk_joined", PTR, step, last, count), value)
        with f.if_then(f.is_(f.load(PTR, value), "==", NULL), likely=False):
            with f.loop(f.load(I64, made)) as k:
                f.call("Py_DecRef", VOID, f.word(values, k, PTR))
            f.ret(NULL)
        f.put(f.load(PTR, value), values, f.load(I64, made))
        f.increase(made, 1)
    f.ret(f.load(PTR, value))
