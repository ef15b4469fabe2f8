"""`pk.ufunc`: what NumPy does with a universal function, compared with NumPy on the same numbers."""

import math
import threading

import numpy as np
import pytest

import pykern as pk

LIMIT = 0.5


@pk.func
def bent(x, y):
    """Bent at a line."""
    if x > y:
        return pk.exp(-x) * y
    return x + LIMIT * y


def expected(x, y):
    return np.where(x > y, np.exp(-x) * y, x + np.asarray(LIMIT, x.dtype) * y)


@pk.func
def plus(x, y):
    return x + y


@pk.func
def larger(x, y):
    return x > y


@pytest.fixture(scope="module")
def ufunc():
    return pk.ufunc(bent)


@pytest.fixture(scope="module")
def add():
    return pk.ufunc(plus, "i32(i32, i32)", "i64(i64, i64)", "f32(f32, f32)", "f64(f64, f64)", identity=0)


def close(found, wanted):
    tolerance = {4: 3e-6, 8: 1e-14}[found.dtype.itemsize]
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def test_it_is_numpys(ufunc):
    assert type(ufunc) is np.ufunc
    assert ufunc.types == ["ff->f", "dd->d"]
    assert (ufunc.nin, ufunc.nout, ufunc.identity, ufunc.__name__) == (2, 1, None, "bent")
    assert "Bent at a line." in ufunc.__doc__


FORMS = {
    "dense": lambda x, y: (x, y),
    "transposed": lambda x, y: (x.T, y.T),
    "strided": lambda x, y: (x[:, ::3], y[:, ::3]),
    "reversed": lambda x, y: (x[::-1, ::-1], y[::-1, ::-1]),
    "a row": lambda x, y: (x, y[3]),
    "a column": lambda x, y: (x[:, :1], y),
    "a number": lambda x, y: (x, x.dtype.type(0.25)),
    "outer": lambda x, y: (x[:, 0][:, None], y[0]),
    "the same": lambda x, y: (x, x),
    "columns of more than a block": lambda x, y: (x.reshape(-1, 3)[:, 1], y.reshape(-1, 3)[:, 2]),
    "empty": lambda x, y: (x[:0], y[:0]),
    "0-d": lambda x, y: (x[0, 0], y[0, 0]),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_forms_of_operands(ufunc, rng, dtype, form):
    a, b = FORMS[form](rng.normal(size=(39, 57)).astype(dtype), rng.normal(size=(39, 57)).astype(dtype))
    found = ufunc(a, b)
    assert found.dtype == dtype
    close(found, expected(np.asarray(a), np.asarray(b)))


def test_out_and_where(ufunc, rng):
    x, y = rng.normal(size=(2, 1000))
    out = np.full(1000, 7.0)
    assert ufunc(x, y, out=out, where=x > 0) is out
    close(out, np.where(x > 0, expected(x, y), 7.0))
    wide = np.zeros((1000, 2))
    ufunc(x, y, out=wide[:, 1])
    close(wide[:, 1], expected(x, y))
    assert not wide[:, 0].any()
    narrow = np.empty(1000, "f4")
    ufunc(x, y, out=narrow, casting="same_kind")
    close(narrow, expected(x, y).astype("f4"))


@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 3])
def test_the_result_lies_over_an_operand(ufunc, rng, shift):
    memory = rng.normal(size=2000)
    x, out = memory[10:1500], memory[10 + shift : 1500 + shift]
    y = rng.normal(size=x.shape)
    wanted = expected(x.copy(), y)
    ufunc(x, y, out=out)
    close(out, wanted)


def test_unaligned_and_swapped(ufunc, rng):
    records = np.zeros(300, np.dtype([("tag", "u1"), ("x", "f8")]))
    records["x"] = rng.normal(size=300)
    close(ufunc(records["x"], records["x"]), expected(records["x"], records["x"]))
    swapped = records["x"].astype(">f8")
    close(ufunc(swapped, 0.5), expected(records["x"], 0.5))


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("axis", [0, 1, 2, None])
def test_reduce(add, rng, dtype, axis):
    x = (rng.normal(size=(5, 40, 7)) * 100).astype(dtype)
    np.testing.assert_allclose(add.reduce(x, axis=axis), np.add.reduce(x, axis=axis, dtype=dtype), rtol=2e-4)


def test_the_other_methods(add, rng):
    x = rng.integers(-100, 100, size=(11, 300))
    for axis in (0, 1):
        np.testing.assert_array_equal(add.accumulate(x, axis=axis), np.add.accumulate(x, axis=axis))
        np.testing.assert_array_equal(
            add.reduceat(x, [0, 3, 5], axis=axis), np.add.reduceat(x, [0, 3, 5], axis=axis)
        )
    np.testing.assert_array_equal(add.outer(x[0], x[1]), np.add.outer(x[0], x[1]))
    ours, numpys = x.copy(), x.copy()
    add.at(ours, ([1, 1, 2], [0, 0, 5]), 10)
    np.add.at(numpys, ([1, 1, 2], [0, 0, 5]), 10)
    np.testing.assert_array_equal(ours, numpys)
    assert add.reduce(np.zeros(0)) == 0 == add.identity
    assert (
        add.reduce(x, axis=1, where=x > 0, initial=5).tolist() == (np.where(x > 0, x, 0).sum(1) + 5).tolist()
    )


