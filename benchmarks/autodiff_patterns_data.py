"""What the patterns compute, in plain Python, their random input, and what is right: central differences.

Every pattern has the same arguments: ``out``, ``x`` (a number an item), ``c`` (shared by all items) and the
integers ``k`` (a number an item). It changes ``out``; its gradient is that of ``sum(w * out)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

STEP = 1e-6
GROUP = 4
"""Items in a group of the shared-memory reduction."""


def branch(out, x, c, k):
    for i in range(len(x)):
        out[i] = c[0] * x[i] * x[i] if x[i] > 0.8 else math.sin(x[i]) + c[1]


def atomic_sum(out, x, c, k):
    for i in range(len(x)):
        out[0] += c[i % len(c)] * x[i] * x[i]


def static_loop(out, x, c, k):
    for i in range(len(x)):
        s = x[i]
        for _ in range(4):
            s = math.sin(s) * c[0] + s * s * 0.3
        out[i] = s


def run_time_loop(out, x, c, k):
    """The product is linear in the sum, whose length is data."""
    for i in range(len(x)):
        g, a = x[i] * x[i], 0.0
        for j in range(k[i]):
            a += c[j]
        out[i] = g * a


def product_loop(out, x, c, k):
    for i in range(len(x)):
        p = 1.0
        for _ in range(k[i]):
            p *= x[i]
        out[i] = p * c[0]


def while_loop(out, x, c, k):
    """Newton's square root."""
    for i in range(len(x)):
        r = x[i]
        while abs(r * r - x[i]) > 1e-13:
            r = 0.5 * (r + x[i] / r)
        out[i] = r * c[0]


def max_loop(out, x, c, k):
    for i in range(len(x)):
        best = -1e30
        for j in range(k[i]):
            if c[j] * x[i] > best:
                best = c[j] * x[i]
        out[i] = best * best


def overwrite_then_read(out, x, c, k):
    for i in range(len(x)):
        out[i] = x[i] * c[0]
        out[i] = math.sin(out[i]) * x[i]
        out[i] = out[i] * out[i]


def update_in_place(out, x, c, k):
    for i in range(len(x)):
        out[i] = out[i] * x[i] + math.sin(out[i])


def nested_with_break(out, x, c, k):
    for i in range(len(x)):
        s = x[i]
        for a in range(k[i]):
            for b in range(a + 1):
                s = s * 0.9 + math.sin(c[a] * c[b] * s)
                if s > 1.6:
                    break
        out[i] = s


def gather(out, x, c, k):
    for i in range(len(x)):
        out[i] = math.sin(x[k[i] % len(x)]) * c[k[i] % len(c)]


def scatter(out, x, c, k):
    for i in range(len(x)):
        out[k[i] % len(out)] += x[i] * x[i] * c[i % len(c)]


def shared_reduction(out, x, c, k):
    """The square of the sum of each group of `GROUP` items."""
    for g in range(len(x) // GROUP):
        s = sum(math.sin(v) * c[0] for v in x[g * GROUP : (g + 1) * GROUP])
        out[g] = s * s


@dataclass(frozen=True)
class Pattern:
    """`by`: the arguments whose gradient is compared."""

    name: str
    reference: Callable
    by: tuple[str, ...] = ("x", "c")
    grouped: bool = False

    def arguments(self, n: int = 13, seed: int = 0) -> dict[str, np.ndarray]:
        """out, x, c, k and the weights w of the objective. No value is near a kink."""
        random = np.random.default_rng(seed)
        n = n // GROUP * GROUP if self.grouped else n
        sides = np.where(random.random(n) < 0.5, 0.3, 0.9)
        return {
            "out": random.uniform(0.5, 1.5, n) if "out" in self.by else np.zeros(n),
            "x": sides + 0.4 * random.random(n),
            "c": (random.permutation(5) + 1) * 0.2 + 0.1 * random.random(5),
            "k": random.integers(1, 6, n),
            "w": random.standard_normal(n),
        }

    def gradients(self, arguments: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Central differences of the reference."""
        return {name: self._differences(arguments, name) for name in self.by}

    def _differences(self, arguments: dict[str, np.ndarray], name: str) -> np.ndarray:
        found = np.zeros_like(arguments[name])
        for n in range(found.size):
            values = []
            for step in (STEP, -STEP):
                moved = {key: value.copy() for key, value in arguments.items()}
                moved[name][n] += step
                self.reference(moved["out"], moved["x"], moved["c"], moved["k"])
                values.append(float(moved["w"] @ moved["out"]))
            found[n] = (values[0] - values[1]) / (2 * STEP)
        return found


PATTERNS = {
    pattern.name: pattern
    for pattern in (
        Pattern("branch", branch),
        Pattern("atomic add", atomic_sum),
        Pattern("static loop", static_loop),
        Pattern("run-time loop", run_time_loop),
        Pattern("product loop", product_loop),
        Pattern("while", while_loop),
        Pattern("max loop", max_loop),
        Pattern("overwrite, then read", overwrite_then_read),
        Pattern("update in place", update_in_place, ("x", "out")),
        Pattern("nested loops, break", nested_with_break),
        Pattern("gather", gather),
        Pattern("scatter", scatter),
        Pattern("shared-memory sum", shared_reduction, grouped=True),
    )
}
