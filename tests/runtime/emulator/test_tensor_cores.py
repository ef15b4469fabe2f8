"""`mma.sync` of the emulator: matrices in fragments that the test lays out by itself, against NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pykern.errors import DeviceError
from pykern.lowering.nvvm.ptxas import assemble, ptxas
from pykern.runtime.emulator import tensor_cores
from pykern.runtime.emulator.device_memory import DeviceMemory
from tests.runtime.emulator import fragments
from tests.runtime.emulator.ptx_kernels import HEAD, fetched, place, run

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "f32": np.float32,
    "f64": np.float64,
    "s8": np.int8,
    "u8": np.uint8,
    "s32": np.int32,
}
FLOATS = [
    f"{shape}.row.col.{types}"
    for shape, kinds in {
        "m16n8k16": ("f32.f16.f16.f32", "f16.f16.f16.f16", "f32.bf16.bf16.f32", "f64.f64.f64.f64"),
        "m16n8k8": ("f32.f16.f16.f32", "f16.f16.f16.f16", "f32.bf16.bf16.f32", "f32.tf32.tf32.f32", "f64.f64.f64.f64"),
        "m16n8k4": ("f32.tf32.tf32.f32", "f64.f64.f64.f64"),
        "m8n8k4": ("f64.f64.f64.f64",),
    }.items()
    for types in kinds
]  # fmt: skip
INTEGERS = [
    f"{shape}.row.col{end}.s32.{a}.{b}.s32"
    for shape in ("m8n8k16", "m16n8k16", "m16n8k32")
    for a, b in (("s8", "s8"), ("u8", "u8"), ("s8", "u8"))
    for end in ("", ".satfinite")
]


class Sample:
    """A kernel of one warp with one product: what each lane holds is read from memory, and its result written."""

    def __init__(self, form: str, before: str = "", between: str = "") -> None:
        self.form = form
        parts = form.split(".")
        shape = parts[0]
        self.result, self.a, self.b, self.c = parts[-4:]
        self.rows = int(shape[1:].split("n")[0])
        self.depth = int(shape.split("k")[1])
        key = f"{shape}.{32 if self.a == 'tf32' else 8 * np.dtype(DTYPES[self.a]).itemsize}"
        self.fragments = fragments.A[key], fragments.B[key], fragments.result_at(self.rows)
        self.text = self._text(before, between)

    def _text(self, before: str, between: str) -> str:
        lines = [
            f'{HEAD}.file 1 "product.py"',
            ".visible .entry f(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3)",
            "{",
            ".reg .b64 %rd<9>;\n.reg .b32 %r<3>;\n.reg .pred %p<3>;",
            "mov.u32 %r0, %tid.x;",
            before,
        ]
        names, types = [], (self.a, self.b, self.c, self.result)
        for number, (kind, fragment) in enumerate(
            zip(types, (*self.fragments, self.fragments[2]), strict=True)
        ):
            nbytes = fragment[0] * np.dtype(DTYPES[kind]).itemsize
            size = 8 if kind == "f64" else 4
            register = {"f64": "f64", "f32": "f32", "s32": "s32"}.get(kind, "b32")
            count = nbytes // size
            letter = "abcd"[number]
            lines.append(f".reg .{register} %{letter}<{count}>;")
            names.append(f"{{{', '.join(f'%{letter}{n}' for n in range(count))}}}")
            lines += [
                f"ld.param.u64 %rd1, [p{number}];",
                f"mad.wide.u32 %rd{number + 2}, %r0, {nbytes}, %rd1;",
            ]
            if letter != "d":
                lines += [
                    f"ld.global.{register} %{letter}{n}, [%rd{number + 2}+{n * size}];" for n in range(count)
                ]
        lines += [between, ".loc 1 7 3", f"mma.sync.aligned.{self.form} {names[3]}, {', '.join(names[:3])};"]
        lines += [f"st.global.{register} [%rd5+{n * size}], %d{n};" for n in range(count)]
        return "\n".join([*lines, "ret;", "}"])

    def __call__(self, a: np.ndarray, b: np.ndarray, c: np.ndarray, threads: int = 32) -> np.ndarray:
        given = [
            np.ascontiguousarray(fragments.spread(matrix, fragment))
            for matrix, fragment in zip((a, b, c), self.fragments, strict=True)
        ]
        given.append(np.zeros((32, self.fragments[2][0]), DTYPES[self.result]))
        memory = DeviceMemory(1 << 17)
        addresses = [memory.allocate(array.nbytes) for array in given]
        for address, array in zip(addresses, given, strict=True):
            place(address, array.view(np.uint8))
        run(self.text, memory, (1, 1, 1), (threads, 1, 1), addresses)
        held = fetched(addresses[3], given[3].view(np.uint8)).view(given[3].dtype)
        return fragments.gathered(held, self.fragments[2], (self.rows, 8))

    def matrices(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return (
            _random(rng, (self.rows, self.depth), self.a),
            _random(rng, (self.depth, 8), self.b),
            _random(rng, (self.rows, 8), self.c),
        )


def _random(rng: np.random.Generator, shape: tuple[int, int], kind: str) -> np.ndarray:
    dtype = np.dtype(DTYPES[kind])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return rng.standard_normal(shape).astype(dtype)


def cut(matrix: np.ndarray, kind: str) -> np.ndarray:
    """The digits of tf32 that count."""
    return (matrix.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) if kind == "tf32" else matrix


def in_order(sample: Sample, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The sums as the emulator documents them: from C on, by rising k, each rounded once."""
    wide = np.longdouble if sample.result == "f64" else np.float64
    dtype = DTYPES["f64" if sample.result == "f64" else "f32"]
    total = c.astype(dtype)
    a, b = cut(a, sample.a).astype(wide), cut(b, sample.b).astype(wide)
    with np.errstate(all="ignore"):
        for k in range(sample.depth):
            total = (a[:, k, None] * b[None, k] + total.astype(wide)).astype(dtype)
        return total.astype(DTYPES[sample.result])


