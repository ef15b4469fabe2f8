"""What kernels and array programs share: the function they were made of, what its names mean now, what a call binds.

Comes in: a function, as it is decorated. Goes out: the base of `pykern.api.kernel.Kernel` and of `Program`.
"""

from __future__ import annotations

import inspect
import itertools
import threading
from collections.abc import Callable
from typing import Any, ClassVar

from pykern.api.call_advice import wrong_binding
from pykern.api.in_graphs import numbered
from pykern.api.pickling import ByName
from pykern.capture.defaults import with_current_defaults
from pykern.capture.function_text import FunctionText, function_text
from pykern.capture.functions import function_source, still_captured
from pykern.capture.guards import Guard
from pykern.data.source import KernelOptions
from pykern.errors import ARGUMENTS, KernelTypeError

_numbers = itertools.count()


class Decorated(ByName):
    """A function with its text, its signature and the options that it was decorated with."""

    __slots__ = (
        "__name__", "__qualname__", "__weakref__", "__wrapped__", "_captured", "_kept", "_lock", "_names",
        "annotations", "number", "options", "signature", "text",
    )  # fmt: skip

    KIND: ClassVar[str]
    """What errors call it."""

    def __init__(self, function: Callable, options: KernelOptions, text: FunctionText | None = None) -> None:
        self.number = next(_numbers)
        numbered[self.number] = self
        self.text: FunctionText = text or function_text(function)
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.signature = inspect.signature(function)
        self.annotations = annotations_of(function, self.signature)
        self.options = options
        self._captured: tuple[Any, list[Guard]] | None = None
        self._lock = threading.RLock()
        self._kept: Any = None
        self._names: tuple[inspect.Signature, tuple[str, ...], int, dict[str, Any]] | None = None

    @property
    def alone(self) -> Any:
        """The kernel or program without what a subclass does for other frameworks: operators of PyTorch and primitives
        of JAX are made of it."""
        return self

    def captured(self) -> tuple[Any, list[Guard]]:
        """The source with what its names mean now. Kept while no guarded name changes."""
        captured = self._captured
        found = None if captured is None else still_captured(captured)
        if found is None or found is not captured:
            with self._lock:
                if found is None:
                    found = function_source(self.__wrapped__, self.text, program=self.KIND == "program")
                self._captured = found
        return found

    def bound(self, args: tuple, keywords: dict[str, Any], has_defaults: bool) -> list[tuple[str, Any]]:
        """Parameter names with their values. Defaults are those that the function has now, where it `has_defaults`."""
        if has_defaults:
            self.signature = with_current_defaults(self.signature, self.__wrapped__)
        found = self._bound_by_name(args, keywords)
        if found is not None:
            return found
        try:
            bound = self.signature.bind(*args, **keywords)
        except TypeError as error:
            raise KernelTypeError(
                f"{self.KIND} `{self.__name__}{self.signature}`: {wrong_binding(self.signature, keywords, error)}",
                hint=self.how_to_call(args, keywords),
                code=ARGUMENTS,
            ) from None
        bound.apply_defaults()
        return list(bound.arguments.items())

    def _bound_by_name(self, args: tuple, keywords: dict[str, Any]) -> list[tuple[str, Any]] | None:
        """The same in a tenth of the time; None for parameters without names, and for calls that may be wrong."""
        if self._names is None or self._names[0] is not self.signature:
            self._names = (self.signature, *_names_of(self.signature))
        _, names, positional, defaults = self._names
        if len(args) > positional:
            return None
        values = dict(zip(names, args, strict=False))
        count = len(values)
        values |= keywords
        if len(values) != count + len(keywords):
            return None
        if len(values) < len(names):
            values = defaults | values
        found = [(name, values[name]) for name in names if name in values]
        return found if len(found) == len(names) == len(values) else None

    def refuse_parameters(self, reserved: tuple[str, ...], what: str, instead: str) -> None:
        """Raises `KernelTypeError` for parameters that take several arguments, and for names that calls need: `what`
        those are, and what to write `instead` of the former."""
        for name, parameter in self.signature.parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise KernelTypeError(
                    f"{self.KIND} `{self.__name__}` takes `{str(parameter).partition(':')[0]}`", hint=instead
                )
            if name in reserved:
                raise KernelTypeError(
                    f"{self.KIND} `{self.__name__}` has a parameter `{name}`, which is {what}",
                    hint="give it another name",
                )

    def how_to_call(self, args: tuple, keywords: dict[str, Any]) -> str:
        """What to write, for arguments that do not fit."""
        raise NotImplementedError


def _names_of(signature: inspect.Signature) -> tuple[tuple[str, ...], int, dict[str, Any]]:
    """The parameters' names, how many of them a call may give without, and defaults; -1 where a name alone does not
    do."""
    parameters = signature.parameters.values()
    if not all(p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters):
        return (), -1, {}
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    return tuple(signature.parameters), sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters), defaults


def annotations_of(function: Callable, signature: inspect.Signature) -> dict[str, Any]:
    """Annotations of the parameters, those written as strings evaluated."""
    found: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        annotation = parameter.annotation
        if annotation is parameter.empty:
            continue
        if isinstance(annotation, str):
            try:
                annotation = inspect.get_annotations(function, eval_str=True)[name]
            except (AttributeError, NameError, SyntaxError, TypeError) as error:
                raise KernelTypeError(
                    f"`{name}` has an annotation that means nothing: {error}",
                    hint="annotate arrays as pk.f32[:] or pk.f32[:, :], numbers as pk.f32, and constants as pk.static",
                ) from None
        if annotation is not Any and not _is_any_array(annotation):
            found[name] = annotation
    return found


def _is_any_array(annotation: Any) -> bool:
    """``np.ndarray``, ``npt.NDArray[np.float32]``, `pk.Array`: for type checkers; any array is passed."""
    kind = getattr(annotation, "__origin__", annotation)
    is_numpy = getattr(kind, "__module__", "") == "numpy" and getattr(kind, "__name__", "") == "ndarray"
    return is_numpy or bool(getattr(kind, "__pykern_array__", False))
