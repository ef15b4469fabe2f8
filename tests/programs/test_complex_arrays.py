"""Complex arrays in array programs: each function against NumPy's, both types, strided, empty and of no dimension."""

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelError, KernelTypeError, LaunchError

TYPES = (np.complex128, np.complex64)
FACTOR = 0.5 - 1j


def numbers(rng, *shape, dtype: type = np.complex128):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


def check(function, *args):
    """The program's results have NumPy's types, shapes and, but for rounding, values."""
    found, expected = pk.jit(function)(*args), function(*args)
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    for ours, numpys in zip(found, expected, strict=True):
        numpys = np.asarray(numpys)
        assert np.asarray(ours).dtype == numpys.dtype
        assert np.shape(ours) == numpys.shape
        single = numpys.dtype in (np.complex64, np.float32)
        np.testing.assert_allclose(
            ours, numpys, rtol=2e-5 if single else 1e-12, atol=1e-5 if single else 1e-13
        )


def arithmetic(a, b, x):
    return a * b + 1j, a / b, (a * x + x / a - x) * 2.0 + x * 1j, -a, +a, a - 2, FACTOR * a, x + FACTOR


def powers(a, b, x):
    return a**3, a**-2, a**0.5, a**b, a**0, x**b


def parts(a, b, x):
    return (
        a.real,
        a.imag,
        abs(a),
        np.angle(a),
        np.conj(a),
        a.conj(),
        np.real(x),
        np.imag(x),
        np.conj(x),
        x.imag,
    )


def functions(a, b, x):
    return (
        np.exp(a),
        np.log(a),
        np.sqrt(a),
        np.sin(a),
        np.cos(a),
        np.sinh(a),
        np.cosh(a),
        np.log2(a),
        np.log10(a),
    )


def comparisons(a, b, x):
    c = np.where(x > 0, a, b)
    return (
        a == c,
        a != c,
        x == c,
        np.isnan(a),
        np.isfinite(a),
        c,
        np.where(x > 0, a, 0),
        np.where(x > 0, x, 1j),
    )


def more(a, b, x):
    return (
        np.square(a),
        np.reciprocal(a),
        np.add(a, x),
        np.multiply(a, b),
        a.astype(np.complex64),
        x.astype(complex),
    )


@pytest.mark.parametrize("function", [arithmetic, powers, parts, functions, comparisons, more])
@pytest.mark.sweep("dtype", "function")
@pytest.mark.parametrize("dtype", TYPES)
def test_elements(function, dtype, rng):
    real = np.float32 if dtype == np.complex64 else np.float64
    check(
        function, numbers(rng, 7, dtype=dtype), numbers(rng, 7, dtype=dtype), rng.normal(size=7).astype(real)
    )


@pytest.mark.parametrize("kind", [np.uint8, np.int64, np.bool_, np.float16, np.float32])
def test_parts_of_real_arrays_keep_their_type(kind, rng):
    x = (rng.normal(size=5) * 10).astype(kind)
    check(lambda x: (np.real(x), np.imag(x), x.real, x.imag, np.real(x[2])), x)


@pytest.mark.parametrize("dtype", TYPES)
def test_zero_to_complex_powers(dtype):
    """Zero where the real part of the power is above 0, whatever the imaginary part; one for 0; else NaN."""
    power = np.array([3 - 4j, 0.5 + 1e-3j, 2, 0, -1 + 1j, 1j, -2], dtype)
    with np.errstate(all="ignore"):
        check(lambda a, b: a**b, np.zeros(7, dtype), power)


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.bool_, np.float16, np.float32])
def test_types_of_mixed_operands(kind, rng):
    x = (rng.normal(size=5) * 10).astype(kind)
    check(lambda a, x: (a * x, x + a, x * 1j), numbers(rng, 5, dtype=np.complex64), x)


