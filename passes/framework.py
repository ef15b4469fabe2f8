"""What a pass is, what a pipeline is, and how one is run.

Comes in: a module and a `Pipeline` of `Pass` objects, Python's and upstream's mixed.
Goes out: the module, changed in place, and a `StageRecord` (text, time) per pass on demand.
Read next: `registry` (names to passes), `stages` (what IR each stage allows).
"""

from __future__ import annotations

import dataclasses
import enum
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.passmanager import PassManager

from pykern.artifact import Stage
from pykern.dialect.context import check_kern_ops
from pykern.dialect.diagnostics import collected, located_error
from pykern.errors import KernelError, PassError, VerifyError


@dataclass(frozen=True)
class Pass:
    """A pass: fields are its options, `name` is its kebab-case name. Valid IR in, valid IR out."""

    name: ClassVar[str] = ""

    def run(self, module: ir.Module) -> None:
        raise NotImplementedError

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
    """A pass pipeline of MLIR itself, as text: ``Upstream("canonicalize,cse")``."""

    pipeline: str = ""

    def run(self, module: ir.Module) -> None:
        PassManager.parse(f"builtin.module({self.pipeline})").run(module.operation)

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
        self, module: ir.Module, record: Callable[[Stage], None] | None = None, texts: bool = True
    ) -> None:
        """Run every pass, verify after each, and hand a `Stage` to `record`.

        Raises `PassError` or `VerifyError`, located at the kernel's line where the IR tells it.
        """
        for step in self.passes:
            started = time.perf_counter()
            try:
                run_pass(step, module)
            except KernelError as error:
                error.during = error.during or str(step)
                raise
            elapsed = (time.perf_counter() - started) * 1e3
            if record is not None:
                record(Stage(str(step), str(module) if texts else "", elapsed))


def run_pass(step: Pass, module: ir.Module) -> None:
    """Run one pass and verify what it left; failures become located errors."""
    with collected(module.context) as reports:
        try:
            step.run(module)
        except ir.MLIRError as error:
            raise located_error(PassError, f"pass `{step}` failed", reports, error.message) from None
        errors = [r for r in reports if r.severity == "error"]
        if errors:  # some upstream passes report an error and go on
            raise located_error(PassError, f"pass `{step}` failed", reports)
    verify(module, f"pass `{step}` left invalid IR")


def verify(module: ir.Module, what: str) -> None:
    """MLIR's verifier and kern's own. Raises `VerifyError` at the op's place."""
    with collected(module.context) as reports:
        try:
            module.operation.verify()
        except ir.MLIRError as error:
            raise located_error(VerifyError, what, reports, error.message) from None
    check_kern_ops(module)


def _option_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return ",".join(str(item) for item in value)
    return str(value)
