"""Collectives by shuffles, in numbers: every type, groups of any size, subgroups of 32 and 64 lanes, and those of
which fewer lanes exchange values."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from mlir import ir

from pykern.dialect.context import new_context
from pykern.lowering.gpu.subgroups import LowerSubgroups
from pykern.passes import kernels
from pykern.passes.framework import Upstream, run_pass
from tests.lowering.lockstep import Group

TYPES = {
    "i8": np.int8,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}
COMBINE = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum, "xor": np.bitwise_xor}
GROUPS = (1, 7, 16, 40, 64, 100, 256, 1000)


def run(
    op: str, kind: str, x: np.ndarray, width: int, lane: np.ndarray | None = None, lanes: int = 0
) -> np.ndarray:
    """What each work-item of a group gets from `op`, applied to its element of x."""
    total = len(x)
    operands, types = ("%v, %k", f"({kind}, index)") if lane is not None else ("%v", f"({kind})")
    text = f"""
    func.func @k(%out: memref<?x{kind}>, %x: memref<?x{kind}>, %lane: memref<?xindex>)
        attributes {{kern.kernel, kern.rank = 1 : i64, kern.workgroup = array<i64: {total}>}} {{
      %i = gpu.thread_id x
      %v = memref.load %x[%i] : memref<?x{kind}>
      %k = memref.load %lane[%i] : memref<?xindex>
      %r = {op.replace("OPERANDS", operands)} : {types} -> {kind}
      memref.store %r, %out[%i] : memref<?x{kind}>
      return
    }}"""
    out = np.zeros_like(x)
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for step in (LowerSubgroups(subgroup_size=width, lanes=lanes), Upstream("canonicalize,cse")):
            run_pass(step, module)
        places = np.zeros(total, np.int64) if lane is None else lane
        Group(next(kernels.kernels(module)), total, lanes or width, out, x, places)
    return out


def values(kind: str, n: int, op: str, rng: np.random.Generator) -> np.ndarray:
    """Small, so that every order of sums gives the same; of products a few only are not 1."""
    if op == "mul":
        return np.where(rng.random(n) < 8 / n, 2, 1).astype(TYPES[kind])
    return rng.integers(-1 if op == "add" else -100, 2 if op == "add" else 100, n).astype(TYPES[kind])


def subgroups(x: np.ndarray, width: int) -> list[np.ndarray]:
    return [x[n : n + width] for n in range(0, len(x), width)]


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("total", GROUPS)
@pytest.mark.parametrize("op", ["add", "mul", "max"])
def test_reductions(op, total, width, rng):
    for kind in TYPES:
        x = values(kind, total, op, rng)
        reduce = functools.partial(functools.reduce, COMBINE[op])
        found = run(f'"kern.group_reduce"(OPERANDS) {{kind = "{op}"}}', kind, x, width)
        np.testing.assert_array_equal(found, np.full(total, reduce(x)), err_msg=kind)
        found = run(f'"kern.subgroup_reduce"(OPERANDS) {{kind = "{op}"}}', kind, x, width)
        wanted = np.concatenate([np.full(len(s), reduce(s)) for s in subgroups(x, width)])
        np.testing.assert_array_equal(found, wanted, err_msg=kind)


@pytest.mark.parametrize(
    ("lanes", "total"), [(4, 4), (8, 40), (16, 16), (8, 64), (32, 96), (4, 100), (16, 1008)]
)
def test_subgroups_of_several_parts(lanes, total, rng):
    """Whose lanes exchange values, and memory joins them."""
    for kind, op in (("i64", "xor"), ("f32", "add"), ("f16", "max"), ("i32", "min"), ("f64", "mul")):
        x, combine = values(kind, total, op, rng), COMBINE[op]
        neutral = {"add": 0, "mul": 1, "xor": 0, "max": -np.inf, "min": np.iinfo(np.int32).max}[op]
        parts = subgroups(x, 32)
        wanted = {
            "group_reduce": np.full(total, functools.reduce(combine, x)),
            "subgroup_reduce": np.concatenate([np.full(len(s), functools.reduce(combine, s)) for s in parts]),
            "subgroup_scan": np.concatenate([combine.accumulate(s) for s in parts]),
            "subgroup_exclusive_scan": np.concatenate(
                [[neutral, *combine.accumulate(s)[:-1]] for s in parts]
            ),
        }
        for name, numbers in wanted.items():
            found = run(f'"kern.{name}"(OPERANDS) {{kind = "{op}"}}', kind, x, 32, lanes=lanes)
            np.testing.assert_array_equal(found, numbers.astype(TYPES[kind]), err_msg=f"{name} {kind} {op}")


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("total", GROUPS)
@pytest.mark.parametrize("op", ["add", "min", "xor"])
def test_scans(op, total, width, rng):
    kind = "i64" if op == "xor" else "f32"
    x = values(kind, total, op, rng)
    found = run(f'"kern.subgroup_scan"(OPERANDS) {{kind = "{op}"}}', kind, x, width)
    scanned = [COMBINE[op].accumulate(s) for s in subgroups(x, width)]
    np.testing.assert_array_equal(found, np.concatenate(scanned))
    found = run(f'"kern.subgroup_exclusive_scan"(OPERANDS) {{kind = "{op}"}}', kind, x, width)
    neutral = {"add": 0, "min": np.inf, "xor": 0}[op]
    wanted = np.concatenate([[neutral, *s[:-1]] for s in scanned]).astype(TYPES[kind])
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("total", GROUPS)
@pytest.mark.parametrize("kind", TYPES)
def test_shuffles(kind, total, width, rng):
    x = values(kind, total, "max", rng)
    size = min(width, total)
    lane = rng.integers(0, 2 * size, total)
    found = run('"kern.subgroup_shuffle"(OPERANDS) {}', kind, x, width, lane)
    source = np.arange(total) // size * size + lane % size
    wanted = np.where(source < total, x[np.minimum(source, total - 1)], x)
    np.testing.assert_array_equal(found, wanted)
