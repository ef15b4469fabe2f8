"""Products by Hopper's `wgmma`, fed by tensor maps, on the emulated GPU: against NumPy in f64, and as assembled."""

from __future__ import annotations

import ctypes
import subprocess

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
from pykern.errors import DeviceError
from pykern.lowering.nvvm.ptxas import ptxas
from pykern.runtime.drivers.tensor_maps import TensorMaps
from tests.programs.test_device_contractions import PROGRAMS, arguments, checked
from tests.programs.test_matrix_products import SHORT, factors, wide

DEVICE, TARGET = "cuda:emulated:90", "nvvm:sm_90a+aligned"
hopper = pytest.mark.parametrize("device", [DEVICE], indirect=True)
over_types = pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=["f16", "bf16"])


@pk.jit
def plain(a, b):
    return a @ b


@pk.jit
def left_turned(a, b):
    return a.T @ b


@pk.jit
def right_turned(a, b):
    return a @ b.T


@pk.jit
def both_turned(a, b):
    return a.T @ b.T


FORMS = {
    plain: (False, False),
    left_turned: (True, False),
    right_turned: (False, True),
    both_turned: (True, True),
}


def ptx_of(function, *given):
    return function.lower(*given, target=TARGET).as_text("ptx")


def near(have, want, dtype):
    have = np.asarray(have.numpy()).astype(np.float64)
    np.testing.assert_allclose(
        have, want, rtol=2 * SHORT[dtype], atol=2e-3 + 2e-2 * SHORT[dtype] * np.abs(want).max()
    )


@hopper
@over_types
@pytest.mark.sweep("dtype")
@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("m", "n", "k"), [(72, 136, 200), pytest.param(8, 16, 8, marks=pytest.mark.slow)])
def test_lines_or_terms_side_by_side(rng, device, dtype, function, m, n, k):
    a, b = factors(rng, m, n, k, dtype)
    left, right = wide(a, b)
    turned = FORMS[function]
    given = [np.ascontiguousarray(x.T) if t else x for x, t in zip((a, b), turned, strict=True)]
    text = ptx_of(function, *given)
    assert "wgmma.mma_async" in text
    assert "cp.async.bulk.tensor" in text
    near(function(*(pk.asarray(x, device=device) for x in given)), left @ right, dtype)


@pk.jit
def of_bytes(a, b):
    return a.astype(pk.i32) @ b.astype(pk.i32).T


@hopper
@pytest.mark.parametrize(
    ("kind", "m", "n", "k"),
    [
        ("i1", 72, 136, 208),
        pytest.param("u1", 72, 136, 208, marks=pytest.mark.slow),
        pytest.param("u1", 8, 16, 16, marks=pytest.mark.slow),
        pytest.param("i1", 1168, 1168, 272, marks=pytest.mark.slow),
    ],
)
def test_bytes(rng, device, kind, m, n, k):
    """Exact, extremes included: 128 terms a step, beyond the last one zeros."""
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    a, b = (rng.integers(low, high, (lines, k), kind, endpoint=True) for lines in (m, n))
    a[0], b[0], b[1] = low, low, high
    side, sign = 128 if m > 1000 else 64, "s" if kind == "i1" else "u"
    assert f"wgmma.mma_async.sync.aligned.m64n{side}k32.s32.{sign}8.{sign}8" in ptx_of(of_bytes, a, b)
    have = of_bytes(pk.asarray(a, device=device), pk.asarray(b, device=device)).numpy()
    np.testing.assert_array_equal(have, a.astype(np.int32) @ b.astype(np.int32).T)


def test_bytes_that_go_another_way():
    """Terms that are not side by side, and bytes with a sign beside bytes without one."""
    a, b = np.zeros((64, 48), np.int8), np.zeros((48, 64), np.int8)

    @pk.jit
    def not_turned(a, b):
        return a.astype(pk.i32) @ b.astype(pk.i32)

    turned = np.zeros((64, 48), np.uint8)
    for text in (ptx_of(not_turned, a, b), ptx_of(of_bytes, a, turned)):
        assert "mma.sync" in text
        assert "wgmma" not in text


