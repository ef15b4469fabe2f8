"""Exported kernels: what is written, what is refused, and programs in C and C++ that call them without Python."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pykern as pk
from pykern.exporter.forms import FORMS

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


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_written(form: str, tmp_path: Path) -> None:
    if form == "hsaco" and not shutil.which("ld.lld"):
        pytest.importorskip("llvmlite")
    made = exported(form, to=tmp_path / f"some.{FORMS[form].ending}")
    assert all(path.stat().st_size for path in made.paths)
    assert {path.name for path in tmp_path.iterdir()} == {f"some.{ending}" for ending in made.files}
    beside = {"c": ["h"]}.get(
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


def test_another_chip() -> None:
    assert ".target sm_90a" in exported("ptx", target="nvvm:sm_90a").text
    with pytest.raises(pk.TargetError, match="takes a target nvvm"):
        exported("ptx", target="rocm")


def test_a_derivative_has_a_name_of_its_own() -> None:
    dup = pk.Dup(OPEN, OPEN)
    made = pk.export(pk.autodiff(heated), dup, dup, 0.1, ndrange=(None, None), form="c")
    assert "void heated_gradient(" in made.text and "float *restrict d_x" in made.text


def test_lines_of_python_as_comments() -> None:
    assert "// out[i, j] = x[i, j] + rate" in exported("wgsl", comments=True).text


@pytest.mark.parametrize("form", ["c", "opencl-c", "ptx"])
def test_prints_are_refused(form: str) -> None:
    with pytest.raises(pk.TargetError, match="nobody") as raised:
        pk.export(telling, pk.spec((8,), F), ndrange=8, form=form)
    assert raised.value.span is not None
    assert raised.value.span.line == LINE_OF_PRINT


def test_what_is_no_kernel_or_form() -> None:
    with pytest.raises(pk.LaunchError, match="cannot be exported"):
        pk.export(max, form="c")
    with pytest.raises(pk.LaunchError, match="nothing is exported as 'cobol'"):
        exported("cobol")
