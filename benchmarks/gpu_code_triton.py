"""Instructions of rows, products and attention beside Triton: ``python benchmarks/gpu_code_triton.py --triton PYTHON``.

PYTHON is that of an environment of its own with Triton in it, which needs no GPU to compile::

    python -m venv /tmp/triton && /tmp/triton/bin/pip install triton

Both sides have the same tile: a row of 1024 elements for a group of 256 work-items, 64 x 64 cells of a product in f32
with 16 terms a step, 128 x 128 cells of one in f16 with 32 terms, 64 queries with 64 keys of depth 64 a step. What is
counted is the loop in which most multiply-adds are, and instructions for each of them; of tensor cores for each 16 x 8
cells by 16 terms (one `mma.sync`; `wgmma` does many of them). Of rows, which are no loops, all instructions are counted
for each element of a work-item.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import device_kernels
import gpu_code
import numpy as np

import pykern as pk
from pykern.lowering.nvvm.ptxas import assemble

ROW = 1024
MATRICES = "matrices"
"""The unit of loops with tensor cores."""
_SHOWN = {MATRICES: ("HMMA", "HGMMA")}


@pk.jit(fastmath=True)
def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


@pk.jit(fastmath=True)
def layernorm(x, weight, bias, eps):
    centred = x - np.mean(x, axis=-1, keepdims=True)
    scale = 1 / np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + eps)
    return centred * scale * weight + bias


@pk.jit
def product(a, b):
    return a @ b


@dataclass(frozen=True)
class Row:
    """One computation. `unit` is the instruction that is counted as work, `MATRICES` for products of tensor cores, ""
    for elements of a row."""

    name: str
    function: Any
    args: tuple[Any, ...]
    ndrange: tuple[int, ...] | None = None
    unit: str = ""


def rows() -> list[Row]:
    x, vector = pk.spec((256, ROW), pk.f32), pk.spec((ROW,), pk.f32)
    single, half = pk.spec((1024, 1024), pk.f32), pk.spec((1024, 1024), pk.f16)
    heads = pk.spec((32, 1024, 64), pk.f16)
    return [
        Row("softmax", softmax, (x,)),
        Row("layernorm", layernorm, (x, vector, vector, pk.f32)),
        Row("product_f32", product, (single, single), None, "FFMA"),
        Row("product_f16", device_kernels.tile_product, (single, half, half), (1024, 1024), MATRICES),
        Row("attention", device_kernels.tile_attention, (heads,) * 4 + (pk.f32,), (32, 1024), MATRICES),
    ]


def compiled(row: Row, chip: str) -> tuple[bytes, str, int]:
    """The machine code of the row's kernel, its name and its work-items a group."""
    launch = {} if row.ndrange is None else {"ndrange": row.ndrange}
    lowered = row.function.lower(*row.args, target=f"nvvm:{chip}+aligned+small", **launch)
    (ptx,) = (stage.text for stage in lowered.stages if stage.name == "ptx")
    name = ptx.split(".visible .entry ")[1].partition("(")[0]
    sizes = ptx.split(".maxntid ")[1].partition("\n")[0].split(",")
    return assemble(ptx, chip).binary, name.removeprefix("kern_"), int(np.prod([int(n) for n in sizes]))


def counted(code: gpu_code.Code, unit: str, threads: int) -> tuple[int, float]:
    """Instructions of the loop with most of `unit`, or of a row's whole kernel, and how many for each piece of work."""
    if not unit:
        return len(code.instructions), len(code.instructions) / (ROW / threads)
    if unit == MATRICES:
        loops = [code.instructions[start : end + 1] for start, end in code.cycles()]  # who waits loops inside
        dense = [(sum(_matrices(one) for one in loop) / len(loop), len(loop)) for loop in loops]
        each, length = max(dense, default=(0, 0))
        if each:
            return length, 1 / each
        sys.exit("no loop with instructions of tensor cores")
    work = [(sum(one.opcode.startswith(unit) for one in loop), -len(loop)) for loop in code.loops()]
    if not work or max(work)[0] == 0:
        sys.exit(f"no loop with {unit}")
    units, length = max(work)
    return -length, -length / units


def _matrices(one: gpu_code.Instruction) -> float:
    """How many products of 16 x 8 by 16 an instruction is, for one subgroup."""
    return gpu_code.multiply_adds(one.opcode) / (16 * 8 * 16)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--triton", required=True, metavar="PYTHON", help="the Python that has Triton")
    parser.add_argument("--chip", default="sm_80")
    parser.add_argument("--show", action="store_true", help="print how often each instruction is there")
    parser.add_argument("--json", metavar="FILE", help="write the results here too")
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        script = Path(__file__).with_name("triton_code.py")
        subprocess.run([options.triton, script, options.chip, folder], check=True)
        told = json.loads((Path(folder) / "rows.json").read_text())
        print(f"{'':14}{'pykern':>16}{'Triton':>18}{'ratio':>8}")
        for row in rows():
            binary, name, threads = compiled(row, options.chip)
            mine = gpu_code.code_of(binary, name, "")
            other = gpu_code.code_of(
                (Path(folder) / f"{row.name}.cubin").read_bytes(), told[row.name]["name"], ""
            )
            here = counted(mine, row.unit, threads)
            there = counted(other, row.unit, told[row.name]["threads"])
            print(
                f"{row.name:14}{here[0]:8}{here[1]:8.4g}{there[0]:10}{there[1]:8.4g}{here[1] / there[1]:8.2f}"
            )
            found.append({"row": row.name, "pykern": here, "triton": there})
            if options.show:
                for who, code in (("pykern", mine), ("Triton", other)):
                    print(f"   {who}:", *(f"{n} {op}" for op, n in _opcodes(code, row.unit)))
    if options.json:
        version = next(iter(told.values()))["triton"]
        head = {"chip": options.chip, "date": date.today().isoformat(), "triton": version}
        text = json.dumps(head | {"ptxas": gpu_code.ptxas_version(), "rows": found}, indent=1)
        Path(options.json).write_text(text + "\n")


def _opcodes(code: gpu_code.Code, unit: str) -> list[tuple[str, int]]:
    counts = [Counter(one.opcode for one in loop) for loop in (code.loops() if unit else [code.instructions])]
    return max(
        counts, key=lambda c: sum(n for op, n in c.items() if op.startswith(_SHOWN.get(unit, unit)))
    ).most_common(14)


if __name__ == "__main__":
    main()
