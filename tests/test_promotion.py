"""Promotion, every pair of types, against NumPy and ml_dtypes themselves."""

from __future__ import annotations

import itertools
import operator

import ml_dtypes
import numpy as np
import pytest

import pykern as pk
from pykern.data.promotion import promote, true_divide, unary_math
from pykern.types import (
    BY_NAME,
    DType,
    bf16,
    bool_,
    f32,
    f64,
    from_numpy,
    i8,
    u8,
    weak_float,
    weak_int,
)  # fmt: skip

EVERY = tuple(t for t in BY_NAME.values() if not t.is_storage)  # a load of fp8 gives f32
NUMPY_OF_WEAK = {weak_int: 1, weak_float: 1.0}


def sample(dtype: DType) -> object:
    """A value of the type as NumPy meets it: Python's own where the type is weak."""
    return NUMPY_OF_WEAK[dtype] if dtype.weak else dtype.numpy.type(1)


def ours(value: object) -> DType:
    """The type of a result of NumPy or Python."""
    if isinstance(value, np.generic):
        found = from_numpy(value.dtype)
        assert found is not None
        return found
    return {int: weak_int, float: weak_float}[type(value)]


def departure(a: DType, b: DType, theirs: DType | None) -> DType | None:
    """Python floats are weak under bf16, as under every other type; ml_dtypes takes them for f32."""
    if {a, b} == {bf16, weak_float}:
        assert theirs == f32, "ml_dtypes has changed: take the departure out of pykern.data.promotion"
        return bf16
    return theirs


def name(dtype: DType) -> str:
    return dtype.name


@pytest.mark.parametrize("a", EVERY, ids=name)
@pytest.mark.parametrize("b", EVERY, ids=name)
def test_promote_is_numpys(a, b):
    if (a.weak and b.weak) or bf16 in (a, b):  # NumPy's own table has no bfloat16 in it
        expected = ours(sample(a) + sample(b))
    else:
        expected = from_numpy(np.result_type(sample(a), sample(b)))
    assert promote(a, b) == departure(a, b, expected)


@pytest.mark.parametrize("a", EVERY, ids=name)
@pytest.mark.parametrize("b", EVERY, ids=name)
def test_the_sum_of_two_scalars_has_the_promoted_type(a, b):
    """The same through an operator: what the reference device computes."""
    assert promote(a, b) == departure(a, b, ours(sample(a) + sample(b)))


@pytest.mark.parametrize("a", EVERY, ids=name)
@pytest.mark.parametrize("b", EVERY, ids=name)
def test_true_divide_is_numpys(a, b):
    expected = ours(sample(a) / sample(b))
    assert true_divide(a, b) == departure(a, b, expected)


@pytest.mark.parametrize("a", EVERY, ids=name)
@pytest.mark.parametrize("function", [np.sin, np.exp, np.sqrt, np.log1p], ids=lambda f: f.__name__)
def test_functions_of_one_number_are_numpys(a, function):
    if a.weak:
        assert unary_math(a) == weak_float
        return
    assert unary_math(a) == ours(function(sample(a)))


@pytest.mark.parametrize(("a", "b"), tuple(itertools.combinations(EVERY, 2)))
def test_order_does_not_matter(a, b):
    assert promote(a, b) == promote(b, a)
    assert true_divide(a, b) == true_divide(b, a)


@pytest.mark.parametrize("op", [operator.and_, operator.or_, operator.xor, operator.mul])
@pytest.mark.parametrize("a", [d for d in EVERY if not d.is_float], ids=name)
@pytest.mark.parametrize("b", [d for d in EVERY if not d.is_float], ids=name)
def test_bit_operations_promote_like_sums(op, a, b):
    if op is not operator.mul and promote(a, b).is_float:  # i64 with u64
        with pytest.raises(TypeError):
            op(sample(a), sample(b))
        return
    assert ours(op(sample(a), sample(b))) == promote(a, b)


@pytest.mark.parametrize("other", [bool_, i8, u8, f32, f64], ids=name)
def test_bfloat16_is_ml_dtypes(other):
    assert promote(bf16, other).numpy == np.result_type(np.dtype(ml_dtypes.bfloat16), other.numpy)


@pk.kernel
def _chosen(o, x, y, c):
    i = pk.index()
    a = x[i] if c[i] else y[i]
    o[i, 0] = a + a
    if c[i]:
        b = x[i]
    else:
        b = y[i]
    o[i, 1] = b + b
    d = x[i]
    for _ in range(i % 3):
        d = d + y[i]
    o[i, 2] = d + d
    e = x[i] or y[i]
    o[i, 3] = e + e


@pytest.mark.parametrize(
    ("first", "second"), [("u1", "i2"), ("i1", "f4"), ("u4", "i4"), ("i8", "u8"), ("f2", "i2")]
)
def test_numbers_of_which_one_is_chosen_have_a_common_type(first, second, rng):
    """Also the one that is chosen: a u8 that stands beside an i16 does not wrap at 256."""
    x, y, c = (
        rng.integers(60, 120, 9).astype(first),
        rng.integers(60, 120, 9).astype(second),
        rng.random(9) > 0.5,
    )
    x[::3] = 0
    common = np.result_type(x, y)
    a, d = np.where(c, x, y).astype(common), x.astype(common)
    for n in range(9):
        for _ in range(n % 3):
            d[n] += y[n]
    e = np.where(x != 0, x, y).astype(common)
    o = np.zeros((9, 4))
    _chosen(o, x, y, c, ndrange=9)
    np.testing.assert_array_equal(o, np.stack([a + a, a + a, d + d, e + e], axis=1))
