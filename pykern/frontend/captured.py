"""What a function captured, as values of the frontend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pykern.data import source
from pykern.frontend.arithmetic import python_constant
from pykern.frontend.complex_numbers import constant_pair
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
from pykern.types import BY_NAME, COMPLEX, weak_float


def values(captures: tuple[tuple[str, source.Capture], ...]) -> dict[str, Value]:
    """Dotted path to value."""
    return {path: value(capture) for path, capture in captures}


def value(capture: source.Capture) -> Value:
    """One captured object as a value."""
    rule = _RULES.get(type(capture))
    return UnsupportedValue(capture.description) if rule is None else rule(capture)  # type: ignore[union-attr]


def static_value(given: object) -> Value:
    """What a `pk.static` parameter is given."""
    return value(given if isinstance(given, source.Constant | source.TypeName) else source.Constant(given))


def register(kind: type, rule: Callable[[Any], Value]) -> None:
    """Say what captures of a kind become: those of array programs have their own."""
    _RULES[kind] = rule


def _constant(constant: object, dtype: str) -> Value:
    if isinstance(constant, source.Constant):
        return value(constant)
    if isinstance(constant, tuple):
        return TupleValue(tuple(_constant(item, "") for item in constant))
    if constant is None:
        return NoneValue()
    if isinstance(constant, str):
        return Text(constant)
    if isinstance(constant, complex):
        return constant_pair(constant, COMPLEX[dtype].part if dtype else weak_float)
    if dtype:
        return Scalar(BY_NAME[dtype], const=constant)
    return python_constant(constant)


_RULES: dict[type, Callable[[Any], Value]] = {
    source.Constant: lambda capture: _constant(capture.value, capture.dtype),
    source.Builtin: lambda capture: LanguageName(capture.name),
    source.TypeName: lambda capture: TypeValue(COMPLEX.get(capture.dtype) or BY_NAME[capture.dtype]),
    source.StructType: lambda capture: StructConstructor(capture.name, capture.fields),
    source.FunctionSource: FunctionValue,
    source.CapturedKernel: KernelValue,
    source.CapturedCustom: CustomValue,
    source.CapturedCuda: CudaValue,
}
