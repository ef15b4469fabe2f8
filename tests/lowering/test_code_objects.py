"""Code objects of AMD's devices: linked by pykern, read by LLVM's tools."""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

import llvm
import llvmlite.binding as backend
import pytest

from pykern.errors import TargetError
from pykern.lowering.elf import amdgpu, code_object
from pykern.lowering.elf.objects import parse
from pykern.lowering.llvm.codegen import assemble
from pykern.lowering.llvm.machines import Host
from pykern.lowering.rocdl.codegen import machine_of

READELF = Path(next(iter(llvm.__path__))) / "bin" / "llvm-readelf"
KERNEL = """
target triple = "amdgcn-amd-amdhsa"
@table = internal addrspace(4) constant [256 x float] [{numbers}]

define amdgpu_kernel void @pick(ptr addrspace(1) %y, i32 %n) {{
  %p = getelementptr float, ptr addrspace(4) @table, i32 %n
  %v = load float, ptr addrspace(4) %p
  store float %v, ptr addrspace(1) %y
  ret void
}}
define amdgpu_kernel void @other(ptr addrspace(1) %y) {{
  store float 2.0, ptr addrspace(1) %y
  ret void
}}
"""


def emitted(text: str, chip: str) -> bytes:
    machine, module = machine_of(chip), backend.parse_assembly(text)
    module.data_layout = str(machine.target_data)
    return machine.emit_object(module)


def text() -> str:
    return KERNEL.format(numbers=", ".join(f"float {n}.0" for n in range(256)))


@pytest.mark.parametrize("chip", ["gfx90a", "gfx942", "gfx1100", "gfx1201"])
def test_what_llvm_reads_of_one(chip: str, tmp_path: Path):
    made = emitted(text(), chip)
    linked = code_object.link(made)
    path = tmp_path / "kernel.hsaco"
    path.write_bytes(linked)
    done = subprocess.run([READELF, "-aW", "--notes", path], capture_output=True, text=True, check=True)
    said = done.stdout
    assert "warning" not in said + done.stderr
    assert linked[7:9] == made[7:9] and linked[48:52] == made[48:52]  # of which system and chip it is
    symbols = {m[2]: int(m[1], 16) for m in re.finditer(r"^ *\d+: ([0-9a-f]+) .* (\S+)$", said, re.MULTILINE)}
    segments = re.findall(
        r"^ *LOAD +(0x\w+) (0x\w+) \S+ (0x\w+) \S+ (R *W? ?E?) +0x1000$", said, re.MULTILINE
    )
    assert [rights.replace(" ", "") for *_, rights in segments] == ["R", "RE", "RW"]

    def place(address: int) -> int:
        """Where a byte of memory is in the file."""
        for offset, begin, size, _ in ((int(o, 16), int(b, 16), int(s, 16), r) for o, b, s, r in segments):
            if begin <= address < begin + size:
                return offset + address - begin
        raise AssertionError(address)

    for name in ("pick", "other"):
        descriptor = symbols[f"{name}.kd"]
        (distance,) = struct.unpack_from("<q", linked, place(descriptor) + 16)
        assert descriptor % 64 == 0 and descriptor + distance == symbols[name] and symbols[name] % 256 == 0
        assert f".name:           {name}" in said
    # s_getpc, then additions of the two halves of the distance from there; what lies between is part of the addend
    read = parse(made)
    found = {r.kind: r for r in read.relocations if r.kind in (10, 11)}
    low, high = (
        struct.unpack_from("<I", linked, place(symbols["pick"] + found[kind].offset))[0] for kind in (10, 11)
    )
    distance = struct.unpack("<q", struct.pack("<II", low, high))[0]
    at, table = found[10], next(symbol for symbol in read.symbols if symbol.name == "table")
    between = at.addend - (0 if read.symbols[at.symbol] == table else table.value)
    table = symbols["pick"] + at.offset - between + distance
    assert struct.unpack_from("<256f", linked, place(table)) == tuple(map(float, range(256)))


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ("@away = external addrspace(1) global i32\n", "`away` is nowhere defined"),
        ("@away = addrspace(1) global i32 7\n", "memory that a code object does not have|R_AMDGPU"),
    ],
)
def test_what_is_not_complete_is_refused(added: str, message: str):
    use = """
define amdgpu_kernel void @user(ptr addrspace(1) %y) {
  %v = load i32, ptr addrspace(1) @away
  store i32 %v, ptr addrspace(1) %y
  ret void
}
"""
    with pytest.raises(TargetError, match=message):
        code_object.link(emitted(text() + added + use, "gfx942"))


def test_other_files_are_refused():
    with pytest.raises(TargetError, match="no ELF object"):
        code_object.link(b"nothing")
    host = Host("x86_64-unknown-linux-gnu", "x86-64", "+sse2")
    with pytest.raises(TargetError, match="no code of an AMD device"):
        code_object.link(assemble("define void @f() {\n  ret void\n}", host))


@pytest.mark.parametrize(("kind", "name"), [(8, "GOTPCREL32_LO"), (1, "ABS32_LO"), (77, "77")])
def test_relocations_without_a_form(kind: int, name: str):
    with pytest.raises(TargetError, match=name):
        amdgpu.apply(bytearray(8), 0, 0, kind, 0, 0)
