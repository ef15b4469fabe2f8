"""The names of the language that work on whole arrays, as Python functions: NumPy is the reference.

In an array program (``@pk.jit``) a call of one of them is an op on tensors; these very functions run
where a program is run as plain Python. Shapes are known when a program is compiled.
`pykern.frontend.program` is where each name is translated.
"""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from pykern.data.abi import KEPT_LEAST
from pykern.data.provided import provided
from pykern.data.synthetic_frame import at_users_line
from pykern.errors import KernelError, OutOfMemory
from pykern.language.builtin import builtin
from pykern.types import f64, numpy_dtype

__all__: list[str] = []


_F = TypeVar("_F", bound=Callable[..., Any])


def _builtin(function: _F) -> _F:
    __all__.append(function.__name__)
    return builtin(function)


def _numpy() -> Any:
    import numpy

    return numpy


def _made(name: str, device: Any, *args: Any) -> Any:
    """A new array: NumPy's, or a `pk.Array` where a device is asked for."""
    from pykern.arrays import creation

    place = creation.elsewhere(device)
    shape, *given, dtype = args
    lengths = creation.lengths_of(_lengths(shape))
    try:
        if place is None and name == "empty":
            return _tiled(_empty(lengths, dtype))
        maker = _numpy() if place is None else creation
        keywords = {} if place is None else {"device": place}
        return _tiled(getattr(maker, name)(lengths, *given, dtype=numpy_dtype(dtype), **keywords))
    except KernelError:
        raise
    except (MemoryError, ValueError) as error:  # ValueError: more elements than an address has
        raise OutOfMemory(f"pk.{name}: {error}", hint="make a smaller array, or work in parts") from None


_TILES = "pykern.runtime.reference_tiles"


def _lengths(shape: Any) -> Any:
    """A shape; tiles of a tile kernel stand for their lengths."""
    return sys.modules[_TILES].lengths(shape) if _TILES in sys.modules else shape


def _tiled(array: Any) -> Any:
    """A new array, as tile kernels see it where one is running in Python."""
    return sys.modules[_TILES].seen(array) if _TILES in sys.modules else array


def _empty(lengths: tuple[int, ...], dtype: Any) -> Any:
    """NumPy's, in kept memory where it is large."""
    kind = _numpy().dtype(numpy_dtype(dtype))
    if math.prod(lengths) * kind.itemsize < KEPT_LEAST or kind.hasobject:
        return _numpy().empty(lengths, kind)
    return provided("empty_from_allocator")(lengths, kind)


def _like(name: str, x: Any, device: Any, *args: Any) -> Any:
    """A new array like `x`, and on the device of `x` where none is asked for."""
    *given, dtype = args
    if device is None and getattr(x, "__pykern_array__", False):
        device = x.device
    if device is None and name == "empty" and type(x) is _numpy().ndarray and x.flags.c_contiguous:
        return _empty(x.shape, x.dtype if dtype is None else dtype)
    if device is None:
        return getattr(_numpy(), f"{name}_like")(x, *given, dtype=numpy_dtype(dtype))
    return _made(name, device, x.shape, *given, x.dtype if dtype is None else dtype)


# -- reductions -----------------------------------------------------------------------------------


@_builtin
def sum(
    x: Any,
    axis: Any = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    initial: Any = 0,
    where: Any = True,
) -> Any:
    """The sum over `axis` (an int, a tuple, all where None) of what `where` chooses, and of `initial`.

    Small integers add up in 64 bits, as NumPy's, unless `dtype` says otherwise.
    """
    return _numpy().sum(x, axis=axis, keepdims=keepdims, dtype=dtype, initial=initial, where=where)


@_builtin
def prod(
    x: Any,
    axis: Any = None,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    initial: Any = 1,
    where: Any = True,
) -> Any:
    """The product over `axis` of what `where` chooses, and `initial`; of the dtype of `sum`."""
    return _numpy().prod(x, axis=axis, keepdims=keepdims, dtype=dtype, initial=initial, where=where)


@_builtin
def mean(x: Any, axis: Any = None, keepdims: bool = False, *, dtype: Any = None, where: Any = True) -> Any:
    """The mean over `axis` of what `where` chooses; f64 for integers, or `dtype`."""
    return _numpy().mean(x, axis=axis, keepdims=keepdims, dtype=dtype, where=where)


