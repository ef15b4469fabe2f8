"""Random kernels over memory: private arrays, histograms, rows of their own, loops that items leave where each likes.

Goes out: a `MemoryKernel`: its text, the arrays it takes and how it is launched. Values stay small whole numbers, so
that every type holds them and each device gives the same. Integers live in `a` and `b`, a typed one in `t`, a float
in `f`, a truth in `q`; what lies in an array is brought to its range first.
"""

from __future__ import annotations

from random import Random

import numpy as np

INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("f16", "bf16", "f32", "f64")
SHAPES = ((1,), (3,), (4,), (9,), (2, 3), (3, 3), (2, 2, 2), (65,))
"""Of private memory; one is more than goes to registers."""
BINS = ((1,), (3,), (5,), (16,), (2, 3))
COLUMNS = 6
NAMES = {"u": "uint", "i": "int", "f": "float"}
HEAD = """import pykern as pk


@pk.func
def exchange(w, at, value):
    if at % 2 == 0:
        return w[0] + value
    w[0] = value
    return value


@pk.func
def total(w, count, value):
    for k in range(count):
        if k == 5:
            break
        value = value + w[k]
    return value
"""


def numpy_name(dtype: str) -> str:
    return "bfloat16" if dtype == "bf16" else NAMES[dtype[0]] + dtype[1:]


def brought(dtype: str, value: str) -> str:
    """The value as one of this type that every type holds."""
    return f"pk.{dtype}(({value}) % {61 if dtype in FLOATS else 101})"


