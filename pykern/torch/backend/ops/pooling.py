"""Pooling: the largest element of each window, or the mean, as operations on slices that lie a step apart."""

from __future__ import annotations

import math
import operator
from typing import Any

from pykern.torch.backend.framework import Node, aten
from pykern.torch.backend.writer import TYPES, NotTaken, Rule, Writer, argument, number

MOST_LENGTH = 32
"""Of a window along an axis: each place is an operand."""
LARGE = 1 << 18
"""Elements of a tensor from which on a copy with a rim around it costs more than windows at the rim that are apart."""


def _lengths(value: Any, rank: int, default: tuple[int, ...]) -> tuple[int, ...]:
    """One length for each axis that a window runs along."""
    if not value:
        return default
    given = tuple(value)
    return given * rank if len(given) == 1 else given


def _windows(
    w: Writer, node: Node, rank: int, around: str, least: tuple[int, ...] = ()
) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """The tensor with `around` at its rim, sizes of windows and the steps between them. `least` lengths are reached by
    a wider rim at the end."""
    x = node.args[0]
    size = _lengths(argument(node, 1, "kernel_size"), rank, ())
    step = _lengths(argument(node, 2, "stride"), rank, size)
    padding = _lengths(argument(node, 3, "padding"), rank, (0,) * rank)
    dtype = w.dtype(x)
    if not dtype.is_floating_point or max(size) > MOST_LENGTH:
        raise NotTaken("a window of integers, or a large one")
    shape = w.shape(x)
    ahead = len(shape) - rank
    whole = [n + 2 * p for n, p in zip(shape[ahead:], padding, strict=True)]
    wider = (*shape[:ahead], *map(max, whole, least or whole))
    if wider == shape:
        return w.name(x), size, step
    padded = w.let("padded", f"pk.full({wider!r}, {around}, dtype=pk.{TYPES[dtype]})")
    inside = [f"{p}:{p + n}" for n, p in zip(shape[ahead:], padding, strict=True)]
    w.lines.append(f"{padded}[..., {', '.join(inside)}] = {w.name(x)}")
    return padded, size, step


