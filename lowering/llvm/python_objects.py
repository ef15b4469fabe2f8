"""What compiled code reads of Python's objects, and of NumPy's arrays.

Comes in: a function in the making, and addresses of objects. Goes out: their fields. Layouts of
PyArrayObject, PyFloatObject and PyBytesObject are those of NumPy 1.x/2.x and CPython 3.10-3.14; everything else goes
through the C API.
"""

from __future__ import annotations

from pykern.data.abi import ARRAY_CELLS, TABLE_INDEX
from pykern.lowering.llvm.forget import clear
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.function import Block
from pykern.lowering.llvm.text_ir.values import I64, NULL, PTR, VOID, Operand, Type, Value

TYPE, SIZE, LIST_ITEMS, CELL_VALUE = 8, 16, 24, 16
"""Byte offsets in objects: their type, the length of a tuple or list, a list's items, what a closure's cell holds."""
DATA, NDIM, DIMS, STRIDES, DESCR, FLAGS = 16, 24, 32, 40, 56, 64
"""Byte offsets in a NumPy array."""
C_CONTIGUOUS, F_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x2, 0x100, 0x400
PAYLOAD = 16
"""Byte offset of the value in a float or NumPy scalar object, right behind the object head."""
BYTES_PAYLOAD = 32
START, STEP, LENGTH = 16, 32, 40
"""Byte offsets in a range."""
GUARD = 24
"""Bytes of a guard; see `KERNEL_CELLS` of `pykern.data.abi`."""


def table(f: Body, name: str, kind: Type = PTR) -> Value:
    """An entry of the runtime's table."""
    return f.load(kind, f.loaded("pk_table"), 8 * TABLE_INDEX[name])


def type_of(f: Body, value: Value) -> Value:
    return f.load(PTR, value, TYPE)


def need_type(f: Body, value: Value, expected: Value, otherwise: Operand | Block) -> None:
    f.need(f.is_(type_of(f, value), "==", expected), otherwise)


def items_of(f: Body, value: Value) -> Value:
    """Where the items of a tuple begin."""
    return f.place(value, table(f, "tuple_items", I64))


def item_of(f: Body, value: Value, number: Operand) -> Value:
    """An item of a tuple."""
    return f.word(items_of(f, value), number, PTR)


def integer(f: Body, value: Value, otherwise: Operand | Block) -> Value:
    """The value of an exact int of at most 64 bits. An answer of -1 may be an error, which is looked at and cleared."""
    need_type(f, value, f.outside("PyLong_Type"), otherwise)
    number = f.call("PyLong_AsLongLong", I64, value)
    with f.if_then(f.is_(number, "==", -1), likely=False):
        failed = f.is_(f.call("PyErr_Occurred", PTR), "!=", NULL)
        with f.if_then(failed, likely=False):
            clear(f)
            f.leave(otherwise)
    return number


def cells_of(f: Body, value: Value, where: str, otherwise: Operand | Block) -> Value:
    """The cells in the bytes object that an object holds as many bytes behind its head as the table says."""
    held = f.load(PTR, value, table(f, where, I64))
    f.need(f.is_(held, "!=", NULL), otherwise)
    need_type(f, held, f.outside("PyBytes_Type"), otherwise)
    return f.place(held, BYTES_PAYLOAD)


def array_cell(f: Body, cells: Value, name: str, kind: Type = I64) -> Value:
    return f.load(kind, cells, 8 * ARRAY_CELLS.index(name))


def numpy_array(f: Body, value: Value, otherwise: Operand | Block) -> Value:
    """The value, or the NumPy array that stands for a pykern.Array on the CPU that was not freed."""
    array = f.variable(value)
    kind = type_of(f, value)
    with f.if_then(f.is_(kind, "!=", table(f, "ndarray")), likely=False):
        f.need(f.is_(kind, "==", table(f, "array")), otherwise)
        cells = cells_of(f, value, "array_launch", otherwise)
        users = array_cell(f, cells, "users", PTR)
        f.need(f.is_(f.load(I64, users), "!=", 0), otherwise)
        host = array_cell(f, cells, "host", PTR)
        f.need(f.is_(host, "!=", NULL), otherwise)
        f.store(host, array)
    return f.load(PTR, array)


def need_guards(f: Body, guards: Value, otherwise: Operand | Block) -> None:
    """Go on where captured names still mean what they meant when the code was made."""
    found = f.variable(NULL)
    with f.if_then(f.is_(guards, "!=", NULL)), f.loop(f.load(I64, guards)) as n:
        guard = f.place(guards, f.add(f.mul(n, GUARD), 8))
        namespace, key = f.load(PTR, guard), f.load(PTR, guard, 8)
        where = f.cast("ptrtoint", namespace, I64)
        is_name = f.is_(f.and_(where, 1), "==", 0)
        with f.if_else(is_name, likely=True) as (name, other):
            with name:
                f.store(f.call("PyDict_GetItemWithError", PTR, namespace, key), found)
            with other, f.if_else(f.is_(where, "==", 1)) as (cell, attribute):
                with cell:
                    f.store(f.load(PTR, key, CELL_VALUE), found)
                with attribute:
                    value = f.call("PyObject_GetAttr", PTR, f.place(namespace, -1), key)
                    f.store(value, found)
                    f.call("Py_DecRef", VOID, value)
                    with f.if_then(f.is_(value, "==", NULL), likely=False):
                        clear(f)
        with f.if_then(f.is_(f.load(PTR, found), "!=", f.load(PTR, guard, 16)), likely=False):
            clear(f)
            f.leave(otherwise)
