"""Objects that stand for an array: from each kind a view, as `pykern.launching.foreign_kinds` has sorted their types.

Comes in: a value of a call. Goes out: a view of its memory, or false: then Python looks at it, and says what is wrong.
Nothing is taken here that Python would refuse: see `pykern.arrays.foreign` and `torch_tensors`. Read next: `calls`.
"""

from __future__ import annotations

from pykern.data.abi import FOREIGN
from pykern.lowering.llvm.adapt.frame import (
    BUFFER,
    FALSE,
    KIND,
    MAX_RANK,
    OF_JAX,
    ORIGINAL,
    RELEASE,
    TENSORS,
    TRUE,
)
from pykern.lowering.llvm.adapt.interface import write_interface
from pykern.lowering.llvm.adapt.tensors import write_tensor
from pykern.lowering.llvm.adapt.views import DTYPES, copy_axes, write_views
from pykern.lowering.llvm.forget import clear
from pykern.lowering.llvm.python_objects import DATA, DESCR, DIMS, FLAGS, NDIM, SIZE, items_of, table, type_of
from pykern.lowering.llvm.python_objects import STRIDES as STRIDES_AT
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I32, I64, NULL, PTR, Value

STRIDED_WITH_FORMAT = 0x1C
"""PyBUF_STRIDES | PyBUF_FORMAT: read-only ones, too."""
BUF, OBJ, LEN, ITEMSIZE, READONLY, RANK, FORMAT, LENGTHS, STEPS, SUBOFFSETS = (
    0,
    8,
    16,
    24,
    32,
    36,
    40,
    48,
    56,
    64,
)
"""Byte offsets in a Py_buffer."""
CPU = 1
"""kDLCPU."""


def write_arrays(module: Module) -> None:
    """Write `pk_view(frame, view, value, kind)`, and what it calls."""
    module.define("plain_name", 'private constant [9 x i8] c"dltensor\\00"')
    module.define("versioned_name", 'private constant [19 x i8] c"dltensor_versioned\\00"')
    module.define("pk_came_short", "internal global i64 0")
    write_views(module)
    _alias(module)
    _dltensor(module)
    write_tensor(module)
    write_interface(module)
    _buffer(module)
    _jax(module)
    _capsule(module)
    _view(module)


def _alias(module: Module) -> None:
    """Of a NumPy array or an object of a subclass; its dtype becomes NumPy's own object."""
    f = Body(module, "pk_alias", TRUE.type, [PTR, PTR])
    view, array = f.arguments
    for place, kind in ((DATA, PTR), (NDIM, I32), (DIMS, PTR), (STRIDES_AT, PTR), (FLAGS, I32)):
        f.store(f.load(kind, array, place), view, place)
    f.store(f.call("pk_numpy_dtype", PTR, f.load(PTR, array, DESCR)), view, DESCR)
    f.ret(TRUE)


def _dltensor(module: Module) -> None:
    """`pk_dltensor(view, tensor, writeable)`: of a DLTensor on the CPU."""
    f = Body(module, "pk_dltensor", TRUE.type, [PTR, PTR, I64])
    view, tensor, writeable = f.arguments
    f.need(f.is_(f.load(I32, tensor, 8), "==", I32(CPU)), FALSE)
    rank = f.cast("sext", f.load(I32, tensor, 16), I64)
    f.need(f.is_(rank, "<=", MAX_RANK), FALSE)
    descr = f.call("pk_dlpack_dtype", PTR, f.load(I32, tensor, 20))
    bits = f.and_(f.lshr(f.cast("zext", f.load(I32, tensor, 20), I64), 8), 255)
    itemsize = f.lshr(bits, 3)
    copy_axes(f, view, rank, (f.load(PTR, tensor, 24), f.load(PTR, tensor, 32)), itemsize, itemsize)
    data = f.place(f.load(PTR, tensor), f.load(I64, tensor, 40))
    f.ret(f.call("pk_finish", TRUE.type, view, data, rank, itemsize, descr, writeable))


