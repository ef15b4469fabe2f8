"""Rules for the results of a kernel: `pkj.like`, or a function of the arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pykern.errors import KernelTypeError
from pykern.jax.framework import jax, jnp
from pykern.types import DType, from_numpy


@dataclass(frozen=True)
class Like:
    """A result with the shape and dtype of an argument: see `like`."""

    name: str
    dtype: Any = None

    def of(self, arguments: dict[str, Any]) -> tuple[Any, Any]:
        """Shape and dtype."""
        source = arguments.get(self.name)
        if source is None:
            raise KernelTypeError(
                f"pkj.like({self.name!r}): there is no argument of this name",
                hint=f"the arguments are {', '.join(arguments)}",
            )
        array = source if isinstance(source, jax.ShapeDtypeStruct) else jnp.asarray(source)
        return array.shape, array.dtype if self.dtype is None else self.dtype


def like(name: str, dtype: Any = None) -> Like:
    """A result like the argument `name`: its shape, and its dtype unless `dtype` is given (a `pk` dtype or NumPy's).

    Cells that the kernel does not write are zero.
    """
    return Like(name, dtype)


def described(
    kernel: str, name: str, rule: Like | Callable[..., Any], arguments: dict[str, Any]
) -> tuple[tuple[int, ...], str]:
    """Shape and dtype of what a rule makes for these arguments. Raises `KernelTypeError` where it makes no array."""
    if isinstance(rule, Like):
        shape, dtype = rule.of(arguments)
    else:
        made = rule(*arguments.values()) if callable(rule) else rule
        if not hasattr(made, "shape") or not hasattr(made, "dtype"):
            raise KernelTypeError(
                f"the rule of result `{name}` of `{kernel}` gives {type(made).__name__}",
                hint="let it give a jax.ShapeDtypeStruct((n, m), jnp.float32)",
            )
        shape, dtype = made.shape, made.dtype
    known = dtype if isinstance(dtype, DType) else from_numpy(np.dtype(dtype))
    if known is None:
        raise KernelTypeError(
            f"result `{name}` of `{kernel}` is of {dtype}, which kernels do not compute with"
        )
    return tuple(int(n) for n in shape), known.name
