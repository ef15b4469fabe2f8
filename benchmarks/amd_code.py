"""Instructions of code for AMD's GPUs: ``python benchmarks/amd_code.py [--chip gfx942] [--only attention] [--json F]``.

No GPU is needed, and there is no peer: LLVM's assembly is counted. A row is a product or attention of an array program;
what is counted is its main loop, the one with most instructions of matrix cores. `multiply-adds` are those that a lane
makes by them, for each instruction of the loop.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import llvmlite.binding
import ml_dtypes
import numpy as np

import pykern as pk
import pykern.library as pl

CHIPS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
SIDE = 2048
LABEL = re.compile(r"^(\.LBB\w+):")
BRANCH = re.compile(r"^s_cbranch\w*\s+(\.LBB\w+)")
MATRICES = re.compile(r"v_(?:mfma|wmma)_\w+?_(\d+)x(\d+)x(\d+)")
KINDS = {
    "reads": ("ds_read", "ds_load"),
    "writes": ("ds_write", "ds_store"),
    "loads": ("global_load", "buffer_load"),
    "waits": ("s_wait",),
    "scalar": ("s_",),
    "vector": ("v_",),
}
"""What an instruction is, by the begin of its name; the first that fits."""
RESOURCES = {
    "vgprs": "vgpr_count", "spills": "vgpr_spill_count", "stack": "private_segment_fixed_size",
    "shared": "group_segment_fixed_size",
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One program and its arguments."""

    name: str
    program: Any
    arguments: tuple[np.ndarray, ...]
    options: dict[str, Any]


def product(a, b):
    return a @ b


def transposed_left(a, b):
    return a.T @ b


def transposed_right(a, b):
    return a @ b.T


@pk.kernel
def bytes_(c, a, b):
    i, j = pk.tile()
    total = pk.zeros((i, j), pk.i32)
    for k in pk.tiles(a.shape[1]):
        total += a[i, k] @ b[k, j]
    c[i, j] = total


@pk.jit
def product_of_bytes(a, b):
    c = pk.zeros((a.shape[0], b.shape[1]), pk.i32)
    bytes_(c, a, b, ndrange=c.shape)
    return c


def rows() -> list[Row]:
    found = []
    for name, kind in (
        ("f16", np.float16),
        ("bf16", ml_dtypes.bfloat16),
        ("f32", np.float32),
        ("f64", np.float64),
    ):
        given = np.zeros((SIDE, SIDE), kind)
        functions: tuple[Callable, ...] = (product,)
        if name == "f16":
            functions = (product, transposed_left, transposed_right)
        found += [Row(f"{each.__name__} {name}", pk.jit(each), (given, given), {}) for each in functions]
    given = np.zeros((SIDE, SIDE), np.int8)
    found.append(Row("product i8", product_of_bytes, (given, given), {}))
    for depth in (64, 128):
        for causal in (False, True):
            q = np.zeros((2, 16, SIDE, depth), np.float16)
            name = f"{'causal ' if causal else ''}attention f16 {depth}"
            found.append(Row(name, pl.flash_attention, (q, q, q), {"causal": causal}))
    return found


def main_loop(text: str) -> list[str]:
    """The instructions of the loop with most instructions of matrix cores."""
    labels: dict[str, int] = {}
    instructions: list[str] = []
    loops: list[list[str]] = []
    for line in text.splitlines():
        if match := LABEL.match(line):
            labels[match[1]] = len(instructions)
        code = line.partition(";")[0].strip()
        if not re.match(r"(v|s|ds|global|buffer|scratch|flat)_", code):
            continue
        instructions.append(code)
        if (match := BRANCH.match(code)) and match[1] in labels:
            loops.append(instructions[labels[match[1]] :])
    return max(loops, key=lambda loop: sum(bool(MATRICES.match(one)) for one in loop), default=[])


def counts(text: str, lanes: int) -> dict[str, float]:
    loop = main_loop(text)
    told: Counter[str] = Counter()
    terms = 0
    for one in loop:
        if match := MATRICES.match(one):
            told["matrices"] += 1
            terms += int(match[1]) * int(match[2]) * int(match[3])
        else:
            told[next((kind for kind, begins in KINDS.items() if one.startswith(begins)), "others")] += 1
    resources = {
        name: max((int(n) for n in re.findall(rf"\.{field}:\s+(\d+)", text)), default=0)
        for name, field in RESOURCES.items()
    }
    each = terms / lanes / len(loop) if loop else 0
    return {"instructions": len(loop), "multiply-adds": each, **told, **resources}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chip", default="", help="one chip; all where none is named")
    parser.add_argument("--only", default="", help="rows whose name holds this")
    parser.add_argument("--show", action="store_true", help="print the loops")
    parser.add_argument("--json", metavar="FILE", help="write the results here too")
    options = parser.parse_args()
    columns = ("instructions", "multiply-adds", "matrices", *KINDS, *RESOURCES)
    found = []
    print(f"{'':36}" + "".join(f"{name:>14}" for name in columns))
    for chip in [options.chip] if options.chip else CHIPS:
        for row in rows():
            if options.only not in row.name:
                continue
            lowered = row.program.lower(*row.arguments, target=f"rocdl:{chip}+aligned", **row.options)
            text = lowered.stage("llvm-emit").text
            told = counts(text, 64 if chip.startswith("gfx9") else 32)
            found.append({"chip": chip, "row": row.name, **told})
            print(f"{chip + ' ' + row.name:36}" + "".join(f"{told.get(name, 0):14.5g}" for name in columns))
            if options.show:
                print("\n".join(f"    {one}" for one in main_loop(text)))
    if options.json:
        version = ".".join(map(str, llvmlite.binding.llvm_version_info))
        told = {"date": date.today().isoformat(), "llvm": version}
        Path(options.json).write_text(json.dumps(told | {"rows": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
