"""kern-expand-fp8 against ml_dtypes: all 256 codes, and floats of every exponent, near every tie."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pykern.errors import PassError
from pykern.passes.arithmetic.expand_fp8 import E4M3, E5M2, ExpandFp8, code
from tests.cases.jit import Compiled, transform

FORMATS = {
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, E4M3),
    "f8E5M2": (ml_dtypes.float8_e5m2, E5M2),
}

TEXT = """
func.func @decode(%x: memref<?xFP8>, %y: memref<?xWIDE>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xFP8>
    %b = arith.extf %a : FP8 to WIDE
    memref.store %b, %y[%i] : memref<?xWIDE>
  }
  return
}
func.func @encode(%x: memref<?xFP8>, %y: memref<?xWIDE>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %y[%i] : memref<?xWIDE>
    %b = arith.truncf %a : WIDE to FP8
    memref.store %b, %x[%i] : memref<?xFP8>
  }
  return
}"""


@pytest.fixture(scope="module", params=list(FORMATS))
def fp8(request):
    small, form = FORMATS[request.param]
    text = TEXT.replace("FP8", request.param)
    return Compiled(text.replace("WIDE", "f32"), [ExpandFp8()]), text, small, form


def test_every_code_is_decoded(fp8):
    compiled, _, small, form = fp8
    codes = np.arange(256, dtype=np.uint8)
    got = np.zeros(256, np.float32)
    compiled("decode", codes, got, 256)
    expected = codes.view(small).astype(np.float32)
    np.testing.assert_array_equal(got, expected)
    numbers = ~np.isnan(expected)
    assert np.array_equal(np.signbit(got[numbers]), np.signbit(expected[numbers]))
    assert [code(float(x), form) for x in expected[numbers]] == list(codes[numbers])


def test_floats_of_every_exponent_round_as_in_ml_dtypes(fp8):
    compiled, _, small, _ = fp8
    rng = np.random.default_rng(11)
    ties = np.arange(2**14, dtype=np.uint32) << 18  # every f32 with 5 bits of fraction
    bits = np.concatenate([rng.integers(0, 2**32, 500_000, dtype=np.uint32), ties, ties + 1, ties - 1])
    y = bits.view(np.float32)
    got = np.zeros(y.size, np.uint8)
    compiled("encode", got, y, y.size)
    with np.errstate(all="ignore"):
        expected = y.astype(small).view(np.uint8)
    assert np.array_equal(got, expected)


def test_f64_goes_through_f32(fp8):
    _, text, small, _ = fp8
    compiled = Compiled(text.replace("WIDE", "f64"), [ExpandFp8()])
    rng = np.random.default_rng(12)
    y = np.ldexp(rng.uniform(-2, 2, 100_000), rng.integers(-30, 20, 100_000))
    y[:4] = np.nan, np.inf, -np.inf, 1.0625 + 2.0**-40
    got = np.zeros(y.size, np.uint8)
    compiled("encode", got, y, y.size)
    with np.errstate(all="ignore"):
        assert np.array_equal(got, y.astype(np.float32).astype(small).view(np.uint8))
        assert np.array_equal(got, y.astype(small).view(np.uint8))


def test_constants_and_branches():
    text = """
func.func @f(%x: memref<2xf8E4M3FN>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.constant -1.5 : f8E4M3FN
  %b = arith.constant 0.001953125 : f8E4M3FN
  %test = arith.cmpi sgt, %n, %c1 : index
  %v = scf.if %test -> (f8E4M3FN) {
    scf.yield %a : f8E4M3FN
  } else {
    %bits = arith.bitcast %b : f8E4M3FN to i8
    %same = arith.bitcast %bits : i8 to f8E4M3FN
    scf.yield %same : f8E4M3FN
  }
  memref.store %v, %x[%c0] : memref<2xf8E4M3FN>
  %w = arith.select %test, %b, %a : f8E4M3FN
  memref.store %w, %x[%c1] : memref<2xf8E4M3FN>
  return
}"""
    compiled = Compiled(text, [ExpandFp8()])
    for n, expected in ((0, [2.0**-9, -1.5]), (5, [-1.5, 2.0**-9])):
        x = np.zeros(2, np.uint8)
        compiled("f", x, n)
        assert x.view(ml_dtypes.float8_e4m3fn).astype(np.float64).tolist() == expected


def test_arithmetic_in_fp8_is_refused():
    text = """
func.func @f(%a: f8E5M2) -> f8E5M2 {
  %b = arith.addf %a, %a : f8E5M2
  return %b : f8E5M2
}"""
    with pytest.raises(PassError, match=r"`arith.addf` computes in fp8"):
        transform(text, [ExpandFp8()])
