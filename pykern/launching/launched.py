"""What launches know of a kernel: `pykern.api.kernel` has the class."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Protocol

from pykern.capture.function_text import FunctionText
from pykern.capture.guards import Guard
from pykern.data.source import Derivative, KernelOptions


class LaunchedKernel(Protocol):
    """A function that is launched, with what was said of it where it was decorated."""

    __name__: str
    __wrapped__: Callable
    text: FunctionText
    signature: inspect.Signature
    annotations: dict[str, Any]
    options: KernelOptions
    workgroup: Any
    ndrange: Any
    derivatives: tuple[Derivative, ...]
    timeout: float | None
    _captured: tuple[Any, list[Guard]] | None
    _lock: Any

    def __call__(self, *args: Any, **keywords: Any) -> Any: ...

    def captured(self) -> tuple[Any, list[Guard]]:
        """The source with what its names mean now."""
        ...

    def bind(self, args: tuple, keywords: dict[str, Any]) -> list[tuple[str, Any]]:
        """Parameter names with their values."""
        ...
