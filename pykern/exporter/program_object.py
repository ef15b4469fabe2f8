"""An array program as an object file with a header and a pkg-config file, for C and C++ without Python.

Comes in: a program and a call. Goes out: the files. Read next: `pykern.lowering.llvm.program.object_functions`, which
says what the functions do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pykern.api.jit import ProgramBase
from pykern.api.lowered import Lowered
from pykern.capture.placing import placed
from pykern.compiler.service import service
from pykern.data.program_source import ProgramSource
from pykern.data.source import ArraySpec, leaves
from pykern.errors import KernelError
from pykern.exporter.object_header import element, header, names_in_c, number, pkg_config


def lowered_program_object(
    program: ProgramBase, args: tuple[Any, ...], target: str, keywords: dict[str, Any]
) -> Lowered:
    """The program as an object file. Raises `TargetError` for what needs pykern where it runs."""
    try:
        source, passes = program.source_to_lower(args, {**keywords, "target": target})
        source = replace(source, handler="c")
        return Lowered(source, service().compile(source, keep_stages=True, passes=passes), passes)
    except KernelError as error:
        raise placed(error, program.text) from None


def program_object_files(lowered: Lowered, file: str) -> dict[str, bytes]:
    """The object `file`, its header, and what pkg-config reads, by the ends of their names."""
    source = lowered.source
    assert isinstance(source, ProgramSource)
    name = source.exported_name
    codes = ("OK", "MISSING", "UNALIGNED") if _workspace(lowered) else ("OK", "MISSING")
    return {
        "o": lowered.compile().binary,
        "h": header(name, codes, _declared(lowered, name), _INCLUDED).encode(),
        "pc": pkg_config(name, "program", file).encode(),
    }


_INCLUDED = """\
#ifdef _OPENMP
#include <omp.h>
#endif
"""
_FUNCTIONS = """\
{workspace}/* The whole program, in this thread. What is written overlaps with nothing else. */
int32_t {name}(
{parameters}
);

/* Calls part(what, begin, end) for ranges that cover 0 .. extent once, and returns when they are done. */
typedef void (*{name}_share_t)(void (*part)(void *what, int64_t begin, int64_t end), void *what, int64_t extent);

/* The same, where the loops that are long enough are shared by your function, one loop after the other. */
int32_t {name}_shared(
{parameters},
    {name}_share_t share
);

#ifdef _OPENMP
static inline void {name}_by_openmp(
    void (*part)(void *what, int64_t begin, int64_t end), void *what, int64_t extent
) {{
    const int64_t parts = omp_get_max_threads();
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < parts; k++) {{
        if (extent * k / parts < extent * (k + 1) / parts) part(what, extent * k / parts, extent * (k + 1) / parts);
    }}
}}

/* The same, in the threads of OpenMP. */
static inline int32_t {name}_parallel(
{parameters}
) {{
    return {name}_shared({passed}, {name}_by_openmp);
}}
#endif
"""
_WORKSPACE = """\
/* Bytes of the workspace, which begins at a multiple of 64 and serves one call at a time. */
#define {guard}_WORKSPACE {size}

"""


def _workspace(lowered: Lowered) -> int:
    layout = lowered.artifact.program
    assert layout is not None
    return layout.scratch_bytes


def _declared(lowered: Lowered, name: str) -> str:
    kinds, names = zip(*_parameters(lowered), strict=True)
    declared = [f"{kind}{each}" for kind, each in zip(kinds, names_in_c(list(names)), strict=True)]
    size = _workspace(lowered)
    return _FUNCTIONS.format(
        name=name,
        parameters=",\n".join(f"    {each}" for each in declared),
        passed=", ".join(names_in_c(list(names))),
        workspace=_WORKSPACE.format(guard=name.upper(), size=size) if size else "",
    )


def _parameters(lowered: Lowered) -> list[tuple[str, str]]:
    """Types and names of what the functions take: the arguments, results with memory of their own, the workspace."""
    source, layout = lowered.source, lowered.artifact.program
    assert isinstance(source, ProgramSource) and layout is not None
    written = {result.argument for result in layout.results}
    found: list[tuple[str, str]] = []
    for parameter in source.parameters:
        specs = list(leaves(parameter.spec))
        for place, spec in enumerate(specs):
            name = parameter.name if len(specs) == 1 else f"{parameter.name}_{place}"
            if isinstance(spec, ArraySpec):
                constant = "" if len(found) in written else "const "
                found.append((f"{constant}{element(spec.dtype)} *", name))
            else:
                found.append((f"{number(spec.dtype, name)} ", name))
    own = [result for result in layout.results if result.argument < 0]
    for place, result in enumerate(own):
        found.append((f"{element(result.dtype)} *", "result" if len(own) == 1 else f"result{place}"))
    if layout.scratch_bytes:
        found.append(("void *", "workspace"))
    return found