def test_reductions(rng):
    def program(m):
        return (m.sum(), m.sum(axis=0), np.mean(m, axis=1), np.cumsum(m, axis=1), m.prod(), np.any(m), np.all(m),
                np.trace(m), np.linalg.norm(m))  # fmt: skip

    check(program, numbers(rng, 3, 5))
    check(program, numbers(rng, 3, 5, dtype=np.complex64))


def test_products(rng):
    def program(m, n, v):
        return (m @ n, m @ n.real, np.dot(m.real, n), np.einsum("ij,jk->ik", m, n), np.vdot(m, n.T), np.outer(v, v),
                np.inner(v, v), np.tensordot(m, n, 1))  # fmt: skip

    check(program, numbers(rng, 3, 4), numbers(rng, 4, 3), numbers(rng, 5))


def test_shapes(rng):
    def program(m):
        return (m.T, m.reshape(2, 6), m[1:, ::2], m[0], m[1, 2], m[::-1], np.stack((m, m.real)), np.ravel(m),
                np.concatenate((m, m.real), axis=0), np.roll(m, 1), m[:, None, 1:], np.hstack((m, m)))  # fmt: skip

    check(program, numbers(rng, 3, 4))


def test_new_arrays(rng):
    def program(x, z):
        return (np.zeros(3, dtype=np.complex128), np.ones((2, 2), complex), np.full(3, 1j), np.zeros_like(z),
                np.ones_like(z), np.array([z[0], 2.0, 3j]), np.eye(2, dtype="complex64"),
                np.full_like(z, 2))  # fmt: skip

    check(program, rng.normal(size=3), numbers(rng, 3, dtype=np.complex64))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0)])
def test_empty_and_of_no_dimension(shape, rng):
    check(lambda a: (a * a + 1j, abs(a)), numbers(rng, *shape))


def test_strided_and_transposed_arguments(rng):
    def program(a, b):
        return a * b + 1j

    whole = numbers(rng, 8, 6)
    check(program, whole[::2], whole[::-2])
    check(program, whole.T, numbers(rng, 6, 8))
    check(program, whole[1:7:3, ::-1], whole[:2])


def test_numbers_as_arguments(rng):
    a = numbers(rng, 4, dtype=np.complex64)
    check(lambda a, s: a * s, a, 1 + 2j)
    check(lambda a, s: a * s, a, np.complex64(1 - 2j))
    check(lambda a, s: a * s, a, np.complex128(1 - 2j))
    assert pk.jit(lambda z: z * z)(2j) == -4


def change(z, x):
    z[1:3] = x[1:3] * 1j
    z *= 2
    z[0] += 1j
    z[-1] = 3
    z.imag[3] = 7


@pytest.mark.parametrize("step", [1, 2])
def test_arguments_are_written(step, rng):
    found = numbers(rng, 6 * step)
    expected, x = found.copy(), rng.normal(size=6)
    program = pk.jit(change)
    for _ in range(3):
        program(found[::step], x)
        change(expected[::step], x)
    np.testing.assert_allclose(found, expected)


def test_a_read_only_argument_is_not_written(rng):
    z = numbers(rng, 6)
    z.flags.writeable = False
    with pytest.raises(LaunchError, match="read-only"):
        pk.jit(change)(z, rng.normal(size=6))


def escapes(c):
    z = np.zeros_like(c)
    n = np.zeros(c.shape, dtype=np.int64)
    for k in range(12):
        inside = abs(z) < 2.0
        n[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]
    return z, n


def test_elements_that_a_mask_selects():
    check(escapes, np.linspace(-2, 1, 7)[:, None] + 1j * np.linspace(-1, 1, 5))


def test_loops_and_branches(rng):
    def program(z, n):
        s = 0j
        for k in pk.range(n):
            if k % 2 == 0:
                s = s * z[0] + 1j
            else:
                s = s - z[1]
        return s

    z = numbers(rng, 2)
    expected = 0j
    for k in range(7):
        expected = expected * z[0] + 1j if k % 2 == 0 else expected - z[1]
    assert abs(pk.jit(program)(z, 7) - expected) < 1e-12


