"""Kernels as source in other languages: compiled by drivers, run, and compared with NumPy."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import pykern as pk
from pykern.errors import TargetError
from pykern.lowering.source.options import LANGUAGES
from pykern.pytest_plugin import need_device
from tests.lowering.source_cases import CASES, diffused, waves
from tests.lowering.source_runs import RUNS, c_compiler, lowered, results, run_c
from tests.project.tree import ROOT

F = pk.f32


@pytest.mark.parametrize(("name", "language"), [(n, each) for n in CASES for each in RUNS])
def test_as_numpy(name, language):
    if language == "c":
        need_c()
    elif language == "msl":
        need_device("metal:emulated")
    else:
        packages = {"opencl-c": "pyopencl", "wgsl": "wgpu", "cuda-cpp": "cuda.bindings.nvrtc"}
        pytest.importorskip(packages[language])
    case, found = CASES[name], results(language)[name]
    if found is None:
        pytest.skip("cuda_fp16.h is not there: it comes with CUDA's toolkit")
    np.testing.assert_allclose(found, case.expected(*case.given()), rtol=3e-6, atol=3e-6)


def need_c():
    if c_compiler() is None:
        pytest.skip("no compiler of C: cc, gcc or clang")


def test_functions_of_wgsl_are_accurate():
    """As WGSL leaves most of them to its devices. A quotient may be 2.5 units off, and `tan` is one."""
    pytest.importorskip("wgpu")
    case = CASES["angles"]
    expected = case.expected(*case.given())
    wrong = np.abs(results("wgsl")["angles"].astype(np.float64) - expected) / np.spacing(np.abs(expected))
    assert (wrong.max(axis=0) <= [2, 2, 4, 3, 3, 3]).all(), wrong.max(axis=0)


@pytest.mark.slow
def test_the_device_webgpu_by_standard_wgsl():
    """The tests of all devices, where WebGPU takes nothing but WGSL itself."""
    pytest.importorskip("wgpu")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-k", "webgpu", "tests/parity/test_kernels.py"],
        cwd=ROOT, env=os.environ | {"PYKERN_WEBGPU_STANDARD": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
    assert re.search(r"\b[1-9]\d passed", run.stdout), run.stdout[-500:]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_prints_every_case(language):
    for name, case in CASES.items():
        arguments = case.given()
        text = case.kernel.lower(*arguments, ndrange=case.ndrange, target=language).compile().source
        assert case.kernel.__name__ in text and text.count("{") == text.count("}"), name


def test_hip_is_cuda_but_for_a_header():
    """What is shown of CUDA C++ holds for HIP C++, too."""
    for name, case in CASES.items():
        cuda, hip = (
            case.kernel.lower(*case.given(), ndrange=case.ndrange, target=target).compile().source
            for target in ("cuda-cpp", "hip-cpp")
        )
        assert hip.replace("hip/hip_fp16.h", "cuda_fp16.h") == cuda, name


def test_the_users_names_stand_in_the_text():
    @pk.kernel
    def named(out, x, scale):
        row, column = pk.index()
        total = pk.f32(0)
        for step in range(x.shape[1]):
            total += x[row, step] * scale
        out[row, column] = total

    spec = pk.spec((16, 16), F)
    text = named.lower(spec, spec, 2.0, ndrange=(16, 16), target="opencl-c").compile().source
    for wanted in (
        "const int row =",
        "const int column =",
        "float total =",
        "for (int step = 0; step < 16; step++)",
    ):
        assert wanted in text, text
    assert "float scale" in text and "x[row * 16 + step]" in text


@pytest.mark.parametrize("language", ["c", "msl"])
def test_names_of_arrays_stand_in_the_text(language):
    """What the user named not is called after the array that it is an element of, or a place in."""

    @pk.kernel
    def spread(out, u):
        i, j = pk.index()
        if 0 < i < u.shape[0] - 1:
            out[i, j] = u[i, j] * u[i, j] + u[i - 1, j] * u[i, j]

    spec = pk.spec((16, 32), F)
    text = spread.lower(spec, spec, ndrange=(16, 32), target=language).compile().source
    assert "float u_value = u[at];" in text and "out[at] =" in text, text
    assert not re.search(r"\bt(_\d+)?\b", text), text


@pytest.mark.parametrize("language", ["wgsl", "msl"])
def test_no_doubles(language):
    with pytest.raises(TargetError, match="has no type f64") as raised:
        diffused.lower(*[pk.spec((8, 8), pk.f64)] * 2, 0.1, ndrange=(8, 8), target=language)
    assert raised.value.span.line > 1


def test_what_pairs_of_wgsl_lack_is_refused_at_its_line():
    @pk.kernel
    def added(out, x):
        i = pk.index()
        pk.atomic_add(out, 0, x[i])

    spec = pk.spec((8,), pk.i64)
    with pytest.raises(TargetError, match="changes no integers of 64 bits atomically") as raised:
        added.lower(spec, spec, ndrange=8, target="wgsl")
    assert "atomic_add" in str(raised.value)


def test_what_must_not_be_regrouped_is_not():
    text = waves.lower(pk.spec((8,), F), pk.spec((8,), F), ndrange=8, target="wgsl").compile().source
    assert "exact(" in text, "the polynomials of `exp` would lose their last digits"


def test_numbers_have_their_own_types():
    text = diffused.lower(*[pk.spec((8, 8), F)] * 2, 0.1, ndrange=(8, 8), target="opencl-c").compile().source
    assert re.search(r"\bfloat rate\b", text) and "double" not in text


def test_words_for_launches_of_pykerns_own():
    """The target of drivers that take nothing else has words of 64 bits, as launches give them, and offsets."""
    specs = [pk.spec((None, None), F)] * 2
    text = diffused.lower(*specs, 0.1, ndrange=(8, 8), target="source:opencl-c+words").compile().source
    assert "long rate" in text and "as_double(rate)" in text and "u_at" in text


def test_the_device_opencl_by_source():
    """The tests of all devices, where OpenCL gets OpenCL C."""
    pytest.importorskip("pyopencl")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-k", "opencl", "tests/parity/test_kernels.py"],
        cwd=ROOT, env=os.environ | {"PYKERN_OPENCL_C": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
    assert re.search(r"\b[1-9]\d passed", run.stdout), run.stdout[-500:]


def test_the_device_cpu_by_c(tmp_path):
    """The tests of all devices, where the CPU gets C and a C compiler."""
    need_c()
    settings = {"PYKERN_LOADER": "dlopen", "PYKERN_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.lowering.c_as_cpu", "-k", "cpu"]
    weak = "tests/kernels/test_reference_rules.py::test_a_python_float_is_weak_beside_16_bits"  # rounded at each step
    run = subprocess.run(
        [*command, "tests/parity/test_kernels.py", weak],
        cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
    assert re.search(r"\b[1-9]\d passed", run.stdout), run.stdout[-500:]


@pk.kernel
def half_of_bytes(y, x, n, unused, flag):
    i = pk.index()
    y[i] = (x[i] // n) >> 1


def test_a_function_in_c_takes_what_its_caller_has(rng):
    """Numbers that nothing uses, and arrays of integers without a sign."""
    x = rng.integers(0, 256, 37).astype(np.uint8)
    arguments = (np.zeros(37, np.uint16), x, np.uint8(3), 2.5, True)
    text = lowered(half_of_bytes, arguments, (37,), "c").binary.decode()
    for declared in ("uint16_t *restrict y,", "const uint8_t *restrict x,", "double unused,", "bool flag,"):
        assert declared in text
    if c_compiler() is not None:
        found, _ = run_c(half_of_bytes, arguments, (37,))
        np.testing.assert_array_equal(found, x // 3 >> 1)


@pk.kernel(workgroup=(4, 4))
def product_of_one_group(c, a, b):
    i, j = pk.index()
    k, m = pk.local_index()
    left, right = pk.shared((4, 4), pk.f32), pk.shared((4, 4), pk.f32)
    total = pk.f32(0)
    for at in range(0, a.shape[1], 4):
        left[k, m], right[k, m] = a[i, at + m], b[at + k, j]
        pk.barrier()
        for n in range(4):
            total += left[k, n] * right[n, m]
        pk.barrier()
    c[i, j] = total


@pk.kernel
def running(out, x):
    i = pk.index()
    for k in range(1, x.shape[0]):
        out[i, k] = out[i, k - 1] + x[k]


@pytest.mark.parametrize("one", ["group", "work-item"])
def test_only_loops_over_work_items_run_in_threads(one):
    """Where a launch has one group, or one work-item, there is no loop over them, and the kernel's own is outermost."""
    if one == "group":
        text = pk.export(
            product_of_one_group,
            *(pk.spec(each, F) for each in ((4, 4), (4, 12), (12, 4))),
            ndrange=(4, 4),
            form="c",
        ).text
        assert "at += 4" in text
        before = text[: text.index("at += 4")].rstrip().splitlines()[-2]
    else:
        text = pk.export(running, pk.spec((1, 50), F), pk.spec((50,), F), ndrange=1, form="c").text
        before = text[: text.index("for (")].rstrip().splitlines()[-1]
    assert "omp" not in before, text
    many = pk.export(running, pk.spec((9, 50), F), pk.spec((50,), F), ndrange=9, form="c").text
    assert many.count("#pragma omp parallel for") == 1
