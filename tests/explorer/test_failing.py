"""Kernels that do not compile: the page has the error, and all stages before it."""

from __future__ import annotations

import pickle

import pytest

import pykern as pk
from pykern.data.artifact import Stage
from pykern.data.lineage import Follow, Lineage
from pykern.errors import CompilerCrash, KernelError, KernelSyntaxError, TargetError
from pykern.explorer import following
from pykern.explorer.explore import look, of_kernel
from pykern.explorer.packing import subject
from pykern.explorer.text import overview
from tests.explorer.samples import SAMPLES, saxpy

VECTOR = pk.spec("n", pk.f32)
ARGUMENTS = (VECTOR, VECTOR, VECTOR, pk.f32)


def large_group():
    with pytest.raises(TargetError) as caught:
        saxpy.lower(*ARGUMENTS, ndrange="n", workgroup=2048, target="nvvm:sm_80")
    return caught.value


def test_a_pass_that_fails_leaves_the_stages_before_it():
    (data,) = look(saxpy, *ARGUMENTS, ndrange="n", workgroup=2048, target="nvvm:sm_80").subjects
    whole = of_kernel(saxpy, *ARGUMENTS, ndrange="n", workgroup=64, target="nvvm:sm_80")
    *before, error = data.stages
    assert error.kind == "failed"
    assert error.name == whole.stages[len(before)].name
    assert "a group of 2048 work-items" in error.text
    assert len(before) >= 5
    assert [s.name for s in before] == [s.name for s in whole.stages[: len(before)]]
    assert data.reached == before[-1]
    assert any("a group of 2048" in r.text and r.line for r in data.remarks)
    assert subject(data)["stages"][-1]["phase"] == "failed"
    assert subject(data)["summary"][0].startswith("It did not compile: a group of 2048 work-items")


def test_an_error_can_be_explored(tmp_path):
    error = large_group()
    explored = pk.explore(error, to=tmp_path / "page.html")
    assert "a group of 2048" in explored.error
    assert "did not compile" in repr(explored)
    assert (tmp_path / "page.html").exists()
    assert any("✕" in row for row in overview(explored.data))


def test_without_a_stage_the_error_is_raised():
    @pk.kernel
    def opens(x):
        i = pk.index()
        with open("a"):
            x[i] = 0.0

    with pytest.raises(KernelSyntaxError):
        look(opens, VECTOR, ndrange="n")
    with pytest.raises(KernelError):
        look(KernelError("nothing is known of this one"))


def test_a_crash_leaves_what_was_written(monkeypatch):
    whole = SAMPLES["saxpy"].look("llvm")

    class Dying:
        def compile(self, source, keep_stages=False, passes=()):
            assert isinstance(keep_stages, Follow)
            with open(keep_stages.partial, "wb") as file:
                for stage in whole.stages[:3]:
                    pickle.dump(stage, file)
                file.write(pickle.dumps(Stage("cut off", "x" * 1000, 1.0, "mlir", Lineage()))[:200])
            raise CompilerCrash("the compiler process died of SIGSEGV")

    monkeypatch.setattr(following, "service", Dying)
    error = large_group()  # any error with a source
    (data,) = look(error).subjects
    assert data.stages[:3] == whole.stages[:3]
    assert len(data.stages) == 4
    assert "SIGSEGV" in data.error
    assert data.stages[-1].name == "CompilerCrash [PK008]"


def test_what_was_explored_before_is_shown_beside():
    one = look(saxpy, *ARGUMENTS, ndrange="n")
    other = saxpy.lower(*ARGUMENTS, ndrange="n", target="spirv:vulkan")
    both = look(one, other, large_group())
    assert [d.target for d in both.subjects] == ["llvm", "spirv:vulkan", "nvvm:sm_80"]
    assert [bool(d.error) for d in both.subjects] == [False, False, True]
