"""`ldmatrix` and `stmatrix` of the emulator, against NumPy: 8 by 8 numbers of 16 bits, rows at any address."""

from __future__ import annotations

import numpy as np
import pytest

from pykern.errors import DataRace, DeviceError, OutOfBounds
from pykern.lowering.nvvm.ptxas import assemble, ptxas
from pykern.runtime.emulator import matrix_moves
from pykern.runtime.emulator.device_memory import DeviceMemory
from tests.runtime.emulator.ptx_kernels import HEAD, fetched, place, run

STRIDE = 48
"""Bytes between rows in shared memory; the last row ends with the array."""
FORMS = [(count, trans) for count in (1, 2, 4) for trans in ("", ".trans")]
BEGIN = f"""{HEAD}
.file 1 "rows.py"
.shared .align 16 .b8 held[{31 * STRIDE + 16}];
.visible .entry f(.param .u64 p0, .param .u64 p1, .param .u64 p2)
{{
.reg .b32 %r<16>;
.reg .b64 %rd<16>;
.reg .pred %p<3>;
mov.u32 %r0, %tid.x;
ld.param.u64 %rd0, [p0];
ld.param.u64 %rd1, [p1];
ld.param.u64 %rd2, [p2];
mov.u32 %r1, held;
mad.wide.u32 %rd3, %r0, 4, %rd2;
ld.global.b32 %r2, [%rd3];
mad.lo.u32 %r2, %r2, {STRIDE}, %r1;
mad.wide.u32 %rd4, %r0, 16, %rd1;
mad.wide.u32 %rd5, %r0, 16, %rd0;
mad.lo.u32 %r3, %r0, {STRIDE}, %r1;
"""
"""p0: the result; p1: 32 rows; p2: the row whose address each lane gives, in %r2. %r3 is the address of its own row."""
END = "ret;\n}\n"


def registers(count: int) -> str:
    return f"{{{', '.join(f'%r{8 + n}' for n in range(count))}}}"


def loading(count: int, trans: str, barrier: str = "bar.sync 0;", off: int = 0) -> str:
    """Each lane writes a row; matrices are loaded from them."""
    return f"""{BEGIN}
ld.global.v4.b32 {registers(4)}, [%rd4];
st.shared.v4.b32 [%r3], {registers(4)};
{barrier}
.loc 1 5 2
ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {registers(count)}, [%r2+{off}];
{"".join(f"st.global.b32 [%rd5+{4 * n}], %r{8 + n};" + chr(10) for n in range(count))}{END}"""


def storing(count: int, trans: str, barrier: str = "bar.sync 0;") -> str:
    """Each lane has a word of each matrix; what is stored is written back row by row."""
    return f"""{BEGIN}
mov.b32 %r4, 0;
st.shared.v4.b32 [%r3], {{%r4, %r4, %r4, %r4}};
bar.sync 0;
ld.global.v4.b32 {registers(4)}, [%rd4];
.loc 1 6 2
stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%r2], {registers(count)};
{barrier}
ld.shared.v4.b32 {registers(4)}, [%r3];
st.global.v4.b32 [%rd5], {registers(4)};
{END}"""


def launched(text: str, rows: np.ndarray, order: np.ndarray, threads: int = 32) -> np.ndarray:
    memory = DeviceMemory(1 << 16)
    arrays = [np.zeros((32, 8), np.uint16), rows, order.astype(np.uint32)]
    addresses = [memory.allocate(array.nbytes) for array in arrays]
    for address, array in zip(addresses, arrays, strict=True):
        place(address, array)
    run(text, memory, (1, 1, 1), (threads, 1, 1), addresses)
    return fetched(addresses[0], arrays[0])


def fragment_of(matrix: np.ndarray) -> np.ndarray:
    """PTX ISA, ldmatrix: thread 0 holds the first two elements of row 0, thread 4 those of row 1, and so on."""
    return matrix.reshape(32, 2)


