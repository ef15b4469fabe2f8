"""Operators and Python's own functions of numbers, as compiled kernels have them: for the reference device.

Comes in: Python's and NumPy's scalars. Goes out: what a compiled kernel computes of them. Python's numbers are weak, 64
bits wide, and wrap; integers divided by zero give 0, floats what IEEE 754 says; 16 bits stay 16 bits beside a Python
float. What are no numbers is left to Python. Read next: `reference_rewrite`, which makes kernels call this.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pykern import language
from pykern.data.operator_functions import ARITHMETIC, COMPARISONS, LOGICAL, OF_ROWS, UNARY
from pykern.data.promotion import promote, true_divide
from pykern.errors import BY_ZERO, ZERO_STEP, AssertionFailed, KernelTypeError
from pykern.runtime import (
    reference,
    reference_mathematics,
    reference_matrices,
    reference_row_arrays,
    reference_rows,
)
from pykern.runtime.reference_array import ReferenceArray
from pykern.runtime.reference_rows import each, is_row
from pykern.types import bool_, from_numpy, weak_float, weak_int

PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "**": operator.pow,
}  # fmt: skip
IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv, "//": operator.ifloordiv,
    "%": operator.imod, "<<": operator.ilshift, ">>": operator.irshift, "&": operator.iand, "|": operator.ior,
    "^": operator.ixor, "**": operator.ipow,
}  # fmt: skip
_NUMBERS = (bool, int, float, complex, np.generic)


def varying_power(a: Any, b: Any) -> Any:
    """``a ** b`` of an exponent that compiled kernels do not know: of integers an integer, so `b` is not negative."""
    if isinstance(a, int) and isinstance(b, int) and b < 0:
        raise ValueError("integers to negative integer powers are not allowed")  # as NumPy says
    return binary("**", a, b)


def binary(op: str, a: Any, b: Any) -> Any:
    """``a op b``."""
    if not (isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS)):
        if is_row(a) or is_row(b):
            return each(lambda x, y: binary(op, x, y), (a, b))
        return PYTHON[op](a, b)
    if reference.is_complex(a) or reference.is_complex(b):
        with np.errstate(all="ignore"):
            return PYTHON[op](a, b)
    if op == "**":
        return reference_mathematics.apply("pow", (a, b))
    left, right = reference.known_dtype(a), reference.known_dtype(b)
    dtype = true_divide(left, right) if op == "/" else promote(left, right)
    if dtype == bool_:
        return PYTHON[op](np.bool_(a), np.bool_(b))  # NumPy's: + is or, * is and, - is refused
    x, y = reference.fitted(a, dtype), reference.fitted(b, dtype)
    if op in ("//", "%") and dtype.is_integer and y == 0:
        item = reference.current()
        if item is not None and item.launch.debug:
            raise AssertionFailed(f"assertion failed: {BY_ZERO}")
    with np.errstate(all="ignore"):
        if dtype == weak_int:
            return _of_integers(op, x, y)
        if dtype == weak_float:
            x, y = np.float64(x), np.float64(y)
        made = reference.no_new_nan(PYTHON[op](x, y), (x, y))
        return float(made) if dtype == weak_float else made


def inverted(a: Any) -> Any:
    """``~a``: of a bool, the other one."""
    return not a if isinstance(a, bool) else ~a


def is_number(value: Any) -> bool:
    return isinstance(value, _NUMBERS)


def in_place(op: str, a: Any, b: Any) -> Any:
    """The value of ``a op= b``."""
    if is_row(a) or (is_row(b) and not isinstance(a, _NUMBERS)):
        made = binary(op, a, b)
        if isinstance(a, ReferenceArray):
            a.fill(made)
        else:
            a[...] = made
        return a
    return binary(op, a, b) if isinstance(a, _NUMBERS) else IN_PLACE[op](a, b)


def update(array: Any, index: Any, op: str, value: Any) -> None:
    """``array[index] op= value``."""
    held = array[index]
    made = in_place(op, held, value)
    if made is not held or not is_row(held) or not isinstance(array, ReferenceArray):  # whose parts are views
        array[index] = made


def of_numbers(function: Any) -> Any:
    """Python's, `math`'s or NumPy's function as its name means in kernels, of numbers and rows; others as they are."""
    if not callable(function):
        return function
    if isinstance(function, type) and issubclass(function, np.generic):
        return _either(lambda x: x.astype(function), _cast_to(function))
    is_own = getattr(function, "__pykern_builtin__", None) is not None and function is not language.cdiv
    meanings = _MEANINGS_OF_ROWS if is_own else _MEANINGS  # our own functions know numbers themselves
    made = meanings.get(language.from_callable(function))
    return function if made is None else made(function)