def _buffer(module: Module) -> None:
    """Of an object that has the buffer protocol; the buffer goes with the frame."""
    f = Body(module, "pk_buffer", TRUE.type, [PTR, PTR, I64])
    view, value, may_write = f.arguments
    buffer = f.place(view, BUFFER)
    got = f.call("PyObject_GetBuffer", I32, value, buffer, I32(STRIDED_WITH_FORMAT))
    with f.if_then(f.is_(got, "!=", I32(0)), likely=False):
        clear(f)
        f.ret(FALSE)
    f.store(1, view, RELEASE)
    rank = f.cast("sext", f.load(I32, buffer, RANK), I64)
    f.need(f.is_(rank, "<=", MAX_RANK), FALSE)
    f.need(f.is_(f.load(PTR, buffer, SUBOFFSETS), "==", NULL), FALSE)
    itemsize = f.load(I64, buffer, ITEMSIZE)
    descr = f.call("pk_format_dtype", PTR, f.load(PTR, buffer, FORMAT), itemsize)
    one = f.and_(f.is_(rank, "==", 1), f.is_(f.load(PTR, buffer, LENGTHS), "==", NULL))
    f.need(f.xor(one, TRUE), FALSE)
    copy_axes(f, view, rank, (f.load(PTR, buffer, LENGTHS), f.load(PTR, buffer, STEPS)), I64(1), itemsize)
    writeable = f.and_(may_write, f.cast("zext", f.is_(f.load(I32, buffer, READONLY), "==", I32(0)), I64))
    data = f.load(PTR, buffer, BUF)
    f.ret(f.call("pk_finish", TRUE.type, view, data, rank, itemsize, descr, writeable))


def _jax(module: Module) -> None:
    """Of an array of JAX whose elements the buffer protocol has no letter for (bf16, fp8): the array that its own
    method makes of its memory, which is read-only, and goes with the frame; false where that is a copy. To be refused a
    buffer takes longer than that, so it is remembered which sort came last."""
    f = Body(module, "pk_jax", TRUE.type, [PTR, PTR, PTR])
    frame, view, value = f.arguments
    given = f.stack("ptr")
    f.store(value, given)
    name = table(f, "_single_device_array_to_np_array_did_copy")
    made = f.call("pk_hold", PTR, frame, f.call("PyObject_VectorcallMethod", PTR, name, given, I64(1), NULL))
    with f.if_then(f.is_(made, "==", NULL), likely=False):
        clear(f)
        f.ret(FALSE)
    f.need(f.is_(type_of(f, made), "==", f.outside("PyTuple_Type")), FALSE)
    f.need(f.is_(f.load(I64, made, SIZE), "==", 2), FALSE)
    array, copied = (f.word(items_of(f, made), n, PTR) for n in range(2))
    f.need(f.is_(copied, "==", f.outside("_Py_FalseStruct")), FALSE)
    f.need(f.is_(type_of(f, array), "==", table(f, "ndarray")), FALSE)
    found, short = f.load(PTR, array, DESCR), FALSE
    for dtype in DTYPES:
        if dtype.is_short:
            short = f.or_(short, f.is_(found, "==", table(f, f"dtype.{dtype.name}")))
    f.store(f.cast("zext", short, I64), f.module.globals["pk_came_short"])
    f.ret(f.call("pk_alias", TRUE.type, view, array))


