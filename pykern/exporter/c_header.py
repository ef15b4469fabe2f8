"""A header for a kernel in C, which C++ takes as well.

Comes in: the text of the kernel. Goes out: the text of a header that declares its function.
"""

from __future__ import annotations

import re


def c_header(text: str, symbol: str) -> str:
    """Declares the function `symbol` as `text` defines it. `restrict` is C's alone, and says nothing to a caller."""
    guard = f"{symbol.upper()}_H"
    start = text.index(f"void {symbol}(")
    declared = text[start : text.index(") {", start)].replace("restrict ", "") + ");"
    boolean = ["#include <stdbool.h>"] if re.search(r"\bbool\b", declared) else []
    return "\n".join(
        (
            f"#ifndef {guard}", f"#define {guard}", "", *boolean, "#include <stdint.h>", "", "#ifdef __cplusplus",
            'extern "C" {', "#endif", "", declared, "", "#ifdef __cplusplus", "}", "#endif", "", "#endif", "",
        )
    )  # fmt: skip
