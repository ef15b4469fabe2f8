"""Random functions whose loops are left in every way there is, as Python text.

A loop is `for` over a range (also empty, downwards, in steps) or `while`; it is left by its count, by a test of its
counter, of what does not change in it, of data, of what it carries; by `break`, `continue`, `return`, from branches
and inner loops, with and without `else`. What is carried: integers, floats, pairs that are swapped. All values stay
small, so that Python's integers and 64 bits agree, and floats are exact.
"""

from __future__ import annotations

from random import Random

HEAD = "import pykern as pk\n\n\n"
KERNEL = """

@pk.kernel
def run(out, n, x):
    i = pk.index()
    out[i] = f(i, n, x)
"""
SIZE, COUNTS = 37, 11


class LoopFunction:
    """`f(i, n, x)`: `n` and `x` are arrays of small integers of `SIZE` and `COUNTS` elements; the result is one."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines: list[str] = []
        self.loops = 0

    def text(self) -> str:
        self.lines = ["def f(i, n, x):", f"    r, s = {self.small()}, {self.small()}", "    y = 0.5"]
        for _ in range(self.random.randint(1, 3)):
            self.statement("    ", [])
        self.loop("    ", [])
        self.lines.append("    return r * 31 + s * 7 + int(y * 4)")
        return "\n".join(self.lines) + "\n"

    # -- statements ------------------------------------------------------------------------------

    def statement(self, indent: str, counters: list[str]) -> None:
        deep = len(counters) > 2 or len(indent) > 20
        kinds = ["assign"] * 4 + ([] if deep else ["loop"] * 2) + (["leave"] * 3 if counters else [])
        getattr(self, self.random.choice(kinds))(indent, counters)

    def assign(self, indent: str, counters: list[str]) -> None:
        a = self.number(counters)
        self.add(
            indent,
            self.random.choice((
                f"r = ({self.number(counters)} + {a}) % 97",
                f"s = ({self.number(counters)} * 3 - {a}) % 89",
                f"r, s = s, (r + s + {a}) % 83",
                f"y = y * 0.5 + {a} % 4",
                f"r = {self.small()}",
            )),
        )  # fmt: skip

    def loop(self, indent: str, counters: list[str]) -> None:
        counter = f"k{self.loops}"
        self.loops += 1
        if self.random.random() < 0.7:
            after = self.random.random() < 0.5
            if after:  # else the name may have no value behind a loop of no iterations
                self.add(indent, f"{counter} = {self.small()}")
            self.add(indent, f"for {counter} in {self.range(counters)}:")
            self.body(f"{indent}    ", [*counters, counter])
        else:
            after, limit = True, self.random.choice(("n[i]", "6", "n[i] % 5", "x[i % 11]"))
            self.add(indent, f"{counter} = 0")
            endless = self.random.random() < 0.4
            self.add(indent, "while True:" if endless else f"while {counter} < {limit} {self.also()}:")
            self.add(f"{indent}    ", f"{counter} += 1")
            if endless:
                self.add(f"{indent}    ", f"if {counter} > {limit}:")
                self.add(f"{indent}    ", f"    {self.random.choice(('break', 'return r * 5 + s'))}")
            self.body(f"{indent}    ", [*counters, counter])
        if self.random.random() < 0.25:
            self.add(indent, "else:")
            self.assign(f"{indent}    ", counters)
        if after:
            self.add(indent, f"r = (r + {counter} * 13) % 97")

    def body(self, indent: str, counters: list[str]) -> None:
        for _ in range(self.random.randint(1, 4)):
            self.statement(indent, counters)
        if self.random.random() < 0.7:
            self.leave(indent, counters)

    def leave(self, indent: str, counters: list[str]) -> None:
        """Under a test or two, after a statement or none."""
        self.add(indent, f"if {self.test(counters)}:")
        inner = f"{indent}    "
        if self.random.random() < 0.2:
            self.add(inner, f"if {self.test(counters)}:")
            self.exit(f"{inner}    ", counters)
            self.add(inner, "else:")
            self.assign(f"{inner}    ", counters)
        else:
            self.exit(inner, counters)
        if self.random.random() < 0.25:
            self.add(indent, f"elif {self.test(counters)}:" if self.random.random() < 0.4 else "else:")
            self.exit(inner, counters)

    def exit(self, indent: str, counters: list[str]) -> None:
        if self.random.random() < 0.6:
            self.assign(indent, counters)
        kinds = ["break", "break", "break", "continue", f"return {self.number(counters)} + s * 3"]
        self.add(indent, self.random.choice(kinds))

    # -- expressions -----------------------------------------------------------------------------

    def range(self, counters: list[str]) -> str:
        bound = self.random.choice(
            ("n[i]", "n[i] % 6", "x[i % 11]", str(self.random.randint(0, 7)), "len(n) - i")
        )
        inner = f"{counters[-1]} + 1" if counters else "n[i] // 2"
        return self.random.choice((
            f"range({bound})", f"range({bound})", f"range({inner}, {bound})", f"range({bound}, -2, -1)",
            f"range(1, {bound}, {self.random.randint(2, 4)})", f"range(9, {bound}, -{self.random.randint(1, 3)})",
        ))  # fmt: skip

    def test(self, counters: list[str]) -> str:
        """Of the counter, of what stays, of data, of what is carried."""
        k, c = self.random.choice(counters), self.random.randint(0, 9)
        counted = (f"{k} == {c % 4}", f"{k} > {c}", f"{k} % 3 == {c % 3}")
        stays = (f"x[i % 11] > {c * 2}", f"n[i] == {c}", f"i % 4 == {c % 4}")
        data = (f"x[{k} % {COUNTS}] > {c * 2}", f"n[(i + {k}) % {SIZE}] < {c}")
        carried = (f"r % 7 == {c % 7}", f"s > {c * 9}", f"y > {c / 4}", f"r < {k}")
        one = self.random.choice(self.random.choice((counted, stays, data, carried)))
        other = self.random.choice(self.random.choice((counted, stays, data)))
        return self.random.choice((one, one, one, f"{one} and {other}", f"{one} or {other}", f"not {one}"))

    def also(self) -> str:
        return self.random.choice(("", "and r != 5", "and x[i % 11] > 3", "and y < 3.5"))

    def number(self, counters: list[str]) -> str:
        names = ["r", "s", "i", "n[i]", "x[i % 11]", self.small(), *counters, *counters]
        if counters:
            names.append(f"x[{counters[-1]} % {COUNTS}]")
        return self.random.choice(names)

    def small(self) -> str:
        return str(self.random.randint(-9, 40))

    def add(self, indent: str, line: str) -> None:
        self.lines.append(f"{indent}{line}")
