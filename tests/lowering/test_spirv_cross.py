"""A second opinion on Metal's language: spirv-cross prints it from the SPIR-V that Vulkan devices get.

Both texts run over the same library (`pykern.runtime.metal_emulator`), so that what differs is what the two say.
"""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pytest

import pykern as pk
from pykern.runtime.metal_emulator import compile

pytestmark = [
    pytest.mark.skipif(
        shutil.which("spirv-cross") is None, reason="spirv-cross is not installed (Debian: spirv-cross)"
    ),
    pytest.mark.skipif(compile.compiler() is None, reason="there is no compiler of C++"),
]
PRELUDE = """#include <metal_stdlib>
using namespace metal;
template <class T, unsigned long N> struct spvUnsafeArray {
    T elements[N];
    T &operator[](unsigned long n) { return elements[n]; }
};
template <class T> static T spvFAdd(T l, T r) { return l + r; }
template <class T> static T spvFSub(T l, T r) { return l - r; }
template <class T> static T spvFMul(T l, T r) { return l * r; }

"""
"""In place of templates of spirv-cross's own, which tell the methods of a class apart by address spaces."""


@pk.kernel
def stencil(out, x, weight):
    i, j = pk.index()
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
        out[i, j] = x[i, j] + (x[i - 1, j] + x[i + 1, j] - x[i, j - 1] * x[i, j + 1]) / weight


@pk.kernel
def collatz(steps, n, most):
    i = pk.index()
    value, count = n[i], 0
    while value > 1 and count < most:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        count += 1
    steps[i] = count


@pk.kernel(workgroup=64)
def sums(out, x, first):
    i = pk.index()
    out[pk.group_index()] = pk.group_reduce(x[i], "add") + first


@pk.kernel
def histogram(counts, x, most):
    i = pk.index()
    if x[i] < most:
        pk.atomic_add(counts, x[i], 1)


@pk.kernel
def mixed(out, x, shift):
    i = pk.index()
    small = pk.i64(x[i]) * 1_000_003 + shift
    out[i] = pk.i32((small >> 7) ^ (small << 3)) + pk.i32(x[i] % 13)


def case(name, rng):
    """The kernel, its arguments and its index space."""
    numbers = rng.standard_normal((13, 17)).astype(np.float32)
    integers = rng.integers(0, 1000, 100).astype(np.int32)
    return {
        "stencil": (stencil, (np.zeros_like(numbers), numbers, 3), (13, 17)),
        "collatz": (collatz, (np.zeros(100, np.int32), integers, 60), (100,)),
        "sums": (sums, (np.zeros(3, np.float32), rng.standard_normal(192).astype(np.float32), 2), (192,)),
        "histogram": (histogram, (np.zeros(50, np.int32), integers % 60, 50), (100,)),
        "mixed": (mixed, (np.zeros(100, np.int32), integers, -5), (100,)),
    }[name]


def told_by_spirv_cross(binary, path):
    """Its text in Metal's language, over `PRELUDE`."""
    path.write_bytes(binary)
    command = ["spirv-cross", "--msl", "--msl-version", "20300", "--msl-decoration-binding", str(path)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    first = re.search(r"^struct _\d", text, re.MULTILINE)
    assert first is not None, text
    return PRELUDE + text[first.start() :]


def run(text, entry, arrays, numbers, groups, workgroup):
    """Run a text on copies of the arrays; the numbers come behind them in 64 bits each."""
    copies = [a.copy() for a in arrays]
    words = np.array(numbers, np.int64)
    places = [a.ctypes.data for a in (*copies, words)]
    library = compile.compiled(text)
    assert library.run(entry, places, [], groups, workgroup) == 0
    return copies


@pytest.mark.parametrize("name", ["stencil", "collatz", "sums", "histogram", "mixed"])
def test_both_texts_say_the_same(name, rng, tmp_path):
    kernel, arguments, space = case(name, rng)
    arrays = [a for a in arguments if isinstance(a, np.ndarray)]
    numbers = []
    for each in arguments:
        numbers += [0, *each.shape] if isinstance(each, np.ndarray) else [each]
    numbers += [*space, *[0] * len(space)]
    found = []
    for target in ("source:msl+words", "spirv:vulkan1.1"):
        made = kernel.lower(*arguments, ndrange=space, target=target).compile()
        text = made.binary.decode() if target.startswith("source") else None
        if text is None:
            text = told_by_spirv_cross(made.binary, tmp_path / "kernel.spv")
        (entry,) = re.findall(r"^kernel void (\w+)", text, re.MULTILINE)
        size = (*reversed(made.artifact.workgroup), 1, 1)[:3]
        counts = (*reversed([-(-n // g) for n, g in zip(space, made.artifact.workgroup, strict=True)]), 1, 1)[
            :3
        ]
        found.append(run(text, entry, arrays, numbers, counts, size))
    for ours, others in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, others)
    assert any(not np.array_equal(a, b) for a, b in zip(found[0], arrays, strict=True)), "it writes something"
