"""The linker of CPU code: every kind of reference, run where it is mapped and where dlopen has it, or disassembled."""

from __future__ import annotations

import ctypes
import math
import os
import re
import struct
import subprocess
from pathlib import Path

import llvm
import pytest

from pykern.data.code_image import DISTANCE, read
from pykern.errors import TargetError
from pykern.lowering.elf import aarch64
from pykern.lowering.elf.shared_object import link
from pykern.lowering.elf.writer import hashed
from pykern.lowering.llvm.codegen import assemble
from pykern.lowering.llvm.machines import ELSEWHERE
from pykern.runtime import loader
from pykern.runtime.dynamic_library import open_dynamic
from pykern.runtime.loader import Library, open_library

TOOLS = Path(next(iter(llvm.__path__))) / "bin"
ARM = ELSEWHERE["aarch64"][0]
I64, F64 = ctypes.c_int64, ctypes.c_double
pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/maps") or os.uname().machine not in ("x86_64", "aarch64"),
    reason="code is linked by pykern itself on Linux, x86-64 and aarch64",
)

FIRST = """
@powers = hidden constant [4 x i64] [i64 1, i64 10, i64 100, i64 1000]
@count = internal global i64 7
@room = internal global [1000 x i64] zeroinitializer
@handlers = internal global [3 x ptr] [ptr @one, ptr @two, ptr getelementptr (i64, ptr @powers, i64 3)]
@_Py_NoneStruct = external global i8
@word = private unnamed_addr constant [6 x i8] c"seven\\00"

declare hidden i64 @elsewhere(i64)
declare double @cos(double)
declare i64 @strlen(ptr)

define i64 @power(i64 %n) {
  %p = getelementptr [4 x i64], ptr @powers, i64 0, i64 %n
  %v = load i64, ptr %p
  ret i64 %v
}
define i64 @next() {
  %v = load i64, ptr @count
  %w = add i64 %v, 1
  store i64 %w, ptr @count
  ret i64 %w
}
define i64 @kept(i64 %n, i64 %v) {
  %p = getelementptr [1000 x i64], ptr @room, i64 0, i64 %n
  %before = load i64, ptr %p
  store i64 %v, ptr %p
  ret i64 %before
}
define i64 @one(i64 %x) {
  %r = add i64 %x, 1
  ret i64 %r
}
define i64 @two(i64 %x) {
  %r = add i64 %x, 2
  ret i64 %r
}
define i64 @handled(i64 %n, i64 %x) {
  %p = getelementptr [3 x ptr], ptr @handlers, i64 0, i64 %n
  %f = load ptr, ptr %p
  %r = call i64 %f(i64 %x)
  ret i64 %r
}
define i64 @last() {
  %p = getelementptr [3 x ptr], ptr @handlers, i64 0, i64 2
  %a = load ptr, ptr %p
  %v = load i64, ptr %a
  ret i64 %v
}
define ptr @none() {
  ret ptr @_Py_NoneStruct
}
define ptr @itself() {
  ret ptr @power
}
define double @cosine(double %x) {
  %c = call double @cos(double %x)
  %r = fadd double %c, 1.0
  ret double %r
}
define double @tail(double %x) {
  %c = tail call double @cos(double %x)
  ret double %c
}
define ptr @cosine_itself() {
  ret ptr @cos
}
define i64 @length() {
  %n = call i64 @strlen(ptr @word)
  ret i64 %n
}
define i64 @across(i64 %x) {
  %r = call i64 @elsewhere(i64 %x)
  ret i64 %r
}
"""
SECOND = """
@powers = external hidden global [4 x i64]
@factor = internal global i64 3

define hidden i64 @elsewhere(i64 %x) {
  %p = getelementptr [4 x i64], ptr @powers, i64 0, i64 2
  %v = load i64, ptr %p
  %f = load i64, ptr @factor
  %m = mul i64 %x, %f
  %r = add i64 %m, %v
  ret i64 %r
}
"""


@pytest.fixture(scope="module")
def linked() -> bytes:
    return link(assemble(FIRST), assemble(SECOND))


def by_dlopen(binary: bytes) -> Library:
    opened = open_dynamic(binary, wanted=False)
    return Library(lambda name: ctypes.cast(getattr(opened, name), ctypes.c_void_p).value)


