"""What a function captured, as values of the frontend."""

from __future__ import annotations

from pykern.data import source
from pykern.frontend.arithmetic import python_constant
from pykern.frontend.values import (
    CudaValue,
    CustomValue,
    FunctionValue,
    KernelValue,
    LanguageName,
    NoneValue,
    Scalar,
    StructConstructor,
    Text,
    TupleValue,
    TypeValue,
    UnsupportedValue,
    Value,
)
from pykern.types import BY_NAME


def values(captures: tuple[tuple[str, source.Capture], ...]) -> dict[str, Value]:
    """Dotted path to value."""
    return {path: value(capture) for path, capture in captures}


def value(capture: source.Capture) -> Value:
    """One captured object as a value."""
    if isinstance(capture, source.Constant):
        return _constant(capture.value, capture.dtype)
    if isinstance(capture, source.Builtin):
        return LanguageName(capture.name)
    if isinstance(capture, source.TypeName):
        return TypeValue(BY_NAME[capture.dtype])
    if isinstance(capture, source.StructType):
        return StructConstructor(capture.name, capture.fields)
    if isinstance(capture, source.FunctionSource):
        return FunctionValue(capture)
    if isinstance(capture, source.CapturedKernel):
        return KernelValue(capture)
    if isinstance(capture, source.CapturedCustom):
        return CustomValue(capture)
    if isinstance(capture, source.CapturedGradient):
        from pykern.frontend.program.gradients import captured_gradient  # kernels capture none

        return captured_gradient(capture)
    if isinstance(capture, source.CapturedCuda):
        return CudaValue(capture)
    return UnsupportedValue(capture.description)


def _constant(constant: object, dtype: str) -> Value:
    if isinstance(constant, source.Constant):
        return value(constant)
    if isinstance(constant, tuple):
        return TupleValue(tuple(_constant(item, "") for item in constant))
    if constant is None:
        return NoneValue()
    if isinstance(constant, str):
        return Text(constant)
    if dtype:
        return Scalar(BY_NAME[dtype], const=constant)
    return python_constant(constant)
