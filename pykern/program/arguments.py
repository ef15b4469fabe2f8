"""What a call of an array program passes: parameters for the compiler, arrays and slots for the code.

Comes in: the values of a call. Goes out: `ProgramArguments`. As for kernels (`pykern.launching.arguments`), but
lengths are known to the compiler, and every array is dense: one that is not is copied. On the CPU it may be dense in
another order of its axes (`x.T`), which is known to the compiler too.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pykern.data.abi import array_slots
from pykern.data.source import ArgSpec, ArraySpec, Constant, Parameter, ScalarSpec, StaticSpec, StructSpec
from pykern.launching.arguments import Places, pass_value
from pykern.launching.specs import Spec, holds_specs, parameter, spec_of
from pykern.program.kinds import order_of
from pykern.types import DType, named_type, static


@dataclass
class ProgramArguments:
    """Parameters as the compiler wants them. `values` holds an array or the bits of a scalar for each
    flattened argument, `names` the parameter it belongs to."""

    parameters: list[Parameter] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


def describe(
    values: list[tuple[str, Any]],
    annotations: dict[str, Any],
    places: Places | None = None,
    permuted: Container[str] = (),
) -> ProgramArguments:
    """Describe the arguments of a call; `places` finds arrays for another device than the CPU. Arrays of the
    parameters in `permuted` may have their axes in another order.

    Raises what `pykern.launching.arguments.pass_value` raises.
    """
    arguments = ProgramArguments()
    for name, value in values:
        if value is None or isinstance(value, str) or annotations.get(name) is static or named_type(value):
            arguments.parameters.append(_static(name, value))
            continue
        passed = pass_value(name, value, annotations.get(name), places, aligned=False, trees=True)
        slots, arrays = iter(passed.slots), iter(passed.arrays)
        spec = _known(passed.parameter.spec, slots, arrays, arguments, name, name in permuted)
        arguments.parameters.append(Parameter(name, spec, converts=passed.parameter.converts))
    return arguments


def describe_specs(
    values: list[tuple[str, Any]], annotations: dict[str, Any], permuted: Container[str] = ()
) -> list[Parameter]:
    """The same for `lower`, where arrays may be `pk.spec`s and scalars dtypes."""
    described = []
    for name, value in values:
        if isinstance(value, Spec | DType):
            described.append(parameter(name, value, annotations.get(name)))
        elif holds_specs(value, trees=True):
            described.append(Parameter(name, spec_of(name, value, _spec_of_value, trees=True)))
        else:
            described += describe([(name, value)], annotations, permuted=permuted).parameters
    return described


def _spec_of_value(name: str, value: Any) -> ArgSpec:
    return describe([(name, value)], {}).parameters[0].spec


def _static(name: str, value: Any) -> Parameter:
    if value is None or isinstance(value, str):
        return Parameter(name, StaticSpec(Constant(value)))
    return pass_value(name, value, static).parameter


def _known(
    spec: ArgSpec, slots: Any, arrays: Any, arguments: ProgramArguments, name: str, permuted: bool
) -> ArgSpec:
    """The spec with the lengths of the arrays; the values go to `arguments`."""
    if isinstance(spec, ArraySpec):
        for _ in range(array_slots(spec.rank, spec.strided)):
            next(slots)
        array: np.ndarray = next(arrays)
        arguments.values.append(array)
        arguments.names.append(name)
        order = order_of(array) if permuted and isinstance(array, np.ndarray) else None
        return ArraySpec(spec.dtype, tuple(array.shape), axes=order or ())
    if isinstance(spec, ScalarSpec):
        arguments.values.append(next(slots))
        arguments.names.append(name)
        return spec
    if isinstance(spec, StructSpec):
        return StructSpec(
            spec.name,
            tuple((n, _known(inner, slots, arrays, arguments, name, permuted)) for n, inner in spec.fields),
        )
    return spec
