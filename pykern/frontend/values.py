"""What an expression of a kernel can be while it is translated.

A `Scalar` is an SSA value with a type of the language, or a constant not yet in the IR. Tuples and
structs are trees over scalars: they exist only here, never in the IR.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from mlir import ir

from pykern.data.locations import SourceSpan
from pykern.data.source import LIST, CapturedCuda, CapturedCustom, CapturedKernel, FunctionSource
from pykern.types import DType


class OperandError(Exception):
    """Operands that an operator cannot take; the caller knows the place and the names."""

    def __init__(self, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.hint = hint


@dataclass(frozen=True)
class Scalar:
    """A value of type `dtype`: `ssa`, or the compile-time `const` where `ssa` is None."""

    dtype: DType
    ssa: ir.Value | None = None
    const: object = None

    @property
    def is_const(self) -> bool:
        return self.ssa is None


@dataclass(frozen=True)
class Array:
    """Memory that is indexed: an argument (`space` "global"), or shared or private memory; or a part of it, ``x[i]``,
    whose first dimensions the indices `outer` have taken. `shape` is that of the part."""

    name: str
    dtype: DType
    ssa: ir.Value
    space: str
    shape: tuple[int | None, ...]
    reads: bool = True
    writes: bool = True
    outer: tuple[ir.Value, ...] = ()


@dataclass(frozen=True)
class TupleValue:
    """A tuple; with `fields` a named tuple or dataclass called `name`."""

    items: tuple[Value, ...]
    name: str = ""
    fields: tuple[str, ...] = ()
    origins: frozenset[int] = field(default=frozenset(), compare=False)
    """Of a list in a program: see `pykern.frontend.program.structures`."""


@dataclass(frozen=True)
class ComplexValue(TupleValue):
    """A complex number, or an array of them: two numbers or two arrays of one shape."""

    @property
    def real(self) -> Value:
        return self.items[0]

    @property
    def imag(self) -> Value:
        return self.items[1]


@dataclass(frozen=True)
class Text:
    """A string constant: only for messages, prints and option words."""

    value: str


@dataclass(frozen=True)
class NoneValue:
    """Python's None."""


@dataclass(frozen=True)
class LanguageName:
    """A function of the kernel language, by its name in `pykern.language`."""

    name: str


@dataclass(frozen=True)
class TypeValue:
    """A dtype as a value: a cast when called."""

    dtype: DType


@dataclass(frozen=True)
class StructConstructor:
    """A named tuple or dataclass as a constructor."""

    name: str
    fields: tuple[str, ...]


@dataclass(frozen=True)
class FunctionValue:
    """A `@pk.func` function."""

    source: FunctionSource


@dataclass(frozen=True)
class CudaValue:
    """A function in CUDA C++."""

    function: CapturedCuda


@dataclass(frozen=True)
class KernelValue:
    """A kernel, which array programs launch."""

    kernel: CapturedKernel


@dataclass(frozen=True)
class CustomValue:
    """A function that brings its own derivative, which array programs call."""

    custom: CapturedCustom


@dataclass(frozen=True)
class RangeValue:
    """``range(...)``; `unroll` asks for one copy of the body per value, `is_asked` says that the user did."""

    start: Scalar
    stop: Scalar
    step: Scalar
    unroll: bool = False
    is_asked: bool = True


@dataclass(frozen=True)
class Undefined:
    """A name that some path leaves without a value; `where` is an assignment on another path. Where numbers among a
    program's parameters alone decide which path is taken, `parameters` are their names."""

    name: str
    where: SourceSpan | None = None
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class UnsupportedValue:
    """A captured object kernels cannot use, or what a name cannot be; `places` tell where it became so."""

    description: str
    places: tuple[tuple[str, SourceSpan | None], ...] = ()


class Extension:
    """Base of the kinds of values that array programs add (`pykern.frontend.program`)."""

    @property
    def description(self) -> str:
        raise NotImplementedError

    @property
    def instead_of_scalar(self) -> str | None:
        """What to write where a number is needed."""
        return None


Value = Union[
    Extension, Scalar, Array, TupleValue, Text, NoneValue, LanguageName, TypeValue, StructConstructor,
    FunctionValue, CudaValue, KernelValue, CustomValue, RangeValue, Undefined, UnsupportedValue,
]  # fmt: skip


@dataclass
class Environment:
    """Names in scope: locals first, then what the function captured."""

    locals: dict[str, Value] = field(default_factory=dict)
    captures: dict[str, Value] = field(default_factory=dict)


def describe(value: Value) -> str:
    """How a value is named in messages: ``f32``, ``x: f32[?, ?]``, ``a tuple``."""
    if isinstance(value, Scalar):
        return f"{value.const!r} ({value.dtype.name})" if value.is_const else value.dtype.name
    if isinstance(value, Array):
        dims = ", ".join("?" if d is None else str(d) for d in value.shape)
        return f"array `{value.name}`: {value.dtype.name}[{dims}]"
    if isinstance(value, ComplexValue):
        return "a complex number" if isinstance(value.real, Scalar) else "a complex array"
    if isinstance(value, TupleValue):
        if value.name == LIST:
            return f"a list of {len(value.items)}"
        return f"`{value.name}`" if value.name else f"a tuple of {len(value.items)}"
    if isinstance(value, Text):
        return f"the string {value.value!r}"
    if isinstance(value, NoneValue):
        return "None"
    if isinstance(value, LanguageName):
        return f"the function `{value.name}`"
    if isinstance(value, TypeValue):
        return f"the type {value.dtype.name}"
    if isinstance(value, FunctionValue):
        return f"the function `{value.source.name}`"
    if isinstance(value, CudaValue):
        return f"the CUDA function `{value.function.name}`"
    if isinstance(value, KernelValue):
        return f"the kernel `{value.kernel.function.name}`"
    if isinstance(value, CustomValue):
        return f"the custom_vjp function `{value.custom.function.name}`"
    if isinstance(value, UnsupportedValue | Extension):
        return value.description
    return type(value).__name__
