"""`Kernel.lower`: stages, diffs, passes of the user's, specs, static facts."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk
from pykern.environment.settings import settings
from pykern.explorer.comparison import Comparison
from pykern.explorer.data import Exploration
from pykern.testing.bisection import Fault

SPECS = (pk.spec("n", pk.f32), pk.spec("n", pk.f32), pk.spec("n", pk.f32), pk.f32)


@pk.kernel
def saxpy(z, x, y, a):
    i = pk.index()
    z[i] = a * x[i] + y[i]


@pytest.fixture(scope="module")
def lowered() -> pk.Lowered:
    return saxpy.lower(*SPECS, ndrange=("n",))


def test_stages_are_in_order_and_timed(lowered: pk.Lowered) -> None:
    names = [s.name for s in lowered.stages]
    assert names[0] == "kern"
    assert names.index("kern") < names.index("kern-expand-ndrange") < names.index("llvm-translate")
    assert all(s.ms >= 0 for s in lowered.stages)
    assert sum(s.ms for s in lowered.stages) > 1


def test_texts(lowered: pk.Lowered) -> None:
    assert "kern.global_id" in lowered.as_text("kern")
    assert "kern.global_id" not in lowered.as_text("kern-expand-ndrange")
    assert "scf.for" in lowered.as_text("kern-expand-ndrange")
    assert "define" in lowered.as_text("llvm-translate")
    with pytest.raises(KeyError, match="no stage 'nothing'"):
        lowered.as_text("nothing")


def test_reprs_are_one_short_line(lowered: pk.Lowered, rng) -> None:
    """Also of what holds texts of whole stages, source text or thousands of times."""
    x = rng.random(8)
    result = pk.benchmark({"a": lambda: None, "b": lambda: None}, (), 1, 300)
    raised, refused = scale.raised(x, x, ndrange=8), strange.raised(x, x, ndrange=8)
    assert raised and not refused
    shown = [
        lowered, lowered.artifact, *lowered.stages, lowered.compile(), raised, refused, result, result["a"],
        total.lower(x), total, scale, pk.autodiff(scale), pk.grad(total), scale(x, x.copy(), ndrange=8),
        pk.check_grads(total, (x,)), pk.array(x), pk.Stream(), pk.device("cpu"), pk.device("cpu").info,
        pk.spec((2, None), pk.f32), pk.f32, pk.f32[:, 3], pk.In[pk.f32[:]], pk.every(3), pk.tune(total, x),
        Exploration("k", "k", "llvm", "", (), lowered.stages), declared,
        Comparison((Exploration("k", "k", "llvm", "", (), ()),)),
        Fault("k", "cpu", "a", "b", ("cse",), "x: 1 is 2\nand more", "-a\n+b\n"),
    ]  # fmt: skip
    for one in shown:
        assert "\n" not in repr(one) and len(repr(one)) < 600, repr(one)
    assert repr(lowered) == f"<pykern.Lowered saxpy for llvm, {len(lowered.stages)} stages>"


@pk.kernel
def scale(y, x):
    i = pk.index()
    y[i] = x[i] * 2


@pk.kernel
def strange(y, x):
    i = pk.index()
    y[i] = x[i] if x[0] > i else pk.atomic_add(y, i, 1.0)


@pk.jit
def total(x):
    return (x * x).sum()


@pk.benchmark(x="n", values=[1, 2], lines={"sum": total})
def declared(n):
    return (np.ones(n),)


def test_diff(lowered: pk.Lowered) -> None:
    changed = lowered.diff("kern", "kern-expand-ndrange")
    assert any(line.startswith("-") and "kern.global_id" in line for line in changed.splitlines())
    assert any(line.startswith("+") and "scf.for" in line for line in changed.splitlines())
    assert lowered.diff("kern", "kern") == ""


def test_compiled(lowered: pk.Lowered) -> None:
    compiled = lowered.compile()
    assert compiled.binary[:4] == b"\x7fELF"
    assert "pk_run" in compiled.asm()
    assert compiled.resources["instructions"] > 10
    assert compiled.resources["vector_bits"] >= 128


def test_notebook_text_is_escaped(lowered: pk.Lowered) -> None:
    page = lowered._repr_html_()
    assert page.startswith("<iframe sandbox=") and "&lt;!doctype html&gt;" in page
    assert "memref<?xf32>" not in page


def test_lower_takes_arrays_too() -> None:
    x = np.zeros(4, np.float32)
    assert "memref<?xf32>" in saxpy.lower(x, x, x, 1.0, ndrange=4).as_text("kern")


def test_a_live_pass_sees_and_changes_the_kern_stage() -> None:
    from mlir import ir

    seen: list[str] = []

    def drop_stores(module: ir.Module) -> None:
        stores = []

        def visit(op: ir.Operation) -> ir.WalkResult:
            seen.append(op.name)
            if op.name == "memref.store":
                stores.append(op)
            return ir.WalkResult.ADVANCE

        module.operation.walk(visit)
        for op in stores:
            op.erase()

    lowered = saxpy.lower(*SPECS, ndrange=("n",), passes=[drop_stores])
    assert "memref.store" in seen
    assert "memref.store" in lowered.as_text("kern")
    assert "memref.store" not in lowered.as_text("drop_stores")


def test_a_pass_by_name_and_an_unknown_one() -> None:
    lowered = saxpy.lower(*SPECS, ndrange=("n",), passes=["kern-check-bounds"])
    assert "kern.report_bounds" in lowered.as_text("kern-check-bounds")
    with pytest.raises(pk.PassError, match="no pass `nothing`"):
        saxpy.lower(*SPECS, ndrange=("n",), passes=["nothing"])


def test_static_facts_remove_bounds_tests() -> None:
    static = tuple(pk.spec(128, pk.f32) for _ in range(3))
    inside = saxpy.lower(*static, pk.f32, ndrange=128, debug=True)
    assert "kern.report_bounds" in inside.as_text("kern-check-bounds")
    assert "llvm.call @kern.fail" not in inside.as_text("kern-tighten-bounds")
    outside = saxpy.lower(*static, pk.f32, ndrange=129, debug=True)
    assert "llvm.call @kern.fail" in outside.as_text("kern-tighten-bounds")


def test_dump_writes_every_stage(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYKERN_DUMP", str(tmp_path))
    monkeypatch.setenv("PYKERN_CACHE", "0")
    settings.cache_clear()
    try:

        @pk.kernel
        def dumped(x):
            i = pk.index()
            x[i] = 17.25

        x = np.zeros(3)
        dumped(x, ndrange=3)
    finally:
        monkeypatch.undo()
        settings.cache_clear()
    assert x.tolist() == [17.25] * 3
    (folder,) = tmp_path.iterdir()
    names = sorted(p.name for p in folder.iterdir())
    assert names[0] == "00-kern.mlir"
    assert any(n.endswith(".ll") for n in names)
    assert any(n.endswith(".s") for n in names)
    assert "<!doctype html>" in (folder / "explorer.html").read_text()
    assert "1.725" in (folder / "00-kern.mlir").read_text()


@pytest.mark.parametrize("reached", [False, True])
def test_dump_writes_what_a_failed_compilation_reached(
    reached, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYKERN_DUMP", str(tmp_path))
    settings.cache_clear()
    try:

        @pk.kernel
        def early(x):
            x[pk.index()] = missing  # noqa: F821

        @pk.kernel
        def late(x):
            scratch = pk.shared((1 << 30,), pk.f64)
            scratch[pk.local_index()] = x[pk.index()]
            pk.barrier()
            x[pk.index()] = scratch[0]

        with pytest.raises(pk.KernelError) as caught:
            (late if reached else early)(np.zeros(3), ndrange=3, workgroup=3)
    finally:
        monkeypatch.undo()
        settings.cache_clear()
    (folder,) = tmp_path.iterdir()
    names = sorted(p.name for p in folder.iterdir())
    last = next(n for n in reversed(names) if n.endswith(".txt"))
    assert caught.value.reason in (folder / last).read_text()
    assert ("00-kern.mlir" in names) == ("explorer.html" in names) == reached


def test_spec_refuses_what_is_no_dtype() -> None:
    with pytest.raises(pk.KernelTypeError, match="takes a dtype"):
        pk.spec((3,), float)


def test_an_op_without_a_form_on_the_cpu_is_a_located_error() -> None:
    """Translating it would end the process."""
    from mlir import ir

    def add_foreign_op(module: ir.Module) -> None:
        kernel = module.body.operations[0]
        block = kernel.operation.regions[0].blocks[0]
        with ir.InsertionPoint.at_block_begin(block), kernel.location:
            ir.Operation.create("gpu.barrier")

    with pytest.raises(pk.TargetError, match=r"`gpu.barrier` has no form on the CPU") as caught:
        saxpy.lower(*SPECS, ndrange=("n",), passes=[add_foreign_op])
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


def test_a_pass_that_leaves_invalid_ir_is_a_located_error() -> None:
    from mlir import ir

    def move_a_use_before_its_value(module: ir.Module) -> None:
        block = module.body.operations[0].operation.regions[0].blocks[0]
        store = next(o.operation for o in block.operations if o.operation.name == "memref.store")
        store.move_before(block.operations[0].operation)

    with pytest.raises(pk.VerifyError, match="does not dominate this use") as caught:
        saxpy.lower(*SPECS, ndrange=("n",), passes=[move_a_use_before_its_value])
    assert caught.value.span is not None
    assert "z[i] = a * x[i] + y[i]" in str(caught.value)
