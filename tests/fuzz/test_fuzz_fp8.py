"""Random statements over arrays of fp8, bit for bit against ml_dtypes, and their derivatives against NumPy.

fp8 is a type of memory: what is loaded is an f32, arithmetic is in f32, and a store or a cast rounds once, from the
type that the value has. The derivative of a rounding is 1; shadows in fp8 are rounded where they are stored.
"""

from __future__ import annotations

import random

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
from tests.cases.seeds import seeds
from tests.cases.texts import defined

TYPES = {"f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2}
WIDE = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
EDGES = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    240,
    448,
    464,
    464.1,
    480,
    57344,
    61439,
    61440,
    65536,
    1e30,
    2.0**-9,
]
EDGES += [2.0**-10, 1.5 * 2.0**-10, 2.0**-16, 2.0**-17, 1.5 * 2.0**-17, 1.0625, 1.1875, 1.125, 1.375]


class Chain:
    """Lines that change `v`, with its value and its slope by `x` after each; both are f32 or f64."""

    def __init__(self, choose: random.Random, x: np.ndarray, z: np.ndarray) -> None:
        self.choose, self.z = choose, z.astype(np.float32)
        self.lines: list[str] = []
        self.value = x.astype(np.float32)
        self.slope = np.ones(len(x))

    def step(self) -> None:
        kind = self.choose.choice(["cast", "cast", "scale", "add", "square", "choose", "private"])
        v, slope = self.value, self.slope
        if kind in ("cast", "private"):
            name = self.choose.choice(list(TYPES))
            self.value = v.astype(TYPES[name]).astype(np.float32)
            line = f"v = pk.cast(pk.cast(v, pk.{name}), pk.f32)"
            if kind == "private":
                line = f"m = pk.private(1, pk.{name})\n    m[0] = v\n    v = m[0]"
        elif kind == "scale":
            self.value, self.slope, line = v * np.float32(0.5), slope * 0.5, "v = v * 0.5"
        elif kind == "add":
            self.value, line = v + self.z, "v = v + z[i]"
        elif kind == "square":
            self.value, self.slope, line = v * v, slope * 2 * v, "v = v * v"
        else:
            self.value = np.where(v > 1, v, -v)
            self.slope, line = np.where(v > 1, slope, -slope), "v = v if v > 1 else -v"
        self.lines.append(f"    {line}\n")


def kernel_of(lines: list[str], name: str) -> pk.Kernel:
    text = f"def run(y, x, z):\n    i = pk.index()\n    v = pk.cast(x[i], pk.f32)\n{''.join(lines)}    y[i] = v\n"
    space = defined(text, name, {"pk": pk})
    return pk.kernel(space["run"])


def same(found: np.ndarray, wanted: np.ndarray, text: str) -> None:
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    np.testing.assert_array_equal(a, b, err_msg=text)
    np.testing.assert_array_equal(np.signbit(a[b == 0]), np.signbit(b[b == 0]), err_msg=text)


@pytest.mark.parametrize("seed", seeds(2))
def test_values_and_slopes(seed):
    choose, rng = random.Random(seed), np.random.default_rng(seed)
    for number in range(4):
        source = choose.choice([*TYPES.values(), np.float32])
        target = choose.choice(list(TYPES.values()))
        with np.errstate(all="ignore"):
            x = np.concatenate([EDGES, -np.array(EDGES), rng.uniform(-500, 500, 99)]).astype(source)
            z = rng.uniform(-2, 2, len(x)).astype(TYPES["f8e4m3"])
            chain = Chain(choose, x, z)
            for _ in range(choose.randint(1, 6)):
                chain.step()
            wanted = chain.value.astype(target)
        text = "".join(chain.lines)
        kernel = kernel_of(chain.lines, f"<fp8 {seed}.{number}>")
        for device in ("cpu", "python"):
            y = np.zeros(len(x), target)
            kernel(y, x, z, ndrange=len(x), device=device)
            same(y, wanted, f"{device}\n{text}")
        if "private" not in text:  # whose shadow is of fp8, too, and rounds on the way
            check_slopes(kernel, chain, x, z, np.dtype(target))


def check_slopes(kernel: pk.Kernel, chain: Chain, x: np.ndarray, z: np.ndarray, target: np.dtype) -> None:
    """Both modes, but for one rounding of the type that the derivative is stored in."""
    count = len(x)
    near = (np.abs(chain.value) < 100) & (np.abs(x.astype(np.float64)) < 100) & (np.abs(chain.slope) < 200)
    dy, dx = np.ones(count, target), np.zeros(count, x.dtype)
    pk.autodiff(kernel, level="direct")(pk.Dup(np.zeros(count, target), dy), pk.Dup(x, dx), z, ndrange=count)
    tangent, one = np.zeros(count, target), np.ones(count, x.dtype)
    pk.autodiff(kernel, mode="forward")(
        pk.Dup(np.zeros(count, target), tangent), pk.Dup(x, one), z, ndrange=count
    )
    for found in (dx, tangent):
        unit = 2.0 ** -ml_dtypes.finfo(found.dtype).nmant
        bounds = {"rtol": unit / 2 + 1e-6, "atol": float(ml_dtypes.finfo(found.dtype).smallest_subnormal)}
        np.testing.assert_allclose(
            found[near].astype(float), chain.slope[near], **bounds, err_msg="".join(chain.lines)
        )


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("wide", WIDE)
def test_all_roundings_and_all_bits(name, wide):
    """From each wider type once, not by way of f32; every pattern of bits comes back as what it is."""
    bits = np.arange(256, dtype=np.uint8).view(TYPES[name])
    with np.errstate(all="ignore"):
        values = bits.astype(np.float64)
        between = values * (
            1 + np.array([[0.0], [2.0**-4], [2.0**-4 + 2.0**-30], [2.0**-3], [2.0**-3 - 2.0**-30]])
        )
        x = np.concatenate([between.ravel(), EDGES]).astype(WIDE[wide])
        wanted = x.astype(TYPES[name])

    def stored(y, x):
        i = pk.index()
        y[i] = x[i]

    for device in ("cpu", "python"):
        y, back = np.zeros(len(x), TYPES[name]), np.zeros(256, WIDE[wide])
        pk.kernel(stored)(y, x, ndrange=len(x), device=device)
        same(y, wanted, device)
        pk.kernel(stored)(back, bits, ndrange=256, device=device)
        same(back, bits.astype(WIDE[wide]), device)