def _apart(
    w: Writer, node: Node, rank: int, around: str, made: tuple[int, ...], join: str, gap: tuple[int, ...] = ()
) -> str | None:
    """The elements of windows put together, where windows run along one axis beyond its ends: those inside are read
    from the tensor itself, and only the ends are copied with `around` beside them. None where that is not so."""
    x = node.args[0]
    shape, dtype = w.shape(x), w.dtype(x)
    size = _lengths(argument(node, 1, "kernel_size"), rank, ())
    step = _lengths(argument(node, 2, "stride"), rank, size)
    padding = _lengths(argument(node, 3, "padding"), rank, (0,) * rank)
    long = [a for a in range(rank) if (size[a], step[a], padding[a]) != (1, 1, 0)]
    if len(long) != 1 or math.prod(shape) < LARGE or max(size) > MOST_LENGTH or not dtype.is_floating_point:
        return None
    [axis] = long
    n, k, s, p, count = shape[axis - rank], size[axis], step[axis], padding[axis], made[axis]
    reach = (k - 1) * (gap[axis] if gap else 1) + 1
    first, last = -(-p // s), min(count, (n - reach + p) // s + 1)
    if (not p and last == count) or last <= first:
        return None
    pieces = [(begin, end) for begin, end in ((0, first), (first, last), (last, count)) if begin < end]
    kind, rest = f"dtype=pk.{TYPES[dtype]}", ", :" * (rank - 1 - axis)
    behind = shape[len(shape) - rank + axis + 1 :]
    whole = w.let("whole", f"pk.empty({(*shape[: axis - rank], count, *behind)!r}, {kind})")
    for begin, end in pieces:
        start, length = begin * s - p, (end - 1 - begin) * s + reach
        inside = range(max(0, start), min(n, start + length))
        taken = f"{w.name(x)}[..., {inside.start}:{inside.stop}{rest}]"
        if len(inside) < length:
            copied = w.let("end", f"pk.full({(*shape[: axis - rank], length, *behind)!r}, {around}, {kind})")
            w.lines.append(f"{copied}[..., {inside.start - start}:{inside.stop - start}{rest}] = {taken}")
        else:
            copied = w.let("inside", taken)
        part = tuple(end - begin if a == axis else m for a, m in enumerate(made))
        w.lines.append(
            f"{whole}[..., {begin}:{end}{rest}] = {_joined(w, copied, size, step, part, join, gap)}"
        )
    return whole


def _joined(
    w: Writer,
    name: str,
    size: tuple,
    step: tuple,
    made: tuple[int, ...],
    join: str,
    gap: tuple[int, ...] = (),
) -> str:
    """The elements of windows put together, one axis after the other; `join` takes two of them. `gap` lies between the
    elements of a window."""
    rank = len(size)
    for axis in range(rank):
        if size[axis] == step[axis] == 1:
            continue
        reach = (made[axis] - 1) * step[axis] + 1
        rest = ", :" * (rank - 1 - axis)
        places = [k * (gap[axis] if gap else 1) for k in range(size[axis])]
        parts = [f"{name}[..., {k}:{k + reach}:{step[axis]}{rest}]" for k in places]
        whole = parts[0]
        for part in parts[1:]:
            whole = join.format(whole, part)
        name = w.let("pooled", whole)
    return name


def _largest(rank: int) -> Rule:
    def rule(w: Writer, node: Node) -> tuple[str, str]:
        if any(user.target is not operator.getitem or user.args[1] != 0 for user in node.users):
            raise NotTaken("the places of the largest elements are needed")
        made = w.value(node)[0].shape[-rank:]
        gap = _lengths(argument(node, 4, "dilation"), rank, (1,) * rank)
        size = _lengths(argument(node, 1, "kernel_size"), rank, ())
        step = _lengths(argument(node, 2, "stride"), rank, size)
        reach = [(n - 1) * s + (k - 1) * g + 1 for n, s, k, g in zip(made, step, size, gap, strict=True)]
        apart = _apart(w, node, rank, "-inf", tuple(made), "pk.maximum({}, {})", gap)
        if apart is not None:
            return apart, "0"
        # In ceil mode the last windows go beyond the rim.
        name, size, step = _windows(w, node, rank, "-inf", tuple(reach))
        return _joined(w, name, size, step, tuple(made), "pk.maximum({}, {})", gap), "0"

    return rule


def _mean(rank: int) -> Rule:
    def rule(w: Writer, node: Node) -> str:
        padding, ceil = argument(node, 3, "padding"), argument(node, 4, "ceil_mode", False)
        counted, divisor = argument(node, 5, "count_include_pad", True), argument(node, 6, "divisor_override")
        if ceil or divisor is not None or (any(padding or ()) and not counted):
            raise NotTaken("a mean of windows beyond the rim")
        if w.computed_in(node) != w.dtype(node):
            raise NotTaken(f"a mean of windows of {w.dtype(node)}")
        made, size = tuple(w.shape(node)[-rank:]), _lengths(argument(node, 1, "kernel_size"), rank, ())
        total = _apart(w, node, rank, "0.0", made, "{} + {}")
        if total is None:
            name, size, step = _windows(w, node, rank, "0.0")
            total = _joined(w, name, size, step, made, "{} + {}")
        return f"{total} * {number(1 / math.prod(size), w.dtype(node))}"

    return rule


RULES: dict[object, Rule] = {
    aten.max_pool2d_with_indices.default: _largest(2), aten.max_pool3d_with_indices.default: _largest(3),
    aten.avg_pool2d.default: _mean(2), aten.avg_pool3d.default: _mean(3),
}  # fmt: skip