@_builtin
def var(x: Any, axis: Any = None, keepdims: bool = False, ddof: int = 0) -> Any:
    """The variance over `axis`, the sum of squares divided by the count less `ddof`; f64 for integers."""
    return _numpy().var(x, axis=axis, keepdims=keepdims, ddof=ddof)


@_builtin
def std(x: Any, axis: Any = None, keepdims: bool = False, ddof: int = 0) -> Any:
    """The standard deviation over `axis`, the root of `var`."""
    return _numpy().std(x, axis=axis, keepdims=keepdims, ddof=ddof)


@_builtin
def max(x: Any, *others: Any, axis: Any = None, keepdims: bool = False, **chosen: Any) -> Any:
    """The greatest element over `axis`; NaN wins. Of several numbers, the greatest of them.

    With `initial`, a number that counts as an element, `where` may choose the elements that count.
    """
    if others and not _numpy().ndim(x):
        return builtins.max(x, *others)
    return _numpy().max(x, axis=others[0] if others else axis, keepdims=keepdims, **chosen)


@_builtin
def min(x: Any, *others: Any, axis: Any = None, keepdims: bool = False, **chosen: Any) -> Any:
    """The least element over `axis`; NaN wins. Of several numbers, the least of them.

    With `initial`, a number that counts as an element, `where` may choose the elements that count.
    """
    if others and not _numpy().ndim(x):
        return builtins.min(x, *others)
    return _numpy().min(x, axis=others[0] if others else axis, keepdims=keepdims, **chosen)


