"""A header for a kernel or an array program in C, which C++ takes as well.

Comes in: the text. Goes out: the text of a header that declares its function.
"""

from __future__ import annotations

import re


def c_header(text: str, symbol: str, workspace: int = 0) -> str:
    """Declares the function `symbol` as `text` defines it, and tells the bytes of its `workspace`, if it takes one.
    `restrict` is C's alone, and says nothing to a caller."""
    guard = f"{symbol.upper()}_H"
    start = text.index(f"void {symbol}(")
    declared = text[start : text.index(") {", start)].replace("restrict ", "") + ");"
    boolean = ["#include <stdbool.h>"] if re.search(r"\bbool\b", declared) else []
    size = (
        "/* Bytes of the workspace, which begins at a multiple of 64. */",
        f"#define {symbol.upper()}_WORKSPACE {workspace}",
        "",
    )
    return "\n".join(
        (
            f"#ifndef {guard}", f"#define {guard}", "", *boolean, "#include <stdint.h>", "",
            *(size if workspace else ()), "#ifdef __cplusplus",
            'extern "C" {', "#endif", "", declared, "", "#ifdef __cplusplus", "}", "#endif", "", "#endif", "",
        )
    )  # fmt: skip
