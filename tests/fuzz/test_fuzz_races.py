"""Random subscripts: a kernel that is raised has no race, whatever the proof says it is.

Work-items are taken in two orders by the reference device; where the numbers differ there is a race, and
raising has to refuse. Where it raises, both orders and the raised kernel give the same numbers.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

from pykern.errors import NotRaisable
from tests.cases.raised import Raised
from tests.cases.texts import load

KERNELS, BATCH = 120, 40
MIDDLE = 150


class Subscripts:
    """A kernel that writes, and reads what it writes, at sums of its indices."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names: list[str] = []

    def text(self) -> str:
        plane = self.random.random() < 0.4
        self.names = ["i", "j"] if plane else ["i"]
        lines = [
            "import pykern as pk",
            "",
            "",
            "@pk.kernel",
            "def p0(y, x, m):",
            f"    {', '.join(self.names)} = pk.index()",
        ]
        indent = "    "
        for n in range(self.random.randint(0, 2)):
            span = self.random.choice(("2", "3", "4", "m", "1, 3", "i, m"))
            lines.append(f"{indent}for k{n} in range({span}):")
            self.names.append(f"k{n}")
            indent += "    "
            if self.random.random() < 0.5:
                lines.append(indent + self.statement())
        if self.random.random() < 0.4:
            lines.append(f"{indent}if {self.guard()}:")
            indent += "    "
        lines += [indent + self.statement() for _ in range(self.random.randint(1, 2))]
        return "\n".join(lines) + "\n"

    def guard(self) -> str:
        a, b = self.random.choice(self.names), self.random.choice((*self.names, "1", "0"))
        return f"{a} {self.random.choice(('==', '==', '<', '!='))} {b}"

    def place(self) -> str:
        terms = [
            f"{self.random.choice((1, 1, 2, 3, 4, 8, -1, -3))} * {n}"
            for n in self.names
            if self.random.random() < 0.8
        ]
        flat = " + ".join([*terms, str(MIDDLE + self.random.randint(-2, 3))])
        row = self.random.choice(("0", "i", "1", self.random.choice(self.names), "i + 1", "2 * i"))
        return f"y[{flat}, {row}]"

    def statement(self) -> str:
        value = " + ".join(f"{10.0 ** (2 * n)} * {name}" for n, name in enumerate(self.names))
        place = self.place()
        other = self.random.choice((f"0.5 * {self.place()}", "x[i]", f"0.25 * {place}"))
        op = self.random.choice(("=", "=", "=", "+="))
        return f"{place} {op} {value} + {other}"


def numbers(kernel, m: int, space: tuple) -> np.ndarray:
    y = np.random.default_rng(1).integers(0, 9, (2 * MIDDLE, 24)).astype(float)
    kernel(y, np.arange(40.0), m, ndrange=space, device="python")
    return y


@pytest.mark.parametrize("first", range(0, KERNELS, BATCH))
def test_races_are_refused(tmp_path: Path, first: int) -> None:
    raised_ones = 0
    for seed in range(first, first + BATCH):
        text = Subscripts(Random(seed)).text()
        kernel = load(text, tmp_path).p0
        rank = 2 if "i, j" in text else 1
        rising = (range(5), range(4))[:rank]
        falling = tuple(range(r.stop - 1, -1, -1) for r in rising)
        y = np.random.default_rng(1).integers(0, 9, (2 * MIDDLE, 24)).astype(float)
        args = y, np.arange(40.0), 4
        try:
            raised = Raised(kernel, args, (5, 4)[:rank])
        except NotRaisable:
            continue
        raised_ones += 1
        raised.run(args, (5, 4)[:rank])
        for space in (rising, falling):
            np.testing.assert_array_equal(y, numbers(kernel, 4, space), err_msg=text)
    assert raised_ones >= BATCH // 10, "the kernels are too wild to say anything"
