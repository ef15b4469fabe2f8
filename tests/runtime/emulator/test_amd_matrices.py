"""MFMA and WMMA of the emulator: matrices in fragments that the test lays out by itself, against NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pykern.errors import DeviceError
from pykern.runtime.emulator.amd import forms, matrix_forms
from pykern.runtime.emulator.device_memory import DeviceMemory
from tests.runtime.emulator.amd_fragments import FRAGMENTS, Fragments
from tests.runtime.emulator.amd_kernels import run, text_of
from tests.runtime.emulator.ptx_kernels import fetched, place

DTYPES = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "i8": np.dtype(np.int8),
    "i32": np.dtype(np.int32),
}
CASES = [(name, chip) for name, fragments in FRAGMENTS.items() for chip in fragments.chips]
over_cases = pytest.mark.parametrize(("name", "chip"), CASES)


def lanes_of(chip: str) -> int:
    return 64 if chip.startswith("gfx9") else 32


def multiplied(
    name: str, chip: str, a: np.ndarray, b: np.ndarray, c: np.ndarray | None, ending: str = "",
    change: tuple[str, str] = ("", ""),
) -> np.ndarray:  # fmt: skip
    """A B + C by one instruction of one wave; None: C is 0. `change`: what is written in place of a text."""
    fragments, lanes = FRAGMENTS[name], lanes_of(chip)
    left = fragments.held(a, lanes, fragments.factor)
    right = fragments.held(b.T.copy(), lanes, fragments.factor)
    sums = fragments.held(np.zeros((fragments.side,) * 2, DTYPES[fragments.types[1]]) if c is None else c,
                          lanes, fragments.result)  # fmt: skip
    words = np.concatenate([left, right, sums]).reshape(-1)
    memory = DeviceMemory(1 << 18)
    addresses = [memory.allocate(words.nbytes), memory.allocate(sums.nbytes)]
    place(addresses[0], words)
    place(addresses[1], np.zeros_like(sums))
    operand, count = [], 0
    for rows in (left, right, sums):
        first = 10 + count + count % 2
        operand.append((first, len(rows)))
        count = first - 10 + len(rows)
    lines = ["s_load_dwordx4 s[4:7], s[0:1], 0x0", "v_lshlrev_b32_e32 v1, 2, v0"]
    at = 0
    for first, count in operand:
        for register in range(count):
            lines.append(f"global_load_dword v{first + register}, v1, s[4:5] offset:{at * 4 * lanes}")
            at += 1
    texts = [f"v{first}" if count == 1 else f"v[{first}:{first + count - 1}]" for first, count in operand]
    result = texts[2].replace("v", "a") if chip == "gfx90a" else texts[2]
    given = "0" if c is None else texts[2]
    lines.append(f"{name.split()[0]} {result}, {texts[0]}, {texts[1]}, {given}{ending}")
    bank, first = result[0], operand[2][0]
    for register in range(len(sums)):
        lines.append(f"global_store_dword v1, {bank}{first + register}, s[6:7] offset:{register * 4 * lanes}")
    text = text_of(chip, [line.replace(*change) if change[0] else line for line in lines])
    run(text, memory, 1, lanes, addresses)
    return fragments.gathered(fetched(addresses[1], np.zeros_like(sums)), DTYPES[fragments.types[1]])


def random_matrices(fragments: Fragments, rng: np.random.Generator) -> list[np.ndarray]:
    made = []
    shapes = ((fragments.side, fragments.depth), (fragments.depth, fragments.side), (fragments.side,) * 2)
    for shape, kind in zip(shapes, (fragments.types[0], *fragments.types), strict=True):
        dtype = DTYPES[kind]
        if dtype.kind == "i":
            limits = np.iinfo(dtype)
            made.append(rng.integers(limits.min, limits.max, shape, dtype, endpoint=True))
        else:
            made.append(rng.standard_normal(shape).astype(dtype))
    return made


def wanted(fragments: Fragments, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    if fragments.types[1] == "i32":
        return (a.astype(np.int64) @ b.astype(np.int64) + c).astype(np.int32)
    wide = np.longdouble
    return (a.astype(wide) @ b.astype(wide) + c.astype(wide)).astype(DTYPES[fragments.types[1]])


def ending_of(name: str) -> str:
    return " neg_lo:[1,1,0]" if "iu8" in name else ""


def check(got: np.ndarray, want: np.ndarray) -> None:
    if want.dtype.kind == "i":
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(
            got, want, rtol=8 * np.finfo(want.dtype).eps, atol=16 * np.finfo(want.dtype).eps
        )


@over_cases
def test_products(name, chip, rng):
    fragments = FRAGMENTS[name]
    a, b, c = random_matrices(fragments, rng)
    check(multiplied(name, chip, a, b, c, ending_of(name)), wanted(fragments, a, b, c))


@pytest.mark.parametrize(
    "name", ["v_mfma_f32_16x16x16_f16", "v_mfma_f64_16x16x4_f64", "v_mfma_i32_16x16x32_i8"]
)
def test_sums_may_begin_with_a_number(name, rng):
    a, b, c = random_matrices(FRAGMENTS[name], rng)
    check(multiplied(name, "gfx942", a, b, None), wanted(FRAGMENTS[name], a, b, np.zeros_like(c)))


@pytest.mark.parametrize("signs", ["", " neg_lo:[1,0,0]", " neg_lo:[0,1,0]", " neg_lo:[1,1,0]"])
def test_bytes_are_signed_where_they_are_said_to_be(signs, rng):
    for name, chip in (
        ("v_wmma_i32_16x16x16_iu8", "gfx1100"),
        ("v_wmma_i32_16x16x16_iu8 of gfx12", "gfx1201"),
    ):
        a, b, c = random_matrices(FRAGMENTS[name], rng)
        left = a if "[1" in signs else a.view(np.uint8)
        right = b if "1,0]" in signs else b.view(np.uint8)
        check(multiplied(name, chip, a, b, c, signs), wanted(FRAGMENTS[name], left, right, c))


def test_subnormal_factors(rng):
    """They count, but on CDNA 2, where they are 0."""
    for name, chip, count in (
        ("v_mfma_f32_16x16x16f16", "gfx90a", 0),
        ("v_mfma_f32_16x16x16_f16", "gfx942", 16),
    ):
        a = np.full((16, 16), 2.0**-20, np.float16)
        b = np.ones((16, 16), np.float16)
        got = multiplied(name, chip, a, b, np.zeros((16, 16), np.float32))
        assert (got == count * 2.0**-20).all()


def test_special_values():
    name = "v_mfma_f32_16x16x16_bf16"
    a, b = np.zeros((16, 16), DTYPES["bf16"]), np.ones((16, 16), DTYPES["bf16"])
    a[0, 0], a[1, 3], a[2, 5], a[3, :2] = np.inf, -np.inf, np.nan, (np.inf, -np.inf)
    got = multiplied(name, "gfx942", a, b, np.zeros((16, 16), np.float32))
    assert (got[0] == np.inf).all() and (got[1] == -np.inf).all() and np.isnan(got[2:4]).all()
    assert (got[4:] == 0).all()


def test_copies_of_lanes_must_agree(rng):
    """Of RDNA 3 each half of a wave computes with the terms that it holds itself."""
    name = "v_wmma_f32_16x16x16_f16"
    fragments = FRAGMENTS[name]
    a, b, c = random_matrices(fragments, rng)
    one_half = Fragments(**{
        **vars(fragments), "factor": lambda i, k: (k // 2, 16 * (k % 2), (i,)),
    })  # fmt: skip
    whole = multiplied(name, "gfx1100", a, b, c)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(FRAGMENTS, name, one_half)
        got = multiplied(name, "gfx1100", a, b, c)
    np.testing.assert_array_equal(got[::2], whole[::2])
    np.testing.assert_array_equal(got[1::2], c[1::2])


@over_cases
def test_a_wrong_fragment_is_found(name, chip, rng, monkeypatch):
    """Rows of results that change places, and terms of one factor alone, make other numbers."""
    fragments = FRAGMENTS[name]
    a, b, c = random_matrices(fragments, rng)
    ending, want = ending_of(name), wanted(fragments, a, b, c)
    row = matrix_forms.MatrixForm.row
    monkeypatch.setattr(matrix_forms.MatrixForm, "row", lambda form, g, n: row(form, g, n ^ 1))
    monkeypatch.setattr(forms, "_forms", {})
    with pytest.raises(AssertionError):
        check(multiplied(name, chip, a, b, c, ending), want)


def test_what_is_not_known_is_refused(rng):
    name = "v_mfma_f32_16x16x16_f16"
    a, b, c = random_matrices(FRAGMENTS[name], rng)
    for ending in (" cbsz:1", " blgp:1"):
        with pytest.raises(DeviceError, match="does not know the modifier"):
            multiplied(name, "gfx942", a, b, c, ending)
    with pytest.raises(DeviceError, match="does not know v_mfma_f32_16x16x16_f16 of 4 registers"):
        multiplied(name, "gfx942", a, b, c, change=("v[10:11], v[12:13]", "v[10:13], v[12:15]"))
