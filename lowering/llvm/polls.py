"""Loops whose end nobody knows ask for signals: Ctrl-C ends a loop over time of a program, and a kernel's `while`.

Comes in: programs and kernels, when all of their loops are there. Goes out: calls of `POLL`, and `POLLING`, what that
is: LLVM IR text, linked to code that calls it. It does not come back where a signal handler raised
(`pykern.lowering.llvm.team.calls`). A launch asks between its chunks: this is for what happens within one. A call in a
kernel's loop may cost several times what the loop does, and a count of its iterations an eighth: so it has them where
there are few work-items only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, func, memref, scf

from pykern.abi import TABLE_INDEX
from pykern.passes.framework import Pass
from pykern.passes.kernels import body, find, identity, kernels, named, programs
from pykern.passes.loop_versions import branch_on

POLL = "kern.poll"
POLLING = f"""
@pk_table = external hidden global ptr

define void @"{POLL}"() noinline cold nounwind memory(inaccessiblemem: readwrite) {{
  %table = load ptr, ptr @pk_table
  %place = getelementptr ptr, ptr %table, i64 {TABLE_INDEX["pk_poll"]}
  %poll = load ptr, ptr %place
  %there = icmp ne ptr %poll, null
  br i1 %there, label %ask, label %done
ask:
  call void %poll()
  br label %done
done:
  ret void
}}
"""
"""The loops' own memory is none of its business, so they keep it in registers around the call."""
LOOPS = ("scf.for", "scf.while")


@dataclass(frozen=True)
class PollSignals(Pass):
    """Let long loops ask for signals.

    In:  programs and kernels (as loops over a part `lo..hi` of a launch) whose loops are scf.
    Out: each loop of a program counts down from `often`, or `seldom` where nothing long is inside, and calls `POLL` at
         zero. Each scf.while of a kernel is there twice: where there are at least `few` work-items as it was; else
         inside of another one, which calls `POLL` between stretches of it.
    """

    name: ClassVar[str] = "kern-poll-signals"
    looks_for: ClassVar[tuple[str, ...]] = LOOPS
    often: int = 16
    seldom: int = 256
    stretch: int = 1 << 16
    """Iterations of a kernel's loop between two calls."""
    few: int = 512
    """Work-items of a part of a launch below which loops ask: those that may be stopped have fewer (`launcher`)."""

    def run(self, module: ir.Module) -> None:
        for kernel in kernels(module):
            loops = [loop for loop in named(kernel, "scf.while") if _only_looks(loop)]
            if loops:
                _declare(kernel, module)
                few = self._has_few_items(kernel)
                for loop in _outermost(loops):
                    with ir.InsertionPoint(loop), loop.location:
                        branch_on(loop, few)
                    for inner in named(loop, "scf.while"):
                        if _only_looks(inner):
                            self._in_stretches(inner)
                    self._in_stretches(loop)
        for program in programs(module):
            self._function(module, program, named(program, *LOOPS))

    def _function(self, module: ir.Module, function: ir.Operation, loops: list[ir.Operation]) -> None:
        if not loops:
            return
        _declare(function, module)
        nested = any(named(loop, *LOOPS, "func.call") for loop in loops)
        times = self.often if nested else self.seldom
        kind = ir.IntegerType.get_signless(32)
        with ir.InsertionPoint.at_block_begin(body(function)), function.location:
            counter = memref.AllocaOp(ir.MemRefType.get([], kind), [], []).result
            _store(counter, kind, times)
        for loop in loops:
            block = loop.regions[len(loop.regions) - 1].blocks[0]
            with ir.InsertionPoint.at_block_begin(block), loop.location:
                self._poll(counter, kind, times)

    def _has_few_items(self, kernel: ir.Operation) -> ir.Value:
        """Whether this part of a launch has so few work-items that it hardly stops between them."""
        _, low, high, _ = [None, *body(kernel).arguments][-4:]
        with ir.InsertionPoint.at_block_begin(body(kernel)), kernel.location:
            items = arith.SubIOp(high, low).result
            most = arith.ConstantOp(items.type, self.few).result
            return arith.CmpIOp(arith.CmpIPredicate.slt, items, most).result

    def _in_stretches(self, loop: ir.Operation) -> None:
        """A loop around the loop, which is left after so many iterations: what is inside has no call in it.

        Where it is left by its own condition just then, the condition is computed once more, and leaves it again.
        """
        carried, passed = [v.type for v in loop.operands], [r.type for r in loop.results]
        before, after = (region.blocks[0] for region in loop.regions)
        count = ir.IntegerType.get_signless(32)
        with ir.InsertionPoint(loop), loop.location:
            outer = _while(passed + carried, list(loop.operands), carried, passed + carried)
        first, second = (region.blocks[0] for region in outer.regions)
        with ir.InsertionPoint(first), loop.location:
            zero = arith.ConstantOp(count, 0).result
            kept = [*passed, *carried, count]
            inner = _while(kept, [*first.arguments, zero], [*carried, count], kept)
            *results, number = inner.results
            limit = arith.ConstantOp(count, self.stretch).result
            scf.ConditionOp(arith.CmpIOp(arith.CmpIPredicate.eq, number, limit).result, results)
        with ir.InsertionPoint(second), loop.location:
            func.CallOp([], POLL, [])
            scf.YieldOp(list(second.arguments)[len(passed) :])
        asked, done = (region.blocks[0] for region in inner.regions)
        _move(before, asked, list(asked.arguments)[: len(carried)])
        _move(after, done, list(done.arguments)[: len(passed)])
        end = asked.operations[len(asked.operations) - 1].operation
        with ir.InsertionPoint(end), loop.location:
            number = asked.arguments[len(carried)]
            limit = arith.ConstantOp(count, self.stretch).result
            fewer = arith.CmpIOp(arith.CmpIPredicate.ult, number, limit).result
            condition, *values = end.operands
            goes_on = arith.AndIOp(condition, fewer).result
            scf.ConditionOp(goes_on, [*values, *list(asked.arguments)[: len(carried)], number])
        end.erase()
        end = done.operations[len(done.operations) - 1].operation
        with ir.InsertionPoint(end), loop.location:
            number = done.arguments[len(done.arguments) - 1]
            more = arith.AddIOp(number, arith.ConstantOp(count, 1).result).result
            scf.YieldOp([*end.operands, more])
        end.erase()
        for old, new in zip(loop.results, outer.results, strict=False):
            old.replace_all_uses_with(new)
        loop.erase()

    def _poll(self, counter: ir.Value, kind: ir.Type, times: int) -> None:
        one = arith.ConstantOp(kind, 1).result
        left = arith.SubIOp(memref.LoadOp(counter, []).result, one).result
        memref.StoreOp(left, counter, [])
        due = arith.CmpIOp(arith.CmpIPredicate.eq, left, arith.ConstantOp(kind, 0).result).result
        branch = scf.IfOp(due)
        with ir.InsertionPoint(branch.then_block):
            _store(counter, kind, times)
            func.CallOp([], POLL, [])
            scf.YieldOp([])


