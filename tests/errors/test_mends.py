"""Mistakes of those who come from elsewhere: each is told a mend (`mends.txt`), which runs and is right.

A case is the wrong program, what its error says, the program that follows the advice, and what `y` holds then.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pykern as pk

BETWEEN, NEXT = "\n======\n", "\n------\n"
PRELUDE = "import functools\n\nimport numpy as np\n\nimport pykern as pk\n\n"


def cases() -> list[list[str]]:
    text = Path(__file__).with_name("mends.txt").read_text().strip("\n")
    return [case.split(NEXT) for case in text.split(BETWEEN)]


def run(program: str, path: Path) -> dict:
    """The names that the program leaves; 0, 1, 2 ... are in `x` and `m`."""
    path.write_text(PRELUDE + program + "\n")
    names: dict = {
        "__name__": "heat",
        "x": np.arange(8, dtype=np.float32),
        "y": np.zeros(8, np.float32),
        "m": np.arange(16, dtype=np.float32).reshape(4, 4),
    }
    exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), names)
    return names


@pytest.mark.parametrize(
    ("wrong", "said", "mended", "expected"), cases(), ids=lambda v: v.splitlines()[-1][:40]
)
def test_the_mend_that_is_advised_runs(wrong, said, mended, expected, tmp_path):
    with pytest.raises(pk.KernelError) as caught:
        run(wrong, tmp_path / "wrong.py")
    for part in said.splitlines():
        assert part in str(caught.value)
    if caught.value.span is not None:  # the caret stands on a line of the program
        assert caught.value.span.source_line().strip() in [line.strip() for line in wrong.splitlines()]
    names = run(mended, tmp_path / "mended.py")
    wanted = np.asarray(eval(expected, {"np": np, "x": np.arange(8, dtype=np.float32)}), np.float32)
    assert np.allclose(names["y"], np.broadcast_to(wanted, 8), rtol=1e-6)


def test_there_are_many():
    assert len({wrong for wrong, *_ in cases()}) == len(cases()) > 95


@pytest.mark.parametrize("device", ["cpu", "opencl:0", "vulkan:0"], indirect=True)
@pytest.mark.parametrize(
    ("dtype", "held", "instead"),
    [
        ("clongdouble", str(np.dtype("clongdouble")), "pass x.real and x.imag"),
        ("datetime64[s]", "dates", "pass its numbers: x.astype(np.int64)"),
        ("timedelta64[ms]", "time differences", "pass its numbers: x.astype(np.int64)"),
        ("object", "Python objects", "convert it: x.astype(np.float32)"),
        ("U3", "strings", "convert it: x.astype(np.float32)"),
        ("S3", "bytes", "convert it: x.astype(np.float32)"),
        ("longdouble", str(np.dtype("longdouble")), "convert it: x.astype(np.float64)"),
        ("f4, i4", "[('f0', '<f4'), ('f1', '<i4')]", "pass its fields one by one, as in x['f0']"),
        (">f4", ">f4", "convert it to native byte order: x.astype(x.dtype.newbyteorder('='))"),
        (">i8", ">i8", "convert it to native byte order: x.astype(x.dtype.newbyteorder('='))"),
    ],
)
def test_elements_that_kernels_have_not_are_named_on_every_device(dtype, held, instead, device):
    @pk.kernel
    def k(y, x):
        i = pk.index()
        y[i] = x[i]

    @pk.jit
    def f(x):
        return x * 2

    x, y = np.zeros(8, dtype), np.zeros(8, np.float32)
    for call in (lambda: k(y, x, ndrange=8, device=device), lambda: f(x, device=device)):
        with pytest.raises(pk.KernelTypeError) as caught:
            call()
        assert caught.value.reason == f"`x` is an array of {held}, which kernels do not support"
        assert caught.value.hint == instead and caught.value.code == "PK019"


@pytest.mark.parametrize("device", ["cpu", "opencl:0", "vulkan:0"], indirect=True)
def test_a_bool_array_where_floats_are_annotated(device):
    @pk.kernel
    def k(y: pk.f32[:], x: pk.f32[:]):
        i = pk.index()
        y[i] = x[i]

    x, y = np.arange(8) % 2 == 0, np.zeros(8, np.float32)
    with pytest.raises(
        pk.KernelTypeError, match=r"`x` is annotated f32\[:\], and bool\[8\] is passed"
    ) as caught:
        k(y, x, ndrange=8, device=device)
    assert caught.value.hint == "pass an array of that type: x = x.astype(np.float32)"
    k(y, x.astype(np.float32), ndrange=8, device=device)
    assert np.array_equal(y, x)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gpu", "write its kind: cuda, rocm, metal, vulkan"), ("GPU:0", "write its kind"), ("amd", "'rocm'"),
        ("opencI", "did you mean 'opencl'?"), ("tpu", "there are cpu, python, cuda"), ("host", "'cpu'"),
    ],
)  # fmt: skip
def test_devices_that_there_are_not(name, said):
    with pytest.raises(pk.DeviceError) as caught:
        pk.device(name)
    assert said in str(caught.value.hint) and caught.value.code == "PK025"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("float32", "write pk.f32"), ("int64", "write pk.i64"), ("program_id", "write i = pk.index()"),
        ("vmap", "programs write the axis"), ("kernell", "did you mean pk.kernel?"), ("prange", "with ndrange=n"),
        ("clip", "write pk.clamp"), ("gelu", "pk.erf"),
    ],
)  # fmt: skip
def test_names_that_pykern_has_not(name, said):
    with pytest.raises(AttributeError, match=f"module 'pykern' has no attribute '{name}'") as caught:
        getattr(pk, name)
    assert said in str(caught.value)
    assert not hasattr(pk, "nothing_like_it")
