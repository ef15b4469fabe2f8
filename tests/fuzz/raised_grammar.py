"""Random kernels that work-items can run in any order, as Python text, for raising to linalg.

Every work-item writes its own cells of `y` and `z`, and adds to `h` atomically; it reads `a`, `v` and
`index` anywhere. All dimensions have `SIZE` cells, which leaves room for offsets: no access is outside.
Values are small whole numbers: sums in any order are exact.
"""

from __future__ import annotations

from random import Random

SIZE = 32
LINES = ("5", "1", "range(1, 6)", "range(7, 0, -2)", "range(0, 9, 3)")
PLANES = ("(4, 3)", "(1, 5)", "(range(1, 5), 3)", "(3, range(6, 0, -2))", "(range(0, 7, 2), range(2, 4))")


class RaisedProgram:
    """One kernel over one dimension; loops run over up to `m` positions."""

    items = ("i",)
    ndranges = LINES

    def __init__(self, random: Random, name: str) -> None:
        self.random, self.name = random, name
        self.lines: list[str] = []
        self.counters: list[str] = []
        self.loops = 0

    def text(self) -> str:
        places = self.places()
        self.lines = ["@pk.kernel", f"def {self.name}(y, z, h, a, v, index, s, m):"]
        self.lines += [
            f"    {', '.join(self.items)} = pk.index()",
            f"    t0, t1, q, f = 1.0, {places[-1]}, 0, False",
        ]
        if self.random.random() < 0.3:
            self.lines.append(f"    if {self.condition(1)}:\n        return")
        self.block("    ", self.random.randint(2, 4))
        self.lines += [f"    {places[0]} = t0 + 2.0 * t1 + q + (0.5 if f else 0.0) + {self.own()}"]
        return "\n".join(self.lines)

    def places(self) -> tuple[str, ...]:
        """Own cells of `z`, and an element of `a`."""
        return "z[i, 1]", "z[i, 0]", "a[i, 0]"

    # -- statements --------------------------------------------------------------------------

    def block(self, indent: str, count: int) -> None:
        for _ in range(count):
            kinds = ["assign", "store", "store", "collect", "collect", "recur", "whole_collect", "kept"]
            if len(indent) < 16:
                kinds += ["branch", "branch", "loop", "loop", "loop"]
            if self.random.random() < 0.1:
                kinds.append("atomic")
            getattr(self, self.random.choice(kinds))(indent)

    def assign(self, indent: str) -> None:
        self.lines.append(f"{indent}{self.random.choice(('t0', 't1'))} = {self.small(2)}")

    def collect(self, indent: str) -> None:
        name = self.random.choice(("t0", "t1"))
        op = self.random.choice(("+=", "+=", "-=", "max", "min"))
        value = self.small(1)
        statement = f"{name} {op} {value}" if op[0] in "+-" else f"{name} = {op}({name}, {value})"
        if self.random.random() < 0.3:
            self.lines += [f"{indent}if {self.condition(1)}:", f"{indent}    {statement}"]
        else:
            self.lines.append(f"{indent}{statement}")
        if self.random.random() < 0.2:
            self.lines.append(f"{indent}q += {self.random.choice(('1', 'i', *self.counters))}")

    def whole_collect(self, indent: str) -> None:
        """Whole numbers and truths."""
        k = self.random.choice((*self.counters, "i", "index[i]"))
        statement = self.random.choice(
            (
                f"q ^= {k}", f"q |= {k}", f"q &= {k} + 5", f"q = max(q, {k})", f"q = min(q, {k})", f"q *= 1 - {k} % 3",
                f"t0 *= 0.5 if {self.condition(0)} else -1.0", "f = True", f"f ^= {self.condition(0)}",
                f"f &= {self.condition(0)}", f"f |= {self.condition(0)}", "f = False",
            )
        )  # fmt: skip
        if self.random.random() < 0.4 or statement in ("f = True", "f = False"):
            self.lines += [f"{indent}if {self.condition(1)}:", f"{indent}    {statement}"]
        else:
            self.lines.append(f"{indent}{statement}")

    def recur(self, indent: str) -> None:
        self.lines.append(f"{indent}t1 = (t1 * 0.5 + {self.small(1)}) * 0.25")

    def store(self, indent: str) -> None:
        place = self.own()
        op = self.random.choice(("=", "=", "+=", "-="))
        self.lines.append(f"{indent}{place} {op} {self.small(2)}")

    def kept(self, indent: str) -> None:
        """A value that is stored where something holds, and is asked for again where that may not."""
        name = self.random.choice(("t0", "t1"))
        self.lines += [
            f"{indent}if {self.seen(name)}:",
            f"{indent}    {self.own()} = {name}",
            f"{indent}if {self.seen(name)}:",
            f"{indent}    {self.own()} = {name} * 2.0",
            f"{indent}else:",
            f"{indent}    {self.own()} {self.random.choice(('=', '+='))} {self.small(1)}",
        ]

    def seen(self, name: str) -> str:
        if self.random.random() < 0.3:
            return self.condition(1)
        return f"{name} {self.compare()} {self.random.randint(-3, 6)}.0"

    def atomic(self, indent: str) -> None:
        self.lines.append(
            f"{indent}pk.atomic_add(h, {self.random.choice(('0', 'i', 'index[i]'))}, {self.whole()})"
        )

    def branch(self, indent: str) -> None:
        self.lines.append(f"{indent}if {self.condition(2)}:")
        self.block(indent + "    ", self.random.randint(1, 2))
        if self.random.random() < 0.5:
            self.lines.append(f"{indent}else:")
            self.block(indent + "    ", 1)

    def loop(self, indent: str) -> None:
        self.loops += 1
        k = f"k{self.loops}"
        outer = self.counters[-1] if self.counters else "1"
        span = self.random.choice(
            (
                "3", "2", "1", "m", "m", "m", "m, 0, -1", "1, m", "1, m, 2", "min(i + 1, m)", "i % 3, m", f"{outer}, m",
                "index[i]", f"min({outer} + 1, m)", "m - 1, -1, -1", "0",
            )
        )  # fmt: skip
        self.lines.append(f"{indent}for {k} in range({span}):")
        self.counters.append(k)
        self.block(indent + "    ", self.random.randint(1, 2))
        self.counters.pop()

    # -- places and values -------------------------------------------------------------------

    def column(self) -> str:
        """A column that is there: counters go from 0 to m."""
        if self.counters and self.random.random() < 0.7:
            k = self.random.choice(self.counters)
            return self.random.choice((k, k, f"{k} + 1", f"{k} + 2", f"m - {k}", f"index[{k}]"))
        return self.random.choice(("0", "1", "2", "m", "index[i]"))

    def own(self) -> str:
        return self.random.choice((f"y[i, {self.column()}]", f"y[i, {self.column()}]", self.places()[1]))

    def element(self) -> str:
        kinds = [
            f"a[i, {self.column()}]",
            f"a[i + 1, {self.column()}]",
            f"v[{self.column()}]",
            f"v[i + {self.column()}]",
        ]
        kinds += [self.own(), f"a[index[i], {self.column()}]", "v[i]"]
        return self.random.choice(kinds)

    def whole(self) -> str:
        return self.random.choice(("1.0", "v[i]", "a[i, 2]"))

    def small(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.25:
            return self.random.choice(("t0", "s", "2.0", self.element(), self.element(), self.element()))
        a, b = self.small(depth - 1), self.small(depth - 1)
        chosen = self.random.choice(
            (
                f"({a} + {b})", f"({a} - {b})", f"({a}) * 0.5", f"min({a}, {b})", f"max({a}, {b})", f"abs({a})",
                f"-({a})",
                f"({a} if {self.condition(0)} else {b})", f"pk.where({self.condition(0)}, {a}, {b})", f"({a} + i)",
                f"({a} + {self.random.choice(self.counters or ['i'])})",
            )
        )  # fmt: skip
        return f"({chosen})"

    def condition(self, depth: int) -> str:
        if depth > 0 and self.random.random() < 0.35:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return self.random.choice((f"({a} and {b})", f"({a} or {b})", f"not ({a})"))
        k = self.random.choice(self.counters or ["i"])
        return self.random.choice(
            (
                f"i {self.compare()} 2", f"{k} {self.compare()} i", f"{k} {self.compare()} m - 1", f"{k} == 1",
                f"v[i] {self.compare()} 0.0", f"a[i, 1] > v[{self.column()}]", "i > 0 and v[i - 1] > 0.0",
                f"{k} > 0 and a[i, {k} - 1] < 1.0", "i % 2 == 0", "s > 1.0", f"0 <= {k} - i < 3", "index[i] == 1",
            )
        )  # fmt: skip

    def compare(self) -> str:
        return self.random.choice(("<", "<=", ">", ">=", "==", "!="))


class PlaneProgram(RaisedProgram):
    """One kernel over two dimensions; a work-item has a line of `y` and two cells of `z`."""

    items = ("i", "j")
    ndranges = PLANES

    def places(self) -> tuple[str, ...]:
        return "z[j, 2 * i]", "z[j, 2 * i + 1]", "a[i, j]"

    def column(self) -> str:
        return "j" if self.random.random() < 0.2 else super().column()

    def own(self) -> str:
        place = f"y[i, j, {self.column()}]"
        return self.random.choice((place, place, self.places()[1]))

    def element(self) -> str:
        swapped = f"a[{self.column()}, j]", "a[j, i]", "v[i + j]", "v[2 * j + 1]"
        return self.random.choice(swapped) if self.random.random() < 0.4 else super().element()

    def condition(self, depth: int) -> str:
        if self.random.random() < 0.25:
            return self.random.choice(
                (f"j {self.compare()} i", "j > 0", "i + j < m", "i == j", "(i - j) % 2 == 0")
            )
        return super().condition(depth)


def raised_program(random: Random) -> tuple[str, str, int]:
    """A module with the kernel `p0`, an ndrange as text, and its rank."""
    kind = random.choice((RaisedProgram, RaisedProgram, PlaneProgram))
    program = kind(random, "p0")
    return f"import pykern as pk\n\n\n{program.text()}\n", random.choice(kind.ndranges), len(kind.items)
