"""From the derivatives a source asks for to the passes that take them."""

from __future__ import annotations

from pykern.data.source import ArraySpec, KernelSource
from pykern.frontend.kernel import argument_types
from pykern.passes.autodiff.kernel.forward_kernel import ForwardKernel
from pykern.passes.autodiff.kernel.reverse_kernel import ReverseKernel
from pykern.passes.framework import Pass


def undifferentiated(source: KernelSource) -> KernelSource:
    """The source of the kernel as the user wrote it."""
    while source.derivatives:
        source = source.primal()
    return source


def derivative_passes(source: KernelSource) -> tuple[Pass, ...]:
    """One pass per derivative, in order."""
    passes: list[Pass] = []
    while source.derivatives:
        passes.insert(0, _pass(source))
        source = source.primal()
    return tuple(passes)


def _pass(source: KernelSource) -> Pass:
    """The last derivative. Its numbers count parameters, those of the pass the function's arguments."""
    derivative = source.derivatives[-1]
    active: list[int] = []
    strided: list[int] = []
    given = iter(source.parameters)
    argument = 0
    for number, parameter in enumerate(source.primal().parameters):
        next(given)
        if number in derivative.active:
            active.append(argument)
            shadow = next(given).spec
            if isinstance(shadow, ArraySpec) and shadow.strided:
                strided.append(argument)
        argument += len(list(argument_types(parameter.spec)))
    if derivative.mode == "forward":
        return ForwardKernel(tuple(active), tuple(strided))
    return ReverseKernel(tuple(active), tuple(strided), derivative.deterministic)
