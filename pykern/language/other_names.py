"""What Python, `math` and NumPy call what the language has: the one list of their names.

A name of NumPy that `numbers`, `array_functions` or `numpy_functions` defines is that of the language; here are those
that differ. A new function of NumPy is defined in `numpy_functions`, and its translation in a table `HANDLERS` of
`pykern.frontend.program`; one that others can express is a text in `composed`.
"""

from __future__ import annotations

import builtins
import math
import sys
from functools import cache
from typing import Any

from pykern.data.operator_functions import BINARY, UFUNC_METHODS, UNARY
from pykern.runtime.reference_mathematics import MATHEMATICS

_PYTHON = (
    "abs", "min", "max", "round", "len", "int", "float", "bool", "range", "print", "pow", "divmod",
    "sum", "any", "all", "enumerate", "zip", "reversed", "isinstance",
)  # fmt: skip
"""Functions of Python that mean the same in the language."""
_OURS = ("abs", "round", "rsqrt", "sign", "square")
MATH = tuple(name for name in MATHEMATICS if name not in _OURS)
"""Functions of `math`, the newest of which older versions of Python do not have."""
_NUMPY_ALONE = (
    "rint", "fmod", "bitwise_count", "float_power", "minimum", "maximum", "logaddexp2", "isposinf", "isneginf", "fix",
    "lcm",
)  # fmt: skip
"""Functions that differ from those of the language, or that it has by NumPy's names alone."""
_OF_NUMPY = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "arcsinh": "asinh",
    "arccosh": "acosh", "arctanh": "atanh", "absolute": "abs", "power": "pow",
    "clip": "clamp", "divmod": "divmod", "deg2rad": "radians", "rad2deg": "degrees",
    "tile": "numpy.tile", "array": "numpy.array", "asarray": "numpy.asarray", "identity": "eye", "around": "round",
    "linalg.norm": "norm", "row_stack": "vstack", "trapz": "trapezoid", "amax": "max",
    "amin": "min",
    **{name: f"numpy.{name}" for name in _NUMPY_ALONE},
    **{path: path for path in (f"linalg.{n}" for n in ("solve", "inv", "det", "slogdet", "cholesky", "matrix_power"))},
    **{path: path for method, names in UFUNC_METHODS.items() for path in (f"{n}.{method}" for n in names)},
    **{name: name for name in ("size", "shape", "ndim", "where", *BINARY, *UNARY)},
}  # fmt: skip
"""NumPy's names that are other ones in the language, or none of its own."""
_NOT_OF_NUMPY = {"erf", "erfc", "fma", "gamma", "lgamma", "range", "remainder", "rsqrt", "stop_gradient"}
"""Names of the language that NumPy does not have; `remainder` is another function there."""


def from_callable(value: object) -> str | None:
    """The language's name for an object: ours, `math`'s, NumPy's or Python's; None for others."""
    name = getattr(value, "__pykern_builtin__", None)
    if isinstance(name, str):
        return name
    try:
        return _python_functions().get(value) or _numpy_functions().get(value)  # type: ignore[call-overload]
    except TypeError:  # not hashable
        return None


@cache
def numpy_names() -> dict[str, str]:
    """The language's name for each of NumPy's, as ``linalg.norm``."""
    from pykern.language import array_functions, numpy_functions

    same = {*MATHEMATICS, *array_functions.__all__} - _NOT_OF_NUMPY
    return {name: name for name in same} | numpy_functions.PATHS | _OF_NUMPY


@cache
def operands() -> dict[str, int]:
    """How many operands each function takes that is a ufunc of NumPy with one result: behind them stands `out`."""
    import numpy

    found = ((name, _attribute(numpy, path)) for path, name in numpy_names().items())
    return {name: f.nin for name, f in found if isinstance(f, numpy.ufunc) and f.nout == 1}


@cache
def _python_functions() -> dict[Any, str]:
    found = {getattr(builtins, name): name for name in _PYTHON}
    return (
        found | {getattr(math, name): name for name in MATH if hasattr(math, name)} | {math.pow: "math.pow"}
    )


def _numpy_functions() -> dict[Any, str]:
    numpy = sys.modules.get("numpy")
    return {} if numpy is None else _functions_of(numpy)


@cache
def _functions_of(numpy: Any) -> dict[Any, str]:
    found = ((_attribute(numpy, path), name) for path, name in numpy_names().items())
    return {value: name for value, name in found if value is not None}


def _attribute(module: Any, path: str) -> Any:
    """``numpy.linalg.norm``; None where this NumPy has none."""
    for part in path.split("."):
        module = getattr(module, part, None)
    return module
