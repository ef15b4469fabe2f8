"""Gates that a reversed loop carries and that nothing reads are taken out of it again.

A loop is written before it is known who asks for the gates of what flows on (`rules.gates`). Comes in: a function
with reversed loops. Goes out: the same, whose loops carry no bit, and no tensor of bytes, that only makes itself.
"""

from __future__ import annotations

from mlir import ir

from pykern.passes.ir.values import free_values, is_argument
from pykern.passes.kernels import body, find, identity, terminator

_PURE = (
    "arith.",
    "math.",
    "tensor.",
    "linalg.",
    "affine.",
    "bufferization.",
    "builtin.",
    "memref.load",
    "memref.dim",
)
_DECIDING = {"scf.for": 3, "scf.if": 1}
"""How many operands decide what is run."""
_ENDS = ("scf.yield", "scf.condition", "linalg.yield", "tensor.yield")


def drop_unread_gates(function: ir.Operation) -> None:
    """Take the gates out of the loops of `function` that nothing but themselves reads."""
    loops = [op for op in find(function, lambda op: op.name == "scf.for") if _gates(op)]
    if not loops:
        return
    live = _Live(function).values
    for loop in loops:  # those inside first
        dead = [k for k in _gates(loop) if not {loop.results[k], body(loop).arguments[k + 1]} & live]
        if dead:
            _without(loop, set(dead))


def _without(loop: ir.Operation, dead: set[int]) -> None:
    """The loop without the carried values `dead`; what is left of their arithmetic reads what they began with."""
    block = body(loop)
    end = block.operations[len(block.operations) - 1].operation
    kept = [k for k in range(len(loop.results)) if k not in dead]
    with loop.location, ir.InsertionPoint(loop):
        operands = [*list(loop.operands)[:3], *(loop.operands[3 + k] for k in kept)]
        types = [loop.results[k].type for k in kept]
        made = ir.Operation.create("scf.for", results=types, operands=operands, regions=1)
    for name in loop.attributes.keys():  # noqa: SIM118
        made.attributes[name] = loop.attributes[name]
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create("scf.yield", operands=[end.operands[k] for k in kept])
    end.erase()
    for k in sorted(dead, reverse=True):
        start = loop.operands[3 + k]
        block.arguments[k + 1].replace_all_uses_with(start)
        loop.results[k].replace_all_uses_with(start)
        block.erase_argument(k + 1)
    block.append_to(made.regions[0])
    for k, result in zip(kept, made.results, strict=True):
        loop.results[k].replace_all_uses_with(result)
    loop.erase()


def _gates(loop: ir.Operation) -> list[int]:
    """The numbers of carried values that are bits, or tensors of bytes."""
    return [k for k, result in enumerate(loop.results) if _is_gate(result.type)]


def _is_gate(kind: ir.Type) -> bool:
    element = kind.element_type if isinstance(kind, ir.RankedTensorType) else kind
    width = 8 if isinstance(kind, ir.RankedTensorType) else 1
    return isinstance(element, ir.IntegerType) and element.width == width


class _Live:
    """The values on which what a function does or gives depends."""

    def __init__(self, function: ir.Operation) -> None:
        self._decided: dict[int, list[ir.Value]] = {}
        self.values: set[ir.Value] = set()
        waiting: list[ir.Value] = []
        for op in find(
            function, lambda op: not op.name.startswith((*_PURE, "scf.")) and op.name not in _ENDS
        ):
            waiting += [*_read(op), *self._around(op)]
        while waiting:
            value = waiting.pop()
            if value not in self.values:
                self.values.add(value)
                waiting += self._behind(value)

    def _behind(self, value: ir.Value) -> list[ir.Value]:
        """What a value is made of."""
        if is_argument(value):
            op, number = value.owner.owner.operation, value.arg_number
            if op.name == "scf.for":
                return _carried(op, number - 1) if number else list(op.operands)[:3]
            return _read(op) if op.name == "scf.while" else []
        op = value.owner.operation
        around, number = self._around(op), list(op.results).index(value)
        if op.name == "scf.for":
            return [*list(op.operands)[:3], *_carried(op, number), *around]
        if op.name == "scf.if":
            ends = [
                terminator(region.blocks[0]).operands[number] for region in op.regions if len(region.blocks)
            ]
            return [op.operands[0], *ends, *around]
        return [*_read(op), *around]

    def _around(self, op: ir.Operation) -> list[ir.Value]:
        """What decides whether an op is run: conditions and bounds of the regions around it."""
        parent = op.parent
        if parent is None or not parent.operation.name.startswith("scf."):
            return []
        outer = parent.operation
        key = identity(outer)
        if key not in self._decided:
            own = (
                _read(outer)
                if outer.name == "scf.while"
                else list(outer.operands)[: _DECIDING.get(outer.name)]
            )
            self._decided[key] = [*own, *self._around(outer)]
        return self._decided[key]


def _carried(loop: ir.Operation, number: int) -> list[ir.Value]:
    return [loop.operands[3 + number], terminator(body(loop)).operands[number]]


def _read(op: ir.Operation) -> list[ir.Value]:
    """What an op reads, its regions included."""
    if op.name == "scf.while":
        return [v for inner in (*find(op, lambda _: True), op) for v in inner.operands]
    return free_values(op)
