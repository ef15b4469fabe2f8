"""Derivatives of array programs: `grad`, `value_and_grad`, `vjp`, `jvp`, `hvp`.

Comes in: a function made with ``@pk.jit`` (or a plain one, which is). Goes out: programs, compiled like any
other, or their results. What is differentiated are whole arrays and floats, parameter by parameter; an
argument the program writes keeps its values in its derivatives, except in `vjp`, which runs the program. Read next:
`compiler.program_derivatives`.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pykern.api.jit import Program
from pykern.arrays.creation import asarray
from pykern.data.program_source import ProgramDerivative
from pykern.data.synthetic_frame import at_users_line
from pykern.derivatives import checkpointing
from pykern.derivatives.plain_functions import as_program
from pykern.derivatives.trees import leaves, parts, rebuilt
from pykern.errors import KernelTypeError, LaunchError
from pykern.launching.arguments import homes, is_array
from pykern.program.outputs import as_given, library_of
from pykern.runtime.other_libraries import is_tensor
from pykern.types import BY_NAME, COMPLEX, complex_type, from_numpy

_FLOAT0 = np.dtype([("float0", np.void, 0)])
"""The type of JAX's tangents of integers."""


@at_users_line
def value_and_grad(
    f: Callable, argnums: int | tuple[int, ...] = 0, has_aux: bool = False, checkpoint: Any = None
) -> Program:
    """A program that gives ``(f(...), gradient)`` for an `f` that returns one float.

    `argnums` chooses the parameters; a tuple of numbers gives a tuple of gradients, each of the shape and dtype of
    its argument. A number below zero counts from the last parameter. With `has_aux`, `f` returns
    ``(float, anything)``. `checkpoint` is what time loops keep: `pk.checkpoint`. Raises `KernelTypeError` where `f`
    returns something else, `NotDifferentiable` at the line that has no right derivative.
    """
    return _gradient(f, argnums, has_aux, checkpoint, value=True)


@at_users_line
def grad(
    f: Callable, argnums: int | tuple[int, ...] = 0, has_aux: bool = False, checkpoint: Any = None
) -> Program:
    """A program that gives the gradient alone; with `has_aux` it gives ``(gradient, anything)``."""
    return _gradient(f, argnums, has_aux, checkpoint, value=False)


def _gradient(f: Callable, argnums: Any, has_aux: bool, checkpoint: Any, value: bool) -> Program:
    program = as_program(f)
    derivative = ProgramDerivative(
        "gradient", _numbers(program, argnums), _policy(program, checkpoint), has_aux, value,
        several=isinstance(argnums, tuple | list),
    )  # fmt: skip
    return program.derived(derivative, (), f"grad({program.__name__})")


@at_users_line
def vjp(f: Callable, *args: Any, checkpoint: Any = None) -> tuple[Any, Callable[[Any], Any]]:
    """``(f(*args), pull)``; ``pull(cotangent)`` gives the cotangents of the arguments, a tuple.

    The cotangent has the structure of the value, its float leaves; integers among the arguments give None. An array
    that `f` writes is written, as by a call; `pull` holds copies of what it needs, and may be called any number of
    times, whatever becomes of the arrays of the arguments and of the value.
    """
    program = as_program(f)
    active = tuple(n for n, a in enumerate(args) if _has_float(a) and not _is_complex_number(a))
    nothing = (None,) * len(args)
    if not active:

        @at_users_line
        def none(*cotangents: Any) -> tuple[Any, ...]:
            _one(cotangents)
            return nothing

        return program(*args), none
    asked = ProgramDerivative("residuals", active, _policy(program, checkpoint))
    forward = program.derived(asked, (), f"vjp({program.__name__})")
    value, residuals, name, constants = forward(*args)
    takes = [_taking(leaf, args) for leaf in floats(value)]
    for n in map(int, constants.split(",") if constants else ()):
        takes[n] = _nothing
    form = _form_of(value)
    taken = [f"cotangent{n}" for n, take in enumerate(takes) if take is not _nothing]
    pulled = forward.pullback(name, (*taken, *(f"residual{n}" for n in range(len(residuals)))))
    alone = takes[0] if taken and _is_float(value) else None
    count, several = len(args), len(active) > 1
    every, library = len(active) == count, library_of(args)

    @at_users_line
    def pull(*cotangents: Any) -> tuple[Any, ...]:
        return as_given(pulled_back(_one(cotangents)), library)

    def pulled_back(cotangent: Any) -> tuple[Any, ...]:
        if alone is not None and type(cotangent) in (np.ndarray, float):
            found = pulled(alone(cotangent), *residuals)
        else:
            given = zip(takes, matched(form, cotangent, "the cotangent"), strict=True)
            found = pulled(*(take(c) for take, c in given if take is not _nothing), *residuals)
        if every:
            return found if several else (found,)
        left = iter(found if several else (found,))
        return tuple(next(left) if n in active else None for n in range(count))

    return value, pull


