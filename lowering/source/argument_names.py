"""The names of a flat kernel's arguments, in order, as text and manifests have them. Loads no MLIR."""

from __future__ import annotations

from collections.abc import Iterator

from pykern.data.source import ArraySpec, KernelSource, ScalarSpec, leaves


def named_leaves(source: KernelSource) -> Iterator[tuple[str, ArraySpec | ScalarSpec]]:
    """What is passed for each parameter, with its name; parts of a structure are numbered."""
    for parameter in source.parameters:
        specs = list(leaves(parameter.spec))
        for number, spec in enumerate(specs):
            yield f"{parameter.name}_{number}" if len(specs) > 1 else parameter.name, spec


def argument_names(source: KernelSource, offsets: bool) -> Iterator[str]:
    """The names of a flat kernel's arguments: of arrays and their lengths, of numbers, and those of the launch."""
    for name, spec in named_leaves(source):
        yield name
        if isinstance(spec, ArraySpec):
            if offsets:
                yield f"{name}_at"
            yield from (f"{name}_n{dim}" for dim in range(spec.rank))
            if spec.strided:
                yield from (f"{name}_s{dim}" for dim in range(spec.rank))
    rank = source.launch.rank
    for dim in range(rank):
        yield f"count{dim}"
        if not source.launch.plain:
            yield from (f"start{dim}", f"step{dim}")
    yield from (f"first_{axis}" for axis in "xyz"[: min(rank, 3)])
    yield "report"


def names_for_c(source: KernelSource) -> list[str]:
    """The same for a function in C: without the numbers of first groups and the report."""
    return [*argument_names(source, offsets=False)][: -1 - min(source.launch.rank, 3)]


def names_in_text(source: KernelSource) -> list[str]:
    """The same for text that a person launches: without lengths and counts that are written into it, too."""
    known = known_values(source)
    return [name for name in names_for_c(source) if name not in known]


def known_values(source: KernelSource) -> dict[str, int]:
    """Lengths and counts that are written into the code."""
    found = {
        f"{name}_n{dim}": length
        for name, spec in named_leaves(source)
        if isinstance(spec, ArraySpec)
        for dim, length in enumerate(spec.shape)
        if length is not None
    }
    return found | {f"count{dim}": count for dim, count in enumerate(source.launch.ndrange or ())}
