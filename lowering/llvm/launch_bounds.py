"""`pk_outside`: whether a launch would touch what lies outside of its arrays. LLVM IR text, an object of its own.

Comes in: `LaunchBounds`, and where the numbers of a launch are found. Goes out: a few comparisons on lengths, once a
launch; where one fails the entry goes on to Python, which raises what it says (`pykern.data.launch_bounds`). It is one
block of short operations, of which the quick code generator makes as good code as the optimiser, in a quarter of the
time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pykern.data.integer_expressions import COMPARISONS, Node
from pykern.data.launch_bounds import LaunchBounds
from pykern.data.source import ArraySpec, KernelSource, leaves

_OPS = {"smin": "llvm.smin", "smax": "llvm.smax"}


def outside_text(bounds: LaunchBounds, source: KernelSource) -> str:
    """The function, over the cells of a launch."""
    places = given_cells(source)

    def load(number: int) -> Iterator[str]:
        yield f"  %p{number} = getelementptr i64, ptr %slots, i64 {places[number]}"
        yield f"  %g{number} = load i64, ptr %p{number}"

    lines, total = any_outside(bounds, load)
    head = [*declarations(bounds), "define hidden i1 @pk_outside(ptr %slots) {"]
    return "\n".join([*head, *lines, f"  ret i1 {total}", "}", ""])


def any_outside(bounds: LaunchBounds, load: Callable[[int], Iterator[str]]) -> tuple[list[str], str]:
    """Lines that find out, and the name of the answer. `load` gives the lines of ``%g<k>``, 64 bits."""
    lines = list(expression_lines(bounds.nodes, load))
    total = "false"
    for n, check in enumerate(bounds.accesses):
        lines.append(f"  %any{n} = or i1 {total}, {_name(check.fails, bounds.nodes)}")
        total = f"%any{n}"
    if bounds.several >= 0:
        lines.append(f"  %several = or i1 {total}, {_name(bounds.several, bounds.nodes)}")
        total = "%several"
    return lines, total


def declarations(bounds: LaunchBounds) -> list[str]:
    """Of what the lines call."""
    called = sorted({(node[0], node[1]) for node in bounds.nodes if node[0] in _OPS})
    return [f"declare i{bits} @{_OPS[name]}.i{bits}(i{bits}, i{bits})" for name, bits in called]


def given_cells(source: KernelSource) -> list[int]:
    """The cell of each number of a launch in the order of `pykern.data.launch_bounds`; plain launches have counts."""
    places: list[int] = []
    cell = 0
    for parameter in source.parameters:
        for spec in leaves(parameter.spec):
            if isinstance(spec, ArraySpec):
                places += range(cell + 1, cell + 1 + spec.rank)
                cell += 1 + spec.rank * (1 if spec.layout == "C" else 2)
            else:
                places.append(cell)
                cell += 1
    if source.launch.shared:
        places.append(cell)
        cell += 1
    for _ in range(source.launch.rank):
        width = 1 if source.launch.plain else 3
        places += [*range(cell, cell + width), *[-1] * (3 - width)]
        cell += width
    return places


def expression_lines(nodes: tuple[Node, ...], load: Callable[[int], Iterator[str]]) -> Iterator[str]:
    """A line or a few for each node that needs any: `_name` says what it is called then."""
    for n, (name, bits, *rest) in enumerate(nodes):
        if name == "given":
            yield from load(rest[0])
            if bits < 64:
                yield f"  %e{n} = trunc i64 %g{rest[0]} to i{bits}"
        elif name != "const":
            yield from _op(n, name, bits, rest, nodes)


def _name(number: int, nodes: tuple[Node, ...]) -> str:
    name, bits, *rest = nodes[number]
    if name == "const":
        return str(rest[0])
    return f"%g{rest[0]}" if name == "given" and bits == 64 else f"%e{number}"


def _op(n: int, name: str, bits: int, operands: list[int], nodes: tuple[Node, ...]) -> Iterator[str]:
    width = nodes[operands[-1]][1]
    names = [_name(number, nodes) for number in operands]
    a, b = names[0], names[-1]
    if name in COMPARISONS:
        yield f"  %e{n} = icmp {name} i{width} {a}, {b}"
    elif name in ("sext", "zext", "trunc"):
        yield f"  %e{n} = {name} i{width} {a} to i{bits}"
    elif name == "select":
        yield f"  %e{n} = select i1 {a}, i{bits} {names[1]}, i{bits} {b}"
    elif name in _OPS:
        yield f"  %e{n} = call i{bits} @{_OPS[name]}.i{bits}(i{bits} {a}, i{bits} {b})"
    elif name in ("floordiv", "sdiv", "srem"):
        yield from _division(n, name, bits, a, b)
    else:
        yield f"  %e{n} = {name} i{bits} {a}, {b}"


def _division(n: int, name: str, bits: int, a: str, b: str) -> Iterator[str]:
    """By at least 1: what is divided by less is not looked at."""
    yield f"  %low{n} = icmp slt i{bits} {b}, 1"
    yield f"  %by{n} = select i1 %low{n}, i{bits} 1, i{bits} {b}"
    if name != "floordiv":
        yield f"  %e{n} = {name} i{bits} {a}, %by{n}"
        return
    yield f"  %q{n} = sdiv i{bits} {a}, %by{n}"
    yield f"  %r{n} = srem i{bits} {a}, %by{n}"
    yield f"  %neg{n} = icmp slt i{bits} %r{n}, 0"
    yield f"  %less{n} = sext i1 %neg{n} to i{bits}"
    yield f"  %e{n} = add i{bits} %q{n}, %less{n}"
