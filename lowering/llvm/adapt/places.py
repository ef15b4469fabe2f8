"""Arguments by their places: those that a call gives by name, and defaults of those that it leaves out.

Comes in: the arguments of a call, and the names that the kernel's object holds. Goes out: the frame's values, first
those of the parameters in their order, then keywords that are none; array programs keep theirs, for their entry knows
names. Names are compared as objects: Python interns those in source text.
"""

from __future__ import annotations

from pykern.data.abi import ADAPTED
from pykern.lowering.llvm.adapt.frame import CHANGED, NAMES, POSITIONAL, VALUES, cell
from pykern.lowering.llvm.forget import clear
from pykern.lowering.llvm.python_objects import SIZE, items_of, table, type_of
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I1, I64, NULL, PTR, Value

TRUE, FALSE = I1(1), I1(0)


def write_places(module: Module) -> None:
    """Write `pk_places(cells, args, positional, names, frame)`."""
    _default(module)
    _named(module)
    _places(module)


def _default(module: Module) -> None:
    """`pk_default(cells, frame, number, count)`: the default that a parameter has now, null where it has none."""
    f = Body(module, "pk_default", PTR, [PTR, PTR, I64, I64])
    cells, frame, number, count = f.arguments
    function = f.load(PTR, cells, cell("function"))
    f.need(f.is_(function, "!=", NULL), NULL)
    defaults = f.call(
        "pk_hold", PTR, frame, f.call("PyObject_GetAttr", PTR, function, table(f, "__defaults__"))
    )
    with f.if_then(f.is_(defaults, "==", NULL), likely=False):
        clear(f)
        f.ret(NULL)
    f.need(f.is_(type_of(f, defaults), "==", f.outside("PyTuple_Type")), NULL)
    place = f.sub(number, f.sub(count, f.load(I64, defaults, SIZE)))
    f.need(f.is_(place, ">=", 0), NULL)
    f.ret(f.word(items_of(f, defaults), place, PTR))


def _named(module: Module) -> None:
    """`pk_named(known, name, count)`: the number of a parameter, -1 where no one has the name."""
    f = Body(module, "pk_named", I64, [PTR, PTR, I64])
    known, name, count = f.arguments
    names = items_of(f, known)
    with f.loop(count) as n, f.if_then(f.is_(f.word(names, n, PTR), "==", name)):
        f.ret(n)
    f.ret(-1)


def _places(module: Module) -> None:
    f = Body(module, "pk_places", I1, [PTR, PTR, I64, PTR, PTR])
    cells, args, positional, names, frame = f.arguments
    values = f.place(frame, VALUES)
    given = f.variable(0)
    with f.if_then(f.is_(names, "!=", NULL), likely=True):
        f.store(f.load(I64, names, SIZE), given)
    named = f.load(I64, given)
    known = f.load(PTR, cells, cell("names"))
    f.need(f.is_(f.add(positional, named), "<=", ADAPTED), FALSE)
    with f.if_then(f.is_(known, "==", NULL)):
        with f.loop(f.add(positional, named)) as n:
            f.put(f.word(args, n, PTR), values, n)
        f.store(positional, frame, POSITIONAL)
        f.store(names, frame, NAMES)
        f.ret(TRUE)
    count = f.load(I64, known, SIZE)
    f.need(f.is_(positional, "<=", count), FALSE)
    f.need(f.is_(f.add(count, named), "<=", ADAPTED), FALSE)
    with f.loop(count) as n:
        f.put(NULL, values, n)
    with f.loop(positional) as n:
        f.put(f.word(args, n, PTR), values, n)
    kept, others = f.variable(0), f.stack(f"[{ADAPTED} x ptr], align 16")
    with f.loop(named) as n:
        _place(f, (known, names), f.add(positional, n), n, (count, kept, others))
    with f.loop(count) as n, f.if_then(f.is_(f.word(values, n, PTR), "==", NULL)):
        default = f.call("pk_default", PTR, cells, frame, n, count)
        f.need(f.is_(default, "!=", NULL), FALSE)
        f.put(default, values, n)
        f.store(1, frame, CHANGED)
    f.store(count, frame, POSITIONAL)
    _names_left(f, named, f.load(I64, kept), others)
    f.ret(TRUE)


def _place(
    f: Body, names: tuple[Value, Value], at: Value, n: Value, found: tuple[Value, Value, Value]
) -> None:
    """One keyword: to its parameter's place, or behind all of them."""
    _, args, _, _, frame = f.arguments
    known, given = names
    count, kept, others = found
    values = f.place(frame, VALUES)
    name, value = f.word(items_of(f, given), n, PTR), f.word(args, at, PTR)
    place = f.call("pk_named", I64, known, name, count)
    with f.if_else(f.is_(place, ">=", 0)) as (parameter, other):
        with parameter:
            f.need(f.is_(f.word(values, place, PTR), "==", NULL), FALSE)  # given twice
            f.put(value, values, place)
            f.store(1, frame, CHANGED)
        with other:
            number = f.load(I64, kept)
            f.put(name, others, number)
            f.put(value, values, f.add(count, number))
            f.increase(kept, 1)


def _names_left(f: Body, named: Value, kept: Value, others: Value) -> None:
    """Names of the keywords that are no parameters."""
    frame, names = f.arguments[4], f.arguments[3]
    f.store(NULL, frame, NAMES)
    with f.if_then(f.is_(kept, "!=", 0)):
        f.store(names, frame, NAMES)
        with f.if_then(f.is_(kept, "!=", named)):
            left = f.call("pk_tuple", PTR, frame, others, kept)
            f.need(f.is_(left, "!=", NULL), FALSE)
            f.store(left, frame, NAMES)