def _cast_to(kind: type) -> Callable:
    """``np.int32(x)`` of one number: what a type cannot hold is brought to its ends, as compiled."""
    dtype = from_numpy(np.dtype(kind))

    def cast(*args: Any) -> Any:
        if dtype is None or len(args) != 1 or not isinstance(args[0], _NUMBERS):
            return kind(*args)
        return reference.cast(args[0], dtype)

    return cast


def _on_rows(name: str, function: Any) -> Any:
    """`sum`, or `max`, which is of numbers as well."""
    found = _FUNCTIONS.get(name)
    of_numbers = function if found is None else _on_numbers(name, found, function)

    def either(*args: Any, **keywords: Any) -> Any:
        if args and is_row(args[0]):
            return reference_rows.reduced(name, args[0], (*args[1:], *keywords.values()))
        return of_numbers(*args, **keywords)

    return either


def _on_numbers(name: str, found: Any, function: Any) -> Any:
    def either(*args: Any, **keywords: Any) -> Any:
        several = len(args) > 1 or name not in ("min", "max")
        if any(map(is_row, args)) and not keywords:
            return each(found, args)
        plain = args and not keywords and several and all(isinstance(a, _NUMBERS) for a in args)
        return found(*args) if plain else function(*args, **keywords)

    return either


def _on_elements(function: Any) -> Any:
    """A function of each element of a row as of numbers."""
    return _either(lambda *args: each(function, args), function)


def _weak(function: Any) -> Any:
    """NumPy's function, whose results of Python's numbers are Python's."""

    def on_numbers(*args: Any, **keywords: Any) -> Any:
        found = function(*args, **keywords)
        is_python = all(isinstance(a, int | float) and not isinstance(a, np.generic) for a in args)
        return found.item() if is_python and isinstance(found, np.generic) else found

    return _on_elements(on_numbers)


def _either(of_rows: Callable, function: Any) -> Any:
    """A function of rows where it is given one, else `function`."""

    def either(*args: Any, **keywords: Any) -> Any:
        return (of_rows if any(map(is_row, args)) else function)(*args, **keywords)

    return either


def _like(of_shape: Callable, function: Any) -> Any:
    def either(row: Any, *args: Any, **keywords: Any) -> Any:
        if not is_row(row):
            return function(row, *args, **keywords)
        dtype = keywords.pop("dtype", row.dtype)
        return _filled(of_shape)(row.shape, *args, dtype=dtype, **keywords)

    return either


def _of_lists(of_rows: Callable, function: Any) -> Any:
    """A function of a list of rows where it is given one, else `function`."""

    def either(*args: Any, **keywords: Any) -> Any:
        is_listed = len(args) == 1 and isinstance(args[0], list | tuple) and any(map(is_row, args[0]))
        return of_rows(args[0], **keywords) if is_listed else function(*args, **keywords)

    return either


def _filled(function: Callable) -> Callable:
    """``np.zeros`` and its like: memory of the work-item."""

    def made(shape: Any, *args: Any, **keywords: Any) -> Any:
        item = reference.current()
        given = [getattr(value, "numpy", value) for value in args]
        values = function(shape, *given, **{k: getattr(v, "numpy", v) for k, v in keywords.items()})
        dtype = from_numpy(values.dtype)
        if item is None or dtype is None:
            return values
        memory = item.private(values.shape, dtype)
        for place in np.ndindex(values.shape):
            memory[place] = values[place]
        return memory

    return made


def _of_integers(op: str, a: int, b: int) -> int:
    """Of 64 bits."""
    if op in ("//", "%") and b == 0:
        return 0
    if op in ("<<", ">>") and not 0 <= b < 64:
        return 0 if op == "<<" or a >= 0 else -1
    return reference.cast(PYTHON[op](a, b), weak_int)


def _cdiv(a: Any, b: Any) -> Any:
    return binary("+", binary("//", a, b), int(binary("%", a, b) != 0))


