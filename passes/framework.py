"""What a pass is, what a pipeline is, and how one is run.

Comes in: a module and a `Pipeline` of `Pass` objects, Python's and upstream's mixed.
Goes out: the module, changed in place, and a `Stage` (text, time) per pass on demand.
Valid IR is checked after each pass, or, where the caller says so, at the end of each pipeline.
Read next: `module_facts` (which passes need not run), `registry` (names to passes).
"""

from __future__ import annotations

import dataclasses
import enum
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.passmanager import PassManager

from pykern.data.artifact import Stage
from pykern.dialect.attribute_checks import check_attributes
from pykern.dialect.context import check_kern_ops
from pykern.dialect.diagnostics import collected, located_error
from pykern.errors import KernelError, PassError, VerifyError
from pykern.passes.module_facts import CLEANING, ModuleFacts
from pykern.passes.region_bodies import is_long, told_apart

CLEANED = (CLEANING, "canonicalize,loop-invariant-code-motion,cse")
"""Ends of pipelines behind which canonicalization finds nothing."""

_each: ContextVar[bool] = ContextVar("verify_each", default=True)
_careful: ContextVar[bool] = ContextVar("careful", default=False)


@contextmanager
def carefully(careful: bool = True) -> Iterator[None]:
    """A context in which passes that only make code faster are left out; used after the compiler has crashed."""
    token = _careful.set(careful)
    try:
        yield
    finally:
        _careful.reset(token)


def is_careful() -> bool:
    """Whether optimisations are to be left out where code can do without; see `carefully`."""
    return _careful.get()


@contextmanager
def verification(each: bool) -> Iterator[None]:
    """Inside, verify after each pass, which is the default, or only at the ends of pipelines."""
    token = _each.set(each)
    try:
        yield
    finally:
        _each.reset(token)


@dataclass(frozen=True)
class Pass:
    """A pass: fields are its options, `name` is its kebab-case name. Valid IR in, valid IR out."""

    name: ClassVar[str] = ""
    looks_for: ClassVar[tuple[str, ...]] = ()
    """Beginnings of names of ops. Where no op of the module is named so, the pass would change nothing."""
    scalar_only: ClassVar[bool] = False
    """Whether it has to do with scalar loops: not with functions that were written in vectors, or only call others."""
    only_speed: ClassVar[bool] = False
    """Whether code would be right without it, and slower. `carefully` leaves such passes out."""
    powers: ClassVar[tuple[str, ...]] = ()
    """Options that are powers of two: sizes of vectors and subgroups."""

    def run(self, module: ir.Module) -> bool | None:
        """Change the module in place. `False` says that everything is as it was."""
        raise NotImplementedError

    def is_idle(self, facts: ModuleFacts) -> bool:
        """Whether the pass would change nothing, by what is known of the module. It is not run then."""
        return bool(self.looks_for) and not facts.has(self.looks_for, self.scalar_only)

    def record(self, facts: ModuleFacts, changed: bool) -> None:
        """Update the facts about the module after a run."""
        if changed:
            facts.changed()

    def __str__(self) -> str:
        """The pass as `pykern-opt --pass-pipeline=` takes it, options that differ from default only."""
        options = [
            f"{field.name.replace('_', '-')}={_option_text(value)}"
            for field in dataclasses.fields(self)
            if (value := getattr(self, field.name)) != field.default
        ]
        return self.name + (f"{{{' '.join(options)}}}" if options else "")


@dataclass(frozen=True)
class Upstream(Pass):
    """A pass pipeline of MLIR itself, as text: ``Upstream("canonicalize,cse")``.

    `where`: what `Pass.looks_for` is, but for names in `but`; with `scalar`, `Pass.scalar_only`.
    """

    pipeline: str = ""
    where: tuple[str, ...] = dataclasses.field(default=(), compare=False)
    but: frozenset[str] = dataclasses.field(default=frozenset(), compare=False)
    scalar: bool = dataclasses.field(default=False, compare=False)
    makes: tuple[str, ...] = dataclasses.field(default=(), compare=False)
    """Names of all ops it can make, where they are few."""
    bodies: bool = dataclasses.field(default=False, compare=False)
    """For a pipeline that ends with `cse`: whether there may be very many ops that differ only in their bodies."""

    def run(self, module: ir.Module) -> None:
        if self.bodies and is_long(module.operation):
            manager(module.context, self.pipeline.removesuffix(",cse")).run(module.operation)
            with told_apart(module):
                manager(module.context, "cse").run(module.operation)
        else:
            manager(module.context, self.pipeline).run(module.operation)

    def is_idle(self, facts: ModuleFacts) -> bool:
        if self.pipeline == CLEANING:
            return facts.is_clean
        return bool(self.where) and not facts.has(self.where, self.scalar, self.but)

    def record(self, facts: ModuleFacts, changed: bool) -> None:
        if self.pipeline.endswith(CLEANED):
            facts.cleaned()
        elif self.makes:
            facts.made(self.makes)
        else:
            facts.changed()

    def __str__(self) -> str:
        return self.pipeline


@dataclass(frozen=True)
class Callback(Pass):
    """A user's own pass given as a live callable that takes the module."""

    function: Callable[[ir.Module], None] = lambda module: None

    def run(self, module: ir.Module) -> None:
        self.function(module)

    def __str__(self) -> str:
        return getattr(self.function, "__name__", "callback")