@_builtin
def any(x: Any, axis: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Whether an element over `axis` is true, of those that `where` chooses."""
    return _numpy().any(x, axis=axis, keepdims=keepdims, where=where)


@_builtin
def all(x: Any, axis: Any = None, keepdims: bool = False, *, where: Any = True) -> Any:
    """Whether every element over `axis` is true, of those that `where` chooses."""
    return _numpy().all(x, axis=axis, keepdims=keepdims, where=where)


@_builtin
def argmax(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Where the first greatest element lies along `axis`, as i64; without an axis, in the flattened array."""
    return _numpy().argmax(x, axis=axis, keepdims=keepdims)


@_builtin
def argmin(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Where the first least element lies along `axis`, as i64."""
    return _numpy().argmin(x, axis=axis, keepdims=keepdims)


# -- products -------------------------------------------------------------------------------------


@_builtin
def cumsum(x: Any, axis: Any = None) -> Any:
    """The sums of the elements up to each one along `axis`, in their order; without an axis, of the flattened array.

    Integers of fewer than 64 bits, and booleans, add up in 64 bits; f16 and bf16 add up in f32 where a program is
    compiled, and each result is rounded.
    """
    return _numpy().cumsum(x, axis=axis)


@_builtin
def cumprod(x: Any, axis: Any = None) -> Any:
    """The products of the elements up to each one along `axis`; types as in `cumsum`."""
    return _numpy().cumprod(x, axis=axis)


@_builtin
def dot(a: Any, b: Any) -> Any:
    """The last axis of `a` against the last but one of `b` (the only one of a vector)."""
    return _numpy().dot(a, b)


@_builtin
def matmul(a: Any, b: Any) -> Any:
    """``a @ b``: axes before the last two are batches and broadcast."""
    return _numpy().matmul(a, b)


@_builtin
def outer(a: Any, b: Any) -> Any:
    """Every element of `a` times every element of `b`, both flattened."""
    return _numpy().outer(a, b)


# -- shapes ---------------------------------------------------------------------------------------


@_builtin
def transpose(x: Any, axes: Any = None) -> Any:
    """`x` with its axes in another order, reversed where none is given."""
    return _numpy().transpose(x, axes)


@_builtin
def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """`x` with two axes exchanged."""
    return _numpy().swapaxes(x, axis1, axis2)


@_builtin
def reshape(x: Any, shape: Any) -> Any:
    """The elements of `x`, in order, in another shape; one length may be -1."""
    return _numpy().reshape(x, _lengths(shape))


@_builtin
def ravel(x: Any) -> Any:
    """The elements of `x` in one dimension."""
    return _numpy().ravel(x)


@_builtin
def expand_dims(x: Any, axis: int) -> Any:
    """`x` with a new axis of length 1."""
    return _numpy().expand_dims(x, axis)


@_builtin
def squeeze(x: Any, axis: Any = None) -> Any:
    """`x` without axes of length 1."""
    return _numpy().squeeze(x, axis)


@_builtin
def broadcast_to(x: Any, shape: Any) -> Any:
    """`x` repeated to a shape."""
    return _numpy().broadcast_to(x, _lengths(shape))


@_builtin
def flip(x: Any, axis: Any = None) -> Any:
    """`x` backwards along `axis`, along all where None."""
    return _numpy().flip(x, axis)


@_builtin
def concatenate(arrays: Any, axis: int = 0) -> Any:
    """Arrays one after the other along an axis."""
    return _numpy().concatenate(arrays, axis)


@_builtin
def stack(arrays: Any, axis: int = 0) -> Any:
    """Arrays of one shape side by side along a new axis."""
    return _numpy().stack(arrays, axis)


@_builtin
def pad(x: Any, pad_width: Any, mode: str = "constant", **constant: Any) -> Any:
    """`x` with a border around it, `pad_width` wide: a number, (before, after), or one pair an axis.

    The border is `constant_values`, a number (0), or repeats elements of `x`: `mode` is "edge", "wrap", "reflect" or
    "symmetric", as NumPy has them.
    """
    return _numpy().pad(x, pad_width, mode, **constant)


# -- new arrays -----------------------------------------------------------------------------------


@_builtin
@at_users_line
def zeros(shape: Any, dtype: Any = f64, device: Any = None) -> Any:
    """An array of zeros: NumPy's, or a `pk.Array` where a device is asked for."""
    return _made("zeros", device, shape, dtype)


@_builtin
@at_users_line
def ones(shape: Any, dtype: Any = f64, device: Any = None) -> Any:
    """An array of ones: NumPy's, or a `pk.Array` where a device is asked for."""
    return _made("ones", device, shape, dtype)


@_builtin
@at_users_line
def empty(shape: Any, dtype: Any = f64, device: Any = None) -> Any:
    """An array whose elements are not set: NumPy's, or a `pk.Array` where a device is asked for.

    A NumPy array from 1 MiB on takes memory that earlier ones left, where that is there (`pk.memory_stats`).
    """
    return _made("empty", device, shape, dtype)


@_builtin
@at_users_line
def full(shape: Any, value: Any, dtype: Any = None, device: Any = None) -> Any:
    """An array that holds `value` everywhere: NumPy's, or a `pk.Array` where a device is asked for."""
    return _made("full", device, shape, value, dtype)


@_builtin
@at_users_line
def zeros_like(x: Any, dtype: Any = None, device: Any = None) -> Any:
    """Zeros in the shape and dtype of `x`, and where it lives."""
    return _like("zeros", x, device, dtype)


@_builtin
@at_users_line
def ones_like(x: Any, dtype: Any = None, device: Any = None) -> Any:
    """Ones in the shape and dtype of `x`, and where it lives."""
    return _like("ones", x, device, dtype)


@_builtin
@at_users_line
def empty_like(x: Any, dtype: Any = None, device: Any = None) -> Any:
    """An array in the shape and dtype of `x`, where it lives, whose elements are not set; as `empty`."""
    return _like("empty", x, device, dtype)


@_builtin
@at_users_line
def full_like(x: Any, value: Any, dtype: Any = None, device: Any = None) -> Any:
    """`value` everywhere, in the shape and dtype of `x`, and where it lives."""
    return _like("full", x, device, value, dtype)


@_builtin
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """``start``, ``start + step``, ... before ``stop``; of one number, from 0 up to it."""
    start, stop = (0, start) if stop is None else (start, stop)
    return _numpy().arange(start, stop, step, numpy_dtype(dtype))


@_builtin
def eye(n: int, m: int | None = None, dtype: Any = f64) -> Any:
    """Ones on the diagonal of `n` rows and `m` columns, zeros elsewhere."""
    return _numpy().eye(n, m, dtype=numpy_dtype(dtype))


@_builtin
def copy(x: Any) -> Any:
    """An array of its own with the elements of `x`, where it lives."""
    return x.copy() if getattr(x, "__pykern_array__", False) else _numpy().copy(x)


# -- the program ----------------------------------------------------------------------------------


@_builtin
def stop_gradient(x: Any) -> Any:
    """`x`, a constant to differentiation."""
    return x


@_builtin
def loop_range(*bounds: int) -> Any:
    """``for i in pk.range(n)``: a loop that stays a loop in the compiled program; bounds may come at run time."""
    return builtins.range(*bounds)


range = loop_range
__all__ += ["range"]
__all__.remove("loop_range")
