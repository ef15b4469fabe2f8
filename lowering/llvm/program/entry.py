"""The compiled CPython entry of array programs: one vectorcall for all of them, which reads what to check as data.

Comes in: nothing. Goes out: a shared object with `pk_entry`. The words it reads are told in `pykern.data.abi`
("array programs"), `pykern.program.entry` writes them. For each plan of the program's object in turn: arguments
that fit it (`entry_arguments`), arrays for the results, `pk_run`, and the returned value (`entry_results`). Where
no plan fits, the very same arguments go to Python. A kernel's entry is code of its own,
which is quicker; here that would take longer to compile than many programs do.
"""

from __future__ import annotations

import time

from pykern.data.abi import ENTRIES, KERNEL_CELLS, PLAN_ROOM
from pykern.data.artifact import Artifact
from pykern.lowering.llvm.codegen import generate
from pykern.lowering.llvm.forget import write_forget
from pykern.lowering.llvm.linker import link_shared
from pykern.lowering.llvm.program.entry_arguments import write_arguments
from pykern.lowering.llvm.program.entry_results import write_results
from pykern.lowering.llvm.program.entry_state import (
    ARRAYS,
    NAMES,
    OBJECTS,
    RESULTS,
    SLOT,
    SLOTS,
    STATE_WORDS,
    plan_word,
)
from pykern.lowering.llvm.python_objects import (
    BYTES_PAYLOAD,
    DATA,
    LIST_ITEMS,
    SIZE,
    item_of,
    need_guards,
    table,
)
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I1, I32, I64, NULL, PTR, VOID, Value
from pykern.lowering.record import Record

EXPORTS = ("pk_init", "pk_entry")


def lower(record: Record) -> Artifact:
    """Write it, generate code, link."""
    module = Module()
    for write in (_init, write_forget, write_arguments, write_results, _guarded, _unlocked, _call, _entry):
        write(module)
    code = generate(str(module), (), EXPORTS, texts=record.texts)
    started = time.perf_counter()
    binary = link_shared(*code.objects)
    record.add("link", "", started, "none")
    return Artifact("", "pk_entry", "entry:program", "pk_entry", binary)


def _init(module: Module) -> None:
    table = module.define("pk_table", "internal global ptr null")
    f = Body(module, "pk_init", VOID, [PTR])
    f.store(f.arguments[0], table)
    f.ret()


def _guarded(module: Module) -> None:
    """Whether captured names still mean what they meant when the plans were made."""
    f = Body(module, "pk_guarded", I1, [PTR])
    need_guards(f, f.arguments[0], I1(0))
    f.ret(I1(1))


def _unlocked(module: Module) -> None:
    """Run without Python's lock; false where a signal handler has raised."""
    f = Body(module, "pk_unlocked", I1, [PTR, PTR])
    run, slots = f.arguments
    call = table(f, "pk_call")
    with f.if_then(f.is_(call, "!=", NULL), likely=True):
        f.ret(f.is_(f.call_pointer(call, I32, run, slots), "==", 0))
    thread = f.call("PyEval_SaveThread", PTR)
    f.call_pointer(run, VOID, slots)
    f.call("PyEval_RestoreThread", VOID, thread)
    f.ret(I1(1))


