"""`pk_entry`: the compiled CPython entry of a kernel. LLVM IR text, an object of its own, linked to the launcher.

It is the same for all kernels of a signature, and is compiled once for them; it is written as it should run, and LLVM's
optimiser finds nothing in it that a launch would feel.

A vectorcall that checks the arguments against the signature it was made for, writes the cells on its
stack and calls `pk_run`. On any mismatch it hands the very same arguments to the next entry of the
kernel object, and after the last to Python. Layouts of PyArrayObject, PyFloatObject and PyBytesObject are those
of NumPy 1.x/2.x and CPython 3.10-3.14; everything else goes through the C API. Devices:
`pykern.lowering.gpu.host_entry`.
"""

from __future__ import annotations

from pykern.data.abi import ARRAY_CELLS, ENTRIES, KERNEL_CELLS, REFUSED, TABLE_INDEX
from pykern.data.artifact import ArgumentUse
from pykern.data.source import ArraySpec, KernelSource, Parameter, ScalarSpec, StaticSpec
from pykern.lowering.llvm.entry_writer import EntryWriter
from pykern.lowering.llvm.forget import FORGET
from pykern.lowering.llvm.launcher import cells, llvm_type
from pykern.lowering.llvm.overlap import Span, check_itself, check_overlap, span_of
from pykern.types import BY_NAME

GIL_WORK = 60_000
"""Elementary operations (about 20 us) from which letting other Python threads run is worth 50 ns."""

FEWEST_PRODUCTS = 1 << 20
"""Multiplications, about, of a launch of a product from which Python is asked whether it runs in tiles
(`pykern.program.product`): the root of the product of all lengths, for each is the length of two arrays of three."""

C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
DATA, NDIM, DIMS, STRIDES, DESCR, FLAGS = 16, 24, 32, 40, 56, 64
PAYLOAD = 16
"""Byte offset of the value in a float or NumPy scalar object, right behind the object head."""
BYTES_PAYLOAD = 32
START, STEP, LENGTH = 16, 32, 40
"""Byte offsets in a range."""

_LAUNCH = f"""
declare void @pk_run(ptr)
declare i64 @pk_work(ptr)
declare hidden i1 @pk_outside(ptr)
declare hidden i32 @pk_unlocked(ptr, ptr)

define SEEN i32 @pk_launch(ptr %slots) {{
  %outside = call i1 @pk_outside(ptr %slots)
  br i1 %outside, label %refused, label %within, !prof !{{!"branch_weights", i32 1, i32 2000}}
refused:
  ret i32 {REFUSED}
within:
  %work = call i64 @pk_work(ptr %slots)
  %much = icmp sgt i64 %work, LEAST_WORK
  br i1 %much, label %long, label %short
short:
  call void @pk_run(ptr %slots)
  ret i32 0
long:
  %told = call i32 @pk_unlocked(ptr @pk_run, ptr %slots)
  ret i32 %told
}}
"""


def launch_text(may_run_out: bool, endless: bool = False) -> str:
    """What an entry calls, linked to the kernel: `pk_run`, and long ones without the interpreter's lock, as those that
    `may_run_out` of memory, which leave it by `pk_call`. It gives 1: an exception is set; `REFUSED`: Python has to look
    at the launch. Python calls it, too, unless the kernel may be `endless`: of such nobody knows how long they take.
    """
    text = _LAUNCH.replace("LEAST_WORK", "-1" if may_run_out else str(GIL_WORK))
    return text.replace("SEEN", "hidden" if endless else "")


_RUN = """
@pk_table = external hidden global ptr
declare hidden i32 @pk_launch(ptr)
"""
_NAMES = """
declare i64 @PyLong_AsLongLong(ptr)
declare ptr @PyErr_Occurred()
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyDict_GetItemWithError(ptr, ptr)
declare ptr @PyObject_GetAttr(ptr, ptr)
@PyLong_Type = external global i8
@PyFloat_Type = external global i8
@PyBool_Type = external global i8
@PyTuple_Type = external global i8
@PyBytes_Type = external global i8
@PyRange_Type = external global i8
@_Py_TrueStruct = external global i8
"""
HEAD = FORGET + _NAMES


def entry_text(source: KernelSource, uses: tuple[ArgumentUse, ...], product: bool = False) -> str:
    """The entry for a source; empty where its calls have to go through Python. Large ones of a `product` do."""
    if not has_entry(source):
        return ""
    return Entry(source, uses, product).text()