def given(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.integers(0, 2**16, (32, 8), dtype=np.uint16), rng.permutation(32)


@pytest.mark.parametrize(("count", "trans"), FORMS)
def test_loads(count, trans, rng):
    rows, order = given(rng)
    matrices = rows[order].reshape(4, 8, 8)[:count]
    want = np.zeros((32, 8), np.uint16)
    for number, matrix in enumerate(matrices):
        want[:, 2 * number : 2 * number + 2] = fragment_of(matrix.T if trans else matrix)
    np.testing.assert_array_equal(launched(loading(count, trans), rows, order), want)


@pytest.mark.parametrize(("count", "trans"), FORMS)
def test_stores(count, trans, rng):
    words, order = given(rng)
    want = np.zeros((32, 8), np.uint16)
    for number in range(count):
        matrix = words[:, 2 * number : 2 * number + 2].reshape(8, 8)
        want[order[8 * number : 8 * number + 8]] = matrix.T if trans else matrix
    np.testing.assert_array_equal(launched(storing(count, trans), words, order), want)


@pytest.mark.parametrize(("count", "trans"), FORMS)
@pytest.mark.skipif(ptxas() is None, reason="needs ptxas")
def test_the_samples_are_ptx(count, trans):
    for text in (loading(count, trans), storing(count, trans)):
        assert assemble(text, "sm_90a").binary[:4] == b"\x7fELF"


@pytest.mark.parametrize("text", [loading(4, "", off=8), loading(2, ".trans", off=1)])
def test_rows_are_aligned(text, rng):
    with pytest.raises(DeviceError, match="an address that its type must not have") as caught:
        launched(text, *given(rng))
    assert caught.value.span is not None and caught.value.span.line == 5


def test_rows_lie_in_the_array(rng):
    rows, order = given(rng)
    last = np.where(np.arange(32) == 0, 31, order)
    with pytest.raises(OutOfBounds, match="of shared memory"):
        launched(loading(4, "", off=16), rows, last)
    beyond = np.where(np.arange(32) < 8, order, 10**6)
    launched(loading(1, ""), rows, beyond)  # lanes whose address is not used may have any
    with pytest.raises(OutOfBounds):
        launched(loading(2, ""), rows, beyond)


def test_without_the_barrier_it_is_found(rng):
    rows = given(rng)[0]
    with pytest.raises(DeviceError, match="no work-item of the group has written"):
        launched(loading(4, "", barrier=""), rows, np.arange(32)[::-1])
    with pytest.raises(DataRace):
        launched(storing(4, "", barrier=""), rows, np.arange(32)[::-1])


def test_two_rows_at_one_address_race_when_stored(rng):
    with pytest.raises(DataRace) as caught:
        launched(storing(4, ""), given(rng)[0], np.zeros(32))
    assert caught.value.span is not None and caught.value.span.line == 6
    launched(loading(4, ""), given(rng)[0], np.zeros(32))


def test_all_lanes_must_be_there(rng):
    text = loading(1, "").replace("ldmatrix", "setp.gt.u32 %p1, %r0, 7;\n@%p1 ret;\nldmatrix")
    with pytest.raises(DeviceError, match="an operation of a whole subgroup"):
        launched(text, *given(rng))


@pytest.mark.parametrize("kernel", [loading, storing])
@pytest.mark.parametrize(("count", "trans"), FORMS)
def test_a_wrong_layout_is_found(kernel, count, trans, rng, monkeypatch):
    """Rows for columns, as a mutation of the emulator."""
    rows, order = given(rng)
    want = launched(kernel(count, trans), rows, order)
    right = matrix_moves._held
    monkeypatch.setattr(
        matrix_moves, "_held", lambda t, area, number, transposed: right(t, area, number, not transposed)
    )
    assert not np.array_equal(launched(kernel(count, trans), rows, order), want)


@pytest.mark.parametrize(
    "form", ["ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", "ldmatrix.sync.aligned.m8n8.x4.b16"]
)
def test_other_forms_are_refused_by_name(form, rng):
    text = loading(4, "").replace("ldmatrix.sync.aligned.m8n8.x4.shared.b16", form)
    with pytest.raises(DeviceError, match=f"does not know the instruction {form}"):
        launched(text, *given(rng))
