"""What a call of a primitive passes, as the compiler is told of it.

Comes in: arguments by name: arrays and tracers of JAX, NumPy's arrays, numbers, tuples and dicts of these. Goes out:
`Arguments`: a `Parameter` each, and the arrays of JAX that XLA is given, numbers as arrays without dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pykern.data.source import (
    COMPLEX,
    ArgSpec,
    ArraySpec,
    Constant,
    Parameter,
    ScalarSpec,
    StaticSpec,
    StructSpec,
)
from pykern.errors import KernelTypeError
from pykern.jax.framework import Array, jax, jnp
from pykern.launching.arguments import fields_of, pass_value, struct_name
from pykern.launching.complex_arguments import refuse_annotated
from pykern.types import ArrayAnnotation, DType, IntentAnnotation, from_numpy, static


@dataclass
class Arguments:
    """Parameters, and the flattened arguments."""

    parameters: list[Parameter] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)


def describe(
    values: list[tuple[str, Any]],
    annotations: dict[str, Any],
    are_arrays: Callable[[str], bool],
    takes_complex: bool = False,
) -> Arguments:
    """Describe the arguments; `are_arrays` tells of which parameters an array without dimensions is one, and no number.
    Complex arrays, where they are taken, are passed as the arrays of their parts.

    Raises `KernelTypeError` for what JAX has no array for.
    """
    found = Arguments()
    for name, value in values:
        annotation = annotations.get(name)
        if value is None or isinstance(value, str):
            found.parameters.append(Parameter(name, StaticSpec(Constant(value))))
        elif annotation is static:
            found.parameters.append(_static(name, value))
        else:
            inner = annotation.of if isinstance(annotation, IntentAnnotation) else annotation
            spec = _spec(name, value, inner, are_arrays(name), found.arrays, takes_complex)
            reads, writes = getattr(annotation, "reads", True), getattr(annotation, "writes", True)
            found.parameters.append(Parameter(name, spec, reads, writes))
    return found


def _static(name: str, value: Any) -> Parameter:
    if isinstance(value, jax.core.Tracer):
        raise KernelTypeError(
            f"`{name}` is pk.static, and its value is not known while JAX traces",
            hint=f"name it among the static arguments: jax.jit(f, static_argnames={name!r})",
        )
    return pass_value(name, value, static).parameter


def _spec(
    name: str, value: Any, annotation: Any, is_array: bool, arrays: list[Array], takes_complex: bool
) -> ArgSpec:
    fields = None if isinstance(value, jax.Array | np.ndarray) else fields_of(value, True)
    if fields is not None:
        inner = tuple(
            (n, _spec(f"{name}.{n}", item, None, is_array, arrays, takes_complex)) for n, item in fields
        )
        return StructSpec(struct_name(value), inner)
    array = _array(name, value)
    if takes_complex and jnp.issubdtype(array.dtype, jnp.complexfloating):
        refuse_annotated(name, annotation)
        return _complex_spec(array, arrays)
    if isinstance(annotation, DType | type) and not array.ndim:
        array = array.astype(annotation.numpy if isinstance(annotation, DType) else annotation)
    arrays.append(array)
    if jnp.issubdtype(array.dtype, jax.dtypes.extended):
        raise KernelTypeError(
            f"`{name}` is an array of {array.dtype}, whose elements JAX does not show",
            hint=f"pass its words: jax.random.key_data({name})",
        )
    dtype = from_numpy(np.dtype(array.dtype))
    if dtype is None:
        raise KernelTypeError(f"`{name}` is an array of {array.dtype}, which kernels do not compute with")
    if isinstance(annotation, ArrayAnnotation):
        _check(name, array, dtype, annotation)
    elif not array.ndim and isinstance(annotation, DType | type):
        return ScalarSpec(dtype.name)
    elif not array.ndim and jax.typeof(array).weak_type and dtype.name in _WEAK:
        return ScalarSpec(_WEAK[dtype.name])
    elif not array.ndim and not is_array and not dtype.is_storage:
        return ScalarSpec(dtype.name)
    if not all(isinstance(n, int) for n in array.shape):
        raise KernelTypeError(
            f"`{name}` has the shape {array.shape}, and the lengths of array programs are numbers",
            hint="export a function for each length",
        )
    return ArraySpec(dtype.name, tuple(array.shape))


def _complex_spec(array: Array, arrays: list[Array]) -> StructSpec:
    """The array of both parts; of a number of Python two numbers. JAX differentiates what is done here."""
    if isinstance(array, jax.ShapeDtypeStruct):
        part = jnp.finfo(array.dtype).dtype
        arrays.append(jax.ShapeDtypeStruct((*array.shape, 2), part))
    elif not array.ndim and jax.typeof(array).weak_type:
        arrays += (array.real, array.imag)
        return StructSpec(COMPLEX, tuple((n, ScalarSpec("float")) for n in ("real", "imag")))
    else:
        arrays.append(jnp.stack((array.real, array.imag), -1))
    dtype = from_numpy(np.dtype(arrays[-1].dtype))
    assert dtype is not None
    return StructSpec(COMPLEX, (("parts", ArraySpec(dtype.name, tuple(arrays[-1].shape))),))


def _array(name: str, value: Any) -> Array:
    try:
        return value if isinstance(value, jax.ShapeDtypeStruct) else jnp.asarray(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise KernelTypeError(f"`{name}` is {type(value).__name__}, and JAX says: {error}") from None


def _check(name: str, array: Array, dtype: DType, annotation: ArrayAnnotation) -> None:
    lengths = zip(annotation.shape, array.shape, strict=False)
    if (
        dtype != annotation.dtype
        or len(annotation.shape) != array.ndim
        or any(n is not None and n != m for n, m in lengths)
    ):
        raise KernelTypeError(
            f"`{name}` is annotated {annotation!r}, and an array of {dtype.name}{list(array.shape)} is given"
        )


_WEAK = {"i32": "int", "i64": "int", "f32": "float", "f64": "float"}
"""What a number of Python is to kernels, by the type that JAX has given it."""


def is_array_of(names: Container[str]) -> Callable[[str], bool]:
    """That the parameters of these names are arrays."""
    return lambda name: name in names