def has_entry(source: KernelSource) -> bool:
    """Whether the calls of a kind are such that an entry can take them."""
    direct = all(isinstance(p.spec, ArraySpec | ScalarSpec) or _plain_static(p) for p in source.parameters)
    return direct and not source.launch.shared


def _plain_static(parameter: Parameter) -> bool:
    return isinstance(parameter.spec, StaticSpec) and type(parameter.spec.value) is int


class Entry(EntryWriter):
    """Writes the function line by line; every check goes on at a new label or to `miss`."""

    def __init__(self, source: KernelSource, uses: tuple[ArgumentUse, ...], product: bool = False) -> None:
        super().__init__()
        self.source, self.uses = source, uses
        whole = all(isinstance(p.spec, ArraySpec) and p.spec.layout == "C" for p in source.parameters)
        self.product = product and whole
        self.lengths: list[str] = []
        self.spans: list[Span] = []

    # -- the function ------------------------------------------------------------------------

    def text(self) -> str:
        count = len(cells(self.source)) + 1
        parameters = self.source.parameters
        self.emit_lines(
            "define ptr @pk_entry(ptr %self, ptr %args, i64 %nargsf, ptr %kwnames) {",
            f"  %slots = alloca [{count} x i64], align 16",
            "  %table = load ptr, ptr @pk_table",
            f"  %offp = getelementptr i64, ptr %table, i64 {TABLE_INDEX['kernel_offset']}",
            "  %offset = load i64, ptr %offp",
            "  %cells = getelementptr i8, ptr %self, i64 %offset",
            "  %nargs = and i64 %nargsf, 9223372036854775807",
        )
        self.same("i64", "%nargs", str(len(parameters)))
        self._guards()
        numbers = iter(range(len(self.uses)))
        for n, parameter in enumerate(parameters):
            self._argument(n, parameter, numbers)
        self._ndrange(len(parameters))
        check_overlap(self, self.spans, same_views=not self.source.noalias)
        self._run()
        self._miss()
        return _RUN + HEAD + "\n".join(self.lines) + '\n}\n!0 = !{!"branch_weights", i32 2000, i32 1}\n'

    def _argument(self, n: int, parameter: Parameter, numbers) -> None:
        place = self.emit(f"getelementptr ptr, ptr %args, i64 {n}")
        value = self.emit(f"load ptr, ptr {place}")
        spec = parameter.spec
        if isinstance(spec, ArraySpec):
            self._array(value, spec, self.uses[next(numbers)])
        elif isinstance(spec, ScalarSpec):
            self._scalar(value, spec, parameter.converts)
        else:
            assert isinstance(spec, StaticSpec)
            self.same("i64", self._integer(value), str(spec.value))

    def held(self, value: str, slot: str) -> str:
        """The cells in the bytes object that an object holds in a slot."""
        place = self.emit(f"getelementptr i8, ptr {value}, i64 {self.table(slot, 'i64')}")
        found = self.emit(f"load ptr, ptr {place}")
        self.need(self.emit(f"icmp ne ptr {found}, null"))
        self._type_is(found, "@PyBytes_Type")
        return self.emit(f"getelementptr i8, ptr {found}, i64 {BYTES_PAYLOAD}")

    def array_cell(self, cells: str, name: str, kind: str = "i64") -> str:
        return self.field(cells, 8 * ARRAY_CELLS.index(name), kind)

    def _as_numpy(self, value: str) -> str:
        """The value, or the NumPy array that stands for a pykern.Array on the CPU that was not freed."""
        kind = self.field(value, 8, "ptr")
        plain = self.emit(f"icmp eq ptr {kind}, {self.table('ndarray')}")
        self.counter += 1
        n = self.counter
        self.emit_lines(f"  br i1 {plain}, label %plain{n}, label %other{n}", f"other{n}:")
        self.same("ptr", kind, self.table("array"))
        cells = self.held(value, "array_launch")
        users = self.emit(f"load i64, ptr {self.array_cell(cells, 'users', 'ptr')}")
        self.need(self.emit(f"icmp ne i64 {users}, 0"))
        host = self.array_cell(cells, "host", "ptr")
        self.need(self.emit(f"icmp ne ptr {host}, null"))
        self.emit_lines(f"  br label %told{n}", f"told{n}:", f"  br label %have{n}", f"plain{n}:")
        self.emit_lines(f"  br label %have{n}", f"have{n}:")
        return self.emit(f"phi ptr [{host}, %told{n}], [{value}, %plain{n}]")

    def _array(self, value: str, spec: ArraySpec, use: ArgumentUse) -> None:
        value = self._as_numpy(value)
        self.same("ptr", self.field(value, DESCR, "ptr"), self.table(f"dtype.{spec.dtype}"))
        self.same("i32", self.field(value, NDIM, "i32"), str(spec.rank))
        wanted = ALIGNED | (C_CONTIGUOUS if spec.layout == "C" else 0) | (WRITEABLE if use.writes else 0)
        flags = self.emit(f"and i32 {self.field(value, FLAGS, 'i32')}, {wanted}")
        self.same("i32", flags, str(wanted))
        data = self.field(value, DATA, "ptr")
        self.put("ptr", data)
        lengths = self._lengths(value, spec)
        strides = self._strides(value, spec) if spec.layout == "strided" else []
        if strides and use.writes:
            check_itself(self, spec, lengths, strides)
        self.spans.append(span_of(self, data, spec, lengths, strides, use.writes))

    def _lengths(self, value: str, spec: ArraySpec) -> list[str]:
        if not spec.rank:
            return []
        dims = self.field(value, DIMS, "ptr")
        lengths = [self.field(dims, 8 * d, "i64") for d in range(spec.rank)]
        for length, known in zip(lengths, spec.shape, strict=True):
            if known is not None:
                self.same("i64", length, str(known))
            self.put("i64", length)
        self.lengths += lengths
        return lengths

    def _strides(self, value: str, spec: ArraySpec) -> list[str]:
        """Strides in elements go into cells; bytes are given back."""
        if not spec.rank:
            return []
        itemsize = BY_NAME[spec.dtype].itemsize
        pointer = self.field(value, STRIDES, "ptr")
        strides = [self.field(pointer, 8 * d, "i64") for d in range(spec.rank)]
        for stride in strides:
            if itemsize > 1:
                self.same("i64", self.emit(f"and i64 {stride}, {itemsize - 1}"), "0")
            self.put("i64", self.emit(f"sdiv exact i64 {stride}, {itemsize}"))
        return strides

    def _scalar(self, value: str, spec: ScalarSpec, converts: bool) -> None:
        kind = llvm_type(spec.dtype)
        if spec.dtype == "float" or (converts and spec.dtype in ("f64", "f32")):
            self._type_is(value, "@PyFloat_Type")
            number = self.field(value, PAYLOAD, "double")
            if spec.dtype == "f32":
                narrow = self.emit(f"bitcast float {self.emit(f'fptrunc double {number} to float')} to i32")
                self.put("i64", self.emit(f"zext i32 {narrow} to i64"))
            else:
                self.put("double", number)
        elif spec.dtype == "int" or (converts and spec.dtype == "i64"):
            self.put("i64", self._integer(value))
        elif spec.dtype == "bool":
            self._type_is(value, "@PyBool_Type")
            truth = self.emit(f"icmp eq ptr {value}, @_Py_TrueStruct")
            self.put("i64", self.emit(f"zext i1 {truth} to i64"))
        else:
            self._type_is(value, self.table(f"scalar.{spec.dtype}"))
            bits = BY_NAME[spec.dtype].bits
            if kind == "double":
                self.put("double", self.field(value, PAYLOAD, "double"))
                return
            number = self.field(value, PAYLOAD, f"i{bits}")
            extend = "sext" if BY_NAME[spec.dtype].kind == "i" else "zext"
            self.put("i64", number if bits == 64 else self.emit(f"{extend} i{bits} {number} to i64"))

    def _ndrange(self, positional: int) -> None:
        """Exactly one keyword, `ndrange`, a tuple of ints (and ranges), or one; without keywords a static one."""
        known = self.source.launch.ndrange
        # Of a derivative a launch over one work-item may be known, and is not static.
        if known is None or self.source.derivatives:
            self.need(self.emit("icmp ne ptr %kwnames, null"))
            counts = self._counts(positional) if self.source.launch.plain else self._extents(positional)
        else:
            self.emit_lines(
                "  %unnamed = icmp eq ptr %kwnames, null",
                "  br i1 %unnamed, label %counted, label %named",
                "named:",
            )
            self._counts(positional)
            self.emit_lines("  br label %counted", "counted:")
            counts = [str(n) for n in known]
        for count in counts:
            self.put("i64", count)
        self.put("i64", "0")

    def _space(self, positional: int) -> list[str]:
        """What the keyword gives for each dimension."""
        rank = self.source.launch.rank
        self.same("i64", self.field("%kwnames", 16, "i64"), "1")
        self.same("ptr", self.item("%kwnames", 0), self.table("ndrange"))
        value = self.field("%args", 8 * positional, "ptr")
        if rank == 1:
            return [self._only_item(value)]
        self._type_is(value, "@PyTuple_Type")
        self.same("i64", self.field(value, 16, "i64"), str(rank))
        return [self.item(value, d) for d in range(rank)]

    def _extents(self, positional: int) -> list[str]:
        """Count, start and step of each dimension; not all of them plain: that is other code."""
        words, plain = [], "true"
        for item in self._space(positional):
            extent = self._extent(item)
            for word, usual in zip(extent[1:], (0, 1), strict=True):
                plain = self.emit(f"and i1 {plain}, {self.emit(f'icmp eq i64 {word}, {usual}')}")
            words += extent
        self.need(self.emit(f"xor i1 {plain}, true"))
        return words

    def _extent(self, item: str) -> tuple[str, str, str]:
        """Of an int, or a range."""
        self.counter += 1
        n = self.counter
        is_range = self.emit(f"icmp eq ptr {self.field(item, 8, 'ptr')}, @PyRange_Type")
        self.emit_lines(f"  br i1 {is_range}, label %range{n}, label %count{n}", f"range{n}:")
        start, step, length = (self._integer(self.field(item, at, "ptr")) for at in (START, STEP, LENGTH))
        self.emit_lines(f"  br label %from{n}", f"from{n}:", f"  br label %extent{n}", f"count{n}:")
        count = self._integer(item)
        self.need(self.emit(f"icmp sge i64 {count}, 0"))
        self.emit_lines(f"  br label %upto{n}", f"upto{n}:", f"  br label %extent{n}", f"extent{n}:")
        return (
            self.emit(f"phi i64 [{length}, %from{n}], [{count}, %upto{n}]"),
            self.emit(f"phi i64 [{start}, %from{n}], [0, %upto{n}]"),
            self.emit(f"phi i64 [{step}, %from{n}], [1, %upto{n}]"),
        )

    def _counts(self, positional: int) -> list[str]:
        """The lengths that the keyword gives, checked."""
        known = self.source.launch.ndrange
        counts = [self._integer(item) for item in self._space(positional)]
        for d, count in enumerate(counts):
            if known is None:
                self.need(self.emit(f"icmp sge i64 {count}, 0"))
            else:
                self.same("i64", count, str(known[d]))
        return counts

    def _guards(self) -> None:
        """Captured names still mean what they meant when this was compiled."""
        cell = 8 * KERNEL_CELLS.index("guards")
        self.emit_lines(
            f"  %guardp = getelementptr i8, ptr %cells, i64 {cell}",
            "  %guards = load ptr, ptr %guardp",
            "  %unguarded = icmp eq ptr %guards, null",
            "  br i1 %unguarded, label %guarded, label %gstart",
            "gstart:",
            "  %gn = load i64, ptr %guards",
            "  br label %gloop",
            "gloop:",
            "  %gi = phi i64 [0, %gstart], [%gnext, %gsame]",
            "  %gdone = icmp eq i64 %gi, %gn",
            "  br i1 %gdone, label %guarded, label %gbody",
            "gbody:",
            "  %gat0 = mul i64 %gi, 3",
            "  %gat = add i64 %gat0, 1",
            "  %gp = getelementptr i64, ptr %guards, i64 %gat",
            "  %gdict = load ptr, ptr %gp",
            "  %gkp = getelementptr i64, ptr %gp, i64 1",
            "  %gkey = load ptr, ptr %gkp",
            "  %gvp = getelementptr i64, ptr %gp, i64 2",
            "  %gvalue = load ptr, ptr %gvp",
            "  %gwhere = ptrtoint ptr %gdict to i64",
            "  %gtag = and i64 %gwhere, 1",
            "  %gisname = icmp eq i64 %gtag, 0",
            "  br i1 %gisname, label %gname, label %gother",
            "gother:",
            "  %giscell = icmp eq i64 %gwhere, 1",
            "  br i1 %giscell, label %gcell, label %gattribute",
            "gcell:",
            "  %gcp = getelementptr i8, ptr %gkey, i64 16",
            "  %gcv = load ptr, ptr %gcp",
            "  br label %gcompare",
            "gattribute:",
            "  %gowner = getelementptr i8, ptr %gdict, i64 -1",
            "  %gav = call ptr @PyObject_GetAttr(ptr %gowner, ptr %gkey)",
            "  call void @Py_DecRef(ptr %gav)",
            "  %gnone = icmp eq ptr %gav, null",
            "  br i1 %gnone, label %gabsent, label %gcompare",
            "gabsent:",
            "  call void @pk_forget()",
            "  br label %gcompare",
            "gname:",
            "  %gdv = call ptr @PyDict_GetItemWithError(ptr %gdict, ptr %gkey)",
            "  br label %gcompare",
            "gcompare:",
            "  %gfound = phi ptr [%gcv, %gcell], [%gav, %gattribute], [null, %gabsent], [%gdv, %gname]",
            "  %gok = icmp eq ptr %gfound, %gvalue",
            "  br i1 %gok, label %gsame, label %clear",
            "gsame:",
            "  %gnext = add i64 %gi, 1",
            "  br label %gloop",
            "guarded:",
        )

    def _run(self) -> None:
        if self.product:
            total = f"{FEWEST_PRODUCTS**-2.0!r}"
            for length in self.lengths:
                total = self.emit(f"fmul double {total}, {self.emit(f'sitofp i64 {length} to double')}")
            large = self.emit(f"fcmp oge double {total}, 1.0")
            self.emit_lines(f"  br i1 {large}, label %miss, label %small", "small:")
        told = self.emit("call i32 @pk_launch(ptr %slots)")
        went = self.emit(f"icmp eq i32 {told}, 0")
        self.emit_lines(f"  br i1 {went}, label %ran, label %other, !prof !0", "other:")
        raised = self.emit(f"icmp ne i32 {told}, {REFUSED}")
        self.emit_lines(
            f"  br i1 {raised}, label %stopped, label %miss", "stopped:", "  ret ptr null", "ran:"
        )
        event = self.table("event")
        self.emit_lines(f"  call void @Py_IncRef(ptr {event})", f"  ret ptr {event}")

    def _miss(self) -> None:
        """The next entry behind this one, or Python. The scan stops at the 0 behind the last entry."""
        first = 8 * KERNEL_CELLS.index("entry0")
        slow = 8 * KERNEL_CELLS.index("slow")
        self.emit_lines(
            "clear:",
            "  call void @pk_forget()",
            "  br label %miss",
            "miss:",
            f"  %first = getelementptr i8, ptr %cells, i64 {first}",
            "  br label %scan",
            "scan:",
            "  %at = phi i64 [0, %miss], [%atnext, %scan]",
            "  %ep = getelementptr ptr, ptr %first, i64 %at",
            "  %e = load ptr, ptr %ep",
            "  %mine = icmp eq ptr %e, @pk_entry",
            "  %atnext = add i64 %at, 1",
            f"  %end = icmp uge i64 %at, {ENTRIES}",
            "  %stop = or i1 %mine, %end",
            "  br i1 %stop, label %found, label %scan",
            "found:",
            f"  %past = icmp ugt i64 %atnext, {ENTRIES}",
            f"  %clamped = select i1 %past, i64 {ENTRIES}, i64 %atnext",
            "  %np = getelementptr ptr, ptr %first, i64 %clamped",
            "  %next = load ptr, ptr %np",
            "  %last = icmp eq ptr %next, null",
            "  br i1 %last, label %python, label %chain",
            "chain:",
            "  %r1 = tail call ptr %next(ptr %self, ptr %args, i64 %nargsf, ptr %kwnames)",
            "  ret ptr %r1",
            "python:",
            f"  %slowp = getelementptr i8, ptr %cells, i64 {slow}",
            "  %slow = load ptr, ptr %slowp",
            "  %r2 = tail call ptr @PyObject_Vectorcall(ptr %slow, ptr %args, i64 %nargsf, ptr %kwnames)",
            "  ret ptr %r2",
        )