@pytest.mark.parametrize("way", [open_library, by_dlopen])
def test_every_kind_of_reference(linked: bytes, way):
    code = way(linked)
    power = code.function("power", I64, I64)
    assert [power(n) for n in range(4)] == [1, 10, 100, 1000]
    following = code.function("next", I64)
    assert [following() for _ in range(3)] == [8, 9, 10]
    kept = code.function("kept", I64, I64, I64)
    assert [kept(n, n + 5) for n in (0, 999, 500)] == [0, 0, 0] and [kept(n, 0) for n in (0, 999, 500)] == [
        5,
        1004,
        505,
    ]
    handled = code.function("handled", I64, I64, I64)
    assert [handled(n, 40) for n in (0, 1)] == [41, 42] and code.function("last", I64)() == 1000
    assert code.function("none", ctypes.c_void_p)() == id(None)
    assert code.function("itself", ctypes.c_void_p)() == code.address("power")
    cosine, tail = (code.function(name, F64, F64) for name in ("cosine", "tail"))
    assert (cosine(0.5), tail(0.5)) == (math.cos(0.5) + 1.0, math.cos(0.5))
    its_own = ctypes.CFUNCTYPE(F64, F64)(code.function("cosine_itself", ctypes.c_void_p)())
    assert its_own(0.25) == math.cos(0.25)
    assert code.function("length", I64)() == 5
    assert code.function("across", I64, I64)(7) == 121


def test_two_copies_share_nothing(linked: bytes):
    one, two = (open_library(linked).function("next", I64) for _ in range(2))
    assert [one(), one(), two(), one()] == [8, 9, 8, 10]


def test_what_is_hidden_is_not_found(linked: bytes):
    code = open_library(linked)
    assert "power" in code and "elsewhere" not in code and "powers" not in code
    with pytest.raises(OSError, match="no function `elsewhere`"):
        code.address("elsewhere")
    assert set(read(linked).exports) == set(re.findall(r"^define \w+ @(\w+)", FIRST, re.MULTILINE))


def test_many_names_are_found_by_dlsym():
    text = "\n".join(f"define i64 @f{n}() {{\n  ret i64 {n * n}\n}}" for n in range(300))
    code = by_dlopen(link(assemble(text)))
    assert all(code.function(f"f{n}", I64)() == n * n for n in range(300))


def test_the_hash_is_that_of_the_system_v_abi():
    assert [hashed(name) for name in ("", "printf", "exit")] == [
        0,
        0x077905A6,
        0x0006CF04,
    ]  # of its own examples


def test_code_and_zeros_larger_than_a_pool():
    zeros = f"""
@far = internal global [{80 << 20} x i8] zeroinitializer
@first = internal constant <{{ i8, [{70 << 20} x i8], i8 }}> <{{ i8 3, [{70 << 20} x i8] zeroinitializer, i8 9 }}>
define i64 @put(i64 %n, i64 %v) {{
  %p = getelementptr i8, ptr @far, i64 %n
  %old = load i8, ptr %p
  %b = trunc i64 %v to i8
  store i8 %b, ptr %p
  %r = zext i8 %old to i64
  ret i64 %r
}}
define i64 @get(i64 %n) {{
  %p = getelementptr i8, ptr @first, i64 %n
  %v = load i8, ptr %p
  %r = zext i8 %v to i64
  ret i64 %r
}}
"""
    binary = link(assemble(zeros))
    assert read(binary).distance == 2 * DISTANCE
    code = open_library(binary)
    put, get = code.function("put", I64, I64, I64), code.function("get", I64, I64)
    last = (80 << 20) - 1
    assert [put(n, 7) for n in (0, last)] == [0, 0] and [put(n, 0) for n in (0, last)] == [7, 7]
    assert [get(n) for n in (0, 1, 70 << 20, (70 << 20) + 1)] == [3, 0, 0, 9]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@t = thread_local global i64 1\ndefine ptr @f() {\n  ret ptr @t\n}", "memory of each thread"),
        (
            "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] "
            "[{ i32, ptr, ptr } { i32 1, ptr @f, ptr null }]\ndefine void @f() {\n  ret void\n}",
            "run when code is loaded",
        ),
        ("@t = global i64 1, align 8192\ndefine ptr @f() {\n  ret ptr @t\n}", "multiples of 8192"),
        ("@f = dso_local global ptr getelementptr (i8, ptr @g, i64 8)\n@g = external global i8", "holds an address"),
    ],
)  # fmt: skip
def test_what_has_no_place_is_refused_by_name(text: str, message: str):
    with pytest.raises(TargetError, match=f"linking failed: .*{message}"):
        link(assemble(text))


