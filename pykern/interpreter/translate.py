"""A module as Python: every function that has a body becomes a generator.

Comes in: a module of any stage. Goes out: `Program`. What an op becomes is said by the rules of its dialect, which are
registered here; the text is written by `emit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from mlir import ir

from pykern.interpreter import (  # noqa: F401  they register their rules
    numbers,
    rules_arith,
    rules_control,
    rules_kern,
    rules_llvm,
    rules_memref,
    rules_pointer,
    rules_spirv,
    rules_vector,
)
from pykern.interpreter.emit import Emitter, python_name
from pykern.interpreter.memory import View

FUNCTIONS = ("func.func", "llvm.func", "gpu.func", "spirv.func")


@dataclass(frozen=True)
class Program:
    """The functions of a module as Python generators, by symbol, with the ops they come from."""

    functions: dict[str, Callable[..., Any]]
    ops: dict[str, ir.Operation]
    text: str


def python_of(module: ir.Module) -> Program:
    """Python for every function of a module that has a body. Raises `NoReading`."""
    e = Emitter({"np": np, "nb": numbers, "View": View})
    found = list(_all_ops(module.body))
    converted = any(op.name == "spirv.func" for op in found)  # beside it stands what it was made of
    for op in found:
        if op.name == "spirv.func" or (op.name in FUNCTIONS and not converted):
            e.functions[ir.StringAttr(op.attributes["sym_name"]).value] = op
        elif op.name in ("memref.global", "llvm.mlir.global", "spirv.GlobalVariable"):
            e.globals[ir.StringAttr(op.attributes["sym_name"]).value] = op
    defined = {name: op for name, op in e.functions.items() if list(op.regions[0].blocks)}
    for op in defined.values():
        e.function(op)
    text = "\n".join(e.lines)
    code = compile(text, "<a stage as Python>", "exec")
    exec(code, e.objects)  # our own text
    return Program({name: e.objects[python_name(name)] for name in defined}, defined, text)


def _all_ops(block: ir.Block) -> Iterator[ir.Operation]:
    for op in block.operations:
        yield op.operation
        if op.operation.name in ("gpu.module", "spirv.module"):
            yield from _all_ops(op.operation.regions[0].blocks[0])
