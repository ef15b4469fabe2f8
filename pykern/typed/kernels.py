"""`kernel`, `func`, `jit` and what they make, as type checkers see them.

A launch takes the kernel's arguments, and the keywords of launches: any other keyword is an error, unless the call
has none of those of launches and fits the function itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, SupportsIndex, TypeVar, overload

from pykern.api.lowered import Lowered, Raised
from pykern.runtime.devices import device as Device  # noqa: N812 - `device` is a parameter below
from pykern.runtime.event import Event
from pykern.runtime.stream import Stream

P = ParamSpec("P")
R = TypeVar("R")

Length = SupportsIndex | range
Pass = str | Callable[[Any], None]


class Kernel(Generic[P]):
    """A function that runs once for each work-item of an index space."""

    __name__: str
    __qualname__: str
    signature: inspect.Signature

    @overload
    def __call__(
        self,
        *args: Any,
        ndrange: Length | tuple[Length, ...] | list[Any] | None = None,
        workgroup: int | tuple[int, ...] | None = None,
        stream: Stream | None = None,
        device: str | Device | None = None,
        shared_bytes: int | None = None,
        tile: int | tuple[int | None, ...] | None = None,
    ) -> Event: ...
    @overload
    def __call__(self, *args: P.args, **keywords: P.kwargs) -> Event: ...
    def __call__(self, *args: Any, **keywords: Any) -> Any: ...

    def lower(
        self,
        *args: Any,
        ndrange: Any = None,
        workgroup: int | tuple[int, ...] | None = None,
        shared_bytes: int | None = None,
        target: str = ...,
        passes: Sequence[Pass] = (),
        debug: bool | str = ...,
        **keywords: Any,
    ) -> Lowered: ...

    def raised(self, *args: Any, ndrange: Any = None, **keywords: Any) -> Raised: ...


@overload
def kernel(
    function: Callable[P, Any],
    *,
    debug: bool | str | None = None,
    fastmath: bool = False,
    workgroup: int | tuple[int, ...] | None = None,
    ndrange: Length | tuple[Length, ...] | None = None,
    timeout: float | None = None,
) -> Kernel[P]: ...
@overload
def kernel(
    *,
    debug: bool | str | None = None,
    fastmath: bool = False,
    workgroup: int | tuple[int, ...] | None = None,
    ndrange: Length | tuple[Length, ...] | None = None,
    timeout: float | None = None,
) -> Callable[[Callable[P, Any]], Kernel[P]]: ...
def kernel(*args: Any, **keywords: Any) -> Any: ...


class Program(Generic[P, R]):
    """A function over whole arrays, compiled for each kind of call."""

    __name__: str
    __qualname__: str
    signature: inspect.Signature

    @overload
    def __call__(self, *args: P.args, **keywords: P.kwargs) -> R: ...
    @overload
    def __call__(
        self,
        *args: Any,
        out: Any = None,
        donate: int | tuple[int, ...] | None = None,
        device: str | Device | None = None,
        stream: Stream | None = None,
    ) -> R: ...
    def __call__(self, *args: Any, **keywords: Any) -> Any: ...

    def lower(
        self, *args: Any, target: str = ..., passes: Sequence[Pass] = (), **keywords: Any
    ) -> Lowered: ...


@overload
def jit(
    function: Callable[P, R],
    *,
    fastmath: bool = False,
    debug: bool | str | None = None,
    donate_argnums: int | tuple[int, ...] = (),
) -> Program[P, R]: ...
@overload
def jit(
    *, fastmath: bool = False, debug: bool | str | None = None, donate_argnums: int | tuple[int, ...] = ()
) -> Callable[[Callable[P, R]], Program[P, R]]: ...
def jit(*args: Any, **keywords: Any) -> Any: ...


# -- derivatives -----------------------------------------------------------------------------------


def value_and_grad(
    f: Callable[P, R], argnums: int | tuple[int, ...] = 0, has_aux: bool = False, checkpoint: Any = None
) -> Program[P, tuple[R, Any]]: ...
def grad(
    f: Callable[P, Any], argnums: int | tuple[int, ...] = 0, has_aux: bool = False, checkpoint: Any = None
) -> Program[P, Any]: ...
def vjp(
    f: Callable[..., R], *args: Any, checkpoint: Any = None
) -> tuple[R, Callable[[Any], tuple[Any, ...]]]: ...
def jvp(f: Callable[..., R], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[R, R]: ...
def hvp(
    f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...], checkpoint: Any = None
) -> Any: ...