@pytest.mark.parametrize("form", FLOATS)
def test_products_of_floats(form, rng):
    sample = Sample(form)
    a, b, c = sample.matrices(rng)
    got = sample(a, b, c).astype(np.float64)
    exact = cut(a, sample.a).astype(np.float64) @ cut(b, sample.b).astype(np.float64) + c.astype(np.float64)
    step = float(np.finfo(DTYPES[sample.result]).eps)
    np.testing.assert_allclose(got, exact, atol=8 * step, rtol=4 * step)


@pytest.mark.parametrize("form", FLOATS)
def test_the_order_of_sums_is_the_documented_one(form, rng):
    """Rounding of f32 sums by way of f64 is that of an f32 `fma`, but for rare ties; these numbers have none."""
    sample = Sample(form)
    a, b, c = sample.matrices(rng)
    want = in_order(sample, a, b, c)
    got = sample(a, b, c)
    if sample.result == "f64":  # NumPy has no wider product
        np.testing.assert_allclose(got, want, rtol=1e-15, atol=1e-15)
    else:
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("form", INTEGERS)
def test_products_of_integers(form, rng):
    sample = Sample(form)
    a, b, c = sample.matrices(rng)
    c[0, 0], c[1, 1] = 2**31 - 1, -(2**31)
    a[0], b[:, 0] = np.iinfo(a.dtype).max, np.iinfo(b.dtype).max
    want = a.astype(np.int64) @ b.astype(np.int64) + c
    if "satfinite" in form:
        want = np.clip(want, -(2**31), 2**31 - 1)
    np.testing.assert_array_equal(sample(a, b, c), want.astype(np.int32))


@pytest.mark.parametrize("kind", ["f16", "bf16", "tf32"])
def test_special_values(kind):
    """Infinities and NaN as IEEE; products and sums of subnormals are kept, and those that only their sum can hold."""
    sample = Sample(f"m16n8k8.row.col.f32.{kind}.{kind}.f32")
    dtype = np.dtype(DTYPES[kind])
    tiny = {"f16": 2.0**-24, "bf16": 2.0**-133, "tf32": 2.0**-136}[kind]
    large = {"f16": 65504.0, "bf16": 2.0**127, "tf32": 2.0**127}[kind]
    a = np.zeros((16, 8), dtype)
    a[:, 0] = [np.inf, np.inf, -np.inf, np.nan, tiny, tiny, large, -0.0, 1, 1, 0, 0, 0, 0, 0, large]
    b = np.ones((8, 8), dtype)
    b[0] = [1, 0, -1, np.nan, tiny, large, np.inf, -np.inf]
    c = np.zeros((16, 8), np.float32)
    c[:, 7], c[9] = np.inf, -0.0
    want = in_order(sample, a, b, c)
    got = sample(a, b, c)
    assert {np.inf, -np.inf} <= set(got[~np.isnan(got)]) and np.isnan(got).any() and got[4, 0] == tiny
    np.testing.assert_array_equal(got, want)


def test_f16_sums_are_rounded_once(rng):
    """C of 2048 and sixteen ones: f16 would round every sum back to 2048."""
    sample = Sample("m16n8k16.row.col.f16.f16.f16.f16")
    got = sample(
        np.ones((16, 16), np.float16), np.ones((16, 8), np.float16), np.full((16, 8), 2048, np.float16)
    )
    assert (got == 2064).all()


