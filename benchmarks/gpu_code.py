"""Instructions of code for NVIDIA's GPUs beside CUDA C++: ``python benchmarks/gpu_code.py [--chip sm_80] [--json F]``.

No GPU is needed: pykern's kernels are assembled by ptxas, those of `peers/kernels.cu` by NVRTC; nvdisasm lists both.
A row counts the instructions of a whole kernel, or those of a loop for each element. Loops are found by the line in
which they do their work, which both sources mark by a comment (``loop: name``). Where a compiler has made several
copies of a loop, as for its last iterations or for groups that are not full, the copy that does most in one
iteration counts, and of those the shortest.

What is counted are instructions, not time: those that wait for memory hide others.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import device_kernels
import gpu_code_kernels as own
import gpu_code_ports as ports
import numpy as np

import pykern as pk
from pykern.lowering.nvvm.disassembly import disassembled
from pykern.lowering.nvvm.ptxas import assemble, ptxas

SOURCE = Path(__file__).parent / "peers" / "kernels.cu"
MARK = re.compile(r"(?:#|//) loop: (\w+)")
LABEL = re.compile(r"^\s*\.?(L_x_\d+):")
TARGET = re.compile(r"`\(\.?(L_x_\d+)\)")
PLACE = re.compile(r"^\s*\.loc\s+(\d+) (\d+)")
FILE = re.compile(r'(?m)^\s*\.file\s+(\d+) "([^"]*)"')
OPCODE = re.compile(r"^\s*(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")
SHAPES = {"1688": (16, 8, 8), "16816": (16, 8, 16), "16832": (16, 8, 32)}
"""Rows, columns and terms of instructions of tensor cores."""
WIDTHS = {".64": 2, ".128": 4}


@dataclass(frozen=True)
class Row:
    """One kernel. `units` of a loop: which instruction does the work of one element, and how many an element needs."""

    name: str
    kernel: Any
    args: tuple[Any, ...]
    ndrange: tuple[Any, ...]
    units: dict[str, tuple[str, int]] | None = None
    """None: the whole kernel is counted."""
    fastmath: bool = False


@dataclass(frozen=True)
class Instruction:
    opcode: str
    line: int
    jumps: str
    """The label that it jumps to; "" for none."""


@dataclass(frozen=True)
class Code:
    """The instructions of a kernel, and at which of them its labels stand."""

    instructions: tuple[Instruction, ...]
    labels: dict[str, int]

    def cycles(self) -> list[tuple[int, int]]:
        """Where all loops begin and end, also those that have others inside."""
        found = [
            (self.labels[one.jumps], end)
            for end, one in enumerate(self.instructions)
            if one.jumps and self.labels.get(one.jumps, math.inf) <= end
        ]
        return [(start, end) for start, end in found if start != end]  # not behind the end of a kernel

    def loops(self) -> Iterator[tuple[Instruction, ...]]:
        """The innermost loops: from a label to a jump back to it, with no other such jump inside."""
        found = self.cycles()
        for start, end in found:
            if not any(start <= s and e <= end and (s, e) != (start, end) for s, e in found):
                yield self.instructions[start : end + 1]


def rows() -> list[Row]:
    f, i, u = pk.f32, pk.i32, pk.u8
    x, m = pk.spec(("n",), f), pk.spec(("n", "m"), f)
    index, bytes_, half = pk.spec(("n",), i), pk.spec(("n", "m"), u), pk.spec(("n",), pk.bf16)
    double = pk.spec(("n",), pk.f64)
    cube = pk.spec(("n", "m", "k"), f)
    line, plane = ("n",), ("n", "m")
    row = (("FMNMX", 1), ("MUFU.EX2", 1))
    return [
        Row("saxpy", device_kernels.saxpy, (x, x, f), line),
        Row("triad", device_kernels.triad, (x, x, x, f), line),
        Row("axpy_bf16", own.axpy_bf16, (half, half, f), line),
        Row("gelu", own.gelu, (x, x), line, None, True),
        Row("gather", own.gather, (x, x, index), line),
        Row("heat", device_kernels.heat, (m, m, f), plane),
        Row("heat_gradient", pk.autodiff(device_kernels.heat), (pk.Dup(m, m), pk.Dup(m, m), f), plane),
        Row("diffusion3", device_kernels.diffusion3, (cube, cube, cube, f), ("n", "m", "k")),
        Row("filter3", own.filter3, (m, m, m), plane),
        Row("life", own.life, (bytes_, bytes_), plane),
        Row("transpose_shared", device_kernels.transpose_shared, (m, m), plane),
        Row("histogram", device_kernels.histogram, (index, index), line),
        Row("reduction", device_kernels.reduction, (x, x), line),
        Row("softmax", device_kernels.softmax, (m, m), line, {"max": row[0], "sum": row[1], "write": row[1]}, True),
        Row("layernorm", device_kernels.layernorm, (m, m, x, x, f), line,
            {"sum": ("LDG", 1), "squares": ("LDG", 1), "write": ("STG", 1)}, True),
        Row("rmsnorm", own.rmsnorm, (m, m, x, f), line, {"squares": ("LDG", 1), "write": ("STG", 1)}, True),
        Row("nbody", own.nbody, (m, m), line, {"pairs": ("MUFU.RSQ", 1)}, True),
        Row("matmul", device_kernels.matmul, (m, m, m), plane, {"terms": ("FFMA", 1)}),
        Row("matmul_shared", device_kernels.matmul_shared, (m, m, m), plane, {"tile": ("FFMA", 1)}),
        Row("mandelbrot", own.mandelbrot, (pk.spec(("n", "m"), i), f, i), plane, {"steps": ("FSETP", 1)}),
        Row("spmv", own.spmv, (x, x, index, index, x), line, {"entries": ("FFMA", 1)}),
        Row("copy", device_kernels.copy, (x, x), line),
        Row("transpose", device_kernels.transpose, (m, m), plane),
        Row("bias_relu", own.bias_relu, (m, m, x), plane),
        Row("scatter_add", own.scatter_add, (x, x, index), line),
        Row("dot", own.dot, (x, x, x), line),
        Row("matvec", own.matvec, (x, m, x), line, {"products": ("FFMA", 1)}),
        Row("adam", own.adam, (x, x, x, x, f), line, None, True),
        Row("convolution", own.convolution, (x, x, x), line),
        Row("grey", own.grey, (x, pk.spec(("n",), u)), line),
        Row("lower_bound", own.lower_bound, (index, x, x), line, {"halves": ("LDG", 1)}),
        Row("black_scholes", own.black_scholes, (x, x, x, x), line, None, True),
        Row("axpy_f64", own.axpy_f64, (double, double, pk.f64), line),
        Row("ported_steps", ports.ported_steps, (x, x, f, i), line, {"elements": ("STG", 1)}),
        Row("ported_while", ports.ported_while, (x, x, f, i), line, {"elements": ("STG", 1)}),
        Row("ported_heat", ports.ported_heat, (x, x, f, i, i), plane),
        Row("ported_blend", ports.ported_blend, (x, x, x, f, i, i), plane),
        Row("ported_volume", ports.ported_volume, (x, x, f, i, i, i), ("n", "m", "k")),
        Row("ported_transpose", ports.ported_transpose, (x, x, i, i), plane),
        Row("ported_matmul", ports.ported_matmul, (x, x, x, i, i, i), plane, {"tile": ("FFMA", 1)}),
        Row("ported_convolution", ports.ported_convolution, (x, x, x, i, i), plane),
        Row("ported_sum", ports.ported_sum, (x, x, i), line, {"elements": ("FADD", 1)}),
        Row("ported_tree", ports.ported_tree, (x, x, i), line),
        Row("ported_matvec", ports.ported_matvec, (x, x, x, i, i), line, {"products": ("FFMA", 1)}),
        Row("ported_histogram", ports.ported_histogram, (index, index, i), line, {"elements": ("ATOMS", 1)}),
    ]  # fmt: skip


def code_of(cubin: bytes, name: str, file: str) -> Code:
    """The instructions of the kernel `name`, without those that fill up its end. Lines are those of `file`."""
    text = disassembled(cubin)
    if not text:
        sys.exit("no nvdisasm was found: pip install nvidia-cuda-nvdisasm")
    parts = re.split(r"(?m)^\s*\.section\s+\.text\.", text)
    body = next(part for part in parts[1:] if part.partition(",")[0].strip('"').removeprefix("kern_") == name)
    files = {number: Path(path).name for number, path in FILE.findall(text)}
    line = 0
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    for text_line in body.splitlines()[1:]:
        if match := LABEL.match(text_line):
            labels[match[1]] = len(instructions)
        elif match := PLACE.match(text_line):
            line = int(match[2]) if files.get(match[1]) == file else 0
        elif (match := OPCODE.match(text_line)) and ";" in text_line:
            target = TARGET.search(text_line)
            jumps = target[1] if target and match[1].startswith("BRA") else ""
            if match[1] != "NOP":
                instructions.append(Instruction(match[1], line, jumps))
    while (
        instructions
        and instructions[-1].jumps
        and labels.get(instructions[-1].jumps) == len(instructions) - 1
    ):
        instructions.pop()  # a kernel ends in a jump to itself, which nobody reaches
    return Code(tuple(instructions), labels)


def marked(path: Path) -> dict[int, str]:
    """The lines that name a loop."""
    found = {}
    for number, text in enumerate(path.read_text().splitlines(), 1):
        if match := MARK.search(text):
            found[number] = match[1]
    return found


def counts(row: Row, code: Code, marks: dict[int, str]) -> dict[str, float]:
    """Instructions: of the whole kernel under "", or an element of each loop."""
    if row.units is None:
        return {"": len(code.instructions)}
    best: dict[str, tuple[float, float]] = {}
    for loop in code.loops():
        names = Counter(marks[one.line] for one in loop if one.line in marks)
        if len(row.units) == 1:  # what stands in a condition may have the loop's line alone
            names.update(list(row.units))
        if not names:
            continue
        name = names.most_common(1)[0][0]
        opcode, each = row.units.get(name, ("", 1))
        units = sum(_width(one.opcode) for one in loop if one.opcode.startswith(opcode)) / each
        if opcode and units:
            best[name] = max(best.get(name, (0, 0)), (units, -len(loop) / units))
    return {name: -best[name][1] if name in best else math.nan for name in row.units}


def _width(opcode: str) -> int:
    """Elements of 4 bytes that one instruction moves; 1 of others."""
    if not opcode.startswith(("LDG", "STG", "LDS", "STS")):
        return 1
    return next((n for suffix, n in WIDTHS.items() if suffix in opcode), 1)


def compiled_peers(chip: str, fastmath: bool) -> bytes:
    """The CUDA C++ as machine code. Ends the program with what NVRTC says."""
    nvrtc = importlib.import_module("cuda.bindings.nvrtc")
    _, program = nvrtc.nvrtcCreateProgram(SOURCE.read_bytes(), SOURCE.name.encode(), 0, [], [])
    options = [f"--gpu-architecture={chip}", "-lineinfo", "--std=c++17"]
    if fastmath:
        options.append("--use_fast_math")
    (error,) = nvrtc.nvrtcCompileProgram(program, len(options), [o.encode() for o in options])
    if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = bytes(size + 1)
        nvrtc.nvrtcGetProgramLog(program, log)
        sys.exit(log.decode())
    _, size = nvrtc.nvrtcGetCUBINSize(program)
    cubin = bytes(size)
    nvrtc.nvrtcGetCUBIN(program, cubin)
    return cubin


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chip", default="sm_80")
    parser.add_argument("--only", default="", help="rows whose name holds this")
    parser.add_argument("--options", default="+aligned+small+whole+alike", help="of the target")
    parser.add_argument(
        "--show", action="store_true", help="print the instructions of loops, or of whole kernels"
    )
    parser.add_argument("--json", metavar="FILE", help="write the results here too")
    parser.add_argument(
        "--tensor-cores", action="store_true", help="multiply-adds an instruction of products and attention"
    )
    options = parser.parse_args()
    if options.tensor_cores:
        tensor_cores(options.chip, options.options, options.only)
        return
    peers = {fastmath: compiled_peers(options.chip, fastmath) for fastmath in (False, True)}
    peer_marks = marked(SOURCE)
    found = []
    print(f"{'':28}{'pykern':>9}{'CUDA C++':>9}{'ratio':>7}{'registers':>11}")
    for row in rows():
        if options.only not in row.name:
            continue
        compiled = row.kernel.lower(
            *row.args, ndrange=row.ndrange, target=f"nvvm:{options.chip}{options.options}+lines"
        ).compile()
        module = next((each for each in (own, ports) if hasattr(each, row.name)), device_kernels)
        file = Path(module.__file__)
        mine = code_of(compiled.binary, _only(compiled.binary), file.name)
        other = code_of(peers[row.fastmath], row.name, SOURCE.name)
        here, there = counts(row, mine, marked(file)), counts(row, other, peer_marks)
        if options.show:
            shown(row, mine, "pykern")
            shown(row, other, "CUDA C++")
        for name in here:
            ratio = here[name] / there[name]
            found.append({"row": row.name, "loop": name, "pykern": here[name], "cuda": there[name]})
            print(
                f"{row.name + (', ' + name if name else ''):28}{here[name]:9.4g}{there[name]:9.4g}{ratio:7.2f}"
                f"{compiled.resources['registers']:11}"
            )
    if options.json:
        told = {"chip": options.chip, "date": date.today().isoformat(), "ptxas": ptxas_version()}
        Path(options.json).write_text(json.dumps(told | {"rows": found}, indent=1) + "\n")


@pk.jit
def product_of_bytes(a, b):
    return a.astype(pk.i32) @ b.astype(pk.i32).T


def tensor_cores(chip: str, options: str, only: str) -> None:
    """What each instruction of a main loop does for its subgroup, and what the kernel takes."""
    print(f"{'':28}{'multiply-adds':>14}{'instructions':>13}{'registers':>10}{'spilled':>8}")
    n, f = 2048, np.float16
    a, heads = np.zeros((n, n), f), np.zeros((16, n, 128), f)
    small, sums = np.zeros((n, n), np.int8), np.zeros((n, n), np.float32)
    for name, kernel, args, ndrange in (
        ("product", device_kernels.tile_product, (sums, a, a), {"ndrange": (n, n)}),
        ("product of bytes, a @ b.T", product_of_bytes, (small, small), {}),
        (
            "attention, causal",
            device_kernels.tile_attention,
            (heads, heads, heads, heads, 0.125),
            {"ndrange": (16, n)},
        ),
    ):
        if only not in name:
            continue
        lowered = kernel.lower(*args, **ndrange, target=f"nvvm:{chip}{options}")
        made = assemble(lowered.as_text("ptx"), chip)
        code = code_of(made.binary, _only(made.binary), "")
        loops = [code.instructions[start : end + 1] for start, end in code.cycles()]  # who waits loops inside
        each, loop = max(
            ((sum(multiply_adds(one.opcode) for one in loop) / len(loop), loop) for loop in loops),
            key=lambda found: found[0],
        )
        spilled = made.spill_stores + made.spill_loads
        print(f"{name:28}{each:14.0f}{len(loop):13}{made.registers:10}{spilled:8}")


def multiply_adds(opcode: str) -> float:
    """Of a subgroup, by an instruction of tensor cores; those of four subgroups together are shared by them."""
    name, _, rest = opcode.partition(".")
    if name in ("HGMMA", "IGMMA"):
        return math.prod(map(int, rest.partition(".")[0].split("x"))) / 4
    shape = SHAPES.get(rest.partition(".")[0]) if name in ("HMMA", "IMMA") else None
    return math.prod(shape) if shape else 0


def ptxas_version() -> str:
    """The version of the assembler; NVRTC's is that of the same toolkit where both come from the extra `cuda`."""
    said = subprocess.run(
        [ptxas() or "ptxas", "--version"], capture_output=True, text=True, check=True
    ).stdout
    return said.partition("release ")[2].partition(",")[0]


def _only(cubin: bytes) -> str:
    """The name of the one kernel."""
    (name,) = re.findall(r"(?m)^\s*\.section\s+\.text\.(?:kern_)?([\w.]+)", disassembled(cubin))
    return name


def shown(row: Row, code: Code, who: str) -> None:
    print(f"-- {row.name}, {who}")
    for loop in [code.instructions] if row.units is None else code.loops():
        print(
            f"   {len(loop)}: "
            + " ".join(f"{n} {op}" for op, n in Counter(i.opcode for i in loop).most_common())
        )


if __name__ == "__main__":
    main()