def _one(cotangents: tuple[Any, ...]) -> Any:
    """What `pull` was given. Raises `KernelTypeError` where that is not one cotangent."""
    if len(cotangents) != 1:
        raise KernelTypeError(
            f"pull takes one cotangent, with the structure of the value, not {len(cotangents)}",
            hint="for a tuple as value write pull((a, b)), with a cotangent for each of its parts",
        )
    return cotangents[0]


@at_users_line
def jvp(f: Callable, primals: tuple, tangents: tuple) -> tuple[Any, Any]:
    """``(f(*primals), tangent)``; a tangent of None is zero, and that argument is a constant."""
    program = as_program(f)
    _check_tuples("jvp", primals, tangents)
    active = tuple(n for n, t in enumerate(tangents) if t is not None and not _is_zero(n, primals[n], t))
    more = tuple(f"tangent{n}" for n in range(sum(len(list(floats(primals[n]))) for n in active)))
    pushed = program.derived(ProgramDerivative("jvp", active), more, f"jvp({program.__name__})")
    given = [
        _like(t, p)
        for n in active
        for t, p in zip(
            matched(_form_of(primals[n]), tangents[n], f"tangent {n}"), floats(primals[n]), strict=True
        )
    ]
    return pushed(*primals, *given)


@at_users_line
def hvp(f: Callable, primals: tuple, tangents: tuple, checkpoint: Any = None) -> Any:
    """The Hessian of `f`, which returns one float, times `tangents`: forward over reverse mode.

    ``pk.hvp(f, (x,), (v,))``; one argument gives an array, several give a tuple, None for integers.
    """
    _check_tuples("hvp", primals, tangents)
    argnums = tuple(n for n, p in enumerate(primals) if _has_float(p))
    if not argnums:
        raise KernelTypeError(
            "no argument holds a float: there is no Hessian", hint="pass floats: 3.0, not 3"
        )
    found = iter(jvp(grad(f, argnums, checkpoint=checkpoint), primals, tangents)[1])
    products = tuple(next(found) if n in argnums else None for n in range(len(primals)))
    return products if len(primals) > 1 else products[0]


def _check_tuples(name: str, primals: Any, tangents: Any) -> None:
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise KernelTypeError(
            f"pk.{name} takes a tuple of primals and a tuple of tangents",
            hint=f"write pk.{name}(f, (x,), (v,))",
        )
    if len(primals) != len(tangents):
        raise LaunchError(
            f"{len(tangents)} tangents for {len(primals)} arguments",
            hint="give one for each argument, None for a constant",
        )


def _is_zero(number: int, primal: Any, tangent: Any) -> bool:
    """Whether a tangent is none because its argument holds no float. Raises where it is not zero then."""
    if _has_float(primal):
        return False
    for _, leaf in leaves(tangent):
        known = np.asarray(leaf)
        if known.dtype != _FLOAT0 and known.any():
            raise KernelTypeError(
                f"argument {number} holds no float, and has a tangent",
                hint="give None for what is a constant, or pass the argument as a float",
            )
    return True


def _policy(program: Program, checkpoint: Any) -> str:
    return program.checkpoint if checkpoint is None else checkpointing.checkpoint(checkpoint).policy


def _numbers(program: Program, argnums: Any) -> tuple[int, ...]:
    names = list(program.signature.parameters)
    given = argnums if isinstance(argnums, tuple | list) else (argnums,)
    try:
        numbers = [operator.index(n) for n in given]
    except TypeError:
        raise KernelTypeError(
            f"argnums={argnums!r} names no parameters of `{program.__name__}`",
            hint="give the number of a parameter, or a tuple of numbers: argnums=(0, 2)",
        ) from None
    for n in numbers:
        if not -len(names) <= n < len(names):
            raise KernelTypeError(
                f"`{program.__name__}` has no parameter number {n}, which argnums names",
                hint=f"they are {', '.join(f'{k}: {name}' for k, name in enumerate(names))}",
            )
    return tuple(n % len(names) for n in numbers)


def _form_of(value: Any) -> Any:
    """The value with True for its floats and False for its other leaves."""
    return rebuilt(value, (_is_float(leaf) for _, leaf in leaves(value)))


def matched(form: Any, given: Any, what: str) -> list[Any]:
    """What is given for each float of a value of this form, in order; None is zero. Raises where it has another form,
    except for a flat tuple of as many floats."""
    found: list[Any] = []
    if _matches(form, given, found):
        return found
    flat = list(given) if isinstance(given, tuple) else []
    if any(parts(item) is not None for item in flat) or len(flat) != sum(leaf for _, leaf in leaves(form)):
        raise LaunchError(
            f"{what} has another form than what it belongs to: {_in_words(given)} for {_in_words(form)}",
            hint="give it the same tuples, lists and dicts, and None where it is zero",
        )
    return flat


