"""Softmax and the norms of layers, groups and batches, as PyTorch defines them."""

from __future__ import annotations

import math

from pykern.torch.backend.framework import Node, aten, torch
from pykern.torch.backend.writer import HALVES, DType, NotTaken, Rule, Writer, cast


def _softmax(logarithm: bool) -> Rule:
    def rule(w: Writer, node: Node) -> str:
        x, dim = node.args[:2]
        if not w.shape(x):
            raise NotTaken("a softmax of one number")
        how = f"axis={dim % len(w.shape(x))}, keepdims=True"
        given = w.let("x", w.operand(x, w.computed_in(node)))
        below = w.let("below", f"{given} - pk.max({given}, {how})")
        if logarithm:
            return w.rounded(f"{below} - pk.log(pk.sum(pk.exp({below}), {how}))", node)
        powers = w.let("powers", f"pk.exp({below})")
        return w.rounded(f"{powers} / pk.sum({powers}, {how})", node)

    return rule


def _typed(w: Writer, node: Node) -> tuple[DType, list[DType]]:
    """The type to compute in, and the types of the results."""
    results = [t.dtype for t in w.value(node)]
    return torch.float32 if results[0] in HALVES else results[0], results


def _scaled(w: Writer, made: str, weight: Node | None, bias: Node | None, form: tuple, dtype: DType) -> str:
    """Times a weight and plus a bias, each in the `form` that broadcasts."""
    if weight is not None:
        made = f"{made} * pk.reshape({w.operand(weight, dtype)}, {form!r})"
    if bias is not None:
        made = f"{made} + pk.reshape({w.operand(bias, dtype)}, {form!r})"
    return made


def _standard(w: Writer, x: str, dims: tuple[int, ...], eps: float) -> tuple[str, str, str, str]:
    """The elements less their mean and over their deviation; the mean; the inverse of the deviation; the variance."""
    how = f"axis={dims!r}, keepdims=True"
    mean = w.let("mean", f"pk.mean({x}, {how})")
    centred = w.let("centred", f"{x} - {mean}")
    variance = w.let("variance", f"pk.mean({centred} * {centred}, {how})")
    rstd = w.let("rstd", f"1 / pk.sqrt({variance} + {eps!r})")
    return f"{centred} * {rstd}", mean, rstd, variance


def _layer_norm(w: Writer, node: Node) -> tuple[str, ...]:
    x, lengths, weight, bias, eps = node.args
    dtype, results = _typed(w, node)
    rank = len(w.shape(x))
    dims = tuple(range(rank - len(lengths), rank))
    made, mean, rstd, _ = _standard(w, w.let("x", w.operand(x, dtype)), dims, eps)
    made = _scaled(w, made, weight, bias, tuple(w.shape(x)[d] for d in dims), dtype)
    return tuple(cast(f"({each})", dtype, to) for each, to in zip((made, mean, rstd), results, strict=True))


def _group_norm(w: Writer, node: Node) -> tuple[str, ...]:
    x, _, _, samples, channels, inner, groups, eps = node.args
    if any(isinstance(n, Node) for n in (samples, channels, inner, groups)):
        raise NotTaken("a group norm of lengths known at run time")
    dtype, results = _typed(w, node)
    each = channels // groups
    given_x = w.let("x", w.operand(x, dtype))
    rows = w.let("rows", f"pk.reshape({given_x}, {(samples * groups, each * inner)!r})")
    _, mean, rstd, _ = _standard(w, rows, (1,), eps)
    scale, shift = _by_channel(w, node, (mean, rstd), (samples, groups, each), dtype)
    form = (samples, channels, 1)
    elements = f"pk.reshape({given_x}, {(samples, channels, inner)!r})"
    made = f"{elements} * pk.reshape({scale}, {form!r}) + pk.reshape({shift}, {form!r})"
    given = (
        f"pk.reshape({made}, {w.shape(x)!r})",
        *(f"pk.reshape({name}, {(samples, groups)!r})" for name in (mean, rstd)),
    )
    return tuple(cast(f"({one})", dtype, to) for one, to in zip(given, results, strict=True))