def test_special_values():
    """As C99 has them; a quotient by zero is NaN or infinite as NumPy's."""
    inf, nan = np.inf, np.nan
    z = np.array(
        [0, -0.0, 1, -1, -4, 1e300, 1e-300, complex(-inf, 1), complex(inf, 0), complex(nan, 1), -1 - 0.0j]
    )
    with np.errstate(all="ignore"):
        check(lambda z: (np.exp(z), np.sqrt(z), np.log(z), abs(z), z / (3 - 1e-3j)), z)
        check(lambda z: z / 0j, z[2:5])
    near = np.exp(1j * np.linspace(0, 6, 9)) * (1 + 1e-9)
    check(lambda z: np.log(z).real, near)


def test_what_is_not_available_is_refused_at_its_line(rng):
    z, x = numbers(rng, 4), rng.normal(size=4)
    for function, told in (
        (lambda z: z < z, "`<` is not available of complex"),
        (lambda z: z // 2, "`//` is not available of complex"),
        (lambda z: np.max(z), "`max` is not available of complex"),
        (lambda z: np.sort(z), "`sort` is not available of complex"),
        (lambda z: z.astype(float), "becomes no real one"),
        (lambda z: np.tan(z), "`tan` is not available of complex"),
        (lambda z: np.linspace(0, 1, 3, dtype=complex), "linspace"),
    ):
        with pytest.raises(KernelError, match=told) as caught:
            pk.jit(function)(z)
        assert caught.value.span is not None

    def write_into_real(x, z):
        x += z

    with pytest.raises(KernelTypeError, match="does not go back into array `x`"):
        pk.jit(write_into_real)(x, z)


def test_annotated_as_real(rng):
    @pk.jit
    def program(x: pk.f64[:]):
        return x * 2

    with pytest.raises(KernelTypeError, match="a complex value is passed"):
        program(numbers(rng, 3))


def wave(z, w, x):
    return np.exp(z) * w, (np.conj(z) * w).sum(), abs(w - x)


def test_derivatives_by_complex_arrays(rng):
    """Both modes against central differences. The gradient is that by x, plus 1j times that by y, of z = x + 1j * y."""
    z, w, x = numbers(rng, 2, 3), numbers(rng, 2, 3), rng.normal(size=(2, 3))
    tangents = numbers(rng, 2, 3), numbers(rng, 2, 3), rng.normal(size=(2, 3))
    seeds = numbers(rng, 2, 3), complex(*rng.normal(size=2)), rng.normal(size=(2, 3))
    step = 1e-6
    moves = [[s * t for t in tangents] for s in (step, -step)]
    ahead, behind = (wave(z + by_z, w + by_w, x + by_x) for by_z, by_w, by_x in moves)
    expected = [(a - b) / (2 * step) for a, b in zip(ahead, behind, strict=True)]
    program = pk.jit(wave)
    found = pk.jvp(program, (z, w, x), tangents)[1]
    for ours, numpys in zip(found, expected, strict=True):
        assert np.asarray(ours).dtype == np.asarray(numpys).dtype
        np.testing.assert_allclose(ours, numpys, rtol=1e-7, atol=1e-8)
    gradients = pk.vjp(program, z, w, x)[1](seeds)
    assert [g.dtype for g in gradients] == [z.dtype, w.dtype, x.dtype]

    def inner(a, b):
        return sum(np.vdot(p, q).real for p, q in zip(a, b, strict=True))

    np.testing.assert_allclose(inner(gradients, tangents), inner(seeds, found), rtol=1e-12)


def test_gradients_by_complex_arrays(rng):
    @pk.jit
    def size(z, w):
        return (abs(z * w) ** 2).sum()

    z, w = numbers(rng, 3), numbers(rng, 3)
    at_origin = z * (1, 0, 1)
    np.testing.assert_allclose(pk.grad(size)(at_origin, w), 2 * at_origin * abs(w) ** 2)
    np.testing.assert_allclose(pk.hvp(size, (z, w), (1j * z, 0 * w))[0], 2j * z * abs(w) ** 2)
    for function, args, reason in (
        (lambda z: z * 2, (z,), "not a complex array"),
        (lambda z: (z * 2).sum(), (z,), "not a complex number"),
        (lambda z: abs(z * 2.0), (1j,), "`z` is a complex number, and derivatives are by complex arrays"),
    ):
        with pytest.raises(KernelTypeError, match=reason):
            pk.grad(pk.jit(function))(*args)
    with pytest.raises(LaunchError, match="a complex derivative for what is real"):
        pk.vjp(size, z, w)[1](1j)
    constant = pk.jit(lambda z, a: (z * a, 1j))
    by_z, by_number = pk.vjp(constant, z, 2j)[1]((w, 1 + 1j))
    np.testing.assert_allclose(by_z, -2j * w)
    assert by_number is None


def test_check_grads_of_complex_results(rng):
    def turned(x, y):
        z = x + 1j * y
        return z * z * z, (z * z).sum()

    assert pk.check_grads(turned, (rng.normal(size=3), rng.normal(size=3))).difference < 1e-6


def test_what_takes_no_complex_array(rng):
    z = numbers(rng, 3)
    with pytest.raises(LaunchError, match="`out` takes no complex"):
        pk.jit(lambda z: z + 1)(z, out=np.empty_like(z))

    @pk.kernel
    def copy(y, z):
        i = pk.index()
        y[i] = abs(z[i])

    def launches(z):
        y = pk.zeros(3)
        copy(y, z, ndrange=3)
        return y

    with pytest.raises(KernelTypeError, match="`copy` takes no complex values"):
        pk.jit(launches)(z)


@pytest.mark.parametrize("device", ["opencl:0"], indirect=True)
def test_on_a_device(device, rng):
    z = numbers(rng, 9, dtype=np.complex64)
    np.testing.assert_allclose(pk.jit(lambda z: z * z + 1j)(z, device=device), z * z + 1j, rtol=1e-5)


def test_a_number_that_is_complex_on_one_path(rng):
    @pk.jit
    def chosen(z):
        w = 0.0
        if z[0].real < 0:
            w = z[0] * 1j
        return w + (z[1] if z[1].real > 0 else (z[2] if z[2].real > 0 else 1j * z[2]))

    for _ in range(12):
        z = rng.standard_normal(3) + 1j * rng.standard_normal(3)
        inner = z[1] if z[1].real > 0 else (z[2] if z[2].real > 0 else 1j * z[2])
        np.testing.assert_allclose(chosen(z), (z[0] * 1j if z[0].real < 0 else 0) + inner, rtol=1e-14)


def solved(a, b, v):
    return np.linalg.solve(a, b), np.linalg.solve(a, v), np.linalg.inv(a)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_systems_of_equations(n):
    rng = np.random.default_rng(3)
    check(solved, numbers(rng, n, n) + 4 * np.eye(n), numbers(rng, n, 3), rng.normal(size=n))
    check(solved, rng.normal(size=(2, n, n)) + 4 * np.eye(n), numbers(rng, 2, n, 1), numbers(rng, 2, n, 2))


def test_systems_that_do_not_fit():
    rng = np.random.default_rng(3)
    with pytest.raises(KernelTypeError, match="square"):
        pk.jit(np_inverse)(numbers(rng, 4, 5))
    with pytest.raises(KernelTypeError, match="4 rows"):
        pk.jit(np_solution)(numbers(rng, 4, 4), numbers(rng, 5, 2))


def np_inverse(a):
    return np.linalg.inv(a)


def np_solution(a, b):
    return np.linalg.solve(a, b)
