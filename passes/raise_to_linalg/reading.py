"""From the ops of a kernel to a `Program`: statements over dimensions.

What has no form on tensors is refused by its name and place. Read next: `loops`, which decides what
becomes of each loop when its body has been read.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from mlir import ir

from pykern.dialect import attributes as kern
from pykern.dialect.diagnostics import span_of
from pykern.dialect.index_space import NdrangeOp
from pykern.errors import NotRaisable
from pykern.passes import kernels
from pykern.passes.kernels import body, identity, named
from pykern.passes.raise_to_linalg.builder import Builder
from pykern.passes.raise_to_linalg.conditions import SGE, SLT, compared_as_index, joined, literals
from pykern.passes.raise_to_linalg.expressions import (
    Carried,
    Expression,
    Load,
    Mask,
    form_of_value,
    free_dims,
)
from pykern.passes.raise_to_linalg.forms import Dim, Form
from pykern.passes.raise_to_linalg.independence import Proof
from pykern.passes.raise_to_linalg.loops import Loop, settle
from pykern.passes.raise_to_linalg.program import Bind, Program, Statement, Store

ATOMICS = {"add": ("addf", "addi"), "and": ("", "andi"), "or": ("", "ori"), "xor": ("", "xori"),
           "umin": ("", "minui"), "umax": ("", "maxui"), "min": ("minimumf", "minsi"), "max": ("maximumf", "maxsi"),
           "sub": ("addf", "addi")}  # fmt: skip
_PLACE = ("a work-item's place in its workgroup", "use the global index")
REFUSED = {
    "kern.local_id": _PLACE,
    "kern.local_linear_id": _PLACE,
    "kern.group_id": _PLACE,
    "kern.group_size": _PLACE,
    "kern.num_groups": _PLACE,
    "kern.subgroup_id": _PLACE,
    "kern.lane_id": _PLACE,
    "kern.subgroup_size": _PLACE,
    "kern.barrier": ("a barrier", None),
    "kern.shared": ("shared memory", None),
    "kern.private": ("private memory", None),
    "kern.print": ("print", "raise the kernel without its prints"),
    "kern.assert": ("assert", "raise the kernel without its asserts"),
    "scf.while": (
        "a `while` loop, or a loop left early",
        "write `for` over a range, with a condition in its body",
    ),
    "kern.atomic_cas": ("a compare-and-exchange", None),
}


@dataclass(frozen=True)
class Context:
    """The dimensions over which a block runs, and the conditions under which it does."""

    dims: tuple[Dim, ...]
    mask: Mask = ()


@dataclass
class KernelReader:
    """Reads one kernel."""

    kernel: ir.Operation
    builder: Builder
    proof: Proof
    values: dict[ir.Value, Expression] = field(default_factory=dict)
    arrays: dict[ir.Value, int] = field(default_factory=dict)
    items: dict[int, tuple[Dim, Form]] = field(default_factory=dict)
    loaded: dict[tuple[int, tuple[Form, ...]], Load] = field(default_factory=dict)
    """Loads whose arrays have not changed since."""

    def read(self) -> Program:
        block = body(self.kernel)
        for number, argument in enumerate(block.arguments):
            if isinstance(argument.type, ir.MemRefType):
                self.arrays[argument] = number
            else:
                self.values[argument] = self.builder.given(argument)
        self._make_items()
        dims = tuple(dim for dim, _ in self.items.values())
        program = Program(dims, {number: array for array, number in self.arrays.items()})
        program.body = self.block(block, Context(dims))
        return program

    def _make_items(self) -> None:
        plain = kern.PLAIN in self.kernel.attributes
        known = kernels.integers(self.kernel, kern.NDRANGE)
        for number in range(kernels.rank(self.kernel)):
            count = Form((), known[number]) if known else form_of_value(self.builder.count("count", number))
            dim = Dim(f"i{number}", (Form(),), (count,))
            start = Form()
            if not plain:
                dim.step = self.builder.count("step", number)
                start = form_of_value(self.builder.count("start", number))
            self.items[number] = dim, start + Form(((dim, 1),))

    # -- blocks and ops -------------------------------------------------------------------------

    def block(self, block: ir.Block, context: Context) -> list[Statement]:
        found: list[Statement] = []
        for op in block.operations:
            found += self._operation(op.operation, context)
        return found

    def _operation(self, op: ir.Operation, context: Context) -> list[Statement]:
        match op.name:
            case "func.return" | "scf.yield":
                return []
            case "memref.load":
                return self._load(op, context)
            case "memref.store":
                return [self._store(op, context)]
            case "kern.atomic_rmw":
                return [self._atomic(op, context)]
            case "scf.if":
                return self._branch(op, context)
            case "scf.for":
                return self._loop(op, context)
        self.values[self._only_result(op)] = self._value(op, context)
        return []

    def _value(self, op: ir.Operation, context: Context) -> Expression:
        match op.name:
            case "kern.global_id":
                return self.builder.index(self.items[op.opview.dim][1])
            case NdrangeOp.OPERATION_NAME:
                return self.builder.index(self.items[op.opview.dim][0].highs[0])
            case "arith.constant":
                return self.builder.constant(op.attributes["value"], op.results[0].type)
            case "memref.dim":
                number, dim = self._array(op.operands[0], op), kernels.is_constant(op.operands[1])
                if dim is None:
                    raise refusal(op, "a length asked for by a number that is not constant")
                if not 0 <= dim < ir.MemRefType(op.operands[0].type).rank:
                    raise refusal(op, f"the length of dimension {dim}, which the array does not have,")
                return self.builder.index(
                    self.builder.length(number, dim, ir.MemRefType(op.operands[0].type))
                )
        if not op.name.startswith(("arith.", "math.")) or op.regions:
            what, hint = REFUSED.get(op.name, (f"`{op.name}`", None))
            raise refusal(op, f"{what} has no form on tensors", hint)
        attributes = {name: op.attributes[name] for name in op.attributes}
        operands = [self.values[operand] for operand in op.operands]
        if op.name == "arith.cmpi" and ir.IntegerAttr(op.attributes["predicate"]).value <= SGE:
            operands = compared_as_index(self.builder, operands)
        return self.builder.apply(op.name, operands, op.results[0].type, attributes, context.mask)

    def _only_result(self, op: ir.Operation) -> ir.Value:
        if len(op.results) == 1:
            return op.results[0]
        what, hint = REFUSED.get(op.name, (f"`{op.name}`", None))
        raise refusal(op, f"{what} has no form on tensors", hint)

    def _array(self, value: ir.Value, op: ir.Operation) -> int:
        if value in self.arrays:
            return self.arrays[value]
        raise refusal(op, "memory that is not an argument has no form on tensors")

    def _forms(self, indices: list[ir.Value]) -> tuple[Form, ...]:
        return tuple(form_of_value(self.values[index]) for index in indices)

    def _load(self, op: ir.Operation, context: Context) -> list[Statement]:
        kind = ir.MemRefType(op.operands[0].type).element_type
        array, forms = self._array(op.operands[0], op), self._forms(list(op.operands)[1:])
        known = self.loaded.get((array, forms))
        if known is not None and set(known.mask) <= set(context.mask):
            self.values[op.results[0]] = known
            return []
        load = Load(kind, array, forms, context.mask, op.location)
        self.values[op.results[0]] = self.loaded[array, forms] = load
        return [Bind(load, context.dims)]

    def _store(self, op: ir.Operation, context: Context) -> Store:
        value, array = self.values[op.operands[0]], self._array(op.operands[1], op)
        forms = self._forms(list(op.operands)[2:])
        self._forget({array})
        return Store(array, forms, value, context.dims, context.mask, op.location)

    def _forget(self, arrays: set[int]) -> None:
        """Forget the values that were loaded from arrays that change now."""
        self.loaded = {key: load for key, load in self.loaded.items() if key[0] not in arrays}

    def _atomic(self, op: ir.Operation, context: Context) -> Store:
        if next(iter(op.results[0].uses), None) is not None:
            raise refusal(op, "the old value of an atomic depends on the order of the work-items")
        kind = ir.StringAttr(op.attributes["kind"]).value
        value = self.values[op.operands[0]]
        is_float = isinstance(value.type, ir.FloatType)
        name = ATOMICS.get(kind, ("", ""))[0 if is_float else 1]
        if not name:
            raise refusal(op, f"an atomic {kind} has no form on tensors")
        if kind == "sub":
            value = self.builder.negated(value)
        array, forms = self._array(op.operands[1], op), self._forms(list(op.operands)[2:])
        name = f"arith.{name}"
        self._forget({array})
        return Store(array, forms, value, context.dims, context.mask, op.location, name, {}, atomic=True)

    def _branch(self, op: ir.Operation, context: Context) -> list[Statement]:
        condition = self.values[op.operands[0]]
        found: list[Statement] = []
        yields: list[list[Expression]] = []
        for region, wanted in zip(op.regions, (True, False), strict=True):
            if not len(region.blocks):
                continue
            mask = joined(context.mask, literals(condition, wanted))
            found += self.block(region.blocks[0], replace(context, mask=mask))
            end = region.blocks[0].operations[len(region.blocks[0].operations) - 1].operation
            yields.append([self.values[v] for v in end.operands])
        for position, result in enumerate(op.results):
            yes, no = yields[0][position], yields[1][position]
            self.values[result] = self.builder.select(condition, yes, no)
        return found

    # -- loops ----------------------------------------------------------------------------------

    def _loop(self, op: ir.Operation, context: Context) -> list[Statement]:
        step = kernels.is_constant(op.operands[2])
        if step is None or step < 1:
            raise refusal(op, "a loop whose step is not a constant has no form on tensors")
        if "unsignedCmp" in op.attributes:
            raise refusal(op, "a loop over unsigned bounds has no form on tensors")
        block = op.regions[0].blocks[0]
        low, high = (self.values[v] for v in list(op.operands)[:2])
        lows, highs = _bounds(low, "arith.maxsi"), _bounds(high, "arith.minsi", low)
        origin = Form()
        if step != 1 or any(free_dims(symbol) for form in lows for symbol in form.symbols):
            origin = form_of_value(low)  # looked up by each work-item, or to be stepped from: count from it
            lows, highs = (Form(),), tuple(self._trips(form - origin, step) for form in highs)
        dim = Dim(f"k{identity(op)}", lows, highs)
        counter = self.builder.index(Form(((dim, 1),)))
        if not isinstance(counter.type, ir.IndexType) or block.arguments[0].type != counter.type:
            raise refusal(op, "a loop over typed integers has no form on tensors")
        mask = context.mask
        for form in dim.lows:
            mask = self._bounded(mask, SGE, counter, form)
        for form in dim.highs:
            mask = self._bounded(mask, SLT, counter, form)
        self.values[block.arguments[0]] = self.builder.index(origin + Form(((dim, step),)))
        initial = [self.values[v] for v in list(op.operands)[3:]]
        carried = [Carried(v.type, context.dims, dim) for v in initial]
        self.values.update(zip(list(block.arguments)[1:], carried, strict=True))
        inner = Context((*context.dims, dim), mask)
        self._forget(self._written(op))
        before, self.loaded = self.loaded, dict(self.loaded)
        found = self.block(block, inner)
        self.loaded = before  # those within may not have run
        end = block.operations[len(block.operations) - 1].operation
        yields = [self.values[v] for v in end.operands]
        loop = Loop(dim, context.dims, context.mask, mask, op.location, found, carried, initial, yields)
        statements, results = settle(loop, self.builder, self.proof)
        self.values.update(zip(list(op.results), results, strict=True))
        return statements

    def _written(self, op: ir.Operation) -> set[int]:
        stores = named(op, "memref.store", "kern.atomic_rmw")
        return {self.arrays[s.operands[1]] for s in stores if s.operands[1] in self.arrays}

    def _trips(self, length: Form, step: int) -> Form:
        """Iterations over a length."""
        if step == 1:
            return length
        operands = [self.builder.index(length), self.builder.index(Form((), step))]
        return form_of_value(self.builder.apply("arith.ceildivsi", operands, ir.IndexType.get()))

    def _bounded(self, mask: Mask, predicate: int, counter: Expression, bound: Form) -> Mask:
        """A bound that may differ between positions is a condition as well."""
        if not bound.terms:
            return mask
        return joined(mask, ((self.builder.compare(predicate, counter, self.builder.index(bound)), True),))


def _bounds(value: Expression, name: str, low: Expression | None = None) -> tuple[Form, ...]:
    """Forms of which the greatest (`arith.maxsi`) or the least (`arith.minsi`) is the bound."""
    if getattr(value, "name", "") == name:
        return tuple(dict.fromkeys(f for o in value.parts for f in _bounds(o, name, low)))
    if low is not None and getattr(value, "name", "") == "arith.maxsi":
        # up to max(n, c) from c on or from further up: that is up to n
        floor = form_of_value(low).number
        for one, other in (value.parts, value.parts[::-1]):
            limit = form_of_value(other).number
            if floor is not None and limit is not None and limit <= floor:
                return _bounds(one, name, low)
    return (form_of_value(value),)


def refusal(op: ir.Operation, reason: str, hint: str | None = None) -> NotRaisable:
    return NotRaisable(reason, span_of(op.location), hint)