def _store(counter: ir.Value, kind: ir.Type, value: int) -> None:
    memref.StoreOp(arith.ConstantOp(kind, value).result, counter, [])


def _while(
    results: list[ir.Type], inits: list[ir.Value], before: list[ir.Type], after: list[ir.Type]
) -> ir.Operation:
    made = ir.Operation.create("scf.while", results=results, operands=inits, regions=2)
    for region, types in zip(made.regions, (before, after), strict=True):
        region.blocks.append(*types)
    return made


def _move(source: ir.Block, target: ir.Block, arguments: list[ir.Value]) -> None:
    """All ops of a block to the end of another, on other arguments."""
    for old, new in zip(source.arguments, arguments, strict=True):
        old.replace_all_uses_with(new)
    for op in [o.operation for o in source.operations]:
        target.append(op)


def _outermost(loops: list[ir.Operation]) -> list[ir.Operation]:
    """Those that are in no other one."""
    inner = {identity(op) for loop in loops for op in named(loop, "scf.while")}
    return [loop for loop in loops if identity(loop) not in inner]


def _only_looks(loop: ir.Operation) -> bool:
    """Whether a loop's condition may be computed twice."""
    ops = [o.operation for o in loop.regions[0].blocks[0].operations][:-1]
    inner = [each for op in ops for each in find(op, lambda _: True)]
    return all(op.name.startswith(("arith.", "math.", "vector.", "memref.load", "scf.if", "scf.yield"))
               and "store" not in op.name for op in (*ops, *inner))  # fmt: skip


def _declare(function: ir.Operation, module: ir.Module) -> None:
    block = module.body
    known = {ir.StringAttr(o.attributes["sym_name"]).value for o in block if "sym_name" in o.attributes}
    if POLL not in known:
        with ir.InsertionPoint.at_block_begin(block), function.location:
            func.FuncOp(POLL, ir.FunctionType.get([], []), visibility="private")
