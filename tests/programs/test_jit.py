"""`@pk.jit` from the outside: calls, results, keywords, errors, caches, kernels inside."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import pykern as pk
from pykern.data.source import ArraySpec, Parameter, ScalarSpec
from pykern.obtain.code import compiled


@pk.jit
def polynomial(x, y, c):
    t = (x + y) * x - y
    return t * c, pk.sum(t * t)


@pk.kernel
def heat_step(new, old, c):
    i, j = pk.index()
    if 0 < i < old.shape[0] - 1 and 0 < j < old.shape[1] - 1:
        new[i, j] = old[i, j] + c * (
            old[i + 1, j] + old[i - 1, j] + old[i, j + 1] + old[i, j - 1] - 4 * old[i, j]
        )


@pk.jit
def heat(old, c, n):
    for _ in pk.range(n):
        new = old.copy()
        heat_step(new, old, c, ndrange=old.shape)
        old = new
    return old


def heat_numpy(old, c, n):
    for _ in range(n):
        new = old.copy()
        new[1:-1, 1:-1] += c * (
            old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2] - 4 * old[1:-1, 1:-1]
        )
        old = new
    return old


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(7,), (100, 30), (0, 4), (2, 3, 5)])
def test_several_results(rng, dtype, shape):
    x, y = rng.random((2, *shape)).astype(dtype)
    array, number = polynomial(x, y, 3.0)
    t = (x + y) * x - y
    np.testing.assert_allclose(array, t * 3, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(number, (t * t).sum(), rtol=1e-5)
    assert array.dtype == dtype and type(number) is dtype


def test_kernels_inside(rng):
    old = rng.random((40, 33))
    for n in (0, 1, 2, 7):
        np.testing.assert_allclose(heat(old, 0.1, n), heat_numpy(old, 0.1, n), rtol=1e-13)


def test_the_loop_around_a_kernel_makes_no_memory():
    stages = heat.lower(pk.spec((40, 33), pk.f64), 0.1, pk.i64).stages
    at = next(n for n, s in enumerate(stages) if s.name == "kern-destination-passing")
    text = stages[at + 2].text
    loop = text[text.index("scf.for") : text.index("scf.if")]
    assert "linalg.generic" in loop and "memref.alloc" not in loop


def test_groups_inside(rng):
    @pk.kernel
    def reverse(y, x):
        i, li = pk.index(), pk.local_index()
        s = pk.shared(64, pk.f32)
        s[li] = x[i]
        pk.barrier()
        y[i] = s[63 - li]

    @pk.jit
    def twice(x):
        y = pk.zeros_like(x)
        reverse(y, x, ndrange=x.shape, workgroup=64)
        return y * 2

    x = rng.random(64 * 300, np.float32)
    np.testing.assert_array_equal(twice(x), 2 * x.reshape(-1, 64)[:, ::-1].ravel())


def test_arguments_written_in_place(rng):
    @pk.kernel
    def add_index(x):
        i = pk.index()
        x[i] = x[i] + i

    @pk.jit
    def some(x):
        add_index(x, ndrange=(range(2, 20, 3),))

    x = np.zeros(30)
    assert some(x) is None
    np.testing.assert_array_equal(np.flatnonzero(x), np.arange(2, 20, 3))
    strided = np.zeros(60)
    some(strided[::2])
    np.testing.assert_array_equal(strided[::2], x)
    x.flags.writeable = False
    with pytest.raises(pk.LaunchError, match="`x` is read-only"):
        some(x)


def test_assertions_of_kernels_inside():
    @pk.kernel
    def positive(x):
        i = pk.index()
        assert x[i] > 0, "not positive"

    @pk.jit
    def check(x):
        positive(x, ndrange=x.shape)
        return x + 1

    np.testing.assert_array_equal(check(np.ones(5)), np.full(5, 2.0))
    with pytest.raises(pk.AssertionFailed, match="not positive"):
        check(np.zeros(5))


def test_out(rng):
    x, y = rng.random((2, 50))
    a, b = np.empty(50), np.empty(())
    array, number = polynomial(x, y, 2.0, out=(a, b))
    t = (x + y) * x - y
    assert array is a
    np.testing.assert_allclose(a, t * 2)
    np.testing.assert_allclose(b, number)
    with pytest.raises(pk.LaunchError, match="2 results"):
        polynomial(x, y, 2.0, out=a)
    with pytest.raises(pk.LaunchError, match="result 0"):
        polynomial(x, y, 2.0, out=(np.empty(49), b))


def test_the_same_call_again(rng):
    """Calls like the last one take a short way, which has to see what is different after all."""

    @pk.jit
    def product(a, b):
        return a @ b

    a, b = rng.random((2, 12, 12))
    out = np.empty((12, 12))
    for _ in range(3):
        assert product(a, b, out=out) is out
        np.testing.assert_allclose(out, a @ b)
    expected = a @ b
    both = a.copy()
    assert product(both, b, out=both) is both  # overlaps: through a copy
    np.testing.assert_allclose(both, expected)
    np.testing.assert_allclose(product(a.T, b, out=out), a.T @ b)
    strided = np.empty((12, 24))[:, ::2]
    np.testing.assert_allclose(product(a, b, out=strided), expected)
    np.testing.assert_allclose(
        product(a.astype(np.float32), b[:, :5].astype(np.float32)), (a @ b)[:, :5], rtol=1e-5
    )
    with pytest.raises(pk.LaunchError, match="result 0"):
        product(a, b, out=np.empty((12, 11)))
    readonly = np.empty((12, 12))
    readonly.flags.writeable = False
    with pytest.raises(pk.LaunchError, match="read-only"):
        product(a, b, out=readonly)
    np.testing.assert_allclose(product(a, b), expected)


def test_donation(rng):
    @pk.jit(donate_argnums=0)
    def step(x, y):
        return x * 2 + y

    x, y = rng.random((2, 50))
    expected = x * 2 + y
    assert step(x, y) is x
    np.testing.assert_allclose(x, expected)
    fresh = step(x, y, donate=())
    assert fresh is not x
    for wrong in (2, "x", (0, None)):
        with pytest.raises(pk.KernelTypeError, match="to donate") as caught:
            step(x, y, donate=wrong)
        assert "0: x, 1: y" in str(caught.value)


def test_donation_of_what_is_read_elsewhere(rng):
    """The result lies where the argument does, and may not be written over elements that are still read."""

    @pk.jit(donate_argnums=0)
    def rolled(x, y):
        return x + np.roll(x, 1) * y

    @pk.jit(donate_argnums=0)
    def looked_up(x, places):
        return x - np.take(x, places) * x[places]

    x, y, places = rng.random(50), rng.random(50), rng.permutation(50)
    np.testing.assert_allclose(rolled(x.copy(), y), x + np.roll(x, 1) * y)
    np.testing.assert_allclose(looked_up(x.copy(), places), x - x[places] ** 2)


def test_a_captured_value_that_changes():
    factor = 2.0

    @pk.jit
    def scale(x):
        return x * factor

    x = np.ones(3)
    np.testing.assert_array_equal(scale(x), 2 * x)
    factor = 5.0
    np.testing.assert_array_equal(scale(x), 5 * x)


def test_keywords_defaults_and_static(rng):
    @pk.jit
    def power(x, n: pk.static = 2):
        y = x
        for _ in range(n - 1):
            y = y * x
        return y

    x = rng.random(10)
    np.testing.assert_allclose(power(x), x**2)
    np.testing.assert_allclose(power(x, 3), x**3)
    np.testing.assert_allclose(power(n=4, x=x), x**4)
    with pytest.raises(pk.KernelTypeError, match="missing"):
        power()


def test_scalar_annotations_convert():
    @pk.jit
    def scale(x, c: pk.f32):
        return x * c

    x = np.ones(4, np.float32)
    for c in (0.1, 2, np.float64(0.3)):
        np.testing.assert_array_equal(scale(x, c), x * np.float32(c))


def test_errors_stand_at_the_line():
    @pk.jit
    def wrong(x):
        return x @ "text"

    with pytest.raises(pk.KernelError) as caught:
        wrong(np.ones(3))
    assert caught.value.span is not None and caught.value.span.function == "wrong"
    assert 'x @ "text"' in str(caught.value)


def test_two_arguments_that_are_one_array(rng):
    x = rng.random(10)
    array, _ = polynomial(x, x, 1.0)
    np.testing.assert_allclose(array, (x + x) * x - x)


def test_threads(rng):
    xs = rng.random((6, 20, 20))
    wrong = []

    def work(old):
        for _ in range(30):
            if not np.allclose(heat(old, 0.1, 5), heat_numpy(old, 0.1, 5), rtol=1e-12):
                wrong.append(old)

    threads = [threading.Thread(target=work, args=(old,)) for old in xs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_lower_tells_every_stage():
    lowered = polynomial.lower(pk.spec((8, 8), pk.f32), pk.spec((8, 8), pk.f32), pk.f64)
    names = [s.name for s in lowered.stages]
    assert names[0] == "program" and names[-1] == "link"
    assert "linalg" in lowered.as_text("program")
    assert lowered.compile().asm()


def test_a_second_process_takes_it_from_the_disk(tmp_path):
    script = tmp_path / "warm.py"
    script.write_text(
        "import sys, numpy as np, pykern as pk\n"
        "@pk.jit\ndef f(x):\n    return x * 2 + 1\n"
        "print(f(np.arange(3.0)).tolist(), 'mlir' in sys.modules)\n"
        "from pykern.compiler.service import service\nprint(service().worker_pid)\n"
    )
    told = [
        subprocess.run(
            [sys.executable, script], env=os.environ, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert told[0].startswith("[1.0, 3.0, 5.0] False") and told[1].startswith("[1.0, 3.0, 5.0] False")
    assert told[1].endswith("None\n") and not told[0].endswith("None\n")


@dataclasses.dataclass
class Layer:
    weights: object
    bias: object


def test_specs_inside_of_structures():
    @pk.jit
    def network(layers, last, x):
        for layer in layers:
            x = pk.tanh(layer["w"] @ x + layer["b"])
        return last.weights @ x + last.bias

    w, b, x = pk.spec((4, 4), pk.f32), pk.spec(4, pk.f32), pk.spec(4, pk.f32)
    told = network.lower([{"w": w, "b": b}, {"w": w, "b": pk.f32}], Layer(pk.spec((1, 4), pk.f32), 2.0), x)
    given = network.lower(
        [
            {"w": np.ones((4, 4), np.float32), "b": np.ones(4, np.float32)},
            {"w": np.ones((4, 4), np.float32), "b": np.float32(1)},
        ],
        Layer(np.ones((1, 4), np.float32), 2.0),
        np.ones(4, np.float32),
    )
    assert told.source.parameters == given.source.parameters
    assert told.as_text(0) == given.as_text(0)
    with pytest.raises(pk.errors.KernelTypeError, match="of known lengths"):
        network.lower([{"w": pk.spec(("n", 4), pk.f32), "b": b}], Layer(w, 2.0), x)


@pytest.mark.parametrize("place", ["cpu", "python"])
def test_memory_that_two_results_would_share(place):
    @pk.jit
    def both(x):
        return x + 1, x + 2

    x, y = np.ones(4), np.zeros(8)
    for out in ((y[:4], y[:4]), (y[:4], y[3:7])):
        for _ in range(3):  # the third call finds a compiled entry
            with pytest.raises(pk.errors.LaunchError, match="memory for result 0 that it has for result 1"):
                both(x, out=out, device=place)
    both(x, out=(y[::2], y[1::2]), device=place)  # between each other
    np.testing.assert_array_equal(y, [2, 3] * 4)


@pytest.mark.parametrize("device", ["cpu", "python"])
@pytest.mark.parametrize("dtype", [np.float32, pk.i32, np.dtype("f8")], ids=str)
def test_types_are_arguments(dtype, device, rng):
    @pk.jit
    def as_type(x, dtype):
        return np.ones(2, dtype), x.astype(dtype)

    x = rng.standard_normal(5)
    with pk.device(device):
        ones, found = as_type(x, dtype)
    kind = np.dtype(pk.types.numpy_dtype(dtype))
    assert ones.dtype == found.dtype == kind
    np.testing.assert_array_equal(found, x.astype(kind))


@pytest.mark.parametrize("dtype", ["bool", "u8", "u32", "f16"])
def test_new_values_of_arguments_have_the_dtypes_of_these(dtype):
    """MLIR has no unsigned integers, and bools are stored as bytes."""

    @pk.jit
    def move(n, x):
        x[0] = x[1]
        return n

    parameters = [Parameter("n", ScalarSpec("int")), Parameter("x", ArraySpec(dtype, (4,)))]
    layout = compiled(move.source_of(move.captured()[0], parameters)).program
    assert layout.updated == (1,) and layout.results[-1].dtype == dtype
