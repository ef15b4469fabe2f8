"""The first half of the programs' entry: whether the arguments of a call are those a plan was made for.

Comes in: `pk_arguments(plan, args, positional, keywords, state)`; names and values of keywords are in the state. Goes
out: true, and cells, arrays and bytes in the state. Read next: `entry_results`.
"""

from __future__ import annotations

from pykern.data.abi import ARGUMENT_KINDS, PLAN_WORDS
from pykern.lowering.llvm.forget import clear
from pykern.lowering.llvm.program.entry_state import (
    ARRAYS,
    HIGH,
    LOW,
    NAMES,
    OBJECTS,
    SLOT,
    SLOTS,
    SPAN,
    WRITES,
    plan_word,
    section,
)
from pykern.lowering.llvm.python_objects import (
    DATA,
    DESCR,
    DIMS,
    FLAGS,
    LIST_ITEMS,
    NDIM,
    PAYLOAD,
    SIZE,
    integer,
    item_of,
    need_type,
    numpy_array,
)
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import F32, F64, I1, I32, I64, NULL, PTR, VOID, Value


def write_arguments(module: Module) -> None:
    """Write `pk_arguments`, and `pk_fits` and `pk_apart`, which results need too."""
    _numpy(module)
    _fits(module)
    _apart(module)
    _arguments(module)


def _numpy(module: Module) -> None:
    """The value, or the NumPy array that stands for a pykern.Array on the CPU that was not freed; else null."""
    f = Body(module, "pk_numpy", PTR, [PTR])
    f.ret(numpy_array(f, f.arguments[0], NULL))


def _fits(module: Module) -> None:
    """Whether a NumPy array has these flags, and the descr, rank and lengths that stand in a record."""
    f = Body(module, "pk_fits", I1, [PTR, PTR, I64])
    array, wanted, flags = f.arguments
    f.need(f.is_(f.load(PTR, array, DESCR), "==", f.load(PTR, wanted)), I1(0))
    rank = f.load(I64, wanted, 8)
    f.need(f.is_(f.cast("zext", f.load(I32, array, NDIM), I64), "==", rank), I1(0))
    has = f.cast("zext", f.load(I32, array, FLAGS), I64)
    f.need(f.is_(f.and_(has, flags), "==", flags), I1(0))
    lengths = f.load(PTR, array, DIMS)
    with f.loop(rank) as d:
        f.need(f.is_(f.word(lengths, d), "==", f.word(f.place(wanted, 24), d)), I1(0))
    f.ret(I1(1))


def _apart(module: Module) -> None:
    """Note the bytes of an array; whether none of them is written here or there and used by both."""
    f = Body(module, "pk_apart", I1, [PTR, PTR, I64, I64, I64])
    state, array, size, writes, look = f.arguments
    low = f.load(I64, array, DATA)
    high = f.add(low, size)
    count = f.load(I64, state, SPAN)
    with f.if_then(f.is_(look, "!=", 0)), f.loop(count) as n:
        either = f.or_(writes, f.word(f.place(state, WRITES), n))
        before = f.is_(high, "<=", f.word(f.place(state, LOW), n))
        after = f.is_(f.word(f.place(state, HIGH), n), "<=", low)
        harmless = f.or_(f.is_(either, "==", 0), f.or_(before, after))
        f.need(harmless, I1(0))
    for value, place in ((low, LOW), (high, HIGH), (writes, WRITES)):
        f.put(value, f.place(state, place), count)
    f.increase(f.place(state, SPAN), 1)
    f.ret(I1(1))


def _arguments(module: Module) -> None:
    """Whether the arguments are of the plan's kind; their cells, arrays and bytes are in the state then."""
    f = Body(module, "pk_arguments", I1, [PTR, PTR, I64, I64, PTR])
    plan, args, positional, keywords, state = f.arguments
    f.need(f.is_(positional, "==", plan_word(f, plan, "positional")), I1(0))
    f.need(f.is_(keywords, "==", plan_word(f, plan, "keywords")), I1(0))
    names = section(f, plan, "names_at")
    with f.loop(keywords) as n:
        f.need(f.is_(f.word(f.place(state, NAMES), n, PTR), "==", f.word(names, n, PTR)), I1(0))
    f.store(0, state, SLOT)
    f.store(0, state, SPAN)
    with f.loop(positional) as n:
        f.put(f.word(args, n, PTR), f.place(state, OBJECTS), n)
    known = f.variable(f.add(positional, keywords))
    record = f.variable(f.place(plan, 8 * len(PLAN_WORDS)))
    with f.loop(plan_word(f, plan, "arguments")):
        at = f.load(PTR, record)
        value = f.word(f.place(state, OBJECTS), f.load(I64, at, 16), PTR)
        after = f.new_block()
        f.put(NULL, f.place(state, ARRAYS), f.load(I64, state, SLOT))
        blocks = {kind: f.new_block(kind) for kind in _READS}
        f.switch(f.load(I64, at, 8), {ARGUMENT_KINDS[kind]: b for kind, b in blocks.items()}, after)
        for kind, read in _READS.items():
            f.block = blocks[kind]
            cell = read(f, plan, state, value, f.place(at, 24), known)
            if cell is not None:
                slot = f.load(I64, state, SLOT)
                f.put(cell, f.place(state, SLOTS), slot)
                f.increase(f.place(state, SLOT), 1)
            f.branch(after)
        f.block = after
        f.store(f.place(at, f.mul(f.load(I64, at), 8)), record)
    f.ret(I1(1))


