"""How far a kernel looks: which elements of its arrays a work-item reads and writes, and so how wide halos have to be.

Comes in: a kernel, and the arguments of a call or its text alone. Goes out: offsets of accesses, and widths. Read next:
`pykern.data.access_offsets`; `pykern.mpi.stencils` and `pykern.jax.halo`, which ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from pykern.api.kernel import KernelBase
from pykern.capture.usage import has_attributes, index_rank, indices, is_passed_on
from pykern.data.access_offsets import AccessOffsets, Offsets, width
from pykern.data.artifact import ACCESS_OFFSETS
from pykern.data.locations import parse_definition
from pykern.data.records import record
from pykern.data.source import ArraySpec, KernelSource, LaunchSpec, Parameter
from pykern.data.target import ACCESSES
from pykern.errors import ARGUMENTS, KernelError, LaunchError
from pykern.launching.specs import Spec, parameter
from pykern.obtain.code import compiled
from pykern.types import ArrayAnnotation, DType, IntentAnnotation, f32, f64, static


@record
class ArrayAccess:
    """An array of a call, and how a work-item accesses it."""

    name: str
    value: Any
    reads: Offsets
    writes: Offsets


def accesses(
    kernel: KernelBase, values: Sequence[tuple[str, Any]], rank: int
) -> tuple[bool, list[ArrayAccess]]:
    """Whether the kernel's work-items may run in several launches, and its arrays. Raises what the compiler raises."""
    parameters = tuple(parameter(name, value, kernel.annotations.get(name)) for name, value in values)
    launch = LaunchSpec(rank)
    source = KernelSource(
        kernel.captured()[0], parameters, launch, kernel.options, ACCESSES, derivatives=kernel.derivatives
    )
    found = cast(AccessOffsets, compiled(source).resources[ACCESS_OFFSETS])
    arrays = [(p.name, value) for p, (_, value) in zip(parameters, values, strict=True) if _is_array(p)]
    if len(arrays) != len(found.reads):  # some are in tuples
        return False, []
    return found.alone, [
        ArrayAccess(name, value, reads, writes)
        for (name, value), reads, writes in zip(arrays, found.reads, found.writes, strict=True)
    ]


def _is_array(of: Parameter) -> bool:
    return isinstance(of.spec, ArraySpec)


# -- the width of halos ----------------------------------------------------------------------------


def widest(names: Mapping[str, Any], axes: int) -> tuple[int, ...]:
    """How far the kernels among these names look along each axis: 1 where there are none. Raises `LaunchError` where it
    cannot be told of one."""
    kernels = {id(k): k for k in names.values() if isinstance(k, KernelBase)}.values()
    found = [w for kernel in kernels for w in _widths(kernel, axes)]
    return tuple(max(column) for column in zip(*found, strict=True)) if found else (1,) * axes


def _widths(kernel: KernelBase, axes: int) -> Iterable[tuple[int, ...]]:
    """Those of a kernel's arrays that have the axes of its index space: elements of f32, as nothing says otherwise."""
    code = parse_definition(kernel.text.text)
    if index_rank(code) != axes or any(a is static for a in kernel.annotations.values()):
        return []
    for passed_on in (True, False):  # what is only passed on may be an array or a number
        values = [
            (name, _described(kernel, code, name, axes, passed_on)) for name in kernel.signature.parameters
        ]
        try:
            _, arrays = accesses(kernel, values, axes)
        except KernelError as error:
            reason = error.reason
        else:
            found = [width(array.reads) for array in arrays if len(array.reads or ()) == axes]
            return [w for w in found if w is not None]
    raise LaunchError(
        f"how far `{kernel.__name__}` looks is not known before it is called ({reason})",
        hint="give the width of halos as a number",
        code=ARGUMENTS,
    )


def _described(kernel: KernelBase, code: Any, name: str, axes: int, passed_on: bool) -> Any:
    """A parameter as its annotation says, else as the code uses it: of f32, or an f64 number."""
    annotation = kernel.annotations.get(name)
    inner = annotation.of if isinstance(annotation, IntentAnnotation) else annotation
    if isinstance(inner, ArrayAnnotation):
        return Spec(inner.shape, inner.dtype)
    if isinstance(inner, DType):
        return inner
    is_whole = has_attributes(code, name) or (passed_on and is_passed_on(code, name))
    rank = indices(code, name) or (axes if is_whole else 0)
    return Spec((None,) * rank, f32) if rank else f64
