"""Exported kernels: what is written, what is refused, and programs in C and C++ that call them without Python."""

from __future__ import annotations

import base64
import ctypes
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pykern as pk
from pykern.data.artifact import Artifact, DeviceCode
from pykern.data.target import parse
from pykern.exporter.forms import FORMS
from pykern.runtime import registry
from pykern.runtime.driver import Memory
from pykern.tools.cli import main
from tests.lowering.source_runs import c_compiler, compiled_c

F = pk.f32
OPEN = pk.spec((None, None), F)
MAIN = """\
#include <stdio.h>
#include <stdlib.h>
#include "heated.h"

int main(void) {
    enum { N = 37, M = 61 };
    float *out = (float *)calloc(N * M, sizeof(float));
    float *x = (float *)malloc(N * M * sizeof(float));
    FILE *given = fopen("x.bin", "rb");
    if (fread(x, sizeof(float), N * M, given) != N * M) return 1;
    heated(out, N, M, x, N, M, 0.1f, N, M);
    fwrite(out, sizeof(float), N * M, fopen("out.bin", "wb"));
    return 0;
}
"""


@pk.kernel
def heated(out, x, rate):
    i, j = pk.index()
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
        out[i, j] = x[i, j] + rate * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1] - 4 * x[i, j])


LINE_OF_PRINT = 1 + Path(__file__).read_text().splitlines().index("    print(x[i])")


@pk.kernel
def telling(x):
    i = pk.index()
    print(x[i])


def exported(form: str, **more: Any) -> pk.Exported:
    return pk.export(heated, OPEN, OPEN, 0.1, ndrange=(None, None), form=form, **more)


def heated_by_numpy(x: np.ndarray) -> np.ndarray:
    out = np.zeros_like(x)
    with np.errstate(invalid="ignore"):  # infinities take each other away
        inner = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]
        out[1:-1, 1:-1] = x[1:-1, 1:-1] + np.float32(0.1) * inner
    return out


