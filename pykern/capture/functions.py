"""From a live Python function to `FunctionSource`: its text, and what the names in it mean.

Comes in: a function object. Goes out: plain data for the compiler, and the `Guard`s that tell when
a captured value has changed. Runs in the user's process, imports no MLIR.
The text is taken when the function is decorated; the values when a call is compiled.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import sysconfig
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pykern import language
from pykern.capture.function_text import FunctionText, function_text
from pykern.capture.guards import MISSING, NAME, Guard, Guards, guard_defaults, renewed, resolve
from pykern.data.index_space import index_space
from pykern.data.locations import SourceSpan
from pykern.data.records import record
from pykern.data.source import (
    Annotation,
    Builtin,
    Capture,
    CapturedCustom,
    CapturedGradient,
    CapturedKernel,
    Constant,
    FunctionSource,
    StructType,
    TypeName,
    Unsupported,
)
from pykern.errors import KernelSyntaxError, nested_too_deeply
from pykern.language.composed import composed
from pykern.types import (
    ArrayAnnotation,
    DType,
    IntentAnnotation,
    complex_type,
    from_numpy,
    named_type,
    static,
)

STRUCTURES = (dict, list, tuple)
DERIVATIVES = ("grad", "value_and_grad", "vjp", "jvp", "hvp")
"""What programs may take inside."""
MOST_IN_CIRCLES = 2000
"""So often functions that call one another in circles are captured anew. They can be reached in very many ways."""


def function_source(
    function: types.FunctionType, text: FunctionText | None = None, program: bool = False
) -> tuple[FunctionSource, list[Guard]]:
    """The text with what its names mean now, and the guards over values that could change.

    A `program` works on whole arrays: it may call kernels and plain Python functions as well.
    """
    scope = _Scope(Guards(), (), program, _Met())
    try:
        source = _source(function, text or function_text(function), scope)
    except RecursionError:  # of the chain of functions that it calls
        raise nested_too_deeply(function.__name__) from None
    except _InCircles as found:
        raise KernelSyntaxError(
            f"`{found.text.name}` is one of many functions that call one another in circles: that is recursion",
            found.span(),
            hint="write a loop, or a stack in pk.private memory",
        ) from None
    return source, scope.guards.listed()


def still_captured(captured: tuple[FunctionSource, list[Guard]]) -> tuple[FunctionSource, list[Guard]] | None:
    """What `function_source` gave, where all names mean the same: the very same tuple, or one whose guards hold the
    objects that are there now. None where a name means something else."""
    guards = renewed(captured[1], _same_constants)
    if guards is None:
        return None
    return captured if guards is captured[1] else (captured[0], guards)


def _same_constants(a: object, b: object) -> bool:
    if type(a) is not type(b) or a is MISSING:
        return False
    first = _constant(a)
    return isinstance(first, Constant) and first == _constant(b)


@record
class _Scope:
    """Where a name is looked up: the guards found so far, who calls whom, kernel or program, what was captured."""

    guards: Guards
    callers: tuple
    program: bool
    met: _Met

    def is_caller(self, function: object) -> bool:
        """Whether the function is being captured: by its own name, or further up."""
        self.met.asked.add(function)
        return function in self.callers


@dataclass
class _Met:
    """Functions that were captured. One that many call is captured once: captures are a graph, not a tree.

    What a function's names mean depends on its callers only where it reaches one of them. So each is kept with the
    functions that it asked for among them.
    """

    sources: dict[tuple[object, FunctionText, bool, bool], tuple[FunctionSource, frozenset]] = field(
        default_factory=dict
    )
    asked: set = field(default_factory=set)
    """By the function that is being captured, and by those it reaches."""
    in_circles: int = 0
    """How often a function was not kept, because it reaches one of its callers."""


class _InCircles(Exception):
    """No error of the function's own, which would make it a name that kernels cannot use: it ends the capture."""

    def __init__(self, text: FunctionText) -> None:
        super().__init__(text)
        self.text = text

    def span(self) -> SourceSpan:
        line = self.text.text.splitlines()[0]
        indent = len(line) - len(line.lstrip())
        return SourceSpan(self.text.file, self.text.first_line, indent, len(line), self.text.name, line)


