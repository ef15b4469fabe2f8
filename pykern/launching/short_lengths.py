"""Kernels whose code exists for known lengths alone: ``np.linalg.det(F[i])`` is another formula for each length.

Comes in: what would be compiled for a launch, and the arrays of the launch. Goes out: the same for launches with these
short lengths, which are part of the kind from then on: compiled entries compare them. A launch comes here when the
compiler refused the code for any lengths. Read next: `pykern.launching.launch`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pykern.data.abi import array_slots
from pykern.data.small_numbers import LONGEST_KNOWN
from pykern.data.source import ArraySpec, KernelSource, Parameter, leaves

Known = tuple[tuple[int, int], ...]
"""Slots of a launch and what they hold: `KernelSource.known`."""


def with_short_lengths(
    source: KernelSource, shapes: Sequence[tuple[int, ...] | None], chooses: bool, checked: bool = False
) -> KernelSource:
    """The source for launches whose arrays have these short lengths; itself where none is short. `shapes` has those of
    each parameter that is an array. `chooses`: the launch's entry compares them, as `KernelSource.known`. `checked`:
    nothing else compares them, so that the code does, as if they were annotated."""
    parameters = [_known(p, shape, checked) for p, shape in zip(source.parameters, shapes, strict=True)]
    known = joined(source.known, tuple(_slots(parameters))) if chooses else source.known
    return replace(source, parameters=tuple(parameters), known=known)


def joined(a: Known, b: Known) -> Known:
    """What is known of a launch by either, in the order of its slots."""
    return tuple(sorted({**dict(a), **dict(b)}.items()))


def _known(parameter: Parameter, shape: tuple[int, ...] | None, checked: bool) -> Parameter:
    if shape is None or parameter.lengths or not isinstance(parameter.spec, ArraySpec):
        return parameter
    # of one dimension there are no rows: such an array without an index is most likely a slip
    lengths = tuple(
        n if given is None and 0 < n <= LONGEST_KNOWN and dim else None
        for dim, (n, given) in enumerate(zip(shape, parameter.spec.shape, strict=True))
    )
    if not any(lengths):
        return parameter
    return replace(parameter, lengths=lengths, annotated=checked)


def _slots(parameters: list[Parameter]) -> Iterator[tuple[int, int]]:
    """Slots of a launch that hold lengths which are known of it."""
    first = 0
    for parameter in parameters:
        if isinstance(parameter.spec, ArraySpec) and not parameter.annotated:
            yield from ((first + 1 + d, n) for d, n in enumerate(parameter.lengths) if n is not None)
        for spec in leaves(parameter.spec):
            first += array_slots(spec.rank, spec.strided) if isinstance(spec, ArraySpec) else 1
