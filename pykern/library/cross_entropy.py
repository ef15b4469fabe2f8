"""A linear layer and the cross entropy of its softmax, without the logits in memory as a whole.

Comes in: the rows before the layer, its weights, and the right classes. Goes out: the mean loss. Both parts go
through blocks of classes: the forward part with a running maximum and sum, the backward part computes the logits of
a block again.

Source: E. Wijmans et al., Cut Your Losses in Large-Vocabulary Language Models, arXiv 2411.09009.
"""

# pyright: reportArgumentType=false
# Parameters that are `pk.static` have defaults: None, numbers, words.

from __future__ import annotations

from typing import Any

import pykern as pk
from pykern.library.checks import is_integer, is_whole
from pykern.library.function import library_function
from pykern.library.precision import alike, wide

CLASSES = 1024
"""Classes whose logits are computed together."""


def block_of(weight: Any, start: Any, stop: Any, x: Any, target: Any) -> Any:
    """The logits of some classes, and which of them are the right ones."""
    logits = x @ weight[start:stop].T
    return logits, (target - start)[:, None] == pk.arange(logits.shape[1])


def added(top: Any, total: Any, chosen: Any, logits: Any, is_target: Any) -> Any:
    """The running maximum, the sum of exponentials relative to it, and the logit of the right class."""
    found = pk.maximum(top, logits.max(axis=1))
    total = total * pk.exp(top - found) + pk.exp(logits - found[:, None]).sum(axis=1)
    return found, total, chosen + pk.where(is_target, logits, 0).sum(axis=1)


def sums(x: Any, weight: Any, target: Any) -> Any:
    """Of each row: the logarithm of the sum of exponentials of its logits, and the logit of the right class."""
    n, classes = x.shape[0], weight.shape[0]
    top = pk.full((n,), -pk.inf, x.dtype)
    total, chosen = pk.zeros((n,), x.dtype), pk.zeros((n,), x.dtype)
    whole = classes - classes % CLASSES
    if whole:
        for block in pk.range(classes // CLASSES):
            start = block * CLASSES
            logits, is_target = block_of(weight, start, start + CLASSES, x, target)
            top, total, chosen = added(top, total, chosen, logits, is_target)
    if whole != classes:
        logits, is_target = block_of(weight, whole, classes, x, target)
        top, total, chosen = added(top, total, chosen, logits, is_target)
    return top + pk.log(total), chosen


def losses(x: Any, weight: Any, target: Any) -> Any:
    """The cross entropy of each row."""
    logsumexp, chosen = sums(x, weight, target)
    return logsumexp - chosen


def forward(x: Any, weight: Any, target: Any) -> Any:
    """The losses, and what the gradients need."""
    logsumexp, chosen = sums(x, weight, target)
    return logsumexp - chosen, (x, weight, target, logsumexp)


def block_gradients(kept: Any, g: Any, start: Any, stop: Any) -> Any:
    """What some classes add to the gradient by the rows, and the gradient by their weights."""
    x, weight, target, logsumexp = kept
    logits, is_target = block_of(weight, start, stop, x, target)
    slope = (pk.exp(logits - logsumexp[:, None]) - is_target) * g[:, None]
    return slope @ weight[start:stop], slope.T @ x


def backward(kept: Any, g: Any) -> Any:
    """Gradients by the rows and the weights."""
    x, weight = kept[0], kept[1]
    dx, dweight = pk.zeros_like(x), pk.zeros_like(weight)
    classes = weight.shape[0]
    whole = classes - classes % CLASSES
    if whole:
        for block in pk.range(classes // CLASSES):
            start = block * CLASSES
            of_x, of_weight = block_gradients(kept, g, start, start + CLASSES)
            dx = dx + of_x
            dweight[start : start + CLASSES] = of_weight
    if whole != classes:
        of_x, of_weight = block_gradients(kept, g, whole, classes)
        dx = dx + of_x
        dweight[whole:classes] = of_weight
    return dx, dweight, None


differentiable = pk.custom_vjp(losses)
differentiable.defvjp(forward, backward)


@library_function()
def linear_cross_entropy(x: Any, weight: Any, target: Any, *, ignore_index: pk.static = -100) -> Any:
    """The mean cross entropy of ``softmax(x @ weight.T)`` against the classes `target`.

    `x` is (..., inner), `weight` is (classes, inner), `target` has integers in the shape of the rows of `x`. Rows
    whose target is `ignore_index` do not count; without any that counts the mean is NaN, as in PyTorch, and so it
    is where a target is no class. The result is a number, of the dtype of `x`, f32 for f16 and bf16.
    """
    assert len(x.shape) >= 1, "`x` is (..., inner)"
    inner = x.shape[-1]
    assert len(weight.shape) == 2, "`weight` is (classes, inner)"
    assert weight.shape[1] == inner, "the rows of `weight` are as long as those of `x`"
    assert is_integer(target), "`target` has integers, the numbers of classes"
    assert target.shape == x.shape[:-1], "`target` has a class for each row of `x`"
    assert is_whole(ignore_index), "`ignore_index` is an integer"
    right = target.reshape(-1)
    rows, weight = alike((x, weight))
    rows = rows.reshape(right.shape[0], inner)
    counts, is_class = right != ignore_index, (right >= 0) & (right < weight.shape[0])
    found = pk.where(is_class, differentiable(rows, weight, right), pk.nan)
    mean = pk.where(counts, found, 0).sum() / counts.sum().astype(rows.dtype)
    return mean.astype(wide(x).dtype)
