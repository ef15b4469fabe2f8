"""An object file with a header and a pkg-config file, for programs in C and C++ without Python.

Comes in: a kernel and a call. Goes out: the files. Read next: `pykern.lowering.llvm.object_functions`, which says what
the functions do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pykern.api.lowered import Lowered, source_of
from pykern.capture.placing import placed
from pykern.compiler.service import service
from pykern.data.source import ArraySpec, KernelSource
from pykern.derivatives.autodiff import Autodiff
from pykern.errors import KernelError, TargetError
from pykern.lowering.source.argument_names import named_leaves, names_for_c

TYPES = {
    "bool": "bool", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "u8": "uint8_t",
    "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "f32": "float", "f64": "double", "int": "int64_t",
    "float": "double",
}  # fmt: skip
BITS = {"f16": "uint16_t", "bf16": "uint16_t", "f8e4m3": "uint8_t", "f8e5m2": "uint8_t"}
"""Elements that C has no type for, as their bits."""


def lowered_object(kernel: Any, args: tuple[Any, ...], target: str, keywords: dict[str, Any]) -> Lowered:
    """The kernel as an object file. Raises `TargetError` for what needs pykern where it runs."""
    launch: dict[str, Any] = {**keywords, "target": target}
    if isinstance(kernel, Autodiff):  # that of single work-items, whose arguments are plain
        kernel, given, launch = kernel.flattened(args, launch)
        args = tuple(given)
    try:
        source = replace(source_of(kernel, args, launch), called_from_c="object")
        return Lowered(source, service().compile(source, keep_stages=True))
    except KernelError as error:
        raise placed(error, kernel.text) from None


def object_files(lowered: Lowered, file: str) -> dict[str, bytes]:
    """The object `file`, its header, and what pkg-config reads, by the ends of their names."""
    source = lowered.source
    assert isinstance(source, KernelSource)
    name = source.exported_name
    return {
        "o": lowered.compile().binary,
        "h": _header(lowered, name).encode(),
        "pc": _PKG_CONFIG.format(name=name, file=file).encode(),
    }


_PKG_CONFIG = """\
prefix=${{pcfiledir}}

Name: {name}
Description: the kernel {name}, compiled by pykern
Version: 1
Cflags: -I${{prefix}}
Libs: ${{prefix}}/{file}.o -lm
"""
_HEADER = """\
#ifndef {guard}_H
#define {guard}_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* What the functions return. */
enum {name}_status {{
    {guard}_OK = 0,
    {guard}_NEGATIVE = 1, /* a length or a count is below 0 */
    {guard}_MISSING = 2   /* an array with elements has no address */
}};

/* The whole launch, in this thread. Arrays do not overlap. */
int32_t {name}(
{parameters}
);

/* The rows begin .. end of the outermost dimension, or these workgroups. Parts may run in several threads. */
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

#ifdef __cplusplus
}}
#endif

#endif
"""


def _header(lowered: Lowered, name: str) -> str:
    declared = list(_parameters(lowered))
    return _HEADER.format(
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
    for name in names_for_c(source):
        spec = specs.get(name)
        if isinstance(spec, ArraySpec):
            kind = TYPES.get(spec.dtype) or BITS[spec.dtype]
            yield f"{'' if next(uses).writes else 'const '}{kind} *", name
        elif spec is not None:
            if spec.dtype not in TYPES:
                raise TargetError(f"C has no number {spec.dtype} for `{name}`", hint="annotate it as pk.f32")
            yield f"{TYPES[spec.dtype]} ", name
        else:
            yield "int64_t ", name
