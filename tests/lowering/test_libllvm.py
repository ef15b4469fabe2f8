"""LLVM's C API as the compiler calls it: what is taken is given back."""

from __future__ import annotations

import os
import sys

import pytest

from pykern.lowering.llvm import codegen

TIMES, BYTES = 64, 2 << 20


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells how much memory is used")
def test_a_compiler_that_runs_for_long_keeps_no_texts():
    machine = codegen.machine_of(codegen.Host())
    if machine is None:
        pytest.skip("no library of LLVM's")
    text = "define void @f() {\n  ret void\n}\n; " + "x" * BYTES

    def parse() -> None:
        with machine.module(text) as module:
            assert "@f" in str(module)

    parse()
    before = resident_bytes()
    for _ in range(TIMES):
        parse()
    assert resident_bytes() - before < TIMES * BYTES // 4