@pytest.mark.parametrize(("compiler", "ending", "flags"), [("gcc", "c", ("-std=c11",)), ("g++", "cpp", ())])
def test_a_program_without_python(compiler: str, ending: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    if not shutil.which(compiler) or not shutil.which("gcc"):
        pytest.skip(f"no compiler of C or C++: {compiler}")
    exported("c", to=tmp_path / "heated.c")
    x = np.random.default_rng(3).standard_normal((37, 61)).astype(np.float32)
    x[5, 7], x[9, 9] = np.inf, np.nan
    (tmp_path / "x.bin").write_bytes(x.tobytes())
    (tmp_path / f"main.{ending}").write_text(MAIN)
    common = ("-O3", "-ffp-contract=off", "-fopenmp", "-Wall", "-Wno-unknown-pragmas", "-Werror")
    for command in (
        ("gcc", "-std=c11", *common, "-c", "heated.c"),
        (compiler, *flags, *common, "-o", "main", f"main.{ending}", "heated.o", "-lm"),
        ("./main",),
    ):
        subprocess.run(command, cwd=tmp_path, check=True)
    out = np.fromfile(tmp_path / "out.bin", np.float32).reshape(x.shape)
    np.testing.assert_allclose(out, heated_by_numpy(x), rtol=1e-6, atol=1e-6)


OBJECT_MAIN = """\
#include <stdio.h>
#include <stdlib.h>
#include "heated.h"

int main(void) {
    enum { N = 37, M = 61 };
    float *out = (float *)calloc(3 * N * M, sizeof(float)), *x = (float *)malloc(N * M * sizeof(float));
    if (fread(x, sizeof(float), N * M, fopen("x.bin", "rb")) != N * M) return 1;
    if (heated(out, N, M, x, N, M, 0.1, N, M) != HEATED_OK) return 2;
    if (heated_parallel(out + N * M, N, M, x, N, M, 0.1, N, M) != HEATED_OK) return 3;
    for (int64_t row = 0; row < heated_extent(out, N, M, x, N, M, 0.1, N, M); row += 5) {
        if (heated_part(out + 2 * N * M, N, M, x, N, M, 0.1, N, M, row, row + 5 < N ? row + 5 : N)) return 4;
    }
    if (heated(out, -1, M, x, N, M, 0.1, N, M) != HEATED_NEGATIVE) return 5;
    if (heated(out, N, M, NULL, N, M, 0.1, N, M) != HEATED_MISSING) return 6;
    if (heated(out, 0, M, NULL, 0, M, 0.1, 0, M) != HEATED_OK) return 7;
    fwrite(out, sizeof(float), 3 * N * M, fopen("out.bin", "wb"));
    return 0;
}
"""


@pytest.mark.parametrize(("compiler", "ending", "flags"), [("gcc", "c", ("-std=c11",)), ("g++", "cpp", ())])
def test_an_object_file(compiler: str, ending: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    """The whole launch, in threads, in parts; and the codes of wrong calls."""
    if not shutil.which(compiler):
        pytest.skip(f"no compiler of C or C++: {compiler}")
    exported("object", to=tmp_path / "heated.o")
    x = np.random.default_rng(3).standard_normal((37, 61)).astype(np.float32)
    (tmp_path / "x.bin").write_bytes(x.tobytes())
    (tmp_path / f"main.{ending}").write_text(OBJECT_MAIN)
    told = ["-I.", "heated.o", "-lm"]
    if shutil.which("pkg-config"):
        asked = ("pkg-config", "--cflags", "--libs", "./heated.pc")
        told = subprocess.run(asked, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.split()
    command = (compiler, *flags, "-O2", "-fopenmp", "-Wall", "-Werror", "-o", "main", f"main.{ending}", *told)
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run("./main", cwd=tmp_path, check=True)
    for out in np.fromfile(tmp_path / "out.bin", np.float32).reshape(3, *x.shape):
        np.testing.assert_allclose(out, heated_by_numpy(x), rtol=2e-6, atol=2e-6)


@pk.kernel
def doubled(first, report):
    i = pk.index()
    first[i] = 2 * report[i]


def test_arrays_that_are_called_as_arguments_of_devices() -> None:
    array = pk.spec((None,), F)
    header = pk.export(doubled, array, array, ndrange=(None,), form="object").files["h"].decode()
    assert "float *first,\n    int64_t first_n0,\n    const float *report,\n    int64_t report_n0," in header


@pk.kernel
def reversed_rows(out, x):
    i, j = pk.index()
    out[i, j] = 2 * x[x.shape[0] - 1 - i, j]


def test_strides_of_an_object(tmp_path: Path) -> None:
    """An array with a negative stride and one with gaps, by way of ctypes."""
    if not shutil.which("gcc"):
        pytest.skip("no compiler of C: gcc")
    strided = pk.spec((None, None), F, layout="strided")
    made = pk.export(
        reversed_rows, strided, strided, ndrange=(None, None), form="object", to=tmp_path / "rows.o"
    )
    assert "int64_t x_s0" in made.files["h"].decode() and "const float *x" in made.files["h"].decode()
    subprocess.run(("gcc", "-shared", "-o", "rows.so", "rows.o", "-lm"), cwd=tmp_path, check=True)
    function = ctypes.CDLL(str(tmp_path / "rows.so")).reversed_rows
    x = np.random.default_rng(4).standard_normal((14, 22)).astype(np.float32)[::-2, ::3]
    out = np.zeros((x.shape[0], 2 * x.shape[1]), np.float32)[:, ::2]
    passed: list[Any] = []
    for array in (out, x):
        numbers = [*array.shape, *(stride // 4 for stride in array.strides)]
        passed += [ctypes.c_void_p(array.ctypes.data), *map(ctypes.c_int64, numbers)]
    assert function(*passed, *map(ctypes.c_int64, x.shape)) == 0
    np.testing.assert_array_equal(out, 2 * x[::-1])


@pk.kernel
def counted(bins, x):
    i = pk.index()
    pk.atomic_add(bins, pk.i32(x[i]) & 15, 1)


def test_a_histogram_needs_nobody_who_gives_it_memory(tmp_path: Path) -> None:
    """In a launch by pykern each thread has bins of its own first."""
    if not shutil.which("gcc"):
        pytest.skip("no compiler of C: gcc")
    i32 = pk.spec((None,), np.int32)
    pk.export(counted, i32, i32, ndrange=(None,), form="object", to=tmp_path / "counted.o")
    subprocess.run(("gcc", "-shared", "-o", "counted.so", "counted.o", "-lm"), cwd=tmp_path, check=True)
    x, bins = np.arange(-500, 9001, dtype=np.int32), np.ones(16, np.int32)
    passed = [
        each
        for array in (bins, x)
        for each in (ctypes.c_void_p(array.ctypes.data), ctypes.c_int64(array.size))
    ]
    assert ctypes.CDLL(str(tmp_path / "counted.so")).counted(*passed, ctypes.c_int64(x.size)) == 0
    np.testing.assert_array_equal(bins, 1 + np.bincount(x & 15))


@pytest.mark.parametrize("form", [form for form in FORMS if form != "html"])
def test_every_form_is_written(form: str, tmp_path: Path) -> None:
    if form == "hsaco" and not shutil.which("ld.lld"):
        pytest.importorskip("llvmlite")
    made = exported(form, to=tmp_path / f"some.{FORMS[form].ending}")
    assert all(path.stat().st_size for path in made.paths)
    assert {path.name for path in tmp_path.iterdir()} == {f"some.{ending}" for ending in made.files}
    beside = {"c": ["h"], "object": ["h", "pc"]}.get(
        form, [f"{FORMS[form].ending}.json"] if form in ("ptx", "hsaco", "spirv") else []
    )
    assert [*made.files][1:] == beside


def test_the_manifest_says_what_the_code_takes() -> None:
    made = exported("ptx")
    parameters = re.findall(r"\.param \.(\w+)", made.text[: made.text.index("\n{")])
    assert len(parameters) == len(made.manifest["arguments"])
    told = json.loads(made.files["ptx.json"])
    assert told["workgroup"] and told["ndrange"] is None and f".entry {told['entry']}(" in made.text
    assert [each["name"] for each in told["arguments"]] == [
        "out", "out_n0", "out_n1", "x", "x_n0", "x_n1", "rate", "count0", "count1", "first_x", "first_y",
    ]  # fmt: skip
    assert told["arguments"][0] == {"name": "out", "kind": "memory", "dtype": "f32", "written": True}


def test_a_workgroup_that_the_kernel_does_not_ask_for() -> None:
    """Loops over work-items stay those of all work-items."""
    assert "i < (count0 < " in exported("c", workgroup=(8, 8)).text


def test_another_chip() -> None:
    assert ".target sm_90a" in exported("ptx", target="nvvm:sm_90a").text
    with pytest.raises(pk.TargetError, match="takes a target nvvm"):
        exported("ptx", target="rocm")
    with pytest.raises(pk.TargetError, match="takes a target source:msl, not"):
        exported("msl", target="wgsl")


def test_a_derivative_has_a_name_of_its_own() -> None:
    dup = pk.Dup(OPEN, OPEN)
    made = pk.export(pk.autodiff(heated), dup, dup, 0.1, ndrange=(None, None), form="c")
    assert "void heated_gradient(" in made.text and "float *restrict d_x" in made.text


@pk.kernel
def left_early(out, x):
    i = pk.index()
    for k in range(1, 9):
        if out[i] * k > 5:
            break
        out[i] = out[i] * x[i] + k


def test_a_derivative_with_a_tape_in_c(tmp_path: Path, rng: np.random.Generator) -> None:
    """How often each work-item repeats its loop is known when it runs, and what it overwrites is put back."""
    if c_compiler() is None:
        pytest.skip("no compiler of C: cc, gcc or clang")
    given, shadows = (
        rng.standard_normal((2, 37)).astype(np.float32),
        rng.standard_normal((2, 37)).astype(np.float32),
    )
    dups = [pk.Dup(pk.spec((37,), F), pk.spec((37,), F)) for _ in given]
    made = pk.export(pk.autodiff(left_early), *dups, ndrange=37, form="c", to=tmp_path / "g.c")
    assert "tape_push(&tape, " in made.text and made.text.count("free(tape.words);") == 1
    library = compiled_c(made.text, "g")
    c = [each.copy() for pair in zip(given, shadows, strict=True) for each in pair]
    library.left_early_gradient(*(ctypes.c_void_p(each.ctypes.data) for each in c))
    wanted = [each.copy() for each in (*given, *shadows)]
    dups = [pk.Dup(wanted[n], wanted[n + 2]) for n in range(2)]
    pk.autodiff(left_early)(*dups, ndrange=37)
    for found, expected in zip(c, (wanted[0], wanted[2], wanted[1], wanted[3]), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    moved = x_moved(given, shadows[0], 1e-6)
    np.testing.assert_allclose((c[3] - shadows[1]).sum(), moved, rtol=1e-3)


def x_moved(given: np.ndarray, cotangent: np.ndarray, step: float) -> float:
    """What `cotangent` times the results changes by when all of `x` does, by finite differences in f64."""

    def value(by: float) -> float:
        out, x = given.astype(np.float64)
        for n in range(len(x)):
            for k in range(1, 9):
                if out[n] * k > 5:
                    break
                out[n] = out[n] * (x[n] + by) + k
        return float(out @ cotangent.astype(np.float64))

    return (value(step) - value(-step)) / (2 * step)


@pk.kernel(workgroup=4)
def summed_in_a_group(out, x):
    i, item = pk.index(), pk.local_index()
    kept = pk.shared((4,), F)
    kept[item] = x[i]
    pk.barrier()
    count = 4
    while count > 1:
        count //= 2
        if item < count:
            kept[item] *= kept[item + count]
        pk.barrier()
    out[i] = kept[0]


def test_a_tape_of_a_group_is_refused_in_c() -> None:
    dup = pk.Dup(pk.spec((8,), F), pk.spec((8,), F))
    with pytest.raises(pk.TargetError, match="each work-item of a group on a tape"):
        pk.export(pk.autodiff(summed_in_a_group), dup, dup, ndrange=8, form="c")


def test_lines_of_python_as_comments() -> None:
    assert "// out[i, j] = x[i, j] + rate" in exported("wgsl", comments=True).text


@pytest.mark.parametrize("form", ["c", "object", "opencl-c", "msl", "wgsl", "ptx"])
def test_prints_are_refused(form: str) -> None:
    with pytest.raises(pk.TargetError, match=r"nobody|needs pykern") as raised:
        pk.export(telling, pk.spec((8,), F), ndrange=8, form=form)
    assert raised.value.span is not None
    assert raised.value.span.line in (LINE_OF_PRINT, LINE_OF_PRINT - 2)


def test_what_is_no_kernel_or_form() -> None:
    with pytest.raises(pk.LaunchError, match="cannot be exported"):
        pk.export(max, form="c")
    with pytest.raises(pk.LaunchError, match="nothing is exported as 'cobol'"):
        exported("cobol")


@pk.kernel
def doubled_tiles(o, x):
    i = pk.tile()
    o[i] = 2 * x[i]


@pytest.mark.parametrize("form", ["c", "object", "ptx", "html"])
def test_tile_kernels_are_refused(form: str) -> None:
    given = pk.spec((8,), pk.f32)
    with pytest.raises(pk.LaunchError, match="`doubled_tiles` is a tile kernel"):
        pk.export(doubled_tiles, given, given, ndrange=8, form=form)
    with pytest.raises(pk.LaunchError, match="`doubled_tiles` is a tile kernel"):
        pk.export(
            pk.autodiff(doubled_tiles), pk.Dup(given, given), pk.Dup(given, given), ndrange=8, form=form
        )


def run_by_manifest(
    made: pk.Exported, device: str, values: dict[str, Any], counts: tuple[int, ...]
) -> np.ndarray:
    """Launch a binary that is known by its manifest alone, by the driver of a device; gives the first array."""
    told, binary = made.manifest, next(iter(made.files.values()))
    opened = registry.opened(device)
    driver, stream = opened.driver, opened.driver.stream("normal")
    kinds = tuple("memory" if each["kind"] == "memory" else "slot" for each in told["arguments"])
    language = parse(told["target"]).family
    offsets = any(each["name"].endswith("_at") for each in told["arguments"])
    artifact = Artifact(
        key="", kernel=told["kernel"], target=told["target"], entry=told["entry"], binary=binary,
        workgroup=tuple(told["workgroup"]), shared_bytes=told["shared_bytes"],
        device=DeviceCode({"nvvm": "ptx"}.get(language, language), kinds, offsets),
    )  # fmt: skip
    passed: list[Memory | int] = []
    arrays = {}
    for each in told["arguments"]:
        name = each["name"]
        value = each.get("value", values.get(name, 0))
        if each["kind"] == "memory":
            memory = arrays[name] = driver.allocate(value.nbytes)
            driver.copy_in(stream, memory, 0, value.reshape(-1).view(np.uint8))
            passed.append(memory)
        elif each["dtype"].startswith("f"):
            number = np.array(value, each["dtype"].replace("f", "float")).tobytes()
            passed.append(int.from_bytes(number, "little"))
        else:
            passed.append(int(value))
    group = tuple(told["workgroup"])
    grid = [-(-n // size) for n, size in zip(counts, group, strict=True)]
    along = [(*reversed(each), 1, 1)[:3] for each in (grid, group)]
    driver.launch(stream, driver.load(artifact), passed, along[0], along[1], 0)
    first = next(iter(arrays))
    found = np.empty_like(values[first])
    driver.copy_out(stream, found.reshape(-1).view(np.uint8), arrays[first], 0)
    driver.synchronize(stream)
    return found


@pytest.mark.parametrize(
    ("form", "target", "device"),
    [
        ("ptx", "nvvm:sm_80", "cuda:emulated"),
        ("spirv", "spirv:opencl1.2", "opencl:0"),
        ("spirv", "spirv:vulkan1.1", "vulkan:0"),
    ],
)
def test_a_manifest_is_enough_to_launch(
    form: str, target: str, device: str, need_device: Callable[[str], str], rng: np.random.Generator
) -> None:
    need_device(device)
    x = rng.standard_normal((37, 61)).astype(np.float32)
    values = {"out": np.zeros_like(x), "x": x, "rate": 0.1, "count0": 37, "count1": 61}
    values |= {f"{name}_n{dim}": x.shape[dim] for name in ("out", "x") for dim in range(2)}
    made = exported(form, target=target)
    found = run_by_manifest(made, device, values, x.shape)
    np.testing.assert_allclose(found, heated_by_numpy(x), rtol=2e-6, atol=2e-6)


@pk.kernel
def squared(out, z):
    i = pk.index()
    out[i] = z[i] * z[i] + 1j


def test_complex_arrays(rng: np.random.Generator, tmp_path: Path) -> None:
    """In C and in a page they are pairs of floats, given or only described."""
    z = (rng.standard_normal(5) + 1j * rng.standard_normal(5)).astype(np.complex64)
    described = pk.spec(5, np.complex64)
    assert repr(described) == "pk.spec((5,), np.complex64)" and pk.spec((5,), z.dtype) == described
    made = pk.export(squared, described, described, ndrange=5, form="c")
    out = np.zeros_like(z)
    function = compiled_c(made.text, "squared").squared
    function(*(ctypes.c_void_p(array.ctypes.data) for array in (out, z)))
    np.testing.assert_allclose(out, z * z + 1j, rtol=1e-6)
    page = pk.export(squared, out, z, ndrange=5, form="html").text
    assert base64.b64encode(z.tobytes()).decode() in page
    (tmp_path / "k.py").write_text(
        "import pykern as pk\n@pk.kernel\ndef k(out, z):\n    out[pk.index()] = z[pk.index()] * 2j\n"
    )
    told = ["export", f"{tmp_path / 'k.py'}::k", "--args", "complex64[5] complex64[?]", "--ndrange", "5"]
    assert main([*told, "--as", "opencl-c", "-o", str(tmp_path / "k.cl")]) == 0
    assert "z_n0" in (tmp_path / "k.cl").read_text()
