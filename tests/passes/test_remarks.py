"""Passes say what they did, at the line of Python it is about; a compilation keeps it."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import pykern as pk
from pykern.compiler.artifact_json import from_json, to_json


@pk.kernel
def sums(total, x, n):
    i = pk.index()
    s = 0.0
    for k in range(n):
        s = s * 0.5 + pk.sin(s) * x[k, i]
        pk.atomic_add(total, 0, s)


@pk.kernel
def halves(y, x):
    i = pk.index()
    y[i] = x[2 * i]


@pk.kernel
def square(y, x):
    i = pk.index()
    y[i] = x[i] * x[i]


@pk.jit
def steps(x):
    y = pk.zeros_like(x)
    square(y, x, ndrange=100)
    for _ in pk.range(10):
        y = y + 0.1 * x
    return y, x


def line_of(kernel, text):
    rows = kernel.text.text.splitlines()
    return kernel.text.first_line + next(n for n, row in enumerate(rows) if text in row)


def said(lowered):
    return {(r.line, r.text) for r in lowered.remarks}


def vector():
    return pk.spec("n", pk.f32)


def test_atomics_and_lanes():
    lowered = sums.lower(vector(), pk.spec(("n", "m"), pk.f32), pk.i64, ndrange="n")
    told = said(lowered)
    assert (
        line_of(sums, "atomic_add"),
        "the atomic additions of the whole loop become one behind it",
    ) in told
    assert any(text.startswith("vectorised: ") for _, text in told)


def test_streaming_stores():
    (found,) = {
        text for _, text in said(square.lower(vector(), vector(), ndrange="n")) if "streaming" in text
    }
    assert found == "streaming stores where the arrays are larger than the cache"
    assert not any("streaming" in t for _, t in said(halves.lower(vector(), vector(), ndrange=8)))


def test_a_launch_in_a_program_and_the_copies_it_keeps():
    told = said(steps.lower(np.ones(100, np.float32)))
    texts = {text for _, text in told}
    assert "the launch of `square` became operations on whole arrays" in texts
    copies = [(line, text) for line, text in told if text.startswith("kept a copy: ")]
    assert [text for _, text in copies] == ["kept a copy: f32[100]"]
    assert copies[0][0] == line_of(steps, "def steps")


@pk.kernel
def neighbours(y, x):
    i = pk.index()
    y[i] = x[i]
    x[i // 2] = y[i]


def test_a_launch_that_stays_says_why():
    @pk.jit
    def spread(x):
        y = pk.zeros_like(x)
        neighbours(y, x, ndrange=50)
        sums(y, pk.zeros((4, 50), x.dtype), 4, ndrange=50)
        return y

    stays = [text for _, text in said(spread.lower(np.ones(100, np.float32))) if "stays a loop" in text]
    reasons = dict(text.split(" stays a loop over work-items: ") for text in stays)
    assert reasons["the launch of `neighbours`"].startswith(
        "an element of `x` may be written by one work-item"
    )
    assert reasons["the launch of `sums`"] == "a length in it is known at launch only"


@pk.jit
def layers(x, w, b):
    h = pk.exp(x @ w + b)
    return h / h.sum(axis=1, keepdims=True)


@pk.jit
def least_squares(a, x):
    return (a @ x) @ a


@pk.jit
def weighted(q, k, v):
    e = pk.exp(q @ k.T)
    p = e / e.sum(axis=1, keepdims=True)
    return p @ v


def test_what_is_computed_together():
    square = np.ones((64, 64), np.float32)
    told = said(layers.lower(square, square, np.ones(64, np.float32)))
    assert any(text.endswith("operations go through 64 rows together") and line for line, text in told)
    wide = np.ones((2048, 1024))
    (said_of_both,) = [t for _, t in said(least_squares.lower(wide, wide[0])) if t.startswith("the matrix")]
    assert said_of_both == "the matrix goes by once for products with vectors from both sides"
    told = {text for _, text in said(weighted.lower(square, square, square))}
    assert "attention in tiles: the scores are never in memory as a whole" in told


def test_a_value_that_is_kept_apart_says_why():
    @pk.jit
    def scaled(x, w):
        return pk.exp(x) @ w

    told = {
        text for _, text in said(scaled.lower(np.ones((64, 64), np.float32), np.ones((64, 64), np.float32)))
    }
    assert "computed apart from its reader, which would compute each value several times" in told


@pytest.mark.parametrize("target", ["llvm", "nvvm:sm_90a"])
def test_tape_and_recomputation(target):
    x, y = np.ones((4, 4), np.float32), np.ones(4, np.float32)
    arguments = (pk.Dup(y, y.copy()), pk.Dup(x, x.copy()), 3)
    told = said(pk.autodiff(sums).lower(*arguments, ndrange=4, target=target))
    assert (line_of(sums, "s = s * 0.5"), "computed again in the reverse sweep") in told
    assert (
        line_of(sums, "for k"),
        "what the loop carries is stored on the tape for the reverse sweep",
    ) in told
    sizes = [t for _, t in told if t.startswith("the tape of a work-item")]
    assert len(sizes) == (target != "llvm")


def test_remarks_are_kept_with_the_code():
    artifact = square.lower(vector(), vector(), ndrange="n").artifact
    assert artifact.remarks
    again = from_json(to_json(artifact, omit=("binary", "stages")), binary=b"", stages=())
    assert again.remarks == artifact.remarks


PROGRAM = """
import numpy as np, pykern as pk

@pk.kernel
def square(y, x):
    i = pk.index()
    y[i] = x[i] * x[i]

x = np.ones(1000, np.float32)
square(x.copy(), x, ndrange=1000)
"""


def test_remarks_are_told_on_demand(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    for log, wanted in (("remarks", True), ("remarks", True), ("compile", False)):  # made, then found on disk
        environment = os.environ | {"PYKERN_LOG": log, "PYKERN_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, file], env=environment, capture_output=True, text=True, timeout=120, check=True
        )
        told = [row for row in done.stderr.splitlines() if row.startswith(f"{file}:5: square for llvm: ")]
        assert bool(told) == wanted, done.stderr
