"""LLVM's C API as the compiler calls it: what is taken is given back."""

from __future__ import annotations

import os
import platform
import sys

import pytest

from pykern.lowering.llvm import codegen
from pykern.lowering.llvm.optimisation import Passes

TIMES, BYTES = 64, 2 << 20


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells how much memory is used")
def test_a_compiler_that_runs_for_long_keeps_no_texts():
    machine = codegen.machine_of(codegen.Host())
    text = "define void @f() {\n  ret void\n}\n; " + "x" * BYTES

    def parse() -> None:
        with machine.module(text) as module:
            assert "@f" in str(module)

    parse()
    before = resident_bytes()
    for _ in range(TIMES):
        parse()
    assert resident_bytes() - before < TIMES * BYTES // 4


LOOP = """
define void @f(ptr noalias %to, ptr noalias %from, i64 %n) {
  br label %head
head:
  %i = phi i64 [ 0, %0 ], [ %next, %head ]
  %three = mul i64 %i, 3000
  %here = getelementptr float, ptr %from, i64 %three
  %value = load float, ptr %here
  %there = getelementptr float, ptr %to, i64 %i
  store float %value, ptr %there
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %head, label %end
end:
  ret void
}
"""


def multiplies(reduces: bool) -> bool:
    passes = Passes("instcombine", reduces_loops=reduces)
    return "imul" in codegen.generate(LOOP, exports=("f",), texts=True, passes=passes).assembly


@pytest.mark.skipif(platform.machine() != "x86_64", reason="looks for the instruction of x86")
def test_loops_are_reduced_for_those_who_want_it():
    """An option of the process, for each module anew."""
    wishes = [True, False, False, True, True, False]
    assert [not multiplies(wish) for wish in wishes] == wishes
