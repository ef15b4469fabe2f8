"""What a call that is adapted has on its stack: the call in its new form, and a view for each array that is found.

Comes in: nothing. Goes out: byte offsets, and the small things that the other files here write again and again. A view
is what entries read of a NumPy array, at the places where NumPy has it; nobody else ever sees it.
"""

from __future__ import annotations

from pykern.data.abi import ADAPTED, KERNEL_CELLS
from pykern.lowering.llvm.forget import write_forget
from pykern.lowering.llvm.python_objects import TYPE, table
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I1, I64, NULL, PTR, VOID, Value

MOST_VIEWS = 16
MOST_HELD = 2 * ADAPTED
MAX_RANK = 8
# -- a view: the head of a PyArrayObject, then what it points to, then whose it is
SHAPE, STRIDES = 96, 96 + 8 * MAX_RANK
BUFFER = STRIDES + 8 * MAX_RANK
"""A Py_buffer (80 bytes), or a DLTensor (48)."""
RELEASE, KIND, ORIGINAL, NUMBER, MADE = (BUFFER + 80 + 8 * n for n in range(5))
"""1: the buffer is to be released; the `FOREIGN` bit that found it; the object; its number in the call, -1 in `out`;
and for one of `out` the NumPy array that stands for it."""
VIEW = MADE + 8

# -- the frame
VALUES = 0
POSITIONAL, NAMES, CHANGED, VIEWS, TENSORS, OF_JAX, OUTPUTS, HELD = (8 * (ADAPTED + n) for n in range(8))
"""How many values have no names; the names of those behind them; 1 where the call is another one now; how many views
there are, how many of them of tensors; 1 where some are of JAX; 1 where `out` is given; how many objects are held."""
OBJECTS = HELD + 8
CELLS = OBJECTS + 8 * MOST_HELD
"""The cells of an object that has one entry."""
FIRST_VIEW = CELLS + 8 * len(KERNEL_CELLS)
FRAME = FIRST_VIEW + VIEW * MOST_VIEWS
MUCH = 1 << 40
"""References of a view: nobody gives back the last."""


def cell(name: str) -> int:
    """The offset of a cell of a kernel's object from the first."""
    return 8 * KERNEL_CELLS.index(name)


def view_at(f: Body, frame: Value, number: Value) -> Value:
    return f.place(frame, f.add(f.mul(number, VIEW), FIRST_VIEW))


def write_frame(module: Module) -> None:
    """`pk_hold(frame, object)`: the object's reference goes with the frame; it gives it back, null of null or where
    there is no more room. `pk_new_view(frame)`: the next view, empty; null where there is no more room."""
    write_forget(module)
    f = Body(module, "pk_hold", PTR, [PTR, PTR])
    frame, value = f.arguments
    f.need(f.is_(value, "!=", NULL), NULL)
    count = f.load(I64, frame, HELD)
    with f.if_then(f.is_(count, ">=", MOST_HELD), likely=False):
        f.call("Py_DecRef", VOID, value)
        f.ret(NULL)
    f.put(value, f.place(frame, OBJECTS), count)
    f.store(f.add(count, 1), frame, HELD)
    f.ret(value)

    f = Body(module, "pk_new_view", PTR, [PTR])
    (frame,) = f.arguments
    count = f.load(I64, frame, VIEWS)
    f.need(f.is_(count, "<", MOST_VIEWS), NULL)
    view = view_at(f, frame, count)
    f.store(f.add(count, 1), frame, VIEWS)
    f.store(I64(MUCH), view)
    f.store(table(f, "ndarray"), view, TYPE)
    f.store(0, view, RELEASE)
    f.store(0, view, KIND)
    f.store(-1, view, NUMBER)
    f.store(NULL, view, MADE)
    f.ret(view)

    f = Body(module, "pk_release", VOID, [PTR])
    (frame,) = f.arguments
    with f.loop(f.load(I64, frame, VIEWS)) as n:
        view = view_at(f, frame, n)
        with f.if_then(f.is_(f.load(I64, view, RELEASE), "!=", 0)):
            f.call("PyBuffer_Release", VOID, f.place(view, BUFFER))
    with f.loop(f.load(I64, frame, HELD)) as n:
        f.call("Py_DecRef", VOID, f.word(f.place(frame, OBJECTS), n, PTR))
    f.ret()


TRUE, FALSE = I1(1), I1(0)
