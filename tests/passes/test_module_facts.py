"""Passes that are not run because they would find nothing to do: that they would not, and that they are not."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

import pykern as pk
from pykern.compiler.driver import compile_source
from pykern.dialect.context import new_context
from pykern.passes import framework
from pykern.passes.framework import Pass, Pipeline, Upstream
from pykern.passes.module_facts import ModuleFacts

F32 = np.zeros((70, 90), np.float32)


@pk.jit
def product(a, b):
    return a @ b


@pk.jit
def layers(x, w, bias):
    hidden = pk.maximum(x @ w + bias, 0)
    return hidden - hidden.max(axis=1, keepdims=True)


@pk.jit
def softmax(x):
    e = pk.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pk.jit
def smoothed(x, steps: int):
    for _ in range(steps):
        x = 0.25 * (x[:-2] + 2 * x[1:-1] + x[2:]).sum() + x
    return x


@pk.jit
def attention(q, k, v):
    s = q @ k.T / 8
    e = pk.exp(s - s.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)) @ v


@pk.kernel
def heat(new, old):
    i, j = pk.index()
    if 0 < i < old.shape[0] - 1 and 0 < j < old.shape[1] - 1:
        new[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])


@pk.kernel
def histogram(counts, x):
    i = pk.index()
    pk.atomic_add(counts, int(x[i]), 1)


@pk.kernel
def waves(y, x):
    i = pk.index()
    total = 0.0
    for k in range(16):
        total += pk.sin(x[i] * k) ** 3 + float(i // 3)
    y[i] = total


SOURCES = {
    "product": lambda: product.lower(F32, F32.T),
    "prime": lambda: product.lower(np.zeros((1021, 1021)), np.zeros((1021, 1021)).T),
    "layers": lambda: layers.lower(F32, F32.T, np.zeros(70, np.float32)),
    "softmax": lambda: softmax.lower(F32),
    "loops": lambda: smoothed.lower(np.zeros(300), 3),
    "attention": lambda: attention.lower(*3 * [np.zeros((64, 64), np.float32)]),
    "bf16": lambda: layers.lower(*2 * [pk.spec((64, 64), pk.bf16)], pk.spec((64,), pk.bf16)),
    "guards": lambda: heat.lower(F32, F32, ndrange=F32.shape),
    "atomics": lambda: histogram.lower(np.zeros(9, np.int32), np.zeros(99, np.float32), ndrange=99),
    "functions": lambda: waves.lower(np.zeros(99), np.zeros(99), ndrange=99),
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_pass_that_is_not_run_would_have_changed_nothing(name, monkeypatch):
    source = SOURCES[name]().source
    idle: list[str] = []
    skips = ModuleFacts.skips

    def checked(facts: ModuleFacts, step: Pass) -> bool:
        if not skips(facts, step):
            return False
        idle.append(str(step))
        before = str(facts.module)
        framework.apply_pass(step, facts.module)
        # what is there for scalar loops may change others, and conversions what the last one converts in any case;
        # views that are to be expanded have none to expand, but constants are put elsewhere
        names = ("arith-", "convert-", "expand-strided-metadata")
        if not (step.scalar_only or getattr(step, "scalar", False) or str(step).startswith(names)):
            assert str(facts.module) == before, f"{step} has work to do"
        return True

    monkeypatch.setattr(ModuleFacts, "skips", checked)
    compile_source(source)
    assert idle


def test_a_product_is_canonicalized_where_something_changed(monkeypatch):
    source = SOURCES["prime"]().source
    run: list[str] = []
    apply = framework.apply_pass

    def recorded(step: Pass, module: ir.Module) -> bool:
        run.append(str(step))
        return apply(step, module)

    monkeypatch.setattr(framework, "apply_pass", recorded)
    compile_source(source)
    assert sum("canonicalize" in step for step in run) <= 7  # of 15
    absent = (
        "math",
        "emulate",
        "arith-expand",
        "int-range",
        "tighten",
        "vectorize-streams",
        "vectorize-reductions",
    )
    assert not [step for step in run if any(word in step for word in absent)]


TEXT = """
func.func @loops(%x: memref<?xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = math.sqrt %v : f32
    memref.store %w, %x[%i] : memref<?xf32>
  }
  return
}
func.func @vectors(%x: memref<?xf32>, %i: index) attributes {kern.in_vectors} {
  %v = vector.load %x[%i] : memref<?xf32>, vector<8xf32>
  %c = arith.cmpi slt, %i, %i : index
  vector.store %v, %x[%i] : memref<?xf32>, vector<8xf32>
  return
}
func.func @calls(%x: memref<?xf32>, %n: index) {
  %s = arith.minsi %n, %n : index
  call @loops(%x, %s) : (memref<?xf32>, index) -> ()
  return
}
"""


@pytest.fixture
def module():
    with new_context(), ir.Location.unknown():
        yield ir.Module.parse(TEXT)


def test_names_of_ops(module):
    facts = ModuleFacts(module)
    assert facts.has(("math.",)) and facts.has(("arith.cmp",)) and facts.has(("vector.",))
    assert not facts.has(("kern.", "linalg."))
    assert not facts.has(("vector.",), but=frozenset({"vector.load", "vector.store"}))
    assert facts.has(("vector.",), but=frozenset({"vector.load"}))
    assert facts.has(("scf.for",), scalar=True) and facts.has(("memref.",), scalar=True)
    assert not facts.has(("vector.", "arith.cmp", "arith.min"), scalar=True)  # in vectors, or only a call


class Touch(Pass):
    """Says what it is told to say, and counts."""

    name = "kern-touch"
    runs = 0

    def __init__(self, says: bool | None) -> None:
        object.__setattr__(self, "says", says)

    def run(self, module: ir.Module) -> bool | None:
        Touch.runs += 1
        return self.says  # type: ignore[attr-defined]


def test_what_makes_a_module_unclean(module, monkeypatch):
    ran: list[str] = []
    apply = framework.apply_pass
    monkeypatch.setattr(framework, "apply_pass", lambda s, m: (ran.append(str(s)), apply(s, m))[1])
    clean = Upstream("canonicalize,cse")
    Pipeline((clean, clean, Touch(False), clean)).run(module)
    assert ran == ["canonicalize,cse", "kern-touch"]
    ran.clear()
    Pipeline((clean, Touch(None), clean, Touch(True), clean)).run(module)
    assert ran.count("canonicalize,cse") == 3
    ran.clear()
    Pipeline((clean, Upstream("convert-scf-to-cf"), clean)).run(module)
    assert ran.count("canonicalize,cse") == 2
    ran.clear()
    Pipeline((Upstream("canonicalize,loop-invariant-code-motion,cse"), clean)).run(module)
    assert len(ran) == 1
    ran.clear()
    Pipeline(
        (Upstream("convert-math-to-libm", where=("math.",)), Upstream("symbol-dce", where=("math.",)))
    ).run(module)
    assert ran == ["convert-math-to-libm"]  # after it there is no such op


def test_a_pass_that_is_not_run_is_a_stage_like_others(module):
    stages: list[framework.Stage] = []
    steps = (Upstream("canonicalize,cse"), Upstream("canonicalize,cse"))
    Pipeline(steps).run(module, stages.append)
    assert [s.name for s in stages] == ["canonicalize,cse"] * 2 and stages[0].text == stages[1].text
