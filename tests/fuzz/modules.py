"""A module of random programs, the kernel that calls them, and how it is launched and on what."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

from tests.fuzz.grammar import ARGUMENTS, Program

HELPERS = """@pk.func
def other(u, c):
    for k in range(c):
        if u > 40:
            return u % 17 - k
        u = u + 7
    return (u % 23) * c


@pk.func
def helper(u, w):
    if u % 3 == 0:
        return other(w % 19, 4) - u % 5
    s = 0
    while s < u % 6:
        s += 1 + other(s, 2) % 3
    return s * 2 - w % 7"""
ATOMICS = {"add": "iuf", "sub": "iuf", "min": "iuf", "max": "iuf", "and_": "iu", "or_": "iu", "xor": "iu"}
COUNTERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")
SPANS = (range(9), range(2, 9), range(0, 9, 2), range(8, -1, -1), range(7, 0, -3), range(3, 3), range(5, 6))
SIDE = 9


@dataclass(frozen=True)
class Fuzzed:
    """The text, and what a launch of its kernel `run` takes beside the data."""

    text: str
    programs: tuple[str, ...]
    ndrange: tuple[int | range, ...]
    counter: str
    strides: tuple[int, ...]
    """Of the arguments out, reals, a, b, x, m along their last dimension."""

    def launch(
        self, kernel, device: str, floats: type = np.float64
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Integers, reals and counters after a launch on `device`, over the same data each time; `floats` are those of
        the argument `x`, which holds small whole numbers."""
        rng = np.random.default_rng(11)
        rank = len(self.ndrange)
        results = [np.zeros((len(self.programs), *[SIDE] * rank), t) for t in (np.int64, np.float32)]
        inputs = [
            rng.integers(-50, 50, 13), rng.integers(0, 100, 7).astype(np.int32),
            rng.integers(-9, 9, 5).astype(floats), rng.random(6) < 0.5,
        ]  # fmt: skip
        counters = np.full(5, 3).astype(self.counter)
        views = [_strided(array, step) for array, step in zip([*results, *inputs], self.strides, strict=True)]
        kernel(*views[:2], counters, *views[2:], 6, ndrange=self.ndrange, device=device)
        return views[0], views[1], counters


def _strided(array: np.ndarray, step: int) -> np.ndarray:
    """The same elements, `step` apart along the last dimension."""
    room = np.zeros((*array.shape[:-1], array.shape[-1] * abs(step)), array.dtype)
    view = room[..., ::step]
    view[...] = array
    return view


def module(random: Random, count: int) -> Fuzzed:
    """`count` programs and a kernel that calls them all: row k of `out` is program k."""
    programs = tuple(Program(random, f"p{k}").text() for k in range(count))
    rank = random.choice((1, 1, 2))
    ndrange = tuple(random.choice((SIDE, *SPANS)) for _ in range(rank))
    counter = random.choice(COUNTERS)
    op = random.choice([name for name, kinds in ATOMICS.items() if np.dtype(counter).kind in kinds])
    place = "i" if rank == 1 else "i, j"
    lines = [
        "@pk.kernel",
        f"def run(out, reals, counts, {ARGUMENTS.replace(' i,', '')}):",
        f"    {place} = pk.index()",
    ]
    for k in range(count):
        arguments = ARGUMENTS if rank == 1 else ARGUMENTS.replace("i,", "i * 3 - j,")
        lines += [
            f"    r{k}, s{k} = p{k}({arguments})",
            f"    out[{k}, {place}] = r{k}",
            f"    reals[{k}, {place}] = s{k}",
        ]
    lines += [
        f"    w = out[0, {place}]",
        f"    pk.atomic_{op}(counts, w % 5, w % 61)",
    ]  # in 64 bits on each device
    head = "import math\n\nimport pykern as pk"
    text = "\n\n\n".join([head, HELPERS, *programs, "\n".join(lines)]) + "\n"
    strides = tuple(random.choice((1, 1, 1, 2, -1)) for _ in range(6))
    return Fuzzed(text, programs, ndrange, counter, strides)
