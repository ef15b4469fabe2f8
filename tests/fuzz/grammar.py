"""Random programs of the kernel language, as Python text.

Weak integers (Python's), typed integers, floats, halves and bools live in variables of their own, `v`, `t`,
`f`, `h` and `q`, because on the reference device a name has the type of what was assigned last. Values stay
small: every assignment reduces them, so that Python's unbounded integers and 64 bits agree and floats are exact.
Every choice is drawn from `random`, so that Hypothesis can make a failing program smaller.
"""

from __future__ import annotations

from random import Random

DTYPES = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
ARGUMENTS = "a, b, x, m, i, n"


class Program:
    """One `@pk.func`: statements over a few variables, then a return."""

    def __init__(self, random: Random, name: str) -> None:
        self.random, self.name = random, name
        self.dtype = random.choice(DTYPES)
        self.real = random.choice(("f32", "f64"))
        self.lines: list[str] = []
        self.loops = 0
        self.statements = {
            "assign": self.assign, "swap": self.swap, "leave": self.leave, "return": self.return_,
            "if": self.if_, "for": self.for_, "while": self.while_,
        }  # fmt: skip
        self.real_result = random.choice(
            ("t", "f", "h", "q", "v0", "t / 4", "v0 / 8", "t * 0.5", "f // 2", "h + t")
        )

    def text(self) -> str:
        self.lines = [
            "@pk.func",
            f"def {self.name}({ARGUMENTS}):",
            "    v0 = i",
            f"    v1 = {self.random.randint(-9, 9)}",
            f"    t = pk.{self.dtype}({self.random.randint(0, 90)})",
            f"    f = pk.{self.real}({self.random.randint(-9, 9)})",
            f"    h = pk.f16({self.random.randint(-9, 9)})",
            f"    q = pk.bool_({self.random.randint(0, 1)})",
        ]
        self.block("    ", self.random.randint(2, 5), in_loop=False)
        self.lines.append(f"    return {self.result()}")
        return "\n".join(self.lines)

    def result(self) -> str:
        """An integer, and a number that is stored as a float; its type is the same at every return."""
        ends = f"int(t) * 7 + int(f) * 11 + int(h) * 13 + int(q) * 17 + {self.random.randint(0, 9)}"
        return f"(v0 % 4093) * 3 + (v1 % 1021) * 5 + {ends}, {self.real_result}"

    # -- statements --------------------------------------------------------------------------

    def block(self, indent: str, count: int, in_loop: bool) -> None:
        for _ in range(count):
            self.statement(indent, in_loop)

    def statement(self, indent: str, in_loop: bool) -> None:
        kinds = ["assign"] * 6 + ["swap"]
        if len(indent) < 20:
            kinds += ["if", "if", "for", "for", "while", "return"]
        if in_loop:
            kinds += ["leave"]
        self.statements[self.random.choice(kinds)](indent, in_loop)

    def assign(self, indent: str, in_loop: bool) -> None:
        name = self.random.choice(("v0", "v1", "t", "f", "h", "q"))
        if name == "t":
            value = f"pk.{self.dtype}({self.typed(2)})"
        elif name == "f":
            value = f"pk.{self.real}(({self.number(2)}) % 61)"
        elif name == "h":
            value = f"pk.f16({self.half()} % {self.random.randint(2, 13)})"
        elif name == "q":
            value = f"pk.bool_({self.truth(2)})"
        else:
            value = f"({self.integer(3)}) % {self.random.choice((97, 251, 509))}"
            if self.random.random() < 0.2:
                self.lines.append(f"{indent}{name} += {value}")
                self.lines.append(f"{indent}{name} = {name} % 509 - {self.random.randint(0, 50)}")
                return
        self.lines.append(f"{indent}{name} = {value}")

    def swap(self, indent: str, in_loop: bool) -> None:
        self.lines.append(f"{indent}v0, v1 = v1, v0 % 127")

    def leave(self, indent: str, in_loop: bool) -> None:
        self.lines += [
            f"{indent}if {self.condition(1)}:",
            f"{indent}    {self.random.choice(('break', 'continue'))}",
        ]

    def return_(self, indent: str, in_loop: bool) -> None:
        self.lines += [f"{indent}if {self.condition(2)}:", f"{indent}    return {self.result()}"]

    def if_(self, indent: str, in_loop: bool) -> None:
        self.lines.append(f"{indent}if {self.condition(2)}:")
        self.block(indent + "    ", self.random.randint(1, 2), in_loop)
        if self.random.random() < 0.3:
            self.lines.append(f"{indent}elif {self.condition(1)}:")
            self.block(indent + "    ", 1, in_loop)
        if self.random.random() < 0.5:
            self.lines.append(f"{indent}else:")
            self.block(indent + "    ", self.random.randint(1, 2), in_loop)

    def for_(self, indent: str, in_loop: bool) -> None:
        self.loops += 1
        k = f"k{self.loops}"
        step = self.random.choice(("1", "2", "3"))
        spans = (
            f"range({self.random.randint(0, 5)})",
            f"range({self.random.randint(-3, 3)}, n, {step})",
            f"range(n, {self.random.randint(-3, 3)}, -{step})",
            f"range(v0 % 5, v1 % 7, {self.random.choice(('1', '-1', '2', 'n - 4'))})",
            f"pk.unroll(range({self.random.randint(0, 3)}))",
            f"({self.random.randint(0, 9)}, {self.random.randint(0, 9)})",
        )
        self.lines.append(f"{indent}for {k} in {self.random.choice(spans)}:")
        self.lines.append(f"{indent}    v0 = (v0 + {k}) % 509")
        self.block(indent + "    ", self.random.randint(1, 2), True)
        if self.random.random() < 0.2:
            self.lines.append(f"{indent}else:")
            self.block(indent + "    ", 1, in_loop)

    def while_(self, indent: str, in_loop: bool) -> None:
        self.loops += 1
        c = f"c{self.loops}"
        self.lines += [
            f"{indent}{c} = 0",
            f"{indent}while {c} < {self.random.randint(1, 5)} and {self.condition(1)}:",
        ]
        self.lines.append(f"{indent}    {c} += 1")
        self.block(indent + "    ", self.random.randint(1, 2), True)

    # -- expressions -------------------------------------------------------------------------

    def integer(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.2:
            return self.random.choice(
                ("v0", "v1", "i", "n", str(self.random.randint(-9, 30)), self.element("a"))
            )
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        c = self.random.randint(1, 9)
        chosen = self.random.choice(
            (
                f"({a} + {b})", f"({a} - {b})", f"({a}) % 31 * (({b}) % 29)", f"({a}) // {c}", f"({a}) // -{c}",
                f"({a}) % {c}", f"({a}) % -{c}", f"({a} & {b})", f"({a} | {b})", f"({a} ^ {b})", f"-({a})", f"~({a})",
                f"({a}) % 1009 << {c % 5}", f"({a}) >> {c}", f"min({a}, {b})", f"max({a}, {b})", f"abs({a})",
                f"({a} if {self.condition(depth - 1)} else {b})", f"pk.where({self.condition(depth - 1)}, {a}, {b})",
                f"pk.clamp({a}, -{c}, {c * 9})", f"(({a}) % 7) ** {c % 4}", f"pk.cdiv({a}, {c})",
                f"helper({a}, {b})", f"other({b}, {c})", f"math.gcd({a}, {b})",
                f"math.isqrt(abs({a}))", f"int({a} < {b})",
            )
        )  # fmt: skip
        return f"({chosen})"

    def element(self, array: str) -> str:
        return f"int({array}[({self.random.choice(('i', 'v0', 'v1'))} + {self.random.randint(0, 9)}) % len({array})])"

    def typed(self, depth: int) -> str:
        """In the type of `t`: wraps as NumPy's does."""
        if depth == 0:
            return self.random.choice(("t", f"pk.{self.dtype}(v0)", f"pk.{self.dtype}(b[i % len(b)])"))
        a, b = self.typed(depth - 1), self.typed(depth - 1)
        c = self.random.randint(1, 60)
        return self.random.choice(
            (
                f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} * {c})", f"({a} // {b})", f"({a} % {b})",
                f"({a} // {c})", f"({a} % {c})", f"({a} & {b})", f"({a} | {c})", f"({a} ^ {b})", f"({a} << {c % 7})",
                f"({a} >> {c % 9})", f"~{a}", f"({a} if {a} < {b} else {b})", f"min({a}, {b})",
                f"({a} + q)", f"pk.where(q, {a}, {b})", f"pk.gcd({a}, {b})",
            )
        )  # fmt: skip

    def number(self, depth: int) -> str:
        if depth == 0:
            element = f"x[(v0 + {self.random.randint(0, 5)}) % len(x)]"
            return self.random.choice(("f", element, f"{self.random.randint(-9, 9)}.0"))
        a, b = self.number(depth - 1), self.number(depth - 1)
        chosen = self.random.choice(
            (
                f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"-({a})", f"abs({a})", f"min({a}, {b})",
                f"max({a}, {b})", f"({a} if {self.condition(0)} else {b})", f"pk.floor({a})", f"({a}) // 4.0",
                f"({a} + v1)", f"pk.fma({a}, {b}, {a})",
            )
        )  # fmt: skip
        return f"({chosen})"

    def half(self) -> str:
        """Integers in f16, below 2048: exact."""
        a, b = self.random.choice(("h", "pk.f16(v0 % 9)", "pk.f16(m[i % len(m)])")), self.random.randint(1, 9)
        return self.random.choice(
            (f"({a} + {b})", f"({a} - h)", f"({a} * {b})", f"({a} * h)", f"max({a}, h)", f"(-{a})", f"abs({a})",
             "(h + v1 % 16)", f"(h if {a} < {b} else {a})", f"pk.floor({a} / 2)")
        )  # fmt: skip

    def truth(self, depth: int) -> str:
        """A bool; one that combines bools as numbers does so in NumPy's."""
        element = f"m[(i + {self.random.randint(0, 5)}) % len(m)]"
        if depth == 0 or self.random.random() < 0.3:
            return self.random.choice(("q", element, self.condition(0)))
        a, b = (f"pk.bool_({self.truth(depth - 1)})" for _ in "ab")
        return self.random.choice(
            (f"({a} & {b})", f"({a} | {b})", f"({a} ^ {b})", f"(~{a})", f"({a} + {b})", f"({a} * {b})",
             f"({a} == {b})", f"({a} != {b})", f"({a} and {b})", f"({a} or {b})", f"(not {a})", f"({a} < {b})")
        )  # fmt: skip

    def condition(self, depth: int) -> str:
        if depth > 0 and self.random.random() < 0.4:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return self.random.choice((f"({a} and {b})", f"({a} or {b})", f"not {a}"))
        if self.random.random() < 0.15:
            return self.random.choice(("q", "not q", "m[i % len(m)]", "v0 % 3", "t", "f"))
        sides = (
            ("v0", "v1"),
            ("i", "n"),
            ("v1 % 5", "2"),
            ("t", "50"),
            ("f", "3.0"),
            ("i % 3", "1"),
            ("h", "4"),
        )
        a, b = self.random.choice(sides)
        op = self.random.choice(("<", "<=", ">", ">=", "==", "!="))
        return f"0 <= {a} < {b}" if self.random.random() < 0.15 else f"{a} {op} {b}"