def _range(*bounds: Any) -> range:
    """One whose step is zero has no items, as compiled. Raises `KernelTypeError` for floats."""
    for bound in bounds:
        dtype = reference.known_dtype(bound)
        if not dtype.is_integer:
            raise KernelTypeError(
                f"range takes integers, not {dtype.name}", hint="cut off the fraction: int(x)"
            )
    if len(bounds) < 3 or bounds[2] != 0:
        return range(*bounds)
    item = reference.current()
    if reference.is_refused(0):
        raise KernelTypeError(
            "the step of a range is not zero", hint="use 1, or a negative step to count down"
        )
    if item is not None and item.launch.debug:
        raise AssertionFailed(f"assertion failed: {ZERO_STEP}")
    return range(0)


def _divmod(a: Any, b: Any) -> tuple[Any, Any]:
    return binary("//", a, b), binary("%", a, b)


def _power(a: Any, b: Any) -> Any:
    return binary("**", a, b)


def _power_of_floats(a: Any, b: Any) -> Any:
    """`math.pow`: of integers a float, too."""
    return binary("**", *(v if reference.known_dtype(v).is_float else np.float64(v) for v in (a, b)))


def _operator(symbol: str) -> Callable:
    return lambda a, b: binary(symbol, a, b)


_FUNCTIONS: dict[str, Callable] = {
    **{name: _operator(symbol) for name, symbol in ARITHMETIC.items()},
    **{name: getattr(language, name) for name in reference_mathematics.MATHEMATICS if name not in ("pow", "abs")},
    "min": language.minimum, "max": language.maximum, "minimum": language.minimum, "maximum": language.maximum,
    "numpy.minimum": lambda a, b: language.minimum(a, b), "numpy.maximum": lambda a, b: language.maximum(a, b),
    "int": lambda x: reference.cast(x, weak_int), "float": lambda x: reference.cast(x, weak_float),
    "math.pow": _power_of_floats, "cdiv": _cdiv, "range": _range, "divmod": _divmod, "pow": _power,
}  # fmt: skip
"""By the language's names."""
_OF_ROWS: dict[str, Callable] = {
    **dict.fromkeys(("dot", "inner", "vdot", "matmul"), reference_rows.product),
    "outer": reference_matrices.outer, "transpose": reference_rows.transposed, "trace": reference_matrices.trace,
    "copy": reference_rows.copied, "diag": reference_row_arrays.diagonal,
    "sort": reference_row_arrays.ordered, "median": reference_row_arrays.median,
    "linalg.det": reference_matrices.determinant, "linalg.inv": reference_matrices.inverse,
    "linalg.solve": reference_matrices.solution,
    "norm": reference_rows.norm, "cross": reference_matrices.cross,
}  # fmt: skip
"""Of rows alone."""
_OF_LISTS: dict[str, Callable] = {
    "stack": reference_row_arrays.stacked, "concatenate": reference_row_arrays.concatenate,
}  # fmt: skip
"""Of lists of rows."""
_MEANINGS_OF_ROWS: dict[str | None, Callable[[Any], Any]] = {
    **dict.fromkeys(("zeros", "ones", "empty", "full", "eye"), _filled),
    **{f"{name}_like": partial(_like, getattr(np, name)) for name in ("zeros", "ones", "empty", "full")},
    **dict.fromkeys(("numpy.array", "numpy.asarray"), lambda _: reference_row_arrays.of_numbers),
    **{name: partial(_of_lists, found) for name, found in _OF_LISTS.items()},
    **{name: partial(_either, found) for name, found in _OF_ROWS.items()},
    **{name: partial(_on_rows, name) for name in OF_ROWS},
}
"""What becomes of a function, by the language's name: those that make rows, or take them."""
_ELEMENTS = (
    "abs", "fmin", "fmax", "signbit", "numpy.rint", "numpy.fmod", "numpy.bitwise_count", "numpy.float_power",
)  # fmt: skip
"""Functions of NumPy that mean the same of numbers in kernels."""
_OF_FLOATS = (
    "heaviside", "logaddexp", "sinc", "isclose", "nan_to_num", "numpy.logaddexp2", "numpy.isposinf", "numpy.isneginf",
    "numpy.fix", "numpy.lcm",
)  # fmt: skip
_MEANINGS: dict[str | None, Callable[[Any], Any]] = {
    **dict.fromkeys((*COMPARISONS, *LOGICAL, *_ELEMENTS), _on_elements),
    **dict.fromkeys((*UNARY, *_OF_FLOATS), _weak),
    **{name: partial(_on_numbers, name, found) for name, found in _FUNCTIONS.items()},
    "where": lambda _: language.where,
    "clamp": partial(_either, language.clamp),
    **_MEANINGS_OF_ROWS,
}
"""The same of all functions; where a name is that of several kinds, the last one counts."""
