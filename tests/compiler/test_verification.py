"""A wrong pass in a compile that verifies the ends of pipelines alone: the error names it as if each were verified."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import pykern as pk
from pykern.errors import PassError, VerifyError


@pk.kernel
def scaled(y, x, a):
    i = pk.index()
    y[i] = a * x[i]


@pk.jit
def program(x, y):
    return x * 2.0 + y


def kernel_source() -> Any:
    return scaled.lower(np.zeros(4), np.zeros(4), 2.0, ndrange=4).source


def program_source() -> Any:
    return program.lower(np.zeros(4), np.zeros(4)).source


def wrong_pass(spoil: Any) -> Any:
    from pykern.passes.framework import Pass

    @dataclass(frozen=True)
    class Wrong(Pass):
        name: ClassVar[str] = "wrong-on-purpose"

        def run(self, module: Any) -> None:
            from pykern.passes.kernels import find

            functions = find(module.operation, lambda op: op.name in ("func.func", "llvm.func"))
            spoil(next(f for f in functions if f.regions[0].blocks))

    return Wrong()


def call_nobody(function: Any) -> None:
    """A call of a function that is not there: nobody removes it."""
    from mlir import ir

    attributes = {"callee": ir.FlatSymbolRefAttr.get("nobody", function.context)}
    if function.name == "llvm.func":
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([0, 0], function.context)
        attributes["op_bundle_sizes"] = ir.DenseI32ArrayAttr.get([], function.context)
    with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]), function.location:
        ir.Operation.create(f"{function.name.partition('.')[0]}.call", attributes=attributes)


def ask_for_a_dimension_too_many(function: Any) -> None:
    """What MLIR's own verifier does not see."""
    from mlir import ir

    index = ir.IndexType.get()
    i64 = ir.IntegerType.get_signless(64)
    with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]), function.location:
        ir.Operation.create("kern.global_id", [index], attributes={"dim": ir.IntegerAttr.get(i64, 9)})


def inserted(pipeline: Any, wrong: Any, at: int) -> Any:
    from pykern.passes.framework import Pipeline

    passes = list(pipeline)
    return Pipeline((*passes[:at], wrong, *passes[at:]))


PLACES = [
    ("pykern.compiler.driver.kern_pipeline", kernel_source, call_nobody, False),
    ("pykern.compiler.driver.kern_pipeline", kernel_source, call_nobody, True),
    ("pykern.compiler.driver.kern_pipeline", kernel_source, ask_for_a_dimension_too_many, True),
    ("pykern.lowering.llvm.target.cpu_pipeline", kernel_source, call_nobody, False),
    ("pykern.lowering.llvm.target.cpu_pipeline", kernel_source, call_nobody, True),
    ("pykern.lowering.llvm.program.target.tensor_pipeline", program_source, call_nobody, True),
    ("pykern.lowering.llvm.program.target.buffer_pipeline", program_source, call_nobody, True),
    ("pykern.lowering.llvm.program.target.llvm_pipeline", program_source, call_nobody, True),
]
"""Where the pass stands, what is compiled, what the pass does, and whether it is the last of its pipeline."""


@pytest.mark.parametrize(
    ("place", "source", "spoil", "late"), PLACES, ids=lambda v: getattr(v, "__name__", str(v))
)
def test_the_error_names_the_pass(place, source, spoil, late, monkeypatch):
    from pykern.compiler import driver
    from pykern.passes import framework

    module, _, name = place.rpartition(".")
    owner = importlib.import_module(module)
    made, wrong = getattr(owner, name), wrong_pass(spoil)
    each: list[bool] = []

    def with_wrong(*args: Any, **keywords: Any) -> Any:
        each.append(framework._each.get())
        pipeline = made(*args, **keywords)
        return inserted(pipeline, wrong, len(list(pipeline)) if late else 0)

    plain = driver.compile_source(source())
    assert plain.binary
    monkeypatch.setattr(owner, name, with_wrong)
    with pytest.raises((VerifyError, PassError), match="`wrong-on-purpose`") as caught:
        driver.compile_source(source())
    assert each == [False, True]  # quick first, then once more with every stage verified
    assert caught.value.during == "wrong-on-purpose"


def test_a_right_compile_verifies_the_ends_alone(monkeypatch):
    from pykern.compiler import driver
    from pykern.passes import framework

    checks: list[str] = []
    verify = framework.verify
    monkeypatch.setattr(
        framework, "verify", lambda module, what, kern=True: checks.append(what) or verify(module, what, kern)
    )
    driver.compile_source(kernel_source())
    quick = len(checks)
    checks.clear()
    driver.compile_source(kernel_source(), keep_stages=True)
    assert 0 < quick < 5 < len(checks)