def _matches(form: Any, given: Any, found: list[Any]) -> bool:
    """Whether `given` has this form; what it has for the floats goes to `found`."""
    inner = parts(form)
    others = parts(given)
    if inner is None:
        if form:
            found.append(given)
        return not form or others is None or isinstance(given, list)
    if given is None:
        others = [(name, None) for name, _ in inner]
    if others is None or len(others) != len(inner) or {n for n, _ in others} != {n for n, _ in inner}:
        return False
    known = dict(others)
    return all(_matches(item, known[name], found) for name, item in inner)


def _in_words(value: Any) -> str:
    inner = parts(value)
    if inner is None:
        return "one number or array"
    if isinstance(value, dict):
        return "a dict of " + ", ".join(map(repr, value))
    return f"a {type(value).__name__} of {len(inner)}"


def floats(value: Any) -> Iterator[Any]:
    """The float leaves of a value, in order."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from floats(getattr(value, field.name))
    elif isinstance(value, dict):
        for item in value.values():
            yield from floats(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from floats(item)
    elif _is_float(value):
        yield value


def _has_float(value: Any) -> bool:
    return next(floats(value), None) is not None


def _is_float(value: Any) -> bool:
    if isinstance(value, float | complex):
        return True
    dtype = _dtype(value)
    if dtype is None:
        return False
    return complex_type(dtype) is not None or ((known := from_numpy(dtype)) is not None and known.is_float)


def _is_complex_number(value: Any) -> bool:
    """Which a program takes as two numbers, and has no derivative by."""
    return isinstance(value, complex | np.complexfloating)


def _dtype(value: Any) -> np.dtype | None:
    """NumPy's type of the elements, also where the array is another library's: ``torch.float32``."""
    own = getattr(value, "dtype", None)
    if own is None:
        return None
    try:
        return np.dtype(own)
    except TypeError:
        name = str(own).rpartition(".")[2]
    every = (*BY_NAME.values(), *COMPLEX.values())
    known = BY_NAME.get(name) or next((d for d in every if d.numpy.name == name), None)
    return None if known is None else known.numpy


def _taking(value: Any, arguments: tuple) -> Callable[[Any], Any]:
    """What makes of a cotangent what the program takes for a float of its value: itself, where type and shape are the
    same. What is a NumPy number to the caller is an array of rank 0, which lives where the arguments do."""
    if _is_complex_number(value):
        return lambda given: np.asarray(_like(given, value))
    if isinstance(value, np.floating):
        home = next(iter(homes([(f"argument{n}", a) for n, a in enumerate(arguments)]).values()), None)
        return lambda given: _of_rank_0(_like(given, value), home)
    if type(value) is not np.ndarray and not is_tensor(value):
        return lambda given: _like(given, value)
    dtype, shape = _dtype(value), tuple(value.shape)
    like = np.broadcast_to(np.zeros((), dtype), shape)  # the array itself need not be kept

    def take(given: Any) -> Any:
        same = type(given) is np.ndarray and given.dtype == dtype and given.shape == shape
        return given if same else _like(given, like)

    return take


def _nothing(given: Any) -> None:
    """Of the cotangent of a constant."""


def _of_rank_0(value: Any, home: str | None) -> Any:
    if home is None:
        return np.asarray(value)
    return asarray(np.asarray(value), device=home)


def _like(given: Any, value: Any) -> Any:
    """A cotangent or tangent in the type of the value it belongs to; None is zero. Raises where the shape differs."""
    if is_tensor(given):
        given = is_array("the derivative", given)
    if np.iscomplexobj(given) and not np.iscomplexobj(value):
        raise LaunchError("a complex derivative for what is real", hint="give its real part: g.real")
    if given is None:
        given = 0.0 if isinstance(value, float | complex | np.inexact) else np.zeros(value.shape)
    if isinstance(value, float | complex | np.inexact):
        if np.shape(given):
            raise LaunchError(
                f"a derivative of shape {np.shape(given)} for a number", hint="give a number: 1.0"
            )
        return type(value)(given)
    if getattr(value, "__pykern_array__", False) and value.device_name != "cpu":
        array: Any = asarray(given, value.dtype, None if hasattr(given, "__pykern_array__") else value.device)
    else:
        array = np.asarray(given, dtype=_dtype(value))
    if array.shape != tuple(value.shape):
        raise LaunchError(
            f"a derivative of shape {array.shape} for an array of shape {tuple(value.shape)}",
            hint="give it the shape of what it belongs to, as np.ones_like(y) has it",
        )
    return array