def _by_channel(
    w: Writer, node: Node, of: tuple[str, str], lengths: tuple[int, int, int], dtype: DType
) -> tuple[str, str]:
    """Of a group norm: what each channel is multiplied by, and what is added. `lengths`: samples, groups, channels of a
    group. Elements are then gone over once more, in the form they have, and not in that of the groups."""
    samples, groups, each = lengths
    weight, bias = node.args[1:3]
    mean, rstd = (f"pk.reshape({name}, {(samples, groups, 1)!r})" for name in of)
    factor = f"pk.broadcast_to({rstd}, {lengths!r})"
    if weight is not None:
        factor = f"{rstd} * pk.reshape({w.operand(weight, dtype)}, {(groups, each)!r})"
    scale = w.let("scale", factor)
    added = "" if bias is None else f"pk.reshape({w.operand(bias, dtype)}, {(groups, each)!r}) "
    return scale, w.let("shift", f"{added}- {mean} * {scale}")


def _channels(w: Writer, x: Node) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes that a batch norm sums over, and the form in which channels broadcast."""
    rank = len(w.shape(x))
    return tuple(d for d in range(rank) if d != 1), (-1, *(1,) * (rank - 2))


def _batch_norm_with(w: Writer, node: Node) -> tuple[str, ...]:
    """By statistics that are given."""
    x, weight, bias, mean, variance, _, eps = node.args
    dtype, results = _typed(w, node)
    _, form = _channels(w, x)
    given = w.let("x", w.operand(x, dtype))
    centred = f"{given} - pk.reshape({w.operand(mean, dtype)}, {form!r})"
    rstd = w.let("rstd", f"pk.reshape(1 / pk.sqrt({w.operand(variance, dtype)} + {eps!r}), {form!r})")
    made = _scaled(w, f"({centred}) * {rstd}", weight, bias, form, dtype)
    empty = tuple("pk.zeros((0,), dtype=pk.f32)" for _ in results[1:])
    return cast(f"({made})", dtype, results[0]), *empty


def _batch_norm(w: Writer, node: Node) -> tuple[str, ...]:
    """By the statistics of the batch, and new running ones where there are any."""
    has_running = node.target is not aten._native_batch_norm_legit.no_stats
    x, weight, bias = node.args[:3]
    training, momentum, eps = node.args[-3:]
    if not training:
        raise NotTaken("a batch norm that keeps its statistics")
    dtype, results = _typed(w, node)
    dims, form = _channels(w, x)
    given = w.let("x", w.operand(x, dtype))
    made, mean, rstd, variance = _standard(w, given, dims, eps)
    made = cast(f"({_scaled(w, made, weight, bias, form, dtype)})", dtype, results[0])
    flat = [w.let("statistics", f"pk.reshape({name}, (-1,))") for name in (mean, rstd)]
    if not has_running:
        return made, *flat
    count = math.prod(w.shape(x)[d] for d in dims)
    if count < 2:
        raise NotTaken("a batch norm of one value for each channel")
    unbiased = f"pk.reshape({variance}, (-1,)) * {count / (count - 1)!r}"
    running = [w.operand(each, dtype) for each in node.args[3:5]]
    pairs = zip((flat[0], unbiased), running, strict=True)
    new = [f"{momentum!r} * {now} + {1 - momentum!r} * {old}" for now, old in pairs]
    typed = [cast(f"({each})", dtype, to) for each, to in zip(new, results[3:], strict=True)]
    return made, *flat, *typed


RULES: dict[object, Rule] = {
    aten._softmax.default: _softmax(False), aten._log_softmax.default: _softmax(True),
    aten.native_layer_norm.default: _layer_norm, aten.native_group_norm.default: _group_norm,
    aten._native_batch_norm_legit_no_training.default: _batch_norm_with,
    aten._native_batch_norm_legit.no_stats: _batch_norm,
    aten._native_batch_norm_legit_functional.default: _batch_norm,
}  # fmt: skip
COMPOSITE = frozenset(RULES)
"""Operations that go over their elements more than once."""
