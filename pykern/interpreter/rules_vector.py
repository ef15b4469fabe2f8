"""How vector reads in Python: vectors are NumPy arrays."""

from __future__ import annotations

import math

from mlir import ir

from pykern.interpreter.emit import Emitter, NoReading, integers, is_vector, rule, template
from pykern.interpreter.rules_memref import DYNAMIC

template("np.stack([{0}, {1}], axis=-1).reshape(-1)", "vector.interleave")


def shape_of(kind: ir.Type) -> tuple[int, ...]:
    return tuple(ir.VectorType(kind).shape)


@rule("vector.broadcast", "vector.splat")
def _broadcast(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, f"np.broadcast_to({e.name(op.operands[0])}, {shape_of(op.results[0].type)}).copy()")


@rule("vector.shape_cast")
def _reshape(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, f"{e.name(op.operands[0])}.reshape({shape_of(op.results[0].type)})")


@rule("vector.bitcast")
def _bits(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, f"np.ascontiguousarray({e.name(op.operands[0])}).view({e.dtype(op.results[0].type)})")


@rule("vector.step")
def _step(e: Emitter, op: ir.Operation) -> None:
    e.assign(op, f"np.arange({shape_of(op.results[0].type)[0]}, dtype=np.int64)")


@rule("vector.from_elements")
def _elements(e: Emitter, op: ir.Operation) -> None:
    values = ", ".join(map(e.name, op.operands))
    kind = op.results[0].type
    e.assign(op, f"np.array([{values}], {e.dtype(kind)}).reshape({shape_of(kind)})")


@rule("vector.to_elements")
def _to_elements(e: Emitter, op: ir.Operation) -> None:
    for n, result in enumerate(op.results):
        e.line(f"{e.name(result)} = {e.name(op.operands[0])}.reshape(-1)[{n}]")


@rule("vector.load")
def _load(e: Emitter, op: ir.Operation) -> None:
    memory, *index = map(e.name, op.operands)
    shape = shape_of(op.results[0].type)
    e.assign(op, f"{memory}.many({math.prod(_flat(shape))}, {', '.join(index)}).reshape({shape})")


@rule("vector.store")
def _store(e: Emitter, op: ir.Operation) -> None:
    value, memory, *index = map(e.name, op.operands)
    _flat(shape_of(op.operands[0].type))
    e.line(f"{memory}.put_many({', '.join([f'{value}.reshape(-1)', *index])})")


def _flat(shape: tuple[int, ...]) -> tuple[int, ...]:
    if any(n != 1 for n in shape[:-1]):
        raise NoReading("a vector of several dimensions in memory has no reading")
    return shape


@rule("vector.maskedload")
def _masked_load(e: Emitter, op: ir.Operation) -> None:
    memory, *index, mask, other = map(e.name, op.operands)
    *outer, last = index
    lanes = ", ".join([*outer, f"int({last}) + n"])
    items = f"{memory}.load({lanes}) if m else o for n, (m, o) in enumerate(zip({mask}, {other}))"
    e.assign(op, f"np.array([{items}], {e.dtype(op.results[0].type)})")


@rule("vector.maskedstore")
def _masked_store(e: Emitter, op: ir.Operation) -> None:
    memory, *index, mask, value = map(e.name, op.operands)
    *outer, last = index
    with e.block(f"for n, (m, x) in enumerate(zip({mask}, {value})):"):
        e.line(f"if m: {memory}.store({', '.join(['x', *outer, f'int({last}) + n'])})")


@rule("vector.gather")
def _gather(e: Emitter, op: ir.Operation) -> None:
    memory, *index, places, mask, other = map(e.name, op.operands)
    *outer, last = index
    lanes = ", ".join([*outer, f"int({last}) + int(p)"])
    items = f"{memory}.load({lanes}) if m else o for p, m, o in zip({places}, {mask}, {other})"
    e.assign(op, f"np.array([{items}], {e.dtype(op.results[0].type)})")


@rule("vector.scatter")
def _scatter(e: Emitter, op: ir.Operation) -> None:
    memory, *index, places, mask, value = map(e.name, op.operands)
    *outer, last = index
    with e.block(f"for p, m, x in zip({places}, {mask}, {value}):"):
        e.line(f"if m: {memory}.store({', '.join(['x', *outer, f'int({last}) + int(p)'])})")


@rule("vector.create_mask")
def _mask(e: Emitter, op: ir.Operation) -> None:
    (length,) = shape_of(op.results[0].type)
    e.assign(op, f"np.arange({length}) < {e.name(op.operands[0])}")


@rule("vector.constant_mask")
def _known_mask(e: Emitter, op: ir.Operation) -> None:
    (length,), (size,) = shape_of(op.results[0].type), integers(op, "mask_dim_sizes")
    e.assign(op, f"np.arange({length}) < {size}")


def _position(e: Emitter, op: ir.Operation, given: list[str]) -> str:
    others = iter(given)
    places = [next(others) if n == DYNAMIC else str(n) for n in integers(op, "static_position")]
    return ", ".join(places)


@rule("vector.extract")
def _extract(e: Emitter, op: ir.Operation) -> None:
    vector, *given = map(e.name, op.operands)
    e.assign(op, f"{vector}[{_position(e, op, given) or '...'}]")


