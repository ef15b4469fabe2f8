"""`Schedule`: the parameters of a contraction's schedule, apart from the recipe that applies them.

Comes in: numbers of the cost model (`pykern.passes.codegen.cpu.contraction.cost_model`) or of the tuner
(`pykern.tuning.tune`). Goes out: a value that is hashed into keys, and its text, which is read again. Nothing here
imports MLIR.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

SCHEDULES = "schedules"
"""Where the resources of a compiled program name the schedules of its contractions, in order."""
FEWEST_PRODUCTS = 1 << 20
"""Multiplications, about, of a kernel's launch from which the longer way to code in tiles pays."""
SHORTEST_SIDE = 8
"""Rows and columns of matrices below which tiles are all but empty: points and colours stay loops over work-items."""


@dataclass(frozen=True)
class Schedule:
    """How one contraction is computed.

    `form`: "packed" copies both factors into the order of the tiles, "direct" reads them where they are,
    "dots" adds up along vectors of the summed dimension, where a matrix is multiplied with a vector.
    """

    form: str
    rows: int
    """Rows of a register tile."""
    vectors: int
    """Columns of a register tile, in vectors."""
    depth: int = 0
    """Terms of a slice; 0: all of them."""
    block: int = 0
    """Row tiles that stay in the second cache while all panels of the right factor go by; 0: all."""
    unroll: int = 2
    """Terms of an iteration of the innermost loop."""
    threads: bool = True
    """Whether threads share it."""

    def __str__(self) -> str:
        return ",".join(f"{f.name}={getattr(self, f.name)}" for f in dataclasses.fields(self))


def parse(text: str) -> Schedule:
    """The inverse of `str`. Raises ValueError for what is none."""
    fields = {f.name: f for f in dataclasses.fields(Schedule)}
    values: dict[str, object] = {}
    for item in text.split(","):
        name, found, value = item.partition("=")
        if not found or name not in fields:
            raise ValueError(f"`{item}` is no parameter of a schedule")
        if name == "form":
            if value not in ("packed", "direct", "dots"):
                raise ValueError(f"`{value}` is no form of a schedule")
            values[name] = value
        elif name == "threads":
            values[name] = value == "True"
        else:
            values[name] = int(value)
    if not {"form", "rows", "vectors"} <= values.keys():
        raise ValueError(f"`{text}` lacks form, rows or vectors")
    return Schedule(**values)  # type: ignore[arg-type]
