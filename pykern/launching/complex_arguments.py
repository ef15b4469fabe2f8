"""Complex numbers and arrays of a call, as the pairs of real ones that the code is given.

Comes in: an argument. Goes out: the array of its parts, a view of the same memory with one more axis of length 2,
or the real and the imaginary number.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pykern.data.source import Parameter, has_complex
from pykern.errors import ARGUMENT_TYPE, KernelTypeError
from pykern.runtime.other_libraries import is_jax_array, is_tensor
from pykern.types import complex_type


def parts_of(value: Any) -> Any:
    """A complex array as the real array of its parts, without a copy; other values as they are."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "c" and complex_type(value.dtype) is not None:
        return value[..., None].view(value.real.dtype)
    return value


def is_foreign_complex(value: Any) -> bool:
    """Whether it is a complex tensor of PyTorch or array of JAX."""
    return (is_tensor(value) or is_jax_array(value)) and "complex" in str(value.dtype)


def number_parts(value: Any) -> tuple[Any, Any] | None:
    """The real and the imaginary part of a complex number; None for other values."""
    if type(value) is complex or (isinstance(value, np.complexfloating) and value.itemsize <= 16):
        return value.real, value.imag
    return None


def refuse_annotated(name: str, annotation: Any) -> None:
    """Raise `KernelTypeError` for a parameter that is annotated as real."""
    if annotation is not None and annotation is not complex:
        told = getattr(annotation, "__name__", annotation)
        raise KernelTypeError(
            f"`{name}` is annotated {told}, and a complex value is passed",
            hint=f"leave the annotation out, or pass {name}.real",
            code=ARGUMENT_TYPE,
        )


def refuse_derivatives(parameters: Iterable[Parameter]) -> None:
    """Raise `KernelTypeError` where a derivative is taken and something complex is passed."""
    for parameter in parameters:
        if has_complex(parameter.spec):
            name = parameter.name
            raise KernelTypeError(
                f"`{name}` is complex, and derivatives are taken of functions of real numbers alone",
                hint=f"pass {name}.real and {name}.imag, and differentiate by them: inside z = x + 1j * y",
                code=ARGUMENT_TYPE,
            )
