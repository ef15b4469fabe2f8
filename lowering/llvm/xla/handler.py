"""`pk_xla`: the function by which XLA's CPU runtime calls a program. LLVM IR text, linked to the program.

Comes in: the parameters and results of a program whose lengths are known. Goes out: a handler that checks what XLA
gives it, fills the slots of `pk_run` (`pykern.data.abi`) and calls it; there is no Python in a call. Buffers may have
further dimensions in front, the same number of elements for all that have some: then the program runs once for each,
and buffers without them are the same in every run. Numbers come as arrays without dimensions. Behind the results
stands a buffer of bytes, where the program takes scratch memory. Read next: `pykern.data.xla_frame`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from pykern.data import xla_frame as frame
from pykern.data.abi import REPORT_CELLS
from pykern.data.artifact import ResultSpec, Site
from pykern.data.source import ArraySpec, Parameter, ScalarSpec, leaves
from pykern.lowering.llvm.text_ir.body import Body
from pykern.lowering.llvm.text_ir.module import Module
from pykern.lowering.llvm.text_ir.values import F32, F64, I1, I32, I64, NULL, PTR, VOID, Type, Value
from pykern.types import BY_NAME

SYMBOL = "pk_xla"
_WEAK = {"int": ("i32", "i64"), "float": ("f32", "f64")}
"""Types in which a number of Python may come, by how many bits JAX computes with."""


@dataclass(frozen=True)
class _Buffer:
    """What is expected: a name for messages, the types that are taken, the lengths behind those of a batch."""

    name: str
    dtypes: tuple[str, ...]
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * BY_NAME[self.dtypes[-1]].itemsize

    def __str__(self) -> str:
        return f"{self.name} is not {' or '.join(self.dtypes)}{list(self.shape)} or a batch of these"


def handler_text(
    name: str,
    parameters: Sequence[Parameter],
    results: Sequence[ResultSpec],
    scratch_bytes: int,
    sites: tuple[Site, ...] = (),
) -> str:
    """The text of `pk_xla`."""
    module = Module()
    module.linkage["pk_run"] = "hidden"
    _Handler(module, name, parameters, results, scratch_bytes, sites).write()
    return str(module)


@dataclass
class _Found:
    """A buffer in the making: its struct, the bytes from one of a batch to the next, and where a number is kept."""

    struct: Value
    stride: Value = field(default_factory=lambda: I64(0))
    data: Value = NULL


class _Handler(Body):
    """The function in the making."""

    def __init__(
        self,
        module: Module,
        name: str,
        parameters: Sequence[Parameter],
        results: Sequence[ResultSpec],
        scratch_bytes: int,
        sites: tuple[Site, ...],
    ) -> None:
        super().__init__(module, SYMBOL, PTR, [PTR])
        self.kernel, self.results, self.sites = name, results, sites
        self.has_scratch = scratch_bytes > 1
        self.specs = [(p.name, leaf) for p in parameters for leaf in leaves(p.spec)]
        self.frame = self.arguments[0]
        self.messages = 0
        self.slots = self.stack(f"[{len(self.specs) + len(results) + 2} x i64], align 16")

    # -- the function ------------------------------------------------------------------------------

    def write(self) -> None:
        self._answer_metadata()
        self._check(
            self.is_(self.load(I32, self.frame, frame.STAGE), "==", frame.EXECUTE), "is only executed"
        )
        given = self._given(frame.ARGUMENTS, frame.ARGUMENT_LIST, len(self.specs), "arguments")
        count = len(self.results) + self.has_scratch
        made = self._given(frame.RESULTS, frame.RESULT_LIST, count, "results")
        inputs = [self._input(n) for n in range(len(self.specs))]
        outputs = [self._output(n) for n in range(len(self.results))]
        batch = self._batch(made[: len(outputs)] or given, outputs or inputs)
        arguments = [self._found(s, b, batch) for s, b in zip(given, inputs, strict=True)]
        results = [self._found(s, b, batch) for s, b in zip(made, outputs, strict=False)]
        scratch = self.load(PTR, made[-1], frame.DATA) if self.has_scratch else NULL
        report = self.stack(f"[{REPORT_CELLS} x i64], align 16") if self.sites else NULL
        with self.loop(batch) as n:
            self._run(n, arguments, results, (report, scratch))
        self.ret(NULL)

    def _answer_metadata(self) -> None:
        """Before anything else XLA asks for which version the handler was made."""
        extension = self.load(PTR, self.frame, frame.EXTENSION)
        with self.if_then(self.is_(extension, "!=", NULL), likely=False):
            kind = self.load(I32, extension, frame.EXTENSION_TYPE)
            with self.if_then(self.is_(kind, "==", frame.METADATA_TYPE)):
                metadata = self.load(PTR, extension, frame.METADATA)
                self.store(I32(frame.MAJOR), metadata, frame.VERSION_MAJOR)
                self.store(I32(frame.MINOR), metadata, frame.VERSION_MINOR)
                self.store(I32(0), metadata, frame.TRAITS)
                self.ret(NULL)

    def _given(self, count: int, listed: int, expected: int, what: str) -> list[Value]:
        """The structs of the buffers."""
        found = self.load(I64, self.frame, count)
        self._check(self.is_(found, "==", expected), f"takes {expected} {what}")
        pointers = self.load(PTR, self.frame, listed)
        return [self.load(PTR, pointers, 8 * n) for n in range(expected)]

    def _input(self, number: int) -> _Buffer:
        name, spec = self.specs[number]
        dtypes = _WEAK.get(spec.dtype, (spec.dtype,))
        return _Buffer(f"`{name}`", dtypes, _lengths(spec) if isinstance(spec, ArraySpec) else ())

    def _output(self, number: int) -> _Buffer:
        result = self.results[number]
        dtypes = _narrower(result.dtype) if not result.shape else (result.dtype,)
        return _Buffer(f"result {number}", dtypes, result.shape)

    # -- what is expected of a buffer --------------------------------------------------------------

    def _batch(self, structs: list[Value], buffers: list[_Buffer]) -> Value:
        """How often the program runs: the elements of the dimensions in front."""
        if not structs:
            return I64(1)
        return self._leading(structs[0], buffers[0])

    def _leading(self, struct: Value, buffer: _Buffer) -> Value:
        self._check(self.is_(self._beyond(struct, buffer), ">=", 0), str(buffer))
        dims, total = self.load(PTR, struct, frame.DIMS), self.variable(1)
        with self.loop(self._beyond(struct, buffer)) as n:
            self.store(self.mul(self.load(I64, total), self.word(dims, n)), total)
        return self.load(I64, total)

    def _beyond(self, struct: Value, buffer: _Buffer) -> Value:
        """How many dimensions stand in front."""
        return self.sub(self.load(I64, struct, frame.RANK), len(buffer.shape))

    def _found(self, struct: Value, buffer: _Buffer, batch: Value) -> _Found:
        """The buffer, checked."""
        dtype = self.load(I32, struct, frame.DTYPE)
        fits = I1(0)
        for name in buffer.dtypes:
            fits = self.or_(fits, self.is_(dtype, "==", frame.DTYPES[name]))
        self._check(fits, str(buffer))
        leading = self._leading(struct, buffer)
        beyond = self._beyond(struct, buffer)
        dims = self.place(self.load(PTR, struct, frame.DIMS), self.mul(beyond, 8))
        fits = self.or_(self.is_(beyond, "==", 0), self.is_(leading, "==", batch))
        for d, length in enumerate(buffer.shape):
            fits = self.and_(fits, self.is_(self.load(I64, dims, 8 * d), "==", length))
        self._check(fits, str(buffer))
        data = self.load(PTR, struct, frame.DATA)
        size = I64(buffer.bytes)
        if len(buffer.dtypes) > 1:  # the narrower one is there
            narrow = self.is_(dtype, "==", frame.DTYPES[buffer.dtypes[0]])
            size = self.select(narrow, BY_NAME[buffer.dtypes[0]].itemsize, size)
        return _Found(struct, self.select(self.is_(beyond, "==", 0), 0, size), data)

    # -- a run -------------------------------------------------------------------------------------

    def _run(
        self, n: Value, arguments: list[_Found], results: list[_Found], behind: tuple[Value, Value]
    ) -> None:
        """Fill the slots, call the program, and look at its report."""
        filled = 0
        for found, (_, spec) in zip(arguments, self.specs, strict=True):
            data = self.place(found.data, self.mul(n, found.stride))
            value = data if isinstance(spec, ArraySpec) else self._number(found.struct, data, spec)
            self.store(value, self.slots, 8 * filled)
            filled += 1
        wide: list[tuple[_Found, Value, Value, str]] = []
        for found, result in zip(results, self.results, strict=True):
            data = self.place(found.data, self.mul(n, found.stride))
            if result.argument >= 0:
                continue  # its memory is the argument's, which XLA has made one with it
            if len(result.shape) == 0 and len(_narrower(result.dtype)) > 1:
                kept = self.stack("i64, align 8")
                wide.append((found, data, kept, result.dtype))
                data = kept
            self.store(data, self.slots, 8 * filled)
            filled += 1
        report, scratch = behind
        if self.sites:
            for cell in range(REPORT_CELLS):
                self.store(0, report, 8 * cell)
        self.store(report, self.slots, 8 * filled)
        self.store(scratch, self.slots, 8 * (filled + 1))
        self.call("pk_run", VOID, self.slots)
        for found, data, kept, dtype in wide:
            self._narrow(found, data, kept, dtype)
        if self.sites:
            self._check_report(report)

    def _number(self, struct: Value, data: Value, spec: ScalarSpec) -> Value:
        """The slot of a number."""
        if spec.dtype in _WEAK:
            found = self.variable(0)
            narrow, _ = _WEAK[spec.dtype]
            is_narrow = self.is_(self.load(I32, struct, frame.DTYPE), "==", frame.DTYPES[narrow])
            with self.if_else(is_narrow) as (short, long):
                with short:
                    if spec.dtype == "int":
                        self.store(self.cast("sext", self.load(I32, data), I64), found)
                    else:
                        self.store(self.cast("fpext", self.load(F32, data), F64), found)
                with long:
                    self.store(self.load(I64, data), found)
            return self.load(I64, found)
        dtype = BY_NAME[spec.dtype]
        bits = 8 * dtype.itemsize
        number = self.load(Type(f"i{bits}", bits), data)
        return number if bits == 64 else self.cast("sext" if dtype.kind == "i" else "zext", number, I64)

    def _narrow(self, found: _Found, data: Value, kept: Value, dtype: str) -> None:
        """A number of 64 bits as XLA wants it."""
        narrow, _ = _narrower(dtype)
        is_narrow = self.is_(self.load(I32, found.struct, frame.DTYPE), "==", frame.DTYPES[narrow])
        with self.if_else(is_narrow) as (short, long):
            with short:
                if BY_NAME[dtype].is_float:
                    self.store(self.cast("fptrunc", self.load(F64, kept), F32), data)
                else:
                    self.store(self.cast("trunc", self.load(I64, kept), I32), data)
            with long:
                self.store(self.load(I64, kept), data)

    # -- errors ------------------------------------------------------------------------------------

    def _check_report(self, report: Value) -> None:
        """The first failure ends the call; its message names the place in the source."""
        number = self.load(I64, report)
        with self.if_then(self.is_(number, "!=", 0), likely=False):
            texts = [self._text(_said(site)) for site in self.sites]
            message = texts[-1]
            for n, text in enumerate(texts[:-1]):
                message = self.select(self.is_(number, "==", n + 1), text, message)
            self.ret(self._error(message, frame.INTERNAL))

    def _check(self, condition: Value, message: str) -> None:
        with self.if_then(self.not_(condition), likely=False):
            text = self._text(f"pykern: `{self.kernel}`: {message}")
            self.ret(self._error(text, frame.INVALID_ARGUMENT))

    def _text(self, text: str) -> Value:
        data = text.encode()
        shown = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\' else f"\\{b:02X}" for b in data)
        self.messages += 1
        what = f'internal constant [{len(data) + 1} x i8] c"{shown}\\00"'
        return self.module.define(f"pk_xla.{self.messages}", what)

    def _error(self, message: Value, code: int) -> Value:
        given = self.stack("[4 x i64], align 8")
        self.store(frame.ERROR_BYTES, given)
        self.store(NULL, given, 8)
        self.store(message, given, frame.ERROR_MESSAGE)
        self.store(I32(code), given, frame.ERROR_CODE)
        create = self.load(PTR, self.load(PTR, self.frame, frame.API), frame.ERROR_CREATE)
        return self.call_pointer(create, PTR, given)


def _lengths(spec: ArraySpec) -> tuple[int, ...]:
    assert None not in spec.shape, "a program knows its lengths"
    return tuple(n for n in spec.shape if n is not None)


def _narrower(dtype: str) -> tuple[str, ...]:
    """In what types a number may go out: numbers of Python have 64 bits, and JAX may have 32 alone."""
    narrow = {"f64": "f32", "float": "f32", "i64": "i32", "int": "i32"}.get(dtype)
    return (dtype,) if narrow is None else (narrow, dtype)


def _said(site: Site) -> str:
    """The message of a failure; numbers that belong to it are left out."""
    what = {
        "bounds": f"an index is outside of `{site.template}`",
        "nan": "this operation makes a NaN of numbers",
        "timeout": "the launch took too long",
    }.get(site.kind, f"assertion failed: {site.template}" if site.kind == "assert" else site.template)
    return f"pykern: {what} ({site.span.file}:{site.span.line}: {site.span.text.strip()})"
