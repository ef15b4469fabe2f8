"""Random programs of the kernel language, as Python text.

Weak integers (Python's), typed integers and floats live in variables of their own, `v`, `t` and `f`,
because on the reference device a name has the type of what was assigned last. Values stay small: every
assignment reduces them, so that Python's unbounded integers and 64 bits agree and floats are exact.
"""

from __future__ import annotations

from random import Random

DTYPES = ("i8", "i16", "i32", "i64", "u8", "u16", "u32")


class Program:
    """One `@pk.func`: statements over a few variables, then a return."""

    def __init__(self, random: Random, name: str) -> None:
        self.random, self.name = random, name
        self.dtype = random.choice(DTYPES)
        self.real = random.choice(("f32", "f64"))
        self.lines: list[str] = []
        self.loops = 0

    def text(self) -> str:
        self.lines = [
            "@pk.func",
            f"def {self.name}(a, b, x, i, n):",
            "    v0 = i",
            f"    v1 = {self.random.randint(-9, 9)}",
            f"    t = pk.{self.dtype}({self.random.randint(0, 90)})",
            f"    f = pk.{self.real}({self.random.randint(-9, 9)})",
        ]
        self.block("    ", self.random.randint(2, 5), in_loop=False)
        self.lines.append(f"    return {self.result()}")
        return "\n".join(self.lines)

    def result(self) -> str:
        return f"(v0 % 4093) * 3 + (v1 % 1021) * 5 + int(t) * 7 + int(f) * 11 + {self.random.randint(0, 9)}"

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
        getattr(self, self.random.choice(kinds))(indent, in_loop)

    def assign(self, indent: str, in_loop: bool) -> None:
        name = self.random.choice(("v0", "v1", "t", "f"))
        if name == "t":
            value = f"pk.{self.dtype}({self.typed(2)})"
        elif name == "f":
            value = f"pk.{self.real}(({self.number(2)}) % 61)"
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

    def return_(self, indent: str) -> None:
        self.lines += [f"{indent}if {self.condition(2)}:", f"{indent}    return {self.result()}"]

    def __getattr__(self, name: str):
        return {
            "if": self.if_,
            "for": self.for_,
            "while": self.while_,
            "return": lambda i, _: self.return_(i),
        }[name]

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

    def condition(self, depth: int) -> str:
        if depth > 0 and self.random.random() < 0.4:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return self.random.choice((f"({a} and {b})", f"({a} or {b})", f"not {a}"))
        sides = (("v0", "v1"), ("i", "n"), ("v1 % 5", "2"), ("t", "50"), ("f", "3.0"), ("i % 3", "1"))
        a, b = self.random.choice(sides)
        op = self.random.choice(("<", "<=", ">", ">=", "==", "!="))
        return f"0 <= {a} < {b}" if self.random.random() < 0.15 else f"{a} {op} {b}"


def module(random: Random, count: int) -> str:
    """A module with `count` programs and a kernel that calls them all: row k of `out` is program k."""
    programs = [Program(random, f"p{k}").text() for k in range(count)]
    calls = "\n".join(f"    out[{k}, i] = p{k}(a, b, x, i, n)" for k in range(count))
    kernel = f"@pk.kernel\ndef run(out, a, b, x, n):\n    i = pk.index()\n{calls}"
    return "\n\n\n".join(["import pykern as pk", *programs, kernel]) + "\n"


def group_module(random: Random) -> str:
    """A kernel of phases over shared memory with barriers between them, some in a uniform loop."""
    width = random.choice((4, 8, 16))
    lines = [
        "import pykern as pk", "", "",
        f"@pk.kernel(workgroup={width})", "def run(out, a, n, m):", "    i = pk.index()", "    l = pk.local_index()",
        f"    s = pk.shared({width}, pk.i64)", "    v = a[i]",
    ]  # fmt: skip
    if random.random() < 0.5:
        lines.append("    s[l] = 0")
        lines += ["    if i >= m:", "        return"]
    lines.append("    w = i * 3")

    def phase(indent: str) -> None:
        other = random.choice((f"{width - 1} - l", f"(l + {random.randint(1, 5)}) % {width}", "l"))
        lines.extend([f"{indent}s[l] = (v + w) % 1009", f"{indent}pk.barrier()"])
        lines.append(
            f"{indent}v = v * 2 + (s[{other}] if {random.choice(('True', 'l % 2 == 0', 'w > 20'))} else 1)"
        )
        lines.append(f"{indent}v = v % 4093")
        if random.random() < 0.3:
            lines.append(f"{indent}if l % 2 == 0:")
            lines.append(f"{indent}    w = w + v % 7")
        lines.append(f"{indent}pk.barrier()")

    for _ in range(random.randint(1, 2)):
        phase("    ")
    if random.random() < 0.6:
        lines.append(f"    for k in range({random.choice(('n', '3', 'n, 0, -2'))}):")
        lines.append("        w = w + k")
        phase("        ")
    if random.random() < 0.4:
        lines += [f"    c = {random.randint(1, 8)}", "    while c > 0:"]
        phase("        ")
        lines.append("        c //= 2")
    if random.random() < 0.4 and "        return" not in lines:
        op = random.choice(("add", "min", "max", "xor"))
        lines.append(f"    v = v + pk.group_reduce(w, {op!r}) + pk.subgroup_scan(w % 5)")
    lines.append("    out[i] = v + w")
    return "\n".join(lines) + "\n"
