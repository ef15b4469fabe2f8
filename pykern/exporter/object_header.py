"""The head of an object file for C and C++: what kernels' and programs' headers have in common.

Comes in: declarations and the codes that functions return. Goes out: the header's text.
"""

from __future__ import annotations

import re

from pykern.errors import TargetError

TYPES = {
    "bool": "bool", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t", "u8": "uint8_t",
    "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "f32": "float", "f64": "double", "int": "int64_t",
    "float": "double",
}  # fmt: skip
BITS = {"f16": "uint16_t", "bf16": "uint16_t", "f8e4m3": "uint8_t", "f8e5m2": "uint8_t"}
"""Elements that C has no type for, as their bits."""
CODES = {
    "OK": (0, ""),
    "NEGATIVE": (1, "a length or a count is below 0"),
    "MISSING": (2, "an array with elements, or the workspace, has no address"),
    "UNALIGNED": (3, "the workspace does not begin at a multiple of 64"),
}
"""What functions of objects return, by name."""
_HEADER = """\
#ifndef {guard}_H
#define {guard}_H

#include <stdbool.h>
#include <stdint.h>
{included}
#ifdef __cplusplus
extern "C" {{
#endif

/* What the functions return. */
enum {name}_status {{
{codes}
}};

{declared}
#ifdef __cplusplus
}}
#endif

#endif
"""
_PKG_CONFIG = """\
prefix=${{pcfiledir}}

Name: {name}
Description: the {what} {name}, compiled by pykern
Version: 1
Cflags: -I${{prefix}}
Libs: ${{prefix}}/{file}.o -lm
"""


def header(name: str, codes: tuple[str, ...], declared: str, included: str = "") -> str:
    """The header of `name`, whose functions return these of `CODES`."""
    guard, listed = name.upper(), []
    for number, code in enumerate(codes):
        value, meaning = CODES[code]
        comma = "," if number < len(codes) - 1 else ""
        listed.append(f"    {guard}_{code} = {value}{comma}" + (f" /* {meaning} */" if meaning else ""))
    return _HEADER.format(
        name=name, guard=guard, codes="\n".join(listed), declared=declared, included=included
    )


def pkg_config(name: str, what: str, file: str) -> str:
    """What pkg-config reads of the object `file`."""
    return _PKG_CONFIG.format(name=name, what=what, file=file)


def element(dtype: str) -> str:
    """An array's element in C."""
    return TYPES.get(dtype) or BITS[dtype]


def number(dtype: str, name: str) -> str:
    """A number in C. Raises `TargetError` where C has none of its type."""
    if dtype not in TYPES:
        raise TargetError(f"C has no number {dtype} for `{name}`", hint="annotate it as pk.f32")
    return TYPES[dtype]


_KEYWORDS = re.compile(
    "auto|bool|catch|char|class|const|constexpr|default|delete|do|double|enum|explicit|export|extern|float|friend|goto|"
    "inline|int|u?int(8|16|32|64)_t|long|mutable|namespace|new|operator|private|protected|public|register|restrict|"
    "short|signed|sizeof|static|struct|switch|template|this|throw|typedef|typename|union|unsigned|using|virtual|void|"
    "volatile|xor|bitand|bitor|compl"
)
"""Names that Python takes and C or C++ does not."""


def names_in_c(names: list[str]) -> list[str]:
    """These names as C and C++ take them, each another."""
    found: list[str] = []
    for name in names:
        base = re.sub(r"\W", "_", name, flags=re.ASCII)
        while _KEYWORDS.fullmatch(base) or base in found:
            base += "_"
        found.append(base)
    return found