def _source(function: Any, text: FunctionText, scope: _Scope) -> FunctionSource:
    """The function and what it reaches, from `met` where nothing is different there."""
    met, before = scope.met, scope.met.asked
    key = (function, text, scope.program, bool(scope.callers))
    found = met.sources.get(key)
    if found is None or not found[1].isdisjoint(scope.callers):
        met.asked = set()
        made = _captured(function, text, scope)
        found = (made, frozenset(met.asked))
        if met.asked.isdisjoint(scope.callers):
            met.sources[key] = found
        else:
            met.in_circles += 1
            if met.in_circles > MOST_IN_CIRCLES:
                raise _InCircles(text)
    met.asked = before | found[1]
    return found[0]


def _captured(function: Any, text: FunctionText, scope: _Scope) -> FunctionSource:
    captures = []
    inner = _Scope(scope.guards, (*scope.callers, function), scope.program, scope.met)
    for path in text.paths:
        found = resolve(function, path, scope.guards)
        if found is not MISSING:
            captures.append((path, _classify(found, inner)))
    if scope.program or scope.callers:  # launches of kernels give all arguments to compiled code
        guard_defaults(function, scope.guards)
    defaults = tuple(
        (p.name, constant)
        for p in inspect.signature(function).parameters.values()
        if p.default is not p.empty and isinstance(constant := _constant(p.default), Constant)
    )
    return FunctionSource(text.name, text.file, text.first_line, text.text, tuple(captures), defaults)


def _classify(value: Any, scope: _Scope) -> Capture:
    builtin = language.from_callable(value)
    if builtin is not None:
        python = scope.program and any(value is function for function in (sum, min, max))
        return Builtin(f"builtins.{builtin}" if python else builtin)
    if isinstance(value, DType):
        return TypeName(value.name)
    if value is static:
        return Builtin("static")
    if scope.program and getattr(value, "__module__", "") == "pykern.derivatives.gradients":
        name = getattr(value, "__name__", "")
        if name in DERIVATIVES:
            return Builtin(name)
    if getattr(type(value), "__pykern_func__", False):
        return _called(value.__pykern_function__, value.text, scope)
    if getattr(type(value), "__pykern_cuda__", False):
        return value.captured
    if scope.program and any(value is kind for kind in STRUCTURES):
        return Builtin(value.__name__)
    if isinstance(value, type):
        return _classify_type(value)
    if scope.program and getattr(type(value), "__pykern_program__", False):
        return _program(value, scope)
    if scope.program and getattr(type(value), "__pykern_custom_vjp__", False):
        return _custom(value, scope)
    if scope.program and getattr(type(value), "__pykern_kernel__", False):
        return _kernel(value, scope)
    if scope.program and (text := composed(value)) is not None:
        return _called(text, function_text(text), scope)
    if scope.program and isinstance(value, types.FunctionType) and not _of_library(value):
        try:
            return _called(value, function_text(value), scope)
        except KernelSyntaxError as error:
            return Unsupported(f"the function `{value.__name__}`: {error.reason}")
    return _constant(value)


def _program(program: Any, scope: _Scope) -> Capture:
    """A program that another one calls, or takes the gradient of."""
    made = _called(program.__wrapped__, program.text, scope)
    for taken in program.derivatives:
        if taken.kind != "gradient":
            return Unsupported(f"{program.__name__}, a derivative")
        if isinstance(made, FunctionSource | CapturedGradient):
            made = CapturedGradient(
                made, taken.active, taken.checkpoint, taken.aux, taken.value, taken.several
            )
    return made


def _called(function: Any, text: FunctionText, scope: _Scope) -> Capture:
    if scope.is_caller(function):  # recursion: the frontend says so at the call
        return Unsupported(f"the function `{function.__name__}`, which calls itself")
    return _source(function, text, scope)


def _of_library(function: types.FunctionType) -> bool:
    """Functions whose source is no kernel language: NumPy's, the standard library's, our own but for fused layers."""
    top, *below = (function.__module__ or "").split(".")
    if (top, *below[:1]) in (("pykern", "library"), ("pykern", "activations")):
        return False
    if (top, *below[:2]) == ("pykern", "language", "composed"):
        return False
    if top in ("pykern", "numpy", "scipy"):
        return True
    # A user's file may have the name of a module of Python: wave.py, signal.py.
    file = function.__code__.co_filename
    is_pythons = file.startswith("<frozen ") or _STANDARD in Path(file).parents
    return is_pythons and top in sys.stdlib_module_names and top != "__main__"


