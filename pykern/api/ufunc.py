"""`pk.ufunc`: a function of numbers as one of NumPy's universal functions.

Comes in: a function and the signatures that it is compiled for. Goes out: a `numpy.ufunc`, made by NumPy's C API of
inner loops that are machine code (`pykern.lowering.llvm.c_functions`). Read next: `c_function`.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from pykern.api.c_function import Scalars, Signature, captured, signature_of
from pykern.capture.placing import placed
from pykern.errors import KernelTypeError
from pykern.runtime.numpy_api import new_ufunc
from pykern.types import BY_NAME

DEFAULT = ("f32", "f64")
"""What a function is compiled for where nothing is said."""
MOST_OPERANDS = 31
"""NumPy's limit is 32 in its first versions, with the result."""
_IDENTITIES = {None: -1, "reorderable": -2, 0: 0, 1: 1, -1: 2}
"""PyUFunc_None and its like."""


def ufunc(function: Any, *signatures: str, identity: int | str | None = None) -> np.ufunc:
    """A `numpy.ufunc` of a `@pk.func`, or of a plain function of numbers: ``pk.ufunc(f)``.

    It is called as NumPy's own are: arrays and numbers that broadcast, ``out=``, ``where=``, ``dtype=``, and, with two
    parameters, ``reduce``, ``accumulate``, ``reduceat``, ``at`` and ``outer``. `signatures` are the types that it is
    compiled for, in the order in which NumPy tries them: ``"f32(f32, f32)", "bool(i64, i64)"``. Without any they are
    f32, then f64; integers are then converted, as by `numpy.sin`. `identity` (0, 1 or -1) is what `reduce` begins with;
    with one, or with ``"reorderable"``, as for a maximum, `reduce` takes several axes, in any order.

    All is compiled at once, and what the function's names mean is taken then. It runs in one thread, without the GIL,
    and never gives floating-point warnings. Raises `KernelTypeError` for a signature that does not fit, and what the
    compiler raises.
    """
    scalars = captured(function)
    if identity not in _IDENTITIES:
        raise KernelTypeError(
            f'identity={identity!r}: NumPy has 0, 1, -1 and "reorderable"',
            hint="leave it out, and give initial=",
        )
    found = [signature_of(text) for text in signatures] or _defaults(scalars)
    arity = len(found[0].parameters)
    for signature in found:
        _check(scalars, signature, arity)
    loops = [_loop(scalars, signature) for signature in found]
    types = [[*s.parameters, s.result] for s in found]
    numbers = bytes(BY_NAME[name].numpy.num for one in types for name in one)
    doc = (scalars.function.__doc__ or "").strip()
    return new_ufunc(loops, numbers, arity, _IDENTITIES[identity], scalars.text.name, doc)


def _defaults(scalars: Scalars) -> list[Signature]:
    count = scalars.function.__code__.co_argcount
    return [Signature(name, (name,) * count) for name in DEFAULT]


def _check(scalars: Scalars, signature: Signature, arity: int) -> None:
    wrong = ""
    if any("[" in name for name in signature.parameters):
        wrong = "has an array, and a ufunc's function takes numbers"
    elif len(signature.parameters) != arity:
        wrong = f"has {len(signature.parameters)} parameters, and another one {arity}"
    elif not 1 <= arity <= MOST_OPERANDS:
        wrong = f"has {arity} parameters, and a ufunc takes 1 to {MOST_OPERANDS}"
    if wrong:
        error = KernelTypeError(f"signature {signature} {wrong}", hint='write it as "f32(f32, f32)"')
        raise placed(error, scalars.text)
    scalars.check(signature)


def _loop(scalars: Scalars, signature: Signature) -> tuple[int, Any]:
    """NumPy's inner loop, and what it is given each time."""
    one_by_one = scalars.code(signature, "function").address("pk_sequential")
    vectorised = scalars.code(signature, "loop").address("pk_loop")
    return vectorised, ctypes.c_void_p(one_by_one)