def _capsule(module: Module) -> None:
    """Of an object that has `__dlpack__`: its capsule goes with the frame, and gives the memory back when it goes. A
    capsule without a version cannot say whether its memory may be written: it may not, as NumPy has it."""
    f = Body(module, "pk_capsule", TRUE.type, [PTR, PTR, PTR, I64])
    frame, view, value, may_write = f.arguments
    arguments = f.stack("[2 x ptr], align 16")
    f.store(value, arguments)
    f.store(table(f, "version"), arguments, 8)
    call = "PyObject_VectorcallMethod"
    name = table(f, "__dlpack__")
    made = f.variable(f.call(call, PTR, name, arguments, I64(1), table(f, "version_names")))
    with f.if_then(f.is_(f.load(PTR, made), "==", NULL), likely=False):  # older than 1.0
        clear(f)
        f.store(f.call(call, PTR, name, arguments, I64(1), NULL), made)
        with f.if_then(f.is_(f.load(PTR, made), "==", NULL)):
            clear(f)
            f.ret(FALSE)
    capsule = f.call("pk_hold", PTR, frame, f.load(PTR, made))
    f.need(f.is_(capsule, "!=", NULL), FALSE)
    plain, versioned = f.module.globals["plain_name"], f.module.globals["versioned_name"]
    with f.if_then(f.is_(f.call("PyCapsule_IsValid", I32, capsule, versioned), "!=", I32(0)), likely=True):
        managed = f.call("PyCapsule_GetPointer", PTR, capsule, versioned)
        f.need(f.is_(f.load(I32, managed), "==", I32(1)), FALSE)
        readonly = f.and_(f.load(I64, managed, 24), 1)
        writeable = f.and_(may_write, f.xor(readonly, 1))
        f.ret(f.call("pk_dltensor", TRUE.type, view, f.place(managed, 32), writeable))
    valid = f.call("PyCapsule_IsValid", I32, capsule, plain)
    f.need(f.is_(valid, "!=", I32(0)), FALSE)
    managed = f.call("PyCapsule_GetPointer", PTR, capsule, plain)
    f.ret(f.call("pk_dltensor", TRUE.type, view, managed, I64(0)))


def _view(module: Module) -> None:
    """Try what the kind has, in the order of `FOREIGN`."""
    f = Body(module, "pk_view", TRUE.type, [PTR, PTR, PTR, I64])
    frame, view, value, kind = f.arguments
    f.store(value, view, ORIGINAL)
    with f.if_then(f.is_(f.and_(kind, FOREIGN["jax"]), "!=", 0)):
        f.store(1, frame, OF_JAX)
    may_write = f.cast("zext", f.is_(f.and_(kind, FOREIGN["readonly"]), "==", 0), I64)

    def is_of(name: str) -> Value:
        f.store(FOREIGN[name], view, KIND)
        return f.is_(f.and_(kind, FOREIGN[name]), "!=", 0)

    with f.if_then(is_of("subclass")):
        f.ret(f.call("pk_alias", TRUE.type, view, value))
    with f.if_then(is_of("tensor")):
        f.need(f.call("pk_tensor", TRUE.type, frame, view, value), FALSE)
        f.store(f.add(f.load(I64, frame, TENSORS), 1), frame, TENSORS)
        f.ret(TRUE)
    with (
        f.if_then(f.is_(f.load(I64, f.module.globals["pk_came_short"]), "!=", 0)),
        f.if_then(is_of("jax")),
        f.if_then(f.call("pk_jax", TRUE.type, frame, view, value), likely=True),
    ):
        f.ret(TRUE)
    with (
        f.if_then(is_of("buffer")),
        f.if_then(f.call("pk_buffer", TRUE.type, view, value, may_write), likely=True),
    ):
        f.ret(TRUE)
    with (
        f.if_then(is_of("jax")),
        f.if_then(f.call("pk_jax", TRUE.type, frame, view, value), likely=True),
    ):
        f.ret(TRUE)
    with f.if_then(is_of("dlpack")):
        f.ret(f.call("pk_capsule", TRUE.type, frame, view, value, may_write))
    with f.if_then(is_of("interface")):
        with f.if_then(f.call("pk_interface", TRUE.type, frame, view, value), likely=True):
            f.ret(TRUE)
        given = f.stack("ptr")
        f.store(value, given)
        array = f.call("PyObject_Vectorcall", PTR, table(f, "asarray"), given, I64(1), NULL)
        with f.if_then(f.is_(array, "==", NULL), likely=False):
            clear(f)
            f.ret(FALSE)
        f.need(f.is_(f.call("pk_hold", PTR, frame, array), "!=", NULL), FALSE)
        f.need(f.is_(type_of(f, array), "==", table(f, "ndarray")), FALSE)
        f.ret(f.call("pk_alias", TRUE.type, view, array))
    f.ret(FALSE)