_STANDARD = Path(sysconfig.get_path("stdlib"))


def _kernel(kernel: Any, scope: _Scope) -> CapturedKernel:
    inner = _source(kernel.__wrapped__, kernel.text, _Scope(scope.guards, (), False, scope.met))
    return captured_kernel(kernel, inner)


def captured_kernel(kernel: Any, function: FunctionSource) -> CapturedKernel:
    """A kernel as a program launches it; `function` is what it was made of, as its names mean now."""
    group = kernel.workgroup
    return CapturedKernel(
        function,
        tuple(_annotation(name, given) for name, given in kernel.annotations.items()),
        kernel.options,
        () if group is None else group if isinstance(group, tuple) else (group,),
        None
        if kernel.ndrange is None
        else tuple((e.start, e.step, e.count) for e in index_space(kernel.ndrange)),
    )


def _custom(custom: Any, scope: _Scope) -> Capture:
    """A function with its forward and backward functions."""
    scope.guards.add(Guard(NAME, vars(custom), "pair", custom.pair))
    if custom.pair is not None and scope.is_caller(custom.pair[0]):
        return _called(custom.function, custom.text, scope)  # its own forward function means the plain one
    if custom.pair is None:
        return Unsupported(f"a custom_vjp function without a derivative (call `{custom.text.name}.defvjp`)")
    found = [_called(custom.function, custom.text, scope)]
    found += [_called(f, function_text(f), scope) for f in custom.pair]
    sources = [f for f in found if isinstance(f, FunctionSource)]
    if len(sources) < len(found):
        return next(f for f in found if not isinstance(f, FunctionSource))
    return CapturedCustom(*sources)


def _annotation(name: str, given: Any) -> Annotation:
    reads = writes = True
    if isinstance(given, IntentAnnotation):
        reads, writes, given = given.reads, given.writes, given.of
    if isinstance(given, ArrayAnnotation):
        return Annotation(name, dtype=given.dtype.name, shape=given.shape, reads=reads, writes=writes)
    dtype = given.name if isinstance(given, DType) else given.__name__ if given in (int, float, bool) else ""
    return Annotation(name, static=given is static, dtype=dtype, reads=reads, writes=writes)


def _classify_type(value: type) -> Capture:
    if dataclasses.is_dataclass(value):
        return StructType(value.__name__, tuple(f.name for f in dataclasses.fields(value)))
    if issubclass(value, tuple) and hasattr(value, "_fields"):
        return StructType(value.__name__, tuple(getattr(value, "_fields")))  # noqa: B009
    if (dtype := named_type(value)) is not None:
        return TypeName(dtype.name)
    if (dtype := complex_type(value)) is not None:
        return TypeName(dtype.name)
    return Unsupported(f"the class `{value.__name__}`")


def _constant(value: Any) -> Capture:
    if value is None or (
        isinstance(value, bool | int | float | complex | str) and type(value).__module__ == "builtins"
    ):
        return Constant(value)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        items = tuple(_constant(item) for item in value)
        if all(isinstance(item, Constant) for item in items):
            return Constant(items)
    scalar: Any = value
    if "numpy" in sys.modules and isinstance(value, sys.modules["numpy"].generic):
        dtype = from_numpy(scalar.dtype)
        if dtype is not None and dtype.is_storage:
            return Unsupported(f"a number of {dtype.name} (fp8 is for arrays; make it np.float32)")
        if (kind := complex_type(scalar.dtype)) is not None:
            return Constant(complex(scalar), kind.name)
        if dtype is not None:
            return Constant(scalar.item() if dtype.name != "bf16" else float(scalar), dtype.name)
    if isinstance(value, types.ModuleType):
        return Unsupported(f"the module `{value.__name__}`")
    if isinstance(value, types.FunctionType) and not _of_library(value):
        return Unsupported(f"the plain Python function `{value.__name__}`")
    if callable(value) and hasattr(value, "__name__") and not isinstance(value, type):
        if getattr(type(value), "__pykern_kernel__", False):
            return Unsupported("a Kernel")
        if getattr(type(value), "__pykern_program__", False):
            return Unsupported("an array program")
        return Unsupported(f"a function of Python or of a library, `{value.__name__}`")
    shape = getattr(value, "shape", None)
    if shape is not None:
        return Unsupported("an array from outside of the kernel")
    return Unsupported(f"a {type(value).__name__}")
