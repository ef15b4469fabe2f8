"""Functions that C calls: a kernel of one number, or of the elements of arrays, without a launch around it.

Comes in: the source of a kernel that `pykern.api.c_function` wrote, and the name of its function in LLVM IR. Goes out:
LLVM IR text that is linked to it. None of these functions needs Python or its lock; all run in the thread that calls.

A source that is ``called_from_c="function"`` has the parameters ``(result, x0, x1, ...)``, where `result` is an array
of one element, and its code exports

``R pk_function(T0 x0, T1 x1, ...)``
    Numbers by value; for an array its pointer and then its lengths, 64 bits each.
``double pk_packed(int32_t n, double *x)``
    The same for numbers alone, all f64: what `scipy.integrate` calls.
``int32_t pk_window(double *x, int64_t n, double *result, void *data)``
    The same for one array of f64: what `scipy.ndimage.generic_filter` calls. It always gives 1.
``void pk_sequential(char **operands, int64_t *counts, int64_t *steps, void *data)``
    Of numbers alone: NumPy's inner loop of a ufunc, one element after the other. The result is the last operand.

One that is ``called_from_c="loop"`` has dense arrays of rank 1, `result` first, and its code exports

``void pk_loop(char **operands, int64_t *counts, int64_t *steps, void *data)``
    The same loop, vectorised. Operands that are not dense are copied to the stack in blocks. Where the result overlaps
    an operand, as in ``reduce`` and ``accumulate``, order matters: then it calls `pk_sequential`, whose address is the
    first word of `data`.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pykern.data.source import ArraySpec, KernelSource, ScalarSpec
from pykern.lowering.llvm.launcher import scalar_type
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import F64, I1, I8, I32, I64, PTR, VOID, Type, Value
from pykern.passes.analysis.cost_model.memory import STACK_COPY_ELEMENTS
from pykern.types import BY_NAME

C_FUNCTIONS = ("pk_function", "pk_packed", "pk_window", "pk_sequential", "pk_loop")
"""What such code may export."""


def inlined(text: str) -> str:
    """LLVM IR in which the kernel becomes a part of what calls it."""
    return text.replace(" noinline ", " alwaysinline ")


def c_functions_text(source: KernelSource, symbol: str, triple: str) -> str:
    """The functions of a source, around its kernel `symbol`; an empty `triple` is this machine's."""
    made = _CFunctions(source, symbol, triple or platform.machine())
    if source.called_from_c == "loop":
        made.loop()
    else:
        made.function()
        if all(isinstance(spec, ScalarSpec) for spec in made.operands):
            made.sequential()
        if all(isinstance(spec, ScalarSpec) and spec.dtype == "f64" for spec in made.all):
            made.packed()
        if made.operands == [ArraySpec("f64", (None,))] and made.result == "f64":
            made.window()
    return str(made.module)


