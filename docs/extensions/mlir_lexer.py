"""Colours for MLIR: mlir-pygments, with names such as ``%c-1_i32`` and ``%0#1``, and signs that stand alone."""

from __future__ import annotations

from typing import Any, ClassVar

from mlir_pygments import MLIRLexer
from pygments.lexer import inherit
from pygments.token import Name, Punctuation


class Lexer(MLIRLexer):
    """What Sphinx takes for blocks marked ``mlir``."""

    tokens: ClassVar[dict[str, Any]] = {
        "root": [(r"%[\w$.-]+(?:[#:]\d+)?", Name.Variable), inherit, (r"[-!#/]", Punctuation)],
    }