def test_a_product_may_write_its_own_summands(rng):
    """As in the loops of products: D is C."""
    sample = Sample("m16n8k16.row.col.f32.f16.f16.f32")
    a, b, c = sample.matrices(rng)
    again = sample.text.replace("{%d0, %d1, %d2, %d3}", "{%c0, %c1, %c2, %c3}")
    line = next(line for line in again.split("\n") if line.startswith("mma"))
    sample.text = again.replace(line, f"{line}\n{line}").replace("], %d", "], %c")
    want = in_order(sample, a, b, in_order(sample, a, b, c))
    np.testing.assert_array_equal(sample(a, b, c), want)


def test_divergence_is_found_at_its_line(rng):
    sample = Sample("m16n8k16.row.col.f32.f16.f16.f32")
    text = sample.text
    line = next(line for line in text.split("\n") if line.startswith("mma"))
    two = f"setp.lt.u32 %p1, %r0, 8;\n@%p1 bra FIRST;\n{line}\nbra.uni BEHIND;\nFIRST:\n.loc 1 9 3\n{line}\nBEHIND:"
    sample.text = text.replace(line, two)
    with pytest.raises(DeviceError, match="wait for one another at different places: mma") as caught:
        sample(*sample.matrices(rng))
    assert caught.value.span is not None and caught.value.span.line in (7, 9)


def test_all_lanes_must_be_there(rng):
    form = "m16n8k8.row.col.f32.bf16.bf16.f32"
    gone = Sample(form, between="setp.eq.u32 %p1, %r0, 31;\n@%p1 ret;")
    for sample, threads in ((gone, 32), (Sample(form), 20)):
        with pytest.raises(DeviceError, match="an operation of a whole subgroup") as caught:
            sample(*sample.matrices(rng), threads)
        assert caught.value.span is not None and caught.value.span.line == 7


@pytest.mark.parametrize("form", FLOATS + INTEGERS)
@pytest.mark.skipif(ptxas() is None, reason="needs ptxas")
def test_the_samples_are_ptx(form):
    assert assemble(Sample(form).text, "sm_90a").binary[:4] == b"\x7fELF"


@pytest.mark.parametrize(
    "form",
    [
        "m16n8k16.row.row.f32.f16.f16.f32",
        "m16n8k32.row.col.f32.f16.f16.f32",
        "m16n8k16.row.col.f32.f16.bf16.f32",
        "m16n8k16.row.col.f32.e4m3.e4m3.f32",
        "m16n8k16.row.col.f16.bf16.bf16.f16",
        "m8n8k4.row.col.f32.f16.f16.f32",
        "m16n8k64.row.col.s32.s4.s4.s32",
    ],
)
def test_other_forms_are_refused_by_name(form):
    text = Sample("m16n8k16.row.col.f32.f16.f16.f32").text.replace("m16n8k16.row.col.f32.f16.f16.f32", form)
    with pytest.raises(DeviceError, match=f"does not know the instruction mma.sync.aligned.{form}"):
        run(text, DeviceMemory(1 << 15), (1, 1, 1), (32, 1, 1), [0] * 4)


@pytest.mark.parametrize("form", [f for f in FLOATS + INTEGERS if "satfinite" not in f])
def test_a_wrong_layout_is_found(form, rng, monkeypatch):
    """Lanes that are numbered another way, as a mutation of the emulator: no shape's result stays."""
    right = tensor_cores._groups

    def wrong(t):
        group, member = right(t)
        return t.value(f"xor i64 {group}, 1"), t.value(f"xor i64 {member}, 2")

    sample = Sample(form)
    a, b, c = sample.matrices(rng)
    want = sample(a, b, c)
    monkeypatch.setattr(tensor_cores, "_groups", wrong)
    assert not np.array_equal(sample(a, b, c), want)


@pytest.mark.parametrize("matrix", ["A", "B", "result"])
def test_elements_in_the_wrong_registers_are_found(matrix, rng):
    """Two registers exchanged, as a mutation of a kernel."""
    sample = Sample("m16n8k16.row.col.f32.f16.f16.f32")
    a, b, c = sample.matrices(rng)
    want = sample(a, b, c)
    head, line, tail = sample.text.partition("mma.sync")
    names = {"A": ("%a1", "%a2"), "B": ("%b0", "%b1"), "result": ("%d1,", "%d2,")}[matrix]
    sample.text = (
        head
        + line
        + tail.replace(names[0], "HELD", 1).replace(names[1], names[0], 1).replace("HELD", names[1], 1)
    )
    assert not np.array_equal(sample(a, b, c), want)