class MemoryKernel:
    def __init__(self, seed: int) -> None:
        self.random = random = Random(seed)
        self.items = "ijk"[: random.choice((1, 1, 1, 2, 2, 3))]
        self.types = [random.choice((*INTEGERS, *FLOATS)) for _ in range(2)]  # of y and x
        self.integer, self.float = random.choice(INTEGERS), random.choice(FLOATS)
        self.private = [
            (f"w{n}", random.choice(SHAPES), random.choice((*INTEGERS, *FLOATS)))
            for n in range(random.choice((0, 1, 1, 2, 3)))
        ]
        self.bins = [
            (f"h{n}", random.choice(BINS), random.choice((*INTEGERS, "f32", "f64")))
            for n in range(random.choice((0, 0, 1, 1, 2, 3)))
        ]
        self.alike = random.random() < 0.35
        """Items take the same way through loops, so that they may run in lanes."""
        self.counters: list[str] = []
        self.loops = 0
        self.lines: list[str] = []
        self.text = self._text()
        self.ndrange, self.arrays = self._launch(np.random.default_rng(seed))

    def _launch(self, rng: np.random.Generator) -> tuple[tuple, list[np.ndarray]]:
        sizes = [self.random.choice((1, 2, 5, 9, 33, 70)[: 8 - 2 * len(self.items)])]
        sizes += [self.random.choice((1, 2, 3, 17)[: 6 - len(self.items)]) for _ in self.items[1:]]
        spans = tuple(self.random.choice((n, n, range(0, n, 2), range(n - 1, -1, -1))) for n in sizes)
        shapes = [[*sizes, COLUMNS], *(shape for _, shape, _ in self.bins), [sizes[0], COLUMNS]]
        types = [self.types[0], *(dtype for _, _, dtype in self.bins), self.types[1]]
        arrays = [self._array(rng.integers(0, 9, shape), t) for shape, t in zip(shapes, types, strict=True)]
        return spans, [*arrays, self._array(rng.integers(-20, 60, max(3, sizes[0])), "i32")]

    def _array(self, values: np.ndarray, dtype: str) -> np.ndarray:
        """In a layout of its own, within a larger array that `margins` looks at."""
        steps = [self.random.choice((1, 1, 1, 2, -1)) for _ in values.shape]
        room = np.full([2 * n + 2 for n in values.shape], 77).astype(numpy_name(dtype))
        view = room[tuple(slice(1, 2 * n + 1) for n in values.shape)]
        if set(steps) == {1}:
            view = view[tuple(slice(0, n) for n in values.shape)]
        else:
            view = view[tuple(slice(None, None, 2 * s if abs(s) == 1 else s) for s in steps)]
        view[...] = values
        return view

    def _text(self) -> str:
        names = ", ".join(name for name, _, _ in self.bins)
        self.lines = [
            HEAD, "", "@pk.kernel", f"def run(y, {names + ', ' if names else ''}x, z, n, c):",
            f"    {', '.join(self.items)} = pk.index()",
            f"    a, b, q = i, {self.random.randint(-9, 9)}, pk.bool_({self.random.randint(0, 1)})",
            f"    t, f = pk.{self.integer}({self.random.randint(0, 90)}), pk.{self.float}(3)",
        ]  # fmt: skip
        for name, shape, dtype in self.private:
            self.lines.append(f"    {name} = pk.private({shape}, pk.{dtype})")
            places, indent = [f"p{d}" for d in range(len(shape))], "    "
            for place, length in zip(places, shape, strict=True):
                self.lines.append(f"{indent}for {place} in range({length}):")
                indent += "    "
            value = self.random.choice((" + ".join(places), f"x[i, {places[-1]} % {COLUMNS}]"))
            self.lines.append(f"{indent}{name}[{', '.join(places)}] = {brought(dtype, f'int({value}) + 2')}")
        self._block("    ", self.random.randint(2, 6), False)
        for name, shape, _ in self.private:
            self.lines.append(f"    a = (a + int({name}[{', '.join(str(n - 1) for n in shape)}])) % 509")
        ends = "a % 97 + b % 89 + int(t) % 83 + int(f) + (1 if q else 0)"
        self.lines.append(f"    y[{', '.join(self.items)}, 4] = {brought(self.types[0], ends)}")
        return "\n".join(self.lines) + "\n"

    # -- statements --------------------------------------------------------------------------

    def _block(self, indent: str, count: int, in_loop: bool) -> None:
        for _ in range(count):
            kinds = [self._assign] * 4 + [self._store] * 2
            kinds += [self._keep] * 5 + [self._swap, self._function] if self.private else []
            kinds += [self._add] * 2 if self.bins else []
            if len(indent) < 20:
                kinds += [self._for] * 3 + [self._if] * 2
                kinds += [] if self.alike else [self._while, self._return]
            kinds += [self._leave] if in_loop and not self.alike else []
            self.random.choice(kinds)(indent, in_loop)

    def _assign(self, indent: str, in_loop: bool) -> None:
        name = self.random.choice("abtfq")
        value = {"t": brought(self.integer, self._value(2)), "f": brought(self.float, self._value(2))}.get(
            name
        )
        if name == "q":
            value = f"pk.bool_({self._truth()})"
        self.lines.append(
            f"{indent}{name} = {value or f'({self._value(3)}) % {self.random.choice((97, 128))}'}"
        )

    def _store(self, indent: str, in_loop: bool) -> None:
        place = self._own()
        value = self.random.choice((self._value(2), f"int({place}) + 1"))
        self.lines.append(f"{indent}{place} = {brought(self.types[0], value)}")

    def _keep(self, indent: str, in_loop: bool) -> None:
        cell, dtype = self._cell(self.random.choice(self.private))
        self.lines.append(f"{indent}{cell} = {brought(dtype, self._value(2))}")

    def _swap(self, indent: str, in_loop: bool) -> None:
        array = self.random.choice(self.private)
        (one, _), (other, _) = self._cell(array), self._cell(array)
        if self.random.random() < 0.5:
            self.lines.append(f"{indent}if {one} > {other}:")
            indent += "    "
        self.lines.append(f"{indent}{one}, {other} = {other}, {one}")

    def _function(self, indent: str, in_loop: bool) -> None:
        name, shape, dtype = self.random.choice(self.private)
        if len(shape) > 1:
            self._keep(indent, in_loop)
        elif self.random.random() < 0.5:
            at = self.random.choice([*self.counters, "a"])
            self.lines.append(f"{indent}b = int(exchange({name}, {at}, {name}[{shape[0] - 1}])) % 97")
        else:
            self.lines.append(f"{indent}b = int(total({name}, {shape[0]}, pk.{dtype}(1))) % 97")

    def _add(self, indent: str, in_loop: bool) -> None:
        name, shape, dtype = self.random.choice(self.bins)
        places = [f"({self._value(1)}) % {n}" if self.random.random() < 0.75 else str(n - 1) for n in shape]
        value = self.random.choice(("1", brought(dtype, self._value(1))))
        where = places[0] if len(places) == 1 else f"({', '.join(places)})"
        self.lines.append(
            f"{indent}pk.atomic_{self.random.choice(('add', 'add', 'sub'))}({name}, {where}, {value})"
        )

    def _for(self, indent: str, in_loop: bool) -> None:
        self.loops += 1
        outer = self.random.choice([*self.counters, "1"])
        spans = [
            "3",
            "2",
            "0",
            "4",
            "n",
            "1, 4",
            "5, 0, -1",
            "0, 7, 3",
            f"{outer}, 4",
            f"{outer} + 1",
            f"c, {outer}, -1",
        ]
        spans += [] if self.alike else ["i % 4", "a % 4", "z[i] % 5"]
        self.lines.append(f"{indent}for k{self.loops} in range({self.random.choice(spans)}):")
        self._inside(f"k{self.loops}", indent)

    def _while(self, indent: str, in_loop: bool) -> None:
        self.loops += 1
        name = f"c{self.loops}"
        self.lines.append(f"{indent}{name} = 0")
        self.lines.append(f"{indent}while {name} < {self.random.randint(1, 5)} and {self._truth()}:")
        self.lines.append(f"{indent}    {name} += 1")
        self._inside(name, indent)

    def _inside(self, counter: str, indent: str) -> None:
        self.counters.append(counter)
        self._block(indent + "    ", self.random.randint(1, 3), True)
        self.counters.pop()

    def _if(self, indent: str, in_loop: bool) -> None:
        self.lines.append(f"{indent}if {self._truth()}:")
        self._block(indent + "    ", self.random.randint(1, 2), in_loop)
        if self.random.random() < 0.5:
            self.lines.append(f"{indent}else:")
            self._block(indent + "    ", self.random.randint(1, 2), in_loop)

    def _leave(self, indent: str, in_loop: bool) -> None:
        self.lines += [
            f"{indent}if {self._truth()}:",
            f"{indent}    {self.random.choice(('break', 'continue'))}",
        ]

    def _return(self, indent: str, in_loop: bool) -> None:
        self.lines += [f"{indent}if {self._truth()} and i % 3 == 1:", f"{indent}    return"]

    # -- places and values -------------------------------------------------------------------

    def _column(self) -> str:
        if self.counters and self.random.random() < 0.6:
            return f"{self.random.choice(self.counters)} % {COLUMNS}"
        return self.random.choice(("0", "1", "5", "n - 1", f"a % {COLUMNS}"))

    def _own(self) -> str:
        return f"y[{', '.join(self.items)}, {self._column()}]"

    def _cell(self, array: tuple[str, tuple[int, ...], str]) -> tuple[str, str]:
        name, shape, dtype = array
        places = []
        for length in shape:
            k = self.random.choice([*self.counters, "a"])
            moving = (
                f"{k} % {length}",
                f"({k} + 1) % {length}",
                f"min(abs({k}), {length - 1})",
                f"({k} >> 1) % {length}",
            )
            fixed = str(self.random.randrange(length))
            places.append(fixed if self.random.random() < 0.4 else self.random.choice(moving))
        return f"{name}[{', '.join(places)}]", dtype

    def _truth(self) -> str:
        a, b = self._value(1), self._value(1)
        return self.random.choice(
            (f"{a} < {b}", f"{a} == {b}", f"({a}) % 3 == 1", "q", "not q", f"(q and {a} > 3)", f"({a} > 2 or q)",
             "f > 9", f"0 < {a} <= 9", "t % 2 == 0", "q == (t > 3)", "q < (a > 3)", f"t <= {a}")
        )  # fmt: skip

    def _value(self, depth: int) -> str:
        """A whole number of Python's."""
        if depth == 0 or self.random.random() < 0.2:
            leaves = [
                "a",
                "b",
                "n",
                "int(t)",
                "int(f)",
                str(self.random.randint(-9, 30)),
                "int(z[i])",
                *self.items,
            ]
            leaves += [f"int(x[i, {self._column()}])", f"int({self._own()})", "int(q)", *self.counters * 2]
            leaves += [f"int({self._cell(self.random.choice(self.private))[0]})"] * 4 if self.private else []
            return self.random.choice(leaves)
        a, b, c = self._value(depth - 1), self._value(depth - 1), self.random.randint(1, 9)
        power = 2 ** self.random.randint(0, 6)
        return self.random.choice(
            (f"({a} + {b})", f"({a} - {b})", f"({a}) % 31 * (({b}) % 29)", f"({a}) // {c}", f"({a}) // -{c}",
             f"({a}) % {c}", f"({a}) % -{c}", f"({a}) // {power}", f"({a}) % {power}", f"({a} & {b})", f"({a} ^ {b})",
             f"~({a})", f"(({a}) >> {c})", f"min({a}, {b})", f"max({a}, {b})", f"abs({a})", f"({a} if q else {b})",
             f"int(t // {2 ** (c % 5)})", "int(t % 4)")
        )  # fmt: skip