def test_other_objects_are_refused():
    function = assemble("define i64 @f() {\n  ret i64 1\n}")
    with pytest.raises(TargetError, match="`f` is defined twice"):
        link(function, assemble("define i64 @f() {\n  ret i64 2\n}"))
    with pytest.raises(TargetError, match="no ELF object"):
        link(b"no object at all")
    with pytest.raises(TargetError, match="no code of machine"):
        link(function, assemble("define i64 @g() {\n  ret i64 1\n}", ELSEWHERE["aarch64"][0]))


def test_a_name_that_is_nowhere():
    binary = link(
        assemble(
            "declare void @nobody_has_this()\ndefine void @f() {\n  call void @nobody_has_this()\n  ret void\n}"
        )
    )
    with pytest.raises(OSError, match="compiled code calls `nobody_has_this`"):
        open_library(binary)
    with pytest.raises(OSError, match="nobody_has_this"):
        open_dynamic(binary, wanted=True)


@pytest.mark.parametrize("cut", [0, 3, 63, 64, 200, 400, 1000])
def test_what_is_cut_off_does_not_load(linked: bytes, cut: int):
    with pytest.raises(OSError, match="no shared object of pykern's"):
        open_library(linked[:cut])


def test_code_for_another_machine_does_not_load(monkeypatch: pytest.MonkeyPatch):
    other = link(assemble("define i64 @g() {\n  ret i64 1\n}", ARM))
    monkeypatch.setitem(loader._MACHINES, os.uname().machine, 62)
    with pytest.raises(OSError, match="another machine"):
        open_library(other)


# -- aarch64: LLVM's disassembler says where instructions lead ----------------------------------------


class Arm:
    """A linked file of aarch64, as LLVM's tools see it."""

    def __init__(self, binary: bytes, folder: Path) -> None:
        path = folder / "arm.so"
        path.write_bytes(binary)
        self.binary, self.image = binary, read(binary)
        self.text = self._said("llvm-objdump", "-d", "--no-show-raw-insn", str(path))
        listed = self._said("llvm-readelf", "-sW", str(path))
        self.symbols = {
            m[2]: int(m[1], 16)
            for m in re.finditer(r"^ *\d+: ([0-9a-f]{16}) .* (\S+)$", listed, re.MULTILINE)
        }
        self.said = self._said("llvm-readelf", "-aW", str(path))

    @staticmethod
    def _said(tool: str, *words: str) -> str:
        return subprocess.run([TOOLS / tool, *words], capture_output=True, text=True, check=True).stdout

    def body(self, name: str) -> list[tuple[int, str, str]]:
        """Address, instruction and operands of a function."""
        part = self.text.split(f"<{name}>:\n")[1].split("\n\n")[0]
        lines = (re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)", line) for line in part.splitlines())
        return [(int(m[1], 16), m[2], m[3]) for m in lines if m]

    def addresses(self, name: str) -> list[int]:
        """Where the pairs of `adrp` and what adds to it lead, in order."""
        found, pages = [], {}
        for _, op, operands in self.body(name):
            words = re.findall(r"[xw]\d+|sp|#-?0x[0-9a-f]+|0x[0-9a-f]+", operands)
            if op == "adrp":
                pages[words[0]] = int(words[1], 16)
            elif op in ("add", "ldr", "ldrb", "str") and len(words) > 1 and words[1] in pages:
                low = int(words[2][1:], 16) if len(words) > 2 and words[2][0] == "#" else 0
                found.append(pages[words[1]] + low)
                if op != "str" and words[0] in pages:  # overwritten
                    del pages[words[0]]
        return found

    def word(self, address: int) -> int:
        """What the file has in data at an address."""
        return struct.unpack_from("<Q", self.binary, address - self.image.distance)[0]


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Arm:
    return Arm(link(assemble(FIRST, ARM), assemble(SECOND, ARM)), tmp_path_factory.mktemp("arm"))