@dataclass(frozen=True)
class Pipeline:
    """Passes in order. Its text is the reproducer: `parse(str(p)) == p`."""

    passes: tuple[Pass, ...] = ()

    def __add__(self, other: Pipeline) -> Pipeline:
        return Pipeline(self.passes + other.passes)

    def __iter__(self) -> Iterator[Pass]:
        return iter(self.passes)

    def __str__(self) -> str:
        return f"builtin.module({','.join(str(p) for p in self.passes)})"

    def run(
        self,
        module: ir.Module,
        record: Callable[[Stage], None] | None = None,
        texts: bool = True,
        after: Callable[[Pass], None] = lambda step: None,
    ) -> ModuleFacts:
        """Run every pass, verify as `verification` says, and hand a `Stage` to `record`; `after` is called with each.

        Raises `PassError` or `VerifyError`, located at the kernel's line where the IR tells it. Times are those
        of the passes: verification is not in them. A pass that is idle is a stage like all others. Gives what is
        known of the module in the end.
        """
        facts = ModuleFacts(module)
        for step in self.passes if not is_careful() else [p for p in self.passes if not p.only_speed]:
            started = time.perf_counter()
            try:
                if not facts.skips(step):
                    step.record(facts, apply_pass(step, module))
                elapsed = (time.perf_counter() - started) * 1e3
                if _each.get():
                    _verify_after(step, module)
            except KernelError as error:
                error.during = error.during or str(step)
                raise
            if record is not None:
                record(Stage(str(step), str(module) if texts else "", elapsed))
            after(step)
        if self.passes and not _each.get():
            what = f"pass `{self.passes[-1]}` or one before it left invalid IR"
            verify(module, what, kern=facts.has(("kern.",)))
        return facts


def run_pass(step: Pass, module: ir.Module) -> None:
    """Run one pass and verify what it left; failures become located errors."""
    apply_pass(step, module)
    if _each.get():
        _verify_after(step, module)


def apply_pass(step: Pass, module: ir.Module) -> bool:
    """Run one pass; what it reports as an error is raised, located. Whether it may have changed something."""
    with collected(module.context) as reports:
        try:
            changed = step.run(module) is not False
        except ir.MLIRError as error:
            raise located_error(PassError, f"pass `{step}` failed", reports, error.message) from None
        errors = [r for r in reports if r.severity == "error"]
        if errors:  # some upstream passes report an error and go on
            raise located_error(PassError, f"pass `{step}` failed", reports)
    return changed


def _verify_after(step: Pass, module: ir.Module) -> None:
    """Upstream's passes make no kern ops and attributes, so that those need no second look."""
    what, kern = f"pass `{step}` left invalid IR", not isinstance(step, Upstream)
    if kern:
        verify_attributes(module, what)
    verify(module, what, kern=kern)


_REUSED = frozenset(
    {
        "canonicalize", "convert-func-to-llvm", "convert-scf-to-cf", "convert-to-llvm", "cse",
        "expand-strided-metadata",
        "finalize-memref-to-llvm", "loop-invariant-code-motion", "lower-affine", "reconcile-unrealized-casts",
    }
)  # fmt: skip
"""Passes of MLIR that keep nothing from one run to the next. `convert-math-to-funcs`, for one, keeps functions that
are gone by then."""

_OPTIONS = re.compile(r"\{[^}]*\}")

_managers: dict[str, PassManager] = {}
_managed: list[ir.Context] = []


def manager(context: ir.Context, pipeline: str) -> PassManager:
    """MLIR's pass manager for a list of passes; it does not verify: `verify` does.

    What canonicalization prepares when it first runs, all patterns of all dialects, costs more than a run on a small
    kernel. So its managers are kept, for the context that was asked for last: a process that compiles has one.
    """
    if _managed != [context]:
        _managers.clear()
        _managed[:] = [context]
    found = _managers.get(pipeline)
    if found is None:
        try:
            found = PassManager.parse(f"builtin.module({pipeline})", context)
        except ValueError as error:
            said = str(error).partition("error: ")[2].partition("\n")[0] or str(error)
            raise PassError(
                f"pipeline `{pipeline}`: {said}", hint="see pykern-opt --help for pykern's passes"
            ) from None
        found.enable_verifier(False)
        if _REUSED.issuperset(
            _OPTIONS.sub("", pipeline).removeprefix("llvm.func(").removesuffix(")").split(",")
        ):
            _managers[pipeline] = found
    return found


def verify_attributes(module: ir.Module, what: str) -> None:
    """Those named `kern.*`: of what comes from outside, before `verify`, which reads some. As `verify` does."""
    try:
        check_attributes(module.operation)
    except VerifyError as error:
        error.extra_notes = (*error.extra_notes, (what, None))
        raise


def verify(module: ir.Module, what: str, kern: bool = True) -> None:
    """MLIR's verifier and `kern`'s own. Raises `VerifyError` at the op's place."""
    with collected(module.context) as reports:
        try:
            module.operation.verify()
        except ir.MLIRError as error:
            raise located_error(VerifyError, what, reports, error.message) from None
    if kern:
        try:
            check_kern_ops(module)
        except VerifyError as error:
            error.extra_notes = (*error.extra_notes, (what, None))
            raise


def _option_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return ",".join(str(item) for item in value)
    return str(value)