def test_several_axes(rng):
    """NumPy takes them where the order is known not to matter, in blocks that it chooses."""

    def greater(a, b):
        return a if a > b else b

    x = rng.normal(size=(5, 40, 7))
    latest = pk.ufunc(greater, "f64(f64, f64)", identity="reorderable")
    assert latest.identity is None
    for axis in (None, (0, 2), (2, 1), 1):
        np.testing.assert_array_equal(latest.reduce(x, axis=axis), x.max(axis=axis))
    with pytest.raises(ValueError, match="zero-size array"):
        latest.reduce(np.zeros((0, 3)))
    with pytest.raises(ValueError, match="not reorderable"):
        pk.ufunc(greater, "f64(f64, f64)").reduce(x, axis=None)


def test_an_order_that_matters(rng):
    """Each result is an operand of the next: nothing may be vectorised."""

    @pk.func
    def step(x, y):
        return 0.5 * x + y

    found = pk.ufunc(step).accumulate(x := rng.normal(size=1000))
    for n in range(1, 1000):
        x[n] += 0.5 * x[n - 1]
    np.testing.assert_allclose(found, x, rtol=1e-13)


def test_types_as_numpy_resolves_them(ufunc, add):
    assert ufunc(1, 2).dtype == "f8" and ufunc(np.int8(1), np.int8(2)).dtype == "f4"
    assert add(np.int16(1), np.int16(2)).dtype == "i4"
    assert add(1, 2, dtype="f4").dtype == "f4"
    with pytest.raises(TypeError, match="not supported for the input types"):
        ufunc(1j, 2)
    with pytest.raises(ValueError, match="broadcast"):
        ufunc(np.ones(3), np.ones(4))


def test_results_of_another_type(rng):
    compare = pk.ufunc(larger, "bool(i32, i32)", "bool(f64, f64)")
    x, y = rng.integers(0, 9, size=(2, 700)).astype("i4")
    found = compare(x, y)
    assert found.dtype == bool
    np.testing.assert_array_equal(found, x > y)
    np.testing.assert_array_equal(compare(x[::2], y[::2]), x[::2] > y[::2])


def test_bools_as_operands(rng):
    def both(x, y):
        return x and not y

    x, y = rng.integers(0, 2, size=(2, 500)).astype(bool)
    found = pk.ufunc(both, "bool(bool, bool)")
    np.testing.assert_array_equal(found(x, y), x & ~y)
    np.testing.assert_array_equal(found(x[::3], y[::3]), (x & ~y)[::3])
    assert found(True, False)


def test_one_operand_and_three(rng):
    x, y, z = rng.normal(size=(3, 100))
    np.testing.assert_allclose(pk.ufunc(half)(x), 0.5 * x)
    np.testing.assert_allclose(pk.ufunc(weighted)(x, y, z), x + z * (y - x), rtol=1e-13)


def half(x):
    return 0.5 * x


def weighted(x, y, t):
    return x + t * (y - x)


def test_no_warnings_of_floating_point(ufunc):
    root = pk.ufunc(root_of)
    with np.errstate(all="raise"):
        assert math.isnan(root(-1.0)) and np.isnan(root(np.full(300, -1.0))).all()


def root_of(x):
    return pk.sqrt(x)


def test_threads_and_subclasses(ufunc, rng):
    x, y = rng.normal(size=(2, 20_000))
    found = {}
    work = [threading.Thread(target=lambda n=n: found.update({n: ufunc(x + n, y)})) for n in range(4)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    for n in range(4):
        close(found[n], expected(x + n, y))

    class Kept(np.ndarray):
        pass

    assert type(ufunc(x.view(Kept), y)) is Kept


# -- what is refused ---------------------------------------------------------------------------


@pk.func
def wrong(x, y):
    return x.nothing + y


def test_the_compilers_errors_end_in_the_function():
    with pytest.raises(pk.KernelError) as caught:
        pk.ufunc(wrong)
    assert (
        caught.value.span is not None
        and caught.value.span.line == wrong.__pykern_function__.__code__.co_firstlineno + 2
    )


@pytest.mark.parametrize(
    ("signatures", "message"),
    [
        (("f32(f32)",), "2 parameters"),
        (("f32(f32, f32)", "f64(f64)"), "another one 2"),
        (("f32(f32[:], f32)",), "takes numbers"),
        (("void(f32, f32)",), "has no result"),
        (("f16(f16, f16)",), "f16"),
        (("complex(f32)",), "complex"),
        (("f32",), "signature"),
    ],
)
def test_signatures_that_do_not_fit(signatures, message):
    with pytest.raises(pk.KernelTypeError, match=message):
        pk.ufunc(plus, *signatures)


def test_identities_and_kernels():
    with pytest.raises(pk.KernelTypeError, match="identity=3"):
        pk.ufunc(plus, identity=3)

    @pk.kernel
    def kernel(y, x):
        y[pk.index()] = x[pk.index()]

    with pytest.raises(pk.KernelSyntaxError, match="is a kernel already"):
        pk.ufunc(kernel)