def test_aarch64_data_is_where_it_is_looked_for(arm: Arm):
    [table] = arm.addresses("power")
    assert struct.unpack_from("<4Q", arm.binary, table) == (1, 10, 100, 1000)
    assert {arm.word(address) for address in arm.addresses("next")} == {7}
    factor, hundred, *_ = arm.addresses("elsewhere")  # stubs follow
    assert hundred == table + 16 and arm.word(factor) == 3
    [room] = arm.addresses("kept")
    assert arm.image.distance + arm.image.data + arm.image.stored <= room
    assert room + 8000 <= arm.image.distance + arm.image.size
    word = arm.addresses("length")[0]
    assert arm.binary[word : word + 6] == b"seven\0"


def test_aarch64_cells_are_those_of_the_names(arm: Arm):
    imports = {name: cell for cell, name in arm.image.imports}
    assert arm.addresses("none") == [imports["_Py_NoneStruct"]]
    assert arm.addresses("cosine_itself") == [imports["cos"]]
    relative = dict(arm.image.relative)
    [handlers] = set(arm.addresses("handled"))
    assert relative[handlers] == arm.symbols["one"] and relative[handlers + 8] == arm.symbols["two"]
    itself = arm.addresses("itself")
    assert itself == [arm.symbols["power"]] or relative[itself[0]] == arm.symbols["power"]


def test_aarch64_calls_lead_to_functions_and_stubs(arm: Arm):
    [(_, _, across)] = [line for line in arm.body("across") if line[1] in ("bl", "b")]
    assert int(across.split()[0], 16) == arm.symbols["elsewhere"]
    imports = {name: cell for cell, name in arm.image.imports}
    for name in ("cosine", "tail"):
        [(_, _, call)] = [line for line in arm.body(name) if line[1] in ("bl", "b")]
        stub = int(call.split()[0], 16)
        adrp, ldr, br, _ = struct.unpack_from("<4I", arm.binary, stub)
        assert (adrp & 0x9F00001F, ldr & 0xFFC003FF, br) == (0x90000010, 0xF9400210, 0xD61F0200)
        pages = (adrp >> 5 & 0x7FFFF) << 2 | adrp >> 29 & 3
        assert (stub >> 12) + pages << 12 | (ldr >> 10 & 0xFFF) << 3 == imports["cos"]


def test_aarch64_files_are_whole(arm: Arm):
    assert "warning" not in arm.said
    assert re.findall(r"^ *LOAD .* (0x\w+)$", arm.said, re.MULTILINE) == ["0x10000", "0x10000"]


@pytest.mark.parametrize(
    ("kind", "at", "target", "word", "expected"),
    [
        (275, 0x1234, 0x12345678, 0x90000000, 0x12344),  # adrp: pages
        (275, 0x12345678, 0x1234, 0x90000001, -0x12344),
        (274, 0x1000, 0x0FFF, 0x10000000, -1),  # adr: bytes
        (283, 0x10000, 0x0F000, 0x94000000, -0x400),  # bl: words
        (280, 0x1000, 0x1400, 0x54000000, 0x100),  # b.cond
        (279, 0x1000, 0x0FFC, 0x36000000, -1),  # tbz
    ],
)  # fmt: skip
def test_aarch64_distances(kind: int, at: int, target: int, word: int, expected: int):
    code = bytearray(struct.pack("<I", word))
    aarch64.apply(code, 0, at, kind, target, 0, direct=True)
    (made,) = struct.unpack("<I", code)
    if kind in (274, 275):
        found, bits = (made >> 5 & 0x7FFFF) << 2 | made >> 29 & 3, 21
    else:
        low, bits = {283: (0, 26), 280: (5, 19), 279: (5, 14)}[kind]
        found = made >> low & (1 << bits) - 1
    assert (found ^ 1 << bits - 1) - (1 << bits - 1) == expected


@pytest.mark.parametrize(
    ("kind", "target", "message"),
    [
        (283, 1 << 28, "too large for its branches"),
        (286, 12, "not aligned"),
        (549, 0, "TLSLE"),
        (999, 0, "999"),
    ],
)
def test_aarch64_refusals(kind: int, target: int, message: str):
    with pytest.raises(TargetError, match=message):
        aarch64.apply(bytearray(4), 0, 0, kind, target, 0, direct=True)
