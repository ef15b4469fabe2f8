"""Tensors of PyTorch: those on the CPU that nothing is left to be done to, by PyTorch's stable C interface.

Comes in: an object whose type is exactly `torch.Tensor` or `Parameter`. Goes out: a view, or false for all that
`pykern.arrays.torch_tensors` refuses. Those functions tell of memory, also where elements are not what they mean; so
tensors are told apart first: by their dispatch keys, which those have that are conjugated, negated, sparse, nested,
quantised, elsewhere, wrapped by torch.func, or dispatched to a class. `pykern.launching.torch_layout` finds where they
stand. DLPack's table of C functions (`__dlpack_c_exchange_api__`) gives the same facts, and takes longer.
"""

from __future__ import annotations

from pykern.data.abi import TORCH_DTYPES
from pykern.lowering.llvm.adapt.frame import FALSE, MAX_RANK, SHAPE, STRIDES, TENSORS, TRUE
from pykern.lowering.llvm.adapt.views import copy_axes
from pykern.lowering.llvm.forget import clear
from pykern.lowering.llvm.python_objects import NDIM, table
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import I32, I64, NULL, PTR, VOID, Type, Value
from pykern.types import BY_NAME


def write_tensor(module: Module) -> None:
    """Write `pk_tensor(frame, view, tensor)` and what it asks."""
    _no_level(module)
    _has_memory(module)
    _dtype(module)
    _tensor(module)


def _no_level(module: Module) -> None:
    """Whether nothing is differentiated in forward mode: a tensor's tangent would be lost."""
    f = Body(module, "pk_no_level", TRUE.type, [])
    level = f.call("PyDict_GetItemWithError", PTR, table(f, "torch.forward"), table(f, "torch.level"))
    with f.if_then(f.is_(level, "==", NULL), likely=False):
        clear(f)
        f.ret(FALSE)
    number = f.call("PyLong_AsLongLong", I64, level)
    with f.if_then(f.is_(number, "==", -1), likely=True):
        wrong = f.is_(f.call("PyErr_Occurred", PTR), "!=", NULL)
        clear(f)
        f.ret(f.xor(wrong, TRUE))
    f.ret(f.is_(number, "<", 0))


def _asked(f: Body, name: str, handle: Value, room: Value, kind: Type) -> Value:
    """What a function of the C shim tells of a tensor; go on where it tells."""
    told = f.call_pointer(table(f, f"torch.{name}"), I32, handle, room)
    f.need(f.is_(told, "==", I32(0)), FALSE)
    return f.load(kind, room)


def _has_memory(module: Module) -> None:
    """`pk_has_memory(view, handle, itemsize)`: whether its storage reaches to the last element: it may have been
    resized since."""
    f = Body(module, "pk_has_memory", TRUE.type, [PTR, PTR, I64])
    view, handle, itemsize = f.arguments
    room = f.stack("i64")
    size = _asked(f, "storage_size", handle, room, I64)
    first = _asked(f, "storage_offset", handle, room, I64)
    end = f.variable(f.add(f.mul(first, itemsize), itemsize))
    with f.loop(f.cast("zext", f.load(I32, view, NDIM), I64)) as n:
        length = f.word(f.place(view, SHAPE), n)
        with f.if_then(f.is_(length, "==", 0)):
            f.ret(TRUE)
        reach = f.mul(f.sub(length, 1), f.word(f.place(view, STRIDES), n))
        f.store(f.add(f.load(I64, end), reach), end)
    f.ret(f.is_(f.load(I64, end), "<=", size))


def _dtype(module: Module) -> None:
    """`pk_torch_dtype(number, itemsize)`: NumPy's dtype, and its bytes where they are wanted; null for others."""
    f = Body(module, "pk_torch_dtype", PTR, [I32, PTR])
    number, itemsize = f.arguments
    for name, known in TORCH_DTYPES.items():
        with f.if_then(f.is_(number, "==", I32(known))):
            f.store(BY_NAME[name].itemsize, itemsize)
            f.ret(table(f, f"dtype.{name}"))
    f.ret(NULL)


def _tensor(module: Module) -> None:
    f = Body(module, "pk_tensor", TRUE.type, [PTR, PTR, PTR])
    frame, view, tensor = f.arguments
    f.need(f.is_(table(f, "torch.data"), "!=", NULL), FALSE)
    handle = f.place(tensor, table(f, "torch.payload", I64))
    held = f.load(PTR, handle)
    keys = f.load(I64, held, table(f, "torch.keys_at", I64))
    plain = f.is_(keys, "==", table(f, "torch.keys", I64))
    f.need(f.or_(plain, f.is_(keys, "==", table(f, "torch.inference_keys", I64))), FALSE)
    with f.if_then(f.is_(f.load(I64, frame, TENSORS), "==", 0)):
        f.need(f.call("pk_no_level", TRUE.type), FALSE)
    differentiated = f.load(PTR, held, table(f, "torch.gradient_at", I64))
    with f.if_then(f.is_(differentiated, "!=", NULL)):
        _refuse_gradient(f, tensor)
    room, itemsize = f.stack("i64"), f.stack("i64")
    descr = f.call("pk_torch_dtype", PTR, _asked(f, "dtype", handle, room, I32), itemsize)
    f.need(f.is_(descr, "!=", NULL), FALSE)
    rank, size = _asked(f, "dim", handle, room, I64), f.load(I64, itemsize)
    f.need(f.is_(rank, "<=", MAX_RANK), FALSE)
    lengths, steps = _asked(f, "sizes", handle, room, PTR), _asked(f, "strides", handle, room, PTR)
    copy_axes(f, view, rank, (lengths, steps), size, size)
    data = _asked(f, "data", handle, room, PTR)
    f.need(f.call("pk_finish", TRUE.type, view, data, rank, size, descr, I64(1)), FALSE)
    f.ret(f.call("pk_has_memory", TRUE.type, view, handle, size))


def _refuse_gradient(f: Body, tensor: Value) -> None:
    """Go on where `requires_grad` is false."""
    ask, closure = table(f, "torch.requires_grad"), table(f, "torch.requires_grad_closure")
    answer = f.call_pointer(ask, PTR, tensor, closure)
    with f.if_then(f.is_(answer, "==", NULL), likely=False):
        clear(f)
        f.ret(FALSE)
    f.call("Py_DecRef", VOID, answer)
    f.need(f.is_(answer, "==", f.outside("_Py_FalseStruct")), FALSE)
