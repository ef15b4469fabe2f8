"""How scf, cf, func, and the branches of the llvm dialect read in Python."""

from __future__ import annotations

from mlir import ir

from pykern.interpreter.emit import Emitter, NoReading, block_number, integer, integers, python_name, rule
from pykern.interpreter.numbers import FUNCTIONS
from pykern.lowering.llvm.reports import CALL_PYTHON


def _inside(e: Emitter, region: ir.Region, targets: list[str]) -> None:
    """The one block of a region, its yielded values put into `targets`."""
    blocks = list(region.blocks)
    if not blocks:
        e.line("pass")
        return
    last = e.ops(blocks[0])
    e.set_all(targets, [e.name(v) for v in last.operands])
    e.line("pass")


def names(e: Emitter, values) -> list[str]:
    return [e.name(v) for v in values]


@rule("scf.if")
def _if(e: Emitter, op: ir.Operation) -> None:
    results = names(e, op.results)
    with e.block(f"if {e.name(op.operands[0])}:"):
        _inside(e, op.regions[0], results)
    with e.block("else:"):
        _inside(e, op.regions[1], results)


@rule("scf.index_switch")
def _switch(e: Emitter, op: ir.Operation) -> None:
    results, value = names(e, op.results), e.name(op.operands[0])
    default, *regions = op.regions
    for n, (case, region) in enumerate(zip(integers(op, "cases"), regions, strict=True)):
        with e.block(f"{'if' if n == 0 else 'elif'} {value} == {case}:"):
            _inside(e, region, results)
    with e.block("else:" if regions else "if True:"):
        _inside(e, default, results)


@rule("scf.for")
def _for(e: Emitter, op: ir.Operation) -> None:
    low, high, step, *starts = names(e, op.operands)
    counter, *carried = names(e, op.regions[0].blocks[0].arguments)
    e.set_all(carried, starts)
    kind = e.dtype(op.operands[0].type)
    with e.block(f"for {counter} in map({kind}.type, range({low}, {high}, {step})):"):
        _inside(e, op.regions[0], carried)
    e.set_all(names(e, op.results), carried)


@rule("scf.forall", "scf.parallel")
def _parallel(e: Emitter, op: ir.Operation) -> None:
    if op.name == "scf.forall" or len(op.results):
        raise NoReading(f"`{op.name}` of this form has no reading")
    values = names(e, op.operands)
    counters = names(e, op.regions[0].blocks[0].arguments)
    rank, depth = len(counters), e.depth
    for n, counter in enumerate(counters):
        low, high, step = values[n], values[rank + n], values[2 * rank + n]
        e.line(f"for {counter} in map(np.int64, range({low}, {high}, {step})):")
        e.depth += 1
    e.ops(op.regions[0].blocks[0])
    e.line("pass")
    e.depth = depth


@rule("scf.while")
def _while(e: Emitter, op: ir.Operation) -> None:
    before, after = op.regions[0].blocks[0], op.regions[1].blocks[0]
    carried = names(e, before.arguments)
    e.set_all(carried, names(e, op.operands))
    with e.block("while True:"):
        condition, *values = names(e, e.ops(before).operands)
        with e.block(f"if not {condition}:"):
            e.set_all(names(e, op.results), values)
            e.line("break")
        e.set_all(names(e, after.arguments), values)
        _inside(e, op.regions[1], carried)


@rule("scf.execute_region")
def _region(e: Emitter, op: ir.Operation) -> None:
    if len(list(op.regions[0].blocks)) != 1:
        raise NoReading("`scf.execute_region` of several blocks has no reading")
    _inside(e, op.regions[0], names(e, op.results))


# -- branches ---------------------------------------------------------------------------------------


def go(e: Emitter, block: ir.Block, values: list[str]) -> None:
    at, numbers = e.branches[-1]
    e.set_all(names(e, block.arguments), values)
    e.line(f"{at} = {numbers[block_number(block)]}")


@rule("cf.br", "llvm.br", "spirv.Branch")
def _branch(e: Emitter, op: ir.Operation) -> None:
    go(e, op.successors[0], names(e, op.operands))


@rule("cf.cond_br", "llvm.cond_br", "spirv.BranchConditional")
def _branch_if(e: Emitter, op: ir.Operation) -> None:
    condition, *values = names(e, op.operands)
    _, count, _ = integers(op, "operandSegmentSizes")
    with e.block(f"if {condition}:"):
        go(e, op.successors[0], values[:count])
    with e.block("else:"):
        go(e, op.successors[1], values[count:])


def _cases(attribute: ir.Attribute) -> list[int]:
    values = ir.DenseIntElementsAttr(attribute)
    return [int(values[n]) for n in range(len(values))]


@rule("cf.switch", "llvm.switch")
def _branch_by(e: Emitter, op: ir.Operation) -> None:
    flag, *values = names(e, op.operands)
    counts = integers(op, "case_operand_segments")
    default_count = len(values) - sum(counts)
    cases = _cases(op.attributes["case_values"]) if counts else []
    first, *others = op.successors
    given = values[default_count:]
    for n, (case, block, count) in enumerate(zip(cases, others, counts, strict=True)):
        with e.block(f"{'if' if n == 0 else 'elif'} {flag} == {int(case)}:"):
            go(e, block, given[:count])
        given = given[count:]
    with e.block("else:" if cases else "if True:"):
        go(e, first, values[:default_count])


@rule("func.return", "llvm.return", "gpu.return", "spirv.Return", "spirv.ReturnValue")
def _return(e: Emitter, op: ir.Operation) -> None:
    e.line(f"return ({''.join(f'{v}, ' for v in names(e, op.operands))})")


@rule("scf.yield", "scf.condition", "scf.reduce", "llvm.unreachable")
def _nothing(e: Emitter, op: ir.Operation) -> None:
    e.line("raise RuntimeError('a place that is never reached')" if "unreach" in op.name else "pass")


# -- calls ------------------------------------------------------------------------------------------


@rule("func.call", "llvm.call")
def _call(e: Emitter, op: ir.Operation) -> None:
    values = names(e, op.operands)
    results = names(e, op.results)
    symbol = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
    function = e.functions.get(symbol)
    if function is not None and list(function.regions[0].blocks):
        target = ", ".join(results) + ("," if results else "")
        e.line(
            f"{target + ' = ' if results else ''}(yield from {python_name(symbol)}({', '.join(['it', *values])}))"
        )
        return
    if symbol in ("malloc", "_mlir_memref_to_llvm_alloc"):
        e.line(f"{results[0]} = np.int64(it.memory.make(int({values[0]})))")
        return
    if symbol in ("free", "_mlir_memref_to_llvm_free"):
        e.line(f"it.memory.forget(int({values[0]}))")
        return
    if symbol == CALL_PYTHON:
        e.line("pass")  # the host's print
        return
    plain = symbol if symbol in FUNCTIONS else symbol.removesuffix("f")
    if plain not in FUNCTIONS or len(results) != 1:
        raise NoReading(f"the function `{symbol}` is not here")
    e.line(f"{results[0]} = nb.through_f64(nb.FUNCTIONS[{plain!r}], {', '.join(values)})")


def predicate(op: ir.Operation) -> int:
    return integer(op, "predicate")
