"""Which operations of a graph array programs take, and why the others stay in PyTorch.

Comes in: a graph of ATen operations with what their values are. Goes out: whether a node is taken. It is asked of the
rule that would write it, so there is no second list that could disagree.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Any

from pykern.torch.backend.costs import check_cost
from pykern.torch.backend.framework import Module, Node, OperatorSupportBase, Tensor, torch
from pykern.torch.backend.ops import TABLE
from pykern.torch.backend.writer import TYPES, NotTaken, Writer


class Support(OperatorSupportBase):
    """What the partitioner asks; `reasons` says why a node, by its name, is not taken."""

    def __init__(self) -> None:
        super().__init__()
        self.reasons: dict[str, str] = {}
        self._taken: dict[Node, bool] = {}

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Whether array programs take a node."""
        if node not in self._taken:
            try:
                check(node)
                self._taken[node] = True
            except NotTaken as why:
                self._taken[node] = False
                if node.op == "call_function":
                    self.reasons[node.name] = str(why)
        return self._taken[node]


def check(node: Node) -> None:
    """Raise `NotTaken` where a node stays in PyTorch."""
    if node.op != "call_function":
        raise NotTaken("no operation")
    rule = TABLE.get(node.target)
    if rule is None:
        raise NotTaken("no rule writes it")
    if node.target is operator.getitem:
        check(node.args[0])  # a result goes with what gives it
    for tensor in _tensors(node):
        _check_tensor(tensor)
    made = rule(Writer(hinted), node)
    values = hinted(node)
    if isinstance(made, str) != isinstance(values, Tensor):
        raise NotTaken("it has another number of results")
    check_cost(node, hinted)


def _tensors(node: Node) -> Iterator[Tensor]:
    """What a node is given. Of its results the first is looked at: others may be there in name alone."""
    for each in node.all_input_nodes:
        value = each.meta.get("val")
        if isinstance(value, Tensor):
            yield value
        elif not isinstance(value, tuple | list):
            raise NotTaken("it is given a number of run time")
    made = node.meta.get("val")
    results = made if isinstance(made, tuple | list) else (made,)
    yield from [v for v in results if isinstance(v, Tensor)][:1]


def _check_tensor(tensor: Tensor) -> None:
    if tensor.device.type != "cpu":
        raise NotTaken(f"a tensor lies on {tensor.device.type}")
    if tensor.layout != torch.strided or tensor.is_quantized:
        raise NotTaken("a tensor is sparse or quantised")
    if tensor.dtype not in TYPES:
        raise NotTaken(f"{tensor.dtype} is no type of array programs")
    if tensor.is_neg() or tensor.is_conj():
        raise NotTaken("a tensor is negated or conjugated when it is read")
    if any(hint(n) == 0 for n in tensor.shape):
        raise NotTaken("a tensor has no elements")


def hinted(node: Node) -> Any:
    """What a node's value is, with an example for each length that is known at run time alone."""
    value = node.meta["val"]
    if isinstance(value, Tensor):
        return _with_hints(value)
    return [_with_hints(v) for v in value] if isinstance(value, tuple | list) else value


def _with_hints(value: Any) -> Any:
    if not isinstance(value, Tensor) or all(isinstance(n, int) for n in (*value.shape, *value.stride())):
        return value
    lengths, strides = [hint(n) for n in value.shape], [hint(n) for n in value.stride()]
    return torch.empty_strided(lengths, strides, dtype=value.dtype, device="meta")


def hint(length: Any) -> int:
    """A length, or an example of it."""
    if isinstance(length, int):
        return length
    found = length.node.hint
    if found is None:
        raise NotTaken("a length follows from the data")
    return int(found)