def _read_array(f: Body, plan: Value, state: Value, value: Value, words: Value, known: Value) -> Value:
    array = f.call("pk_numpy", PTR, value)
    f.need(f.is_(array, "!=", NULL), I1(0))
    wanted = f.place(words, 16)
    f.need(f.call("pk_fits", I1, array, wanted, f.load(I64, words)), I1(0))
    look = plan_word(f, plan, "writers")
    size, writes = f.load(I64, wanted, 16), f.load(I64, words, 8)
    f.need(f.call("pk_apart", I1, state, array, size, writes, look), I1(0))
    f.put(array, f.place(state, ARRAYS), f.load(I64, state, SLOT))
    return f.load(I64, array, DATA)


def _read_payload(f: Body, plan: Value, state: Value, value: Value, words: Value, known: Value) -> Value:
    need_type(f, value, f.load(PTR, words), I1(0))
    unused = f.load(I64, words, 8)
    high = f.shl(f.load(I64, value, PAYLOAD), unused)
    signed = f.is_(f.load(I64, words, 16), "!=", 0)
    return f.select(signed, f.ashr(high, unused), f.lshr(high, unused))


def _read_narrowed(f: Body, plan: Value, state: Value, value: Value, words: Value, known: Value) -> Value:
    need_type(f, value, f.outside("PyFloat_Type"), I1(0))
    number = f.cast("fptrunc", f.load(F64, value, PAYLOAD), F32)
    return f.cast("zext", f.cast("bitcast", number, I32), I64)


def _read_int(f: Body, plan: Value, state: Value, value: Value, words: Value, known: Value) -> Value:
    return integer(f, value, I1(0))


def _read_bool(f: Body, plan: Value, state: Value, value: Value, words: Value, known: Value) -> Value:
    need_type(f, value, f.outside("PyBool_Type"), I1(0))
    return f.cast("zext", f.is_(value, "==", f.outside("_Py_TrueStruct")), I64)


def _read_same(f: Body, plan: Value, state: Value, value: Value, words: Value, known: Value) -> None:
    f.need(f.is_(value, "==", f.load(PTR, words)), I1(0))


def _read_equal(f: Body, plan: Value, state: Value, value: Value, words: Value, known: Value) -> None:
    f.need(f.is_(_read_int(f, plan, state, value, words, known), "==", f.load(I64, words)), I1(0))


def _read_tuple(f: Body, plan: Value, state: Value, value: Value, words: Value, known: Value) -> None:
    need_type(f, value, f.load(PTR, words), I1(0))
    count = f.load(I64, words, 8)
    f.need(f.is_(f.load(I64, value, SIZE), "==", count), I1(0))
    with f.loop(count) as n:
        f.put(item_of(f, value, n), f.place(state, OBJECTS), f.load(I64, known))
        f.increase(known, 1)


def _read_list(f: Body, plan: Value, state: Value, value: Value, words: Value, known: Value) -> None:
    need_type(f, value, f.outside("PyList_Type"), I1(0))
    count = f.load(I64, words)
    f.need(f.is_(f.load(I64, value, SIZE), "==", count), I1(0))
    items = f.load(PTR, value, LIST_ITEMS)
    with f.loop(count) as n:
        f.put(f.word(items, n, PTR), f.place(state, OBJECTS), f.load(I64, known))
        f.increase(known, 1)


def _read_dict(f: Body, plan: Value, state: Value, value: Value, words: Value, known: Value) -> None:
    """With the same keys in the same order: programs may run over them. Keys need not be the same objects."""
    need_type(f, value, f.outside("PyDict_Type"), I1(0))
    count = f.load(I64, words)
    f.need(f.is_(f.call("PyDict_Size", I64, value), "==", count), I1(0))
    place, key, item = f.variable(0), f.variable(NULL), f.variable(NULL)
    with f.loop(count) as n:
        more = f.call("PyDict_Next", I32, value, place, key, item)
        f.need(f.is_(more, "!=", 0), I1(0))
        found, wanted = f.load(PTR, key), f.word(f.place(words, 8), n, PTR)
        with f.if_then(f.is_(found, "!=", wanted)):
            need_type(f, found, f.outside("PyUnicode_Type"), I1(0))
            order = f.call("PyUnicode_Compare", I32, found, wanted)
            f.need(f.is_(order, "==", 0), I1(0))
        f.put(f.load(PTR, item), f.place(state, OBJECTS), f.load(I64, known))
        f.increase(known, 1)


def _read_fields(f: Body, plan: Value, state: Value, value: Value, words: Value, known: Value) -> None:
    """Of an object that holds them itself: `pykern.program.plan_words` looks at its type."""
    need_type(f, value, f.load(PTR, words), I1(0))
    with f.loop(f.load(I64, words, 8)) as n:
        held = f.call("PyObject_GetAttr", PTR, value, f.word(f.place(words, 16), n, PTR))
        with f.if_then(f.is_(held, "==", NULL), likely=False):
            clear(f)
            f.ret(I1(0))
        f.call("Py_DecRef", VOID, held)  # the object has another reference
        f.put(held, f.place(state, OBJECTS), f.load(I64, known))
        f.increase(known, 1)


def _read_default(f: Body, plan: Value, state: Value, value: Value, words: Value, known: Value) -> Value:
    return f.load(I64, words)


_READS = {
    "array": _read_array,
    "payload": _read_payload,
    "narrowed": _read_narrowed,
    "int": _read_int,
    "bool": _read_bool,
    "same": _read_same,
    "equal": _read_equal,
    "tuple": _read_tuple,
    "default": _read_default,
    "list": _read_list,
    "dict": _read_dict,
    "fields": _read_fields,
}
