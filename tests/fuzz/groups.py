"""Random kernels of groups: phases over shared memory with barriers between them, some in a uniform loop."""

from __future__ import annotations

from random import Random

WORKGROUPS = ((4,), (8,), (16,), (2, 4), (4, 4), (8, 2), (2, 2, 4))
ITEMS = {1: (48,), 2: (8, 16), 3: (4, 4, 8)}


class GroupKernel:
    """One kernel; `ndrange` is a multiple of its workgroup."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.workgroup = random.choice(WORKGROUPS)
        self.ndrange = ITEMS[len(self.workgroup)]
        self.dtype = random.choice(("i64", "i32", "u16", "f32", "f64"))
        self.lines: list[str] = []

    @property
    def width(self) -> int:
        width = 1
        for n in self.workgroup:
            width *= n
        return width

    def text(self) -> str:
        random, rank = self.random, len(self.workgroup)
        self.lines = [
            "import pykern as pk", "", "",
            f"@pk.kernel(workgroup={self.workgroup})", "def run(out, a, n, m):",
            f"    i = {_flat('index', self.ndrange)}", f"    l = {_flat('local_index', self.workgroup)}",
            f"    s = pk.shared({self.width}, pk.{self.dtype})", "    v = a[i]", "    w = i * 3",
            f"    p = pk.private({random.randint(1, 4)}, pk.i32)", "    p[0] = v % 11",
        ]  # fmt: skip
        leaves = random.random() < 0.5
        if leaves:
            self.lines += ["    s[l] = 0", "    if i >= m:", "        return"]
        for _ in range(random.randint(1, 2)):
            self.phase("    ")
        if random.random() < 0.6:
            self.lines += [
                f"    for k in range({random.choice(('n', '3', 'n, 0, -2'))}):",
                "        w = w + k",
            ]
            self.phase("        ")
        if random.random() < 0.4:
            self.lines += [f"    c = {random.randint(1, 8)}", "    while c > 0:"]
            self.phase("        ")
            self.lines.append("        c //= 2")
        if random.random() < 0.4 and not leaves:
            op = random.choice(("add", "min", "max", "xor"))
            self.lines.append(f"    v = v + pk.group_reduce(w, {op!r}) + pk.subgroup_scan(w % 5)")
        stored = "v + w + p[0]"
        self.lines.append(f"    out[i] = {stored}")
        assert rank == len(self.ndrange)
        return "\n".join(self.lines) + "\n"

    def phase(self, indent: str) -> None:
        """Write, meet, read what another wrote, meet."""
        random, width = self.random, self.width
        other = random.choice((f"{width - 1} - l", f"(l + {random.randint(1, 5)}) % {width}", "l"))
        taken = random.choice(("True", "l % 2 == 0", "w > 20"))
        self.lines += [
            f"{indent}s[l] = (v + w) % 1009", f"{indent}pk.barrier()",
            f"{indent}v = v * 2 + (int(s[{other}]) if {taken} else 1)", f"{indent}v = v % 4093",
        ]  # fmt: skip
        if random.random() < 0.3:
            self.lines += [f"{indent}if l % 2 == 0:", f"{indent}    w = w + v % 7"]
        if random.random() < 0.3:
            self.lines.append(f"{indent}p[0] += v % 5")
        self.lines.append(f"{indent}pk.barrier()")


def _flat(name: str, shape: tuple[int, ...]) -> str:
    """The row-major number of a coordinate."""
    text = f"pk.{name}(0)"
    for d, length in enumerate(shape[1:], 1):
        text = f"({text}) * {length} + pk.{name}({d})"
    return text