class _CFunctions:
    """The functions around one kernel."""

    def __init__(self, source: KernelSource, symbol: str, triple: str) -> None:
        result, *operands = [p.spec for p in source.parameters]
        assert isinstance(result, ArraySpec)
        self.result = result.dtype
        self.operands = operands
        self.all = [ScalarSpec(result.dtype), *operands]
        self.symbol = symbol
        self.triple = triple
        self.module = Module()

    # -- one call ----------------------------------------------------------------------------------

    def function(self) -> None:
        kinds: list[Type] = []
        for spec in self.operands:
            if isinstance(spec, ArraySpec):
                kinds += [PTR, *[I64] * spec.rank]
            else:
                kinds.append(_memory_type(spec.dtype))
        f = Body(self.module, "pk_function", _memory_type(self.result), kinds)
        f.ret(self._called(f, f.arguments))

    def packed(self) -> None:
        f = Body(self.module, "pk_packed", F64, [I32, PTR])
        _, numbers = f.arguments
        f.ret(self._called(f, [f.load(F64, numbers, 8 * n) for n in range(len(self.operands))]))

    def window(self) -> None:
        f = Body(self.module, "pk_window", I32, [PTR, I64, PTR, PTR])
        window, count, result, _ = f.arguments
        f.store(self._called(f, [window, count]), result)
        f.ret(I32(1))

    def _called(self, f: Body, values: Sequence[Value]) -> Value:
        """The kernel's one result, as it stands in memory."""
        kind = _memory_type(self.result)
        result = f.stack(kind.name)
        given = list(values)
        for n, spec in enumerate(self.operands):
            if isinstance(spec, ScalarSpec) and spec.dtype == "bool":  # such operands are numbers alone
                given[n] = f.cast("trunc", given[n], I1)
        self._run(f, [result, I64(1), *given, I64(1)])
        return f.load(kind, result)

    def _run(self, f: Body, values: list[Value]) -> None:
        """All of the kernel's work-items."""
        extent = f.call(f"{self.symbol}.extent", I64, *values, 0, 0, 0)
        f.call(self.symbol, VOID, *values, 0, extent, 0)

    # -- many elements -----------------------------------------------------------------------------

    def sequential(self) -> None:
        f = Body(self.module, "pk_sequential", VOID, [PTR, PTR, PTR, PTR])
        operands, counts, steps, _ = f.arguments
        places = [f.load(PTR, operands, 8 * n) for n in range(len(self.all))]
        strides = [f.load(I64, steps, 8 * n) for n in range(len(self.all))]
        kinds = [_memory_type(spec.dtype) for spec in self.operands]
        with self._without_flags(f), f.loop(f.load(I64, counts)) as i:
            at = [f.place(place, f.mul(i, stride)) for place, stride in zip(places, strides, strict=True)]
            result = self._called(f, [f.load(kind, place) for kind, place in zip(kinds, at, strict=False)])
            f.store(result, at[-1])
        f.ret()

    def loop(self) -> None:
        f = Body(self.module, "pk_loop", VOID, [PTR, PTR, PTR, PTR])
        operands, counts, steps, data = f.arguments
        kinds = [_memory_type(spec.dtype) for spec in [*self.operands, self.all[0]]]
        places = [f.load(PTR, operands, 8 * n) for n in range(len(kinds))]
        strides = [f.load(I64, steps, 8 * n) for n in range(len(kinds))]
        count = f.load(I64, counts)
        apart = self._apart(f, places, strides, kinds, count)
        with f.if_then(f.not_(apart)):
            f.call_pointer(f.load(PTR, data), VOID, operands, counts, steps, data)
            f.ret()
        with self._without_flags(f):
            dense = [f.is_(s, "==", k.bits // 8) for s, k in zip(strides, kinds, strict=True)]
            all_dense = dense[0]
            for one in dense[1:]:
                all_dense = f.and_(all_dense, one)
            with f.if_else(all_dense) as (then, other):
                with then:
                    self._elements(f, places, count)
                with other:
                    self._in_blocks(f, places, strides, kinds, dense, count)
        f.ret()

    def _apart(
        self, f: Body, places: list[Value], strides: list[Value], kinds: list[Type], count: Value
    ) -> Value:
        """Whether the result shares no memory with an operand, nor with itself."""
        ranges = []
        for place, stride, kind in zip(places, strides, kinds, strict=True):
            first = f.cast("ptrtoint", place, I64)
            last = f.add(first, f.mul(f.sub(count, 1), stride))
            forward = f.is_(stride, ">=", 0)
            ranges.append(
                (f.select(forward, first, last), f.add(f.select(forward, last, first), kind.bits // 8))
            )
        *others, (low, high) = ranges
        apart = f.is_(strides[-1], "!=", 0)
        for begin, end in others:
            apart = f.and_(apart, f.or_(f.is_(end, "u<=", low), f.is_(high, "u<=", begin)))
        return apart

    def _elements(self, f: Body, places: list[Value], count: Value) -> None:
        """The kernel over dense arrays; the result comes first there."""
        arrays = [value for place in (places[-1], *places[:-1]) for value in (place, count)]
        self._run(f, [*arrays, count])

    def _in_blocks(
        self,
        f: Body,
        places: list[Value],
        strides: list[Value],
        kinds: list[Type],
        dense: list[Value],
        count: Value,
    ) -> None:
        """The same, where some are copied to the stack and back."""
        buffers = [f.stack(f"[{STACK_COPY_ELEMENTS} x {kind.name}], align 64") for kind in kinds]
        begin = f.variable(0)
        with f.while_(lambda: f.is_(f.load(I64, begin), "<", count)):
            start = f.load(I64, begin)
            left = f.sub(count, start)
            some = f.select(f.is_(left, "<", STACK_COPY_ELEMENTS), left, STACK_COPY_ELEMENTS)
            there = [f.place(p, f.mul(start, s)) for p, s in zip(places, strides, strict=True)]
            for n in range(len(kinds) - 1):
                is_constant = f.and_(
                    f.is_(strides[n], "==", 0), f.is_(start, ">", 0)
                )  # there since the first block
                with f.if_then(f.not_(f.or_(dense[n], is_constant))):
                    _copy(f, kinds[n], there[n], strides[n], buffers[n], kinds[n].bits // 8, some)
            used = [f.select(d, p, b) for d, p, b in zip(dense, there, buffers, strict=True)]
            self._elements(f, used, some)
            with f.if_then(f.not_(dense[-1])):
                _copy(f, kinds[-1], buffers[-1], kinds[-1].bits // 8, there[-1], strides[-1], some)
            f.increase(begin, some)

    @contextmanager
    def _without_flags(self, f: Body) -> Iterator[None]:
        """Leave the processor's floating-point flags as they are: NumPy makes warnings of them, and vectorised code
        sets them for values that it does not use."""
        if self.triple.startswith("x86_64"):
            flags = f.stack("i32")
            f.call("llvm.x86.sse.stmxcsr", VOID, flags)
            yield
            f.call("llvm.x86.sse.ldmxcsr", VOID, flags)
        elif self.triple.startswith("aarch64"):
            before = f.call("llvm.aarch64.get.fpsr", I64)
            yield
            f.call("llvm.aarch64.set.fpsr", VOID, before)
        else:
            yield


def _memory_type(dtype: str) -> Type:
    """The type of an element in memory; a bool has a byte."""
    return I8 if BY_NAME[dtype].bits == 1 else scalar_type(dtype)


def _copy(
    f: Body,
    kind: Type,
    source: Value,
    source_step: Value | int,
    to: Value,
    to_step: Value | int,
    count: Value,
) -> None:
    with f.loop(count) as i:
        f.store(f.load(kind, source, f.mul(i, source_step)), to, f.mul(i, to_step))