@hopper
@pytest.mark.slow
@pytest.mark.parametrize(("m", "n", "k"), [(1160, 1160, 72)])
def test_the_larger_tiles(rng, device, m, n, k):
    """Of 128 rows and columns: there are 100 of them, the last ones of few rows and columns."""
    a, b = factors(rng, m, n, k, np.float16)
    assert "wgmma.mma_async.sync.aligned.m64n128k16" in ptx_of(plain, a, b)
    near(
        plain(pk.asarray(a, device=device), pk.asarray(b, device=device)), np.matmul(*wide(a, b)), np.float16
    )


@hopper
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 24, 40), (3, 40, 16)),
        ((2, 3, 24, 40), (2, 3, 40, 16)),
        ((2, 3, 24, 40), (40, 16)),
        ((24, 40), (3, 40, 16)),
    ],
)
def test_batches(rng, device, left, right):
    x, y = (rng.standard_normal(shape).astype(np.float16) for shape in (left, right))
    assert ("wgmma" in ptx_of(plain, x, y)) == (left != (24, 40))  # there lines of the right factor lie apart
    near(
        plain(pk.asarray(x, device=device), pk.asarray(y, device=device)), np.matmul(*wide(x, y)), np.float16
    )


@hopper
@pytest.mark.slow
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_before_and_after_products(rng, device, function):
    names = {
        n: v * 0.25 if isinstance(v, np.ndarray) else v
        for n, v in arguments(rng, 40, 48, 56, np.float16).items()
    }
    names = {n: v.astype(np.float16) if isinstance(v, np.ndarray) else v for n, v in names.items()}
    checked(function, device, names, np.float16, 16 * SHORT[np.float16])


@hopper
def test_what_follows_is_stored_at_once(rng, device):
    """Bias, activation, scale and residual: one kernel."""
    a, b = factors(rng, 72, 80, 64, np.float16)
    bias, rest = rng.standard_normal(80).astype(np.float16), rng.standard_normal((72, 80)).astype(np.float16)

    @pk.jit
    def layer(a, b, bias, rest):
        return pk.maximum(a @ b + bias, 0) * 0.5 + rest

    lowered = layer.lower(a, b, bias, rest, target=TARGET)
    assert "wgmma" in lowered.as_text("ptx")
    assert lowered.compile().resources["kernels"] == 1
    have = layer(*(pk.asarray(x, device=device) for x in (a, b, bias, rest)))
    left, right, added, more = wide(a, b, bias, rest)
    want = np.maximum(left @ right + added, 0) * 0.5 + more
    np.testing.assert_allclose(
        have.numpy(), want, rtol=0, atol=4 * SHORT[np.float16] * np.abs(left @ right).max()
    )


@hopper
def test_what_is_no_number_stays_in_its_row_and_column(rng, device):
    """Zeros beyond the edges meet no infinity."""
    a, b = factors(rng, 35, 40, 40, np.float16)
    a[34, 36], a[3, 5], b[36, 32], b[7, 9] = np.inf, np.nan, -np.inf, np.inf
    have = plain(pk.asarray(a, device=device), pk.asarray(b, device=device)).numpy().astype(np.float64)
    with np.errstate(invalid="ignore"):
        want = np.matmul(*wide(a, b))
    np.testing.assert_array_equal(np.isnan(have), np.isnan(want))
    np.testing.assert_array_equal(have[np.isinf(want)], want[np.isinf(want)])


@pytest.mark.parametrize(
    "shapes",
    [((72, 41), (41, 80)), ((72, 40), (40, 81))],
    ids=["terms", "columns"],
)
def test_what_has_no_maps_goes_another_way(rng, shapes):
    """Rows that do not begin at multiples of 16 bytes."""
    a, b = (np.zeros(shape, np.float16) for shape in shapes)
    text = ptx_of(plain, a, b)
    assert "wgmma" not in text


