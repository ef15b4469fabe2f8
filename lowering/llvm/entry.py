"""`pk_entry`: the compiled CPython entry of a kernel. LLVM IR text, an object of its own, linked to the launcher.

It is the same for all kernels of a signature, and is compiled once for them; it is written as it should run, and LLVM's
optimiser finds nothing in it that a launch would feel.

A vectorcall that checks the arguments against the signature it was made for, fills the slots on its stack and calls
`pk_launch`. On any mismatch it hands the very same arguments to the next entry of the kernel object, and after the last
to Python. Read next: `python_objects`, what it reads; `overlap`; for devices `pykern.lowering.gpu.host_entry`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pykern.data.abi import ENTRIES, KERNEL_CELLS, REFUSED
from pykern.data.artifact import ArgumentUse
from pykern.data.schedule import FEWEST_PRODUCTS, SHORTEST_SIDE
from pykern.data.source import ArraySpec, KernelSource, Parameter, ScalarSpec, StaticSpec
from pykern.lowering.llvm.forget import write_forget
from pykern.lowering.llvm.launcher import argument_types
from pykern.lowering.llvm.overlap import Span, check_itself, check_overlap, span_of
from pykern.lowering.llvm.python_objects import (
    ALIGNED,
    C_CONTIGUOUS,
    DATA,
    DESCR,
    DIMS,
    F_CONTIGUOUS,
    FLAGS,
    LENGTH,
    NDIM,
    PAYLOAD,
    SIZE,
    START,
    STEP,
    STRIDES,
    WRITEABLE,
    integer,
    item_of,
    need_guards,
    need_type,
    numpy_array,
    table,
    type_of,
)
from pykern.lowering.llvm.small_numbers import Numbers, look_at_small
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import F32, F64, I1, I32, I64, NULL, PTR, VOID, Operand, Type, Value
from pykern.passes.analysis.cost_model.threads import GIL_WORK
from pykern.types import BY_NAME


def launch_text(may_run_out: bool, endless: bool = False) -> str:
    """`pk_launch`, which an entry calls, linked to the kernel. It runs `pk_run`, and long launches without the
    interpreter's lock, as those that `may_run_out` of memory, which leave it by `pk_call`. It gives 1: an exception is
    set; `REFUSED`: Python has to look at the launch. Python calls it, too, unless the kernel may be `endless`: of such
    nobody knows how long they take.
    """
    module = Module()
    module.linkage |= dict.fromkeys(("pk_outside", "pk_unlocked"), "hidden")
    if endless:
        module.linkage["pk_launch"] = "hidden"
    f = Body(module, "pk_launch", I32, [PTR])
    (slots,) = f.arguments
    f.need(f.not_(f.call("pk_outside", I1, slots)), I32(REFUSED))
    work = f.call("pk_work", I64, slots)
    with f.if_then(f.is_(work, "<=", -1 if may_run_out else GIL_WORK)):
        f.call("pk_run", VOID, slots)
        f.ret(I32(0))
    f.ret(f.call("pk_unlocked", I32, module.function("pk_run", (VOID, (PTR,))), slots))
    return str(module)


def entry_text(source: KernelSource, uses: tuple[ArgumentUse, ...], product: bool = False) -> str:
    """The entry for a source; empty where its calls have to go through Python. Large ones of a `product` do."""
    if not has_entry(source):
        return ""
    module = Module()
    module.define("pk_table", "external hidden global ptr")
    module.linkage["pk_launch"] = "hidden"
    Entry(module, source, uses, product).write()
    return str(module)


def has_entry(source: KernelSource) -> bool:
    """Whether the calls of a kind are such that an entry can take them."""
    direct = all(isinstance(p.spec, ArraySpec | ScalarSpec) or _plain_static(p) for p in source.parameters)
    return direct and not source.launch.shared


def _plain_static(parameter: Parameter) -> bool:
    return isinstance(parameter.spec, StaticSpec) and type(parameter.spec.value) is int


class Entry(Body):
    """The function in the making. What does not fit goes on at `miss`."""

    def __init__(
        self, module: Module, source: KernelSource, uses: tuple[ArgumentUse, ...], product: bool = False
    ) -> None:
        write_forget(module)
        super().__init__(module, "pk_entry", PTR, [PTR, PTR, I64, PTR])
        self.source, self.uses = source, uses
        arrays = [p.spec for p in source.parameters if isinstance(p.spec, ArraySpec)]
        self.product = product and all(isinstance(p.spec, ArraySpec | ScalarSpec) for p in source.parameters)
        self.of_matrices = all(spec.rank < 3 for spec in arrays)
        self.is_square = len(arrays) == 2
        """Whether a product has one array for both factors."""
        self.lengths: list[Value] = []
        self.has_tiles: Operand = I1(1)
        """Whether the arrays lie as tiles want them: those that are no rows are columns, as `x.T` is, and only read."""
        self.spans: list[Span] = []
        self.slots = self.stack(f"[{self.slot_count()} x i64], align 16")
        self.known = dict(source.known)
        self.numbers = Numbers()
        self.filled = 0
        """How many slots have their value."""
        self.this, self.values, self.flags, self.names = self.arguments
        self.cells = self.place(self.this, table(self, "kernel_offset", I64))
        self.miss = self.new_block("miss")

    def slot_count(self) -> int:
        """All slots of a launch, the report's among them."""
        return len(argument_types(self.source)) + 1

    def check(self, condition: Value) -> None:
        self.need(condition, self.miss)

    def fill(self, what: Operand) -> None:
        """The next slot. What the code knows of it has to be so."""
        if self.filled in self.known:
            assert isinstance(what, Value)
            self.check(self.is_(what, "==", self.known[self.filled]))
        self.store(what, self.slots, 8 * self.filled)
        self.filled += 1

    # -- the function ------------------------------------------------------------------------

    def write(self) -> None:
        self.positional()
        check_all = iter(self.uses)
        for n, parameter in enumerate(self.source.parameters):
            self.argument(n, parameter, check_all)
        self._ndrange()
        check_overlap(self, self.spans, not self.source.noalias, self.miss)
        if not self.source.known and not self.source.derivatives:
            look_at_small(self, self.numbers, self.miss)
        self._run()
        self.go_on()

    def positional(self) -> None:
        """As many values as there are parameters, and captured names as they were."""
        count = self.and_(self.flags, (1 << 63) - 1)
        self.check(self.is_(count, "==", len(self.source.parameters)))
        guards = self.load(PTR, self.cells, 8 * KERNEL_CELLS.index("guards"))
        need_guards(self, guards, self.miss)

    def argument(self, n: int, parameter: Parameter, uses: Iterator[ArgumentUse]) -> None:
        value, spec = self.load(PTR, self.values, 8 * n), parameter.spec
        if isinstance(spec, ArraySpec):
            self._array(value, spec, next(uses))
        elif isinstance(spec, ScalarSpec):
            self._scalar(value, spec, parameter.converts)
        else:
            assert isinstance(spec, StaticSpec)
            self.check(self.is_(self.integer(value), "==", spec.value))

    def integer(self, value: Value) -> Value:
        return integer(self, value, self.miss)

    def _array(self, value: Value, spec: ArraySpec, use: ArgumentUse) -> None:
        value = numpy_array(self, value, self.miss)
        self.check(self.is_(self.load(PTR, value, DESCR), "==", table(self, f"dtype.{spec.dtype}")))
        self.check(self.is_(self.load(I32, value, NDIM), "==", spec.rank))
        wanted = ALIGNED | (0 if spec.strided else C_CONTIGUOUS) | (WRITEABLE if use.writes else 0)
        flags = self.load(I32, value, FLAGS)
        # also what is contiguous is of another kind: its own code is faster
        self.check(self.is_(self.and_(flags, wanted | C_CONTIGUOUS), "==", wanted))
        if self.product and spec.strided:
            is_column = self.is_(self.and_(flags, F_CONTIGUOUS), "!=", 0)
            self.has_tiles = self.and_(self.has_tiles, I1(0) if use.writes else is_column)
        data = self.load(PTR, value, DATA)
        self.fill(data)
        lengths = self._lengths(value, spec)
        if self.is_square and not use.writes:
            self.lengths += lengths
        strides = self._strides(value, spec) if spec.strided else []
        if strides and use.writes:
            check_itself(self, spec, lengths, strides, self.miss)
        self.numbers.boxes.append(lengths)
        self.numbers.small += [*lengths, *strides]
        self.spans.append(span_of(self, data, spec, lengths, strides, use.writes))

    def _lengths(self, value: Value, spec: ArraySpec) -> list[Value]:
        if not spec.rank:
            return []
        dims = self.load(PTR, value, DIMS)
        lengths = [self.load(I64, dims, 8 * d) for d in range(spec.rank)]
        for length, known in zip(lengths, spec.shape, strict=True):
            if known is not None:
                self.check(self.is_(length, "==", known))
            self.fill(length)
        self.lengths += lengths
        if self.product and self.of_matrices:
            for length in lengths:
                self.has_tiles = self.and_(self.has_tiles, self.is_(length, ">=", SHORTEST_SIDE))
        return lengths

    def _strides(self, value: Value, spec: ArraySpec) -> list[Value]:
        """Strides in elements go into slots; bytes are given back."""
        if not spec.rank:
            return []
        itemsize = BY_NAME[spec.dtype].itemsize
        pointer = self.load(PTR, value, STRIDES)
        strides = [self.load(I64, pointer, 8 * d) for d in range(spec.rank)]
        for stride in strides:
            if itemsize > 1:
                self.check(self.is_(self.and_(stride, itemsize - 1), "==", 0))
            self.fill(self.ashr(stride, itemsize.bit_length() - 1))
        return strides

    def _scalar(self, value: Value, spec: ScalarSpec, converts: bool) -> None:
        dtype = BY_NAME[spec.dtype]
        if spec.dtype == "int" or (converts and spec.dtype == "i64"):
            number = self.integer(value)
            self.numbers.small.append(number)
            self.fill(number)
        elif spec.dtype == "float" or (converts and spec.dtype in ("f64", "f32")):
            need_type(self, value, self.outside("PyFloat_Type"), self.miss)
            number = self.load(F64, value, PAYLOAD)
            self.fill(number if spec.dtype != "f32" else self._wide(self.cast("fptrunc", number, F32)))
        elif spec.dtype == "bool":
            need_type(self, value, self.outside("PyBool_Type"), self.miss)
            self.fill(self.cast("zext", self.is_(value, "==", self.outside("_Py_TrueStruct")), I64))
        else:
            need_type(self, value, table(self, f"scalar.{spec.dtype}"), self.miss)
            number = self.load(Type(f"i{dtype.bits}", dtype.bits), value, PAYLOAD)
            extend = "sext" if dtype.kind == "i" else "zext"
            wide = number if dtype.bits == 64 else self.cast(extend, number, I64)
            if not dtype.is_float:
                self.numbers.small.append(wide)
            self.fill(wide)

    def _wide(self, number: Value) -> Value:
        """The bits of an f32 in the low half of a slot."""
        return self.cast("zext", self.cast("bitcast", number, I32), I64)

    # -- the launch --------------------------------------------------------------------------

    def _ndrange(self) -> None:
        """Exactly one keyword, `ndrange`, a tuple of ints (and ranges), or one; without keywords a static one."""
        known = self.source.launch.ndrange
        # Of a derivative a launch over one work-item may be known, and is not static.
        if known is None or self.source.derivatives:
            self.check(self.is_(self.names, "!=", NULL))
            extents = self._counts() if self.source.launch.plain else self._extents()
        else:
            with self.if_then(self.is_(self.names, "!=", NULL)):
                self._counts()
            extents = [I64(n) for n in known]
        if self.source.launch.plain and self.source.launch.rank > 1:
            counts = [number for number in extents if isinstance(number, Value)]
            self.numbers.small += counts
            self.numbers.boxes.append(counts)
        for number in extents:
            self.fill(number)
        self.fill(0)

    def _space(self) -> list[Value]:
        """What the keyword gives for each dimension."""
        self.check(self.is_(self.load(I64, self.names, SIZE), "==", 1))
        self.check(self.is_(item_of(self, self.names, 0), "==", table(self, "ndrange")))
        value = self.load(PTR, self.values, 8 * len(self.source.parameters))
        return self.items(value, self.source.launch.rank)

    def items(self, value: Value, rank: int) -> list[Value]:
        """The items of a tuple; of one dimension the value itself, or in a tuple, as in ``ndrange=x.shape``."""
        if rank == 1:
            return [self._only_item(value)]
        need_type(self, value, self.outside("PyTuple_Type"), self.miss)
        self.check(self.is_(self.load(I64, value, SIZE), "==", rank))
        return [item_of(self, value, d) for d in range(rank)]

    def _only_item(self, value: Value) -> Value:
        found = self.variable(value)
        with self.if_then(self.is_(type_of(self, value), "==", self.outside("PyTuple_Type"))):
            self.check(self.is_(self.load(I64, value, SIZE), "==", 1))
            self.store(item_of(self, value, 0), found)
        return self.load(PTR, found)

    def _extents(self) -> list[Value]:
        """Count, start and step of each dimension. Plain ranges have other code, and so have others of step 1."""
        numbers: list[Value] = []
        plain = unit = I1(1)
        for item in self._space():
            count, start, step = self._extent(item)
            unit = self.and_(unit, self.is_(step, "==", 1))
            if self.source.launch.unit:  # a loop over them has an end that a word holds
                self.check(self.is_(self.add(start, count), ">=", start))
            plain = self.and_(plain, self.is_(start, "==", 0))
            numbers += [count, start, step]
        if self.source.launch.unit:
            self.check(self.and_(unit, self.not_(plain)))
        else:
            self.check(self.not_(unit))
        return numbers

    def _extent(self, item: Value) -> tuple[Value, ...]:
        """Count, start and step of an int, or a range."""
        found = [self.variable(usual) for usual in (0, 0, 1)]
        is_range = self.is_(type_of(self, item), "==", self.outside("PyRange_Type"))
        with self.if_else(is_range) as (ranged, counted):
            with ranged:
                for place, offset in zip(found, (LENGTH, START, STEP), strict=True):
                    self.store(self.integer(self.load(PTR, item, offset)), place)
            with counted:
                count = self.integer(item)
                self.check(self.is_(count, ">=", 0))
                self.store(count, found[0])
        return tuple(self.load(I64, place) for place in found)

    def _counts(self) -> list[Value]:
        """The lengths that the keyword gives, checked. `range(n)` is `n`."""
        known = self.source.launch.ndrange
        counts = [self._count(item) for item in self._space()]
        for d, count in enumerate(counts):
            self.check(self.is_(count, ">=", 0) if known is None else self.is_(count, "==", known[d]))
        return counts

    def _count(self, item: Value) -> Value:
        """An int, or the length of a range from 0 in steps of 1."""
        found = self.variable(item)
        is_range = self.is_(type_of(self, item), "==", self.outside("PyRange_Type"))
        with self.if_then(is_range, likely=False):
            self.check(self.is_(self.integer(self.load(PTR, item, START)), "==", 0))
            self.check(self.is_(self.integer(self.load(PTR, item, STEP)), "==", 1))
            self.store(self.load(PTR, item, LENGTH), found)
        return self.integer(self.load(PTR, found))

    def _run(self) -> None:
        if self.product:
            # each length of a product is that of two of its three arrays, and so stands here twice; if it has two
            # arrays, one is both factors
            total = Value(F64, repr(FEWEST_PRODUCTS**-2.0))
            for length in self.lengths:
                total = self.fmul(total, self.cast("sitofp", length, F64))
            is_large = self.is_(total, ">=", Value(F64, "1.0"))
            self.check(self.not_(self.and_(is_large, self.has_tiles)))
        answer = self.call("pk_launch", I32, self.slots)
        with self.if_then(self.is_(answer, "!=", 0), likely=False):
            self.check(self.is_(answer, "!=", REFUSED))
            self.ret(NULL)
        event = table(self, "event")
        self.call("Py_IncRef", VOID, event)
        self.ret(event)

    def go_on(self) -> None:
        """At `miss`: the next entry behind this one, or Python. Behind the last entry there is a 0."""
        self.block = self.miss
        first = self.place(self.cells, 8 * KERNEL_CELLS.index("entry0"))
        me = self.module.function(self.name, (PTR, (PTR, PTR, I64, PTR)))
        number = self.variable(0)

        def is_other() -> Value:
            entry = self.word(first, self.load(I64, number), PTR)
            self.increase(number, 1)
            return self.and_(self.is_(entry, "!=", me), self.is_(self.load(I64, number), "u<=", ENTRIES))

        with self.while_(is_other):
            pass
        behind = self.load(I64, number)
        last = self.is_(behind, "u>", ENTRIES)
        following = self.word(first, self.select(last, ENTRIES, behind), PTR)
        with self.if_then(self.is_(following, "!=", NULL)):
            self.ret(self.call_pointer(following, PTR, *self.arguments, tail=True))
        slow = self.load(PTR, self.cells, 8 * KERNEL_CELLS.index("slow"))
        arguments = (slow, self.values, self.flags, self.names)
        self.ret(self.call("PyObject_Vectorcall", PTR, *arguments, tail=True))
