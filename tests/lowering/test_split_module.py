"""Machine code that two threads make, and what of it is seen outside."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import pykern as pk
from pykern.environment.machine import processors
from pykern.lowering.llvm import split_module
from pykern.lowering.llvm.codegen import generate
from pykern.lowering.llvm.linker import link_shared


def module(lines: int) -> str:
    """`sum` adds what `long`, `other one` and `small` give: the first two have so many lines and are never inlined."""
    chain = ["  %v0 = call i64 @small(i64 %x)"]
    chain += [f"  %v{n + 1} = {'mul' if n % 2 else 'xor'} i64 %v{n}, {n | 1}" for n in range(lines)]
    text = "\n".join(chain)
    return f"""
@table = private constant [2 x i64] [i64 5, i64 7]

define i64 @sum(i64 %x) {{
  %a = call i64 @long(i64 %x)
  %b = call i64 @"other one"(i64 %x)
  %c = call i64 @small(i64 %x)
  %d = add i64 %a, %b
  %e = add i64 %d, %c
  ret i64 %e
}}

define i64 @small(i64 %x) {{
  %i = and i64 %x, 1
  %p = getelementptr [2 x i64], ptr @table, i64 0, i64 %i
  %v = load i64, ptr %p
  ret i64 %v
}}

define i64 @long(i64 %x) #0 {{
{text}
  ret i64 %v{lines}
}}

define i64 @"other one"(i64 %x) #0 {{
{text}
  %r = sub i64 0, %v{lines}
  ret i64 %r
}}

attributes #0 = {{ noinline }}
"""


needs_two = pytest.mark.skipif(processors() < 2, reason="one processor: everything is one part")


@needs_two
@pytest.mark.parametrize("lines", [10, 400])
def test_two_objects_do_what_one_does(tmp_path, lines):
    code = generate(module(lines), (), ("sum",))
    assert len(code.objects) == (2 if lines > 100 else 1)
    path = tmp_path / "made.so"
    path.write_bytes(link_shared(*code.objects))
    made = ctypes.CDLL(str(path))
    made.sum.restype = ctypes.c_int64
    made.sum.argtypes = (ctypes.c_int64,)
    assert [made.sum(x) for x in (0, 1, 12345)] == [5, 7, 7]  # `other one` is minus `long`
    for hidden in ("long", "small", "other one"):
        assert not hasattr(made, hidden)


@needs_two
def test_what_goes_into_the_second_part():
    long = module(400)
    assert split_module.second_part(long, ()) == ("long",) or split_module.second_part(long, ()) == (
        "other one",
    )
    assert split_module.second_part(module(20), ()) == ()  # not worth it
    assert split_module.second_part(long.replace("noinline", "nounwind"), ()) == ()  # they may be inlined
    assert (
        split_module.second_part(long.replace("private constant", "internal global"), ()) == ()
    )  # one memory for all
    elsewhere = "define i64 @small(i64 %x) {\n  ret i64 %x\n}\n"
    assert split_module.second_part(long, (elsewhere,)) == ()  # what they call is in the first part only


@pk.jit
def product(a, b):
    return a @ b


@pk.kernel
def double(y, x):
    i, j = pk.index()
    y[i, j] = 2 * x[i, j]


def exported(binary: bytes, path: Path) -> set[str]:
    path.write_bytes(binary)
    library = ctypes.CDLL(str(path))
    names = ("pk_init", "pk_run", "pk_entry", "pk_launch", "pk_parallel", "pk_table")
    return {name for name in names if hasattr(library, name)}


def test_what_is_shared_among_objects_is_hidden_outside(tmp_path: Path):
    x = np.ones((300, 300))
    assert exported(product.lower(x, x).artifact.binary, tmp_path / "program.so") == {"pk_init", "pk_run"}
    found = exported(double.lower(x, x, ndrange=x.shape).artifact.binary, tmp_path / "kernel.so")
    assert found == {"pk_init", "pk_run", "pk_launch", "pk_entry"}