def _call(module: Module) -> None:
    """Run a plan whose arguments fit: the returned value, null with an error set, or 1 where Python has to make
    scratch memory first, or to get the team of threads."""
    f = Body(module, "pk_call", PTR, [PTR, PTR, PTR, PTR])
    owner, plan, out, state = f.arguments
    awaits = f.and_(table(f, "team_awaited", I64), plan_word(f, plan, "long"))
    f.need(f.is_(awaits, "==", 0), f.cast("inttoptr", I64(1), PTR))
    results = f.place(state, RESULTS)
    count = plan_word(f, plan, "results")
    end = f.add(f.load(I64, state, SLOT), count)
    slots = f.place(state, SLOTS)
    scratch = f.variable(NULL)
    f.put(0, slots, end)  # the report
    f.put(0, slots, f.add(end, 1))
    pool = plan_word(f, plan, "pool", PTR)
    block = f.variable(NULL)
    wanted = plan_word(f, plan, "scratch")
    with f.if_then(f.is_(wanted, "!=", 0), likely=False):
        take = table(f, "pk_take")
        with f.if_then(f.is_(take, "!=", NULL)):
            got = f.call_pointer(take, PTR, wanted)
            f.need(f.is_(got, "!=", NULL), f.cast("inttoptr", I64(1), PTR))  # Python says so
            f.store(got, block)
            f.put(got, slots, f.add(end, 1))
    kept = f.is_(f.load(PTR, block), "!=", NULL)
    listed = f.and_(f.is_(pool, "!=", NULL), f.not_(kept))
    with f.if_then(listed):
        free = f.sub(f.load(I64, pool, SIZE), 1)
        f.need(f.is_(free, ">=", 0), f.cast("inttoptr", I64(1), PTR))
        taken = f.word(f.load(PTR, pool, LIST_ITEMS), free, PTR)  # with the list's reference
        f.store(free, pool, SIZE)
        f.store(taken, scratch)
        f.put(f.load(I64, taken, DATA), slots, f.add(end, 1))
    f.call("Py_IncRef", VOID, owner)  # another thread may put other plans in place meanwhile
    arrays = f.place(state, ARRAYS)
    held = f.select(f.is_(plan_word(f, plan, "held"), "!=", 0), f.load(I64, state, SLOT), 0)
    with f.loop(held) as n:
        f.call("Py_IncRef", VOID, f.word(arrays, n, PTR))  # of null, nothing
    good = f.variable(I1(1))
    with f.if_else(f.is_(out, "==", NULL)) as (fresh, given):
        with fresh, f.if_else(f.is_(plan_word(f, plan, "large"), "!=", 0), likely=False) as (large, small):
            with large:
                f.store(f.call("pk_made", I1, plan, state), good)
            with small:
                f.store(f.call("pk_fresh", I1, plan, state), good)
        with given, f.loop(count) as n:
            f.call("Py_IncRef", VOID, f.word(results, n, PTR))
    value = f.variable(NULL)
    run = plan_word(f, plan, "run", PTR)
    with f.if_then(f.load(I1, good), likely=True):
        with f.if_else(f.is_(plan_word(f, plan, "long"), "!=", 0)) as (long, short):
            with long:
                f.store(f.call("pk_unlocked", I1, run, slots), good)
            with short:
                f.call_pointer(run, VOID, slots)
        with f.if_then(f.load(I1, good), likely=True):
            f.store(f.call("pk_value", PTR, plan, state), value)
    with f.if_then(listed):
        taken = f.load(PTR, scratch)
        with f.if_then(f.is_(f.load(PTR, value), "!=", NULL), likely=True):
            put = f.call("PyList_Append", I32, pool, taken)
            with f.if_then(f.is_(put, "!=", 0), likely=False):
                f.call("PyErr_Clear", VOID)  # no room for it: this one is given up
        f.call("Py_DecRef", VOID, taken)
    with f.if_then(kept):
        f.call_pointer(table(f, "pk_give"), VOID, f.load(PTR, block))
    with f.loop(count) as n:
        f.call("Py_DecRef", VOID, f.word(results, n, PTR))  # of null, nothing
    with f.loop(held) as n:
        f.call("Py_DecRef", VOID, f.word(arrays, n, PTR))
    f.call("Py_DecRef", VOID, owner)
    f.ret(f.load(PTR, value))


def _entry(module: Module) -> None:
    """The vectorcall: the plans in turn, then Python."""
    f = Body(module, "pk_entry", PTR, [PTR, PTR, I64, PTR])
    this, args, flags, names = f.arguments
    state = f.stack(f"[{STATE_WORDS} x i64]")
    cells = f.place(this, table(f, "program_offset", I64))
    count = f.and_(flags, (1 << 63) - 1)
    python = f.new_block("python")
    out = f.variable(NULL)
    keywords = f.variable(0)
    with f.if_then(f.is_(names, "!=", NULL)):
        named = f.load(I64, names, SIZE)
        f.need(f.is_(f.add(count, named), "<=", PLAN_ROOM), python)
        _keywords(f, args, count, names, state, (out, keywords))
    guards = f.load(PTR, cells, 8 * KERNEL_CELLS.index("guards"))
    f.need(f.call("pk_guarded", I1, guards), python)
    with f.loop(ENTRIES) as n:
        owner = f.word(f.place(cells, 8 * KERNEL_CELLS.index("entry0")), n, PTR)
        f.need(f.is_(owner, "!=", NULL), python)
        plan = f.place(item_of(f, owner, 0), BYTES_PAYLOAD)
        fits = f.call("pk_arguments", I1, plan, args, count, f.load(I64, keywords), state)
        with f.if_then(fits):
            given = f.load(PTR, out)
            good = f.variable(I1(1))
            with f.if_then(f.is_(given, "!=", NULL)):
                f.store(f.call("pk_given", I1, plan, given, state), good)
            with f.if_then(f.load(I1, good)):
                value = f.call("pk_call", PTR, owner, plan, given, state)
                f.need(f.is_(f.cast("ptrtoint", value, I64), "!=", 1), python)
                f.ret(value)
    f.branch(python)
    f.block = python
    slow = f.load(PTR, cells, 8 * KERNEL_CELLS.index("slow"))
    f.ret(f.call("PyObject_Vectorcall", PTR, slow, args, flags, names))


def _keywords(
    f: Body, args: Value, count: Value, names: Value, state: Value, found: tuple[Value, Value]
) -> None:
    """`out` into a variable unless it is None; the names and values of the others into the state, and how many."""
    out, keywords = found
    with f.loop(f.load(I64, names, SIZE)) as n:
        name, value = item_of(f, names, n), f.word(args, f.add(count, n), PTR)
        with f.if_else(f.is_(name, "==", table(f, "out"))) as (result, argument):
            with result, f.if_then(f.is_(value, "!=", f.outside("_Py_NoneStruct"))):
                f.store(value, out)
            with argument:
                number = f.load(I64, keywords)
                f.put(name, f.place(state, NAMES), number)
                f.put(value, f.place(state, OBJECTS), f.add(count, number))
                f.increase(keywords, 1)
