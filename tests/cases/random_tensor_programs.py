"""Random programs on tensors of one shape, as text of linalg.

Comes in: a seed. Goes out: statements, of which each new value may be read by those that follow.
"""

from __future__ import annotations

import random

from tests.cases.tensor_texts import ADD, cut, full, generic, pointwise, reduced, tensor, with_rows

N = 4
X = tensor(N, N)
UNARY = (
    "%r = math.sin %a : f64",
    "%r = math.tanh %a : f64",
    "%r = arith.mulf %a, %half : f64",
    "%r = arith.negf %a : f64",
)
BINARY = (
    "%r = arith.addf %a, %b : f64",
    "%p = arith.mulf %a, %b : f64; %r = math.sin %p : f64",
    "%p = arith.cmpf ogt, %a, %b : f64; %r = arith.select %p, %b, %a : f64",
    "%r = arith.subf %a, %b : f64",
)


class Writer:
    """Statements on tensors of one shape; `values` may be read."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def statements(self, values: list[str], length: int, depth: int) -> str:
        """Text; the new values are appended to `values`."""
        text = ""
        for _ in range(length):
            kinds = [
                "unary",
                "binary",
                "binary",
                "rows",
                "transpose",
                "matmul",
                "shift",
                "insert",
                "stencil",
                "element",
            ]
            kind = self.random.choice(kinds + ["loop", "loop", "branch", "branch"] * (depth > 0))
            result = self.name()
            text += getattr(self, kind)(result, values, depth)
            values.append(result)
        return text

    def some(self, values: list[str]) -> str:
        return self.random.choice(values[-4:] if self.random.random() < 0.7 else values)

    def unary(self, result: str, values: list[str], depth: int) -> str:
        return pointwise(result, [self.some(values)], self.random.choice(UNARY), X)

    def binary(self, result: str, values: list[str], depth: int) -> str:
        return pointwise(result, [self.some(values), self.some(values)], self.random.choice(BINARY), X)

    def rows(self, result: str, values: list[str], depth: int) -> str:
        combine = self.random.choice(
            [
                (ADD, "%zero"),
                ("%r = arith.maximumf %o, %v : f64", "%low"),
                ("%r = arith.mulf %o, %v : f64", "%one"),
            ]
        )
        row = self.name()
        text = reduced(row, self.some(values), (N, N), *combine)
        return text + with_rows(
            result, self.some(values), row, (N, N), "%p = arith.mulf %a, %b : f64\n%r = math.tanh %p : f64"
        )

    def transpose(self, result: str, values: list[str], depth: int) -> str:
        body = "%r = arith.addf %a, %b : f64\nlinalg.yield %r : f64"
        inputs = [f"{self.some(values)}: {X}", f"{self.some(values)}: {X}"]
        empty = f"{result}_e = tensor.empty() : {X}\n"
        return (
            empty
            + generic(result, inputs, f"{result}_e: {X}", "(i, j) -> (j, i), (i, j), (i, j)", "pp", body)
            + "\n"
        )

    def matmul(self, result: str, values: list[str], depth: int) -> str:
        pair = f"ins({self.some(values)}, {self.some(values)} : {X}, {X}) outs({result}_z : {X}) -> {X}\n"
        product = full(f"{result}_z", X) + f"{result}_p = linalg.matmul {pair}"
        return product + pointwise(result, [f"{result}_p"], UNARY[1], X)

    def shift(self, result: str, values: list[str], depth: int) -> str:
        low = [self.random.randint(0, 1) for _ in range(2)]
        text = cut(f"{result}_s", self.some(values), X, low, (N - 1, N - 1))
        pads = [self.random.randint(0, 1) for _ in range(2)]
        return text + (
            f"{result} = tensor.pad {result}_s low[{pads[0]}, {pads[1]}] high[{1 - pads[0]}, {1 - pads[1]}] {{\n"
            f"^bb0(%p: index, %q: index):\n  tensor.yield %half : f64\n}} : {tensor(N - 1, N - 1)} to {X}\n"
        )

    def insert(self, result: str, values: list[str], depth: int) -> str:
        text = cut(
            f"{result}_s",
            self.some(values),
            X,
            (self.random.randint(0, 1), 0),
            (2, 2),
            (2, self.random.randint(1, 3)),
        )
        place = f"[{self.random.randint(0, 2)}, {self.random.randint(0, 2)}] [2, 2] [1, 1]"
        return (
            text
            + f"{result} = tensor.insert_slice {result}_s into {self.some(values)}{place} : {tensor(2, 2)} into {X}\n"
        )

    def stencil(self, result: str, values: list[str], depth: int) -> str:
        source, inside = self.some(values), tensor(N - 2, N)
        text = "".join(cut(f"{result}_{k}", source, X, (k, 0), (N - 2, N)) for k in range(3))
        body = self.random.choice(
            (
                "%p = arith.addf %a, %c : f64; %r = arith.subf %p, %b : f64",
                "%p = arith.mulf %a, %c : f64; %r = arith.addf %p, %b : f64",
            )
        )
        text += pointwise(f"{result}_n", [f"{result}_{k}" for k in range(3)], body, inside)
        place = f"[1, 0] [{N - 2}, {N}] [1, 1] : {inside} into {X}"
        return text + f"{result} = tensor.insert_slice {result}_n into {source}{place}\n"

    def element(self, result: str, values: list[str], depth: int) -> str:
        a, b, place = self.name(), self.name(), self.random.choice(["%i0, %i1", "%i1, %i1"])
        text = f"{a} = tensor.extract {self.some(values)}[{place}] : {X}\n{b} = math.sin {a} : f64\n"
        if self.random.random() < 0.5:
            return text + f"{result} = tensor.insert {b} into {self.some(values)}[%i1, %i0] : {X}\n"
        return text + pointwise(result, [self.some(values)], f"%r = arith.mulf %a, {b} : f64", X)

    def loop(self, result: str, values: list[str], depth: int) -> str:
        trips, one, two = self.name(), self.name(), self.name()
        inner = [*values, one, two]
        body = self.statements(inner, self.random.randint(1, 4), depth - 1)
        inits = f"{one} = {self.some(values)}, {two} = {self.some(values)}"
        yielded = f"{inner[-1]}, {self.random.choice([one, inner[-2], inner[-1]])}"
        return (
            f"{trips} = arith.constant {self.random.randint(1, 4)} : index\n"
            f"{result}, {result}_b = scf.for {result}_t = %i0 to {trips} step %i1 iter_args({inits}) -> ({X}, {X}) {{\n"
            f"{body}scf.yield {yielded} : {X}, {X}\n}}\n"
        )

    def branch(self, result: str, values: list[str], depth: int) -> str:
        sides = []
        for _ in range(2):
            inner = list(values)
            body = self.statements(inner, self.random.randint(0, 3), depth - 1)
            sides.append(f"{body}scf.yield {self.random.choice(inner[-2:])} : {X}\n")
        test = f"{result}_v = tensor.extract {self.some(values)}[%i0, %i0] : {X}\n"
        test += f"{result}_c = arith.cmpf ogt, {result}_v, %zero : f64\n"
        return test + f"{result} = scf.if {result}_c -> ({X}) {{\n{sides[0]}}} else {{\n{sides[1]}}}\n"
