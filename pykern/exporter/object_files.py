"""An object file with a header and a pkg-config file, for programs in C and C++ without Python.

Comes in: a kernel and a call. Goes out: the files. Read next: `pykern.lowering.llvm.object_functions`, which says what
the functions do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pykern.api.lowered import Lowered, compiled_by
from pykern.capture.placing import placed
from pykern.compiler.service import service
from pykern.data.source import ArraySpec, KernelSource
from pykern.derivatives.autodiff import Autodiff
from pykern.errors import KernelError
from pykern.exporter.object_header import element, header, names_in_c, number, pkg_config
from pykern.lowering.source.argument_names import named_leaves, names_for_c


def lowered_object(kernel: Any, args: tuple[Any, ...], target: str, keywords: dict[str, Any]) -> Lowered:
    """The kernel as an object file. Raises `TargetError` for what needs pykern where it runs."""
    launch: dict[str, Any] = {**keywords, "target": target}
    if isinstance(kernel, Autodiff):  # that of single work-items, whose arguments are plain
        kernel, given, launch = kernel.flattened(args, launch)
        args = tuple(given)
    try:
        source, artifact = compiled_by(
            lambda one: service().compile(_from_c(one), keep_stages=True), kernel, args, launch
        )
        return Lowered(_from_c(source), artifact)
    except KernelError as error:
        raise placed(error, kernel.text) from None


def _from_c(source: KernelSource) -> KernelSource:
    return replace(source, called_from_c="object")


def object_files(lowered: Lowered, file: str) -> dict[str, bytes]:
    """The object `file`, its header, and what pkg-config reads, by the ends of their names."""
    source = lowered.source
    assert isinstance(source, KernelSource)
    name = source.exported_name
    return {
        "o": lowered.compile().binary,
        "h": header(name, ("OK", "NEGATIVE", "MISSING"), _declared(lowered, name)).encode(),
        "pc": pkg_config(name, "kernel", file).encode(),
    }


_FUNCTIONS = """\
/* The whole launch, in this thread. Arrays do not overlap. */
int32_t {name}(
{parameters}
);

/* Iterations begin .. end of the outermost loop, or these workgroups. Parts may run in several threads. */
int32_t {name}_part(
{parameters},
    int64_t begin,
    int64_t end
);

/* How many rows or workgroups there are. */
int64_t {name}_extent(
{parameters}
);

#ifdef _OPENMP
/* The whole launch, in the threads of OpenMP. */
static inline int32_t {name}_parallel(
{parameters}
) {{
    const int64_t extent = {name}_extent({passed});
    int32_t status = {guard}_OK;
#pragma omp parallel for schedule(static) reduction(max : status)
    for (int64_t part = 0; part < 64; part++) {{
        const int32_t found = {name}_part({passed}, extent * part / 64, extent * (part + 1) / 64);
        status = found > status ? found : status;
    }}
    return status;
}}
#endif
"""


def _declared(lowered: Lowered, name: str) -> str:
    declared = list(_parameters(lowered))
    return _FUNCTIONS.format(
        name=name,
        guard=name.upper(),
        parameters=",\n".join(f"    {kind}{each}" for kind, each in declared),
        passed=", ".join(each for _, each in declared),
    )


def _parameters(lowered: Lowered) -> Iterator[tuple[str, str]]:
    """Types and names of what the functions take."""
    source = lowered.source
    assert isinstance(source, KernelSource)
    specs, uses = dict(named_leaves(source)), iter(lowered.artifact.uses)
    listed = names_for_c(source)
    for known, name in zip(listed, names_in_c(listed), strict=True):
        spec = specs.get(known)
        if isinstance(spec, ArraySpec):
            yield f"{'' if next(uses).writes else 'const '}{element(spec.dtype)} *", name
        elif spec is not None:
            yield f"{number(spec.dtype, name)} ", name
        else:
            yield "int64_t ", name