@rule("vector.insert")
def _insert(e: Emitter, op: ir.Operation) -> None:
    value, vector, *given = map(e.name, op.operands)
    e.assign(op, f"{vector}.copy()")
    e.line(f"{e.name(op.results[0])}[{_position(e, op, given) or '...'}] = {value}")


@rule("vector.extractelement", "llvm.extractelement")
def _take(e: Emitter, op: ir.Operation) -> None:
    vector, *place = map(e.name, op.operands)
    e.assign(op, f"{vector}[{place[0] if place else '()'}]")


@rule("vector.insertelement")
def _put(e: Emitter, op: ir.Operation) -> None:
    value, vector, *place = map(e.name, op.operands)
    e.assign(op, f"{vector}.copy()")
    e.line(f"{e.name(op.results[0])}[{place[0] if place else '()'}] = {value}")


@rule("llvm.insertelement")
def _put_lane(e: Emitter, op: ir.Operation) -> None:
    vector, value, place = map(e.name, op.operands)
    e.assign(op, f"{vector}.copy()")
    e.line(f"{e.name(op.results[0])}[{place}] = {value}")


@rule("vector.shuffle", "llvm.shufflevector")
def _shuffle(e: Emitter, op: ir.Operation) -> None:
    one, other = map(e.name, op.operands)
    mask = [max(n, 0) for n in integers(op, "mask")]
    e.assign(op, f"np.concatenate([{one}, {other}])[{e.object(mask)}]")


@rule("vector.extract_strided_slice")
def _slice(e: Emitter, op: ir.Operation) -> None:
    (first,), (size,) = integers(op, "offsets"), integers(op, "sizes")
    e.assign(op, f"{e.name(op.operands[0])}[{first}:{first + size}]")


@rule("vector.insert_strided_slice")
def _put_slice(e: Emitter, op: ir.Operation) -> None:
    value, vector = map(e.name, op.operands)
    (first,) = integers(op, "offsets")
    e.assign(op, f"{vector}.copy()")
    e.line(f"{e.name(op.results[0])}[{first}:{first} + len({value})] = {value}")


_KINDS = {
    "add": "add", "mul": "mul", "minsi": "min", "maxsi": "max", "minui": "umin", "maxui": "umax", "and": "and",
    "or": "or", "xor": "xor", "minimumf": "min", "maximumf": "max", "minnumf": "min", "maxnumf": "max",
    "fadd": "add", "fmul": "mul", "smin": "min", "smax": "max", "umin": "umin", "umax": "umax",
    "fmin": "min", "fmax": "max", "fminimum": "min", "fmaximum": "max",
}  # fmt: skip


@rule("vector.reduction")
def _reduce(e: Emitter, op: ir.Operation) -> None:
    vector, *start = map(e.name, op.operands)
    text = str(op.attributes["kind"])
    kind = _KINDS[text[text.index("<") + 1 : text.index(">")]]
    _fold(e, op, kind, vector, start)


def _fold(e: Emitter, op: ir.Operation, kind: str, vector: str, start: list[str]) -> None:
    result = e.name(op.results[0])
    first, rest = (start[0], vector) if start else (f"{vector}[0]", f"{vector}[1:]")
    e.line(f"{result} = {first}")
    with e.block(f"for x in {rest}:"):
        e.line(f"{result} = nb.COMBINE[{kind!r}]({result}, x)")


def _llvm_reduction(name: str, kind: str) -> None:
    def emit(e: Emitter, op: ir.Operation) -> None:
        *start, vector = map(e.name, op.operands)
        _fold(e, op, kind, vector, start)

    rule(f"llvm.intr.vector.reduce.{name}")(emit)


for _name, _kind in _KINDS.items():
    _llvm_reduction(_name, _kind)


@rule("vector.transfer_read")
def _read(e: Emitter, op: ir.Operation) -> None:
    memory, *others = map(e.name, op.operands)
    rank = (
        len(ir.MemRefType(op.operands[0].type).shape)
        if isinstance(op.operands[0].type, ir.MemRefType)
        else -1
    )
    shape = shape_of(op.results[0].type)
    if rank < 0 or len(shape) != 1 or len(others) != rank + 1:
        raise NoReading("`vector.transfer_read` of this form has no reading")
    *outer, last = others[:rank]
    lanes = ", ".join([*outer, f"int({last}) + n"])
    inside = f"int({last}) + n < {memory}.sizes[-1]"
    items = f"{memory}.load({lanes}) if {inside} else {others[rank]} for n in range({shape[0]})"
    e.assign(op, f"np.array([{items}], {e.dtype(op.results[0].type)})")


@rule("vector.transfer_write")
def _write(e: Emitter, op: ir.Operation) -> None:
    value, memory, *others = map(e.name, op.operands)
    rank = (
        len(ir.MemRefType(op.operands[1].type).shape)
        if isinstance(op.operands[1].type, ir.MemRefType)
        else -1
    )
    if rank < 0 or not is_vector(op.operands[0].type) or len(others) != rank:
        raise NoReading("`vector.transfer_write` of this form has no reading")
    *outer, last = others
    with e.block(f"for n, x in enumerate({value}):"):
        inside = f"int({last}) + n < {memory}.sizes[-1]"
        e.line(f"if {inside}: {memory}.store({', '.join(['x', *outer, f'int({last}) + n'])})")
