"""What a host has to know to launch exported code: its arguments in order, and the shape of a launch.

Comes in: what was lowered. Goes out: a dictionary, which is written as JSON. Read next:
`pykern.lowering.source.argument_names`.
"""

from __future__ import annotations

from typing import Any

from pykern.api.lowered import Lowered
from pykern.data.source import ArraySpec, KernelSource
from pykern.data.target import parse
from pykern.errors import TargetError
from pykern.lowering.source.argument_names import argument_names, known_values, named_leaves, names_in_text
from pykern.lowering.spirv.flavour import flavour

WEAK = {"int": "i64", "float": "f64"}
"""Python's own numbers as they are passed."""


def manifest(lowered: Lowered, form: str) -> dict[str, Any]:
    """Arguments and geometry. Raises `TargetError` for kernels that need more of a host than arguments."""
    source, artifact = lowered.source, lowered.artifact
    code = artifact.device
    assert code is not None and isinstance(source, KernelSource)
    refuse_helpers(lowered)
    is_text = parse(artifact.target).family == "source"
    names = names_in_text(source) if is_text else [*argument_names(source, code.offsets)][:-1]
    if code.dynamic_shared:
        names.insert(len(names) - _of_launch(source), "shared_bytes")
    types, known = dict(named_leaves(source)), known_values(source)
    written = [each.writes for each in artifact.uses]
    arrays = iter(written)
    arguments: list[dict[str, Any]] = []
    for name, kind in zip(names, code.arguments, strict=True):
        spec = types.get(name)
        told: dict[str, Any] = {"name": name, "kind": "memory" if kind == "memory" else "number"}
        dtype = getattr(spec, "dtype", "i64")
        told["dtype"] = WEAK.get(dtype, dtype)
        if isinstance(spec, ArraySpec):
            told["written"] = next(arrays)
        if name in known:
            told["value"] = known[name]
        arguments.append(told)
    return {
        "kernel": artifact.kernel,
        "format": form,
        "target": artifact.target,
        "entry": artifact.entry,
        "arguments": arguments,
        "numbers": numbers_of(artifact.target),
        "workgroup": list(artifact.workgroup),
        "ndrange": None if source.launch.ndrange is None else list(source.launch.ndrange),
        "grid": "groups of each dimension: its count divided by the workgroup's, rounded up; the last dimension is x",
        "shared_bytes": code.shared_bytes,
    }


def refuse_helpers(lowered: Lowered) -> None:
    """Raise for what only pykern's own launches bring: a report, a tape."""
    artifact = lowered.artifact
    if artifact.reports:
        raise TargetError(
            f"`{artifact.kernel}` prints or checks something, and nobody would read that",
            artifact.sites[0].span if artifact.sites else None,
            hint="leave prints, asserts and debug= out of what is exported",
        )
    if artifact.device is not None and artifact.device.each:
        raise TargetError(
            f"a work-item of `{artifact.target}` does several of a launch, which a manifest does not tell",
            hint="leave `+many` out of the target",
        )
    if artifact.device is not None and artifact.device.tape is not None:
        raise TargetError(
            f"`{artifact.kernel}` keeps values on a tape that a launch brings",
            hint="launch this derivative by pykern, or differentiate an array program instead",
        )


def _of_launch(source: KernelSource) -> int:
    """How many arguments at the end tell of the index space."""
    rank = source.launch.rank
    return rank * (1 if source.launch.plain else 3) + min(rank, 3)


def numbers_of(target: str) -> str:
    """How code of a target takes its numbers."""
    if (made_for := parse(target)).family == "spirv" and flavour(made_for).vulkan:
        return "64-bit words in one storage buffer, the last binding: the bits of a number in the low bits of its word"
    return "64-bit words: the bits of a number in the low bits of its word"