@hopper
@pytest.mark.parametrize(
    ("m", "n", "k"), [(40, 48, 4104), pytest.param(136, 72, 6152, marks=pytest.mark.slow)]
)
def test_many_terms_of_few_cells_are_summed_in_parts(rng, device, m, n, k):
    """The last part ends behind the last term. A second kernel adds the parts up, and does what follows."""
    a, b = factors(rng, m, n, k, np.float16)
    bias = rng.standard_normal(n).astype(np.float16)

    @pk.jit
    def layer(a, b, bias):
        return pk.maximum(a @ b + bias, 0)

    lowered = layer.lower(a, b, bias, target=TARGET)
    assert any("by subgroups in fours" in remark.text for remark in lowered.remarks)
    assert any("its terms are summed in" in remark.text for remark in lowered.remarks)
    assert lowered.compile().resources["kernels"] == 2
    left, right, wide_bias = wide(a, b, bias)
    given = [pk.asarray(x, device=device) for x in (a, b, bias)]
    have = layer(*given)
    near(have, np.maximum(left @ right + wide_bias, 0), np.float16)
    np.testing.assert_array_equal(layer(*given).numpy(), have.numpy())


def test_unaligned_arrays_go_another_way():
    a, b = np.zeros((72, 40), np.float16), np.zeros((40, 80), np.float16)
    assert "wgmma" not in plain.lower(a, b, target="nvvm:sm_90a").as_text("ptx")
    assert "wgmma" not in plain.lower(a, b, target="nvvm:sm_80+aligned").as_text("ptx")


@hopper
def test_maps_are_made_once(rng, device, monkeypatch):
    made = []
    map_of = TensorMaps.map_of

    def counted(self, address, form):
        before = len(self._made)
        found = map_of(self, address, form)
        made.append(len(self._made) - before)
        return found

    monkeypatch.setattr(TensorMaps, "map_of", counted)
    a, b = (pk.asarray(x, device=device) for x in factors(rng, 24, 24, 24, np.float16))
    for _ in range(3):
        plain(a, b)
    assert len(made) == 6
    assert made[2:] == [0] * 4


def test_a_driver_without_maps_is_refused():
    from pykern.data.tensor_form import TensorForm

    form = TensorForm("f16", (64, 64), (128,), (64, 64), 0)
    assert TensorForm.of(form.text) == form
    with pytest.raises(DeviceError, match="no tensor maps"):
        TensorMaps(None, "HIP").map_of(1 << 20, form)


@hopper
def test_a_driver_that_refuses_is_told(device):
    """The emulated driver refuses what CUDA's does: an address that is no multiple of 16."""
    from pykern.data.tensor_form import TensorForm
    from pykern.runtime.registry import opened

    driver = opened(device).driver
    form = TensorForm("f16", (64, 64), (128,), (64, 64), 0)
    with pytest.raises(DeviceError, match="make a tensor map"):
        driver._maps.map_of((1 << 20) + 8, form)
    assert ctypes.sizeof(driver._maps.map_of(1 << 20, form)) == 128


@pytest.mark.skipif(ptxas() is None, reason="there is no ptxas")
@pytest.mark.parametrize("function", [plain, right_turned, of_bytes], ids=lambda f: f.__name__)
def test_the_assembler_keeps_products_together(tmp_path, function):
    """No spills, no product that waits for the one before it (C7510 and its like), eight to a step of the loop."""
    kind, terms = (np.int8, 2048) if function is of_bytes else (ml_dtypes.bfloat16, 512)
    a, b = np.zeros((2048, terms), kind), np.zeros((1024, terms), kind)
    text = ptx_of(function, a, b.T.copy() if function is plain else b)
    source, program = tmp_path / "product.ptx", ptxas()
    assert program is not None
    source.write_text(text)
    command = [program, "-v", "-O3", "-arch=sm_90a", str(source), "-o", str(tmp_path / "product.cubin")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert "C75" not in said
    assert "0 bytes spill stores, 0 bytes spill loads" in said
    assert text.count("wgmma.mma_async") == 8
