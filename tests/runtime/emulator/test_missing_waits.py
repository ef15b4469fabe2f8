"""A wait that is taken out of code for GPUs, by hand or of what the compiler makes, is found and named at its line."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

import pykern as pk
from pykern.errors import DeviceError
from pykern.runtime.emulator import program
from pykern.runtime.emulator.amd import program as amd_program
from pykern.runtime.emulator.amd.outstanding import check_waits
from pykern.runtime.emulator.amd.parse import parsed
from pykern.runtime.emulator.amd.wait_counts import waits_of
from pykern.runtime.emulator.device_memory import DeviceMemory
from pykern.runtime.emulator.faults import UnorderedRegisters
from tests.lowering.kernels import CASES
from tests.runtime.emulator.amd_kernels import run, text_of
from tests.runtime.emulator.hopper_kernels import ring_product
from tests.runtime.emulator.test_async_copies import copied, text
from tests.runtime.emulator.test_copy_rings import WRONG, matrices

UNWAITED = "which was not waited for, may still use"
WAIT = "cp.async.wait_group 0;\n"


# -- NVIDIA: copies while the thread goes on -------------------------------------------------------


def copies(*changes, barrier="bar.sync 0;", neighbour=7):
    source = text(16, barrier=barrier, neighbour=neighbour)
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    data = np.arange(512, dtype=np.uint8).reshape(32, 16)
    return data, copied(source, data, np.zeros(32, np.int32))


@pytest.mark.parametrize(
    "change",
    [
        (WAIT, ""),
        (WAIT, "cp.async.wait_group 1;\n"),
        ("cp.async.commit_group;\n", ""),  # there is no group to wait for
        (f"cp.async.commit_group;\n{WAIT}bar.sync 0;", f"cp.async.commit_group;\nbar.sync 0;\n{WAIT}"),
    ],
    ids=["no wait", "one group too few", "no group", "the barrier before the wait"],
)
def test_a_copy_that_is_not_waited_for(change):
    with pytest.raises(DeviceError, match=UNWAITED) as found:
        copies(change)
    span = found.value.span
    assert span is not None and (span.file, span.line) == ("rows.py", 5)


def test_own_copies_need_the_wait_too():
    with pytest.raises(DeviceError, match=UNWAITED):
        copies((WAIT, ""), barrier="", neighbour=0)


@pytest.mark.parametrize(
    "wait",
    [
        "cp.async.wait_all;\n",
        f"cp.async.commit_group;\n{WAIT}",
        "cp.async.commit_group;\ncp.async.wait_group 1;\n",
    ],
)
def test_other_waits_that_suffice(wait):
    data, have = copies((WAIT, wait))
    np.testing.assert_array_equal(have, np.roll(data, -7, axis=0))


@pytest.mark.parametrize("left", [0, 1])
def test_a_second_group_may_be_under_way(left):
    """Half of the bytes are copied by a group of their own, which the wait leaves out."""
    second = f"cp.async.ca.shared.global [%r2+8], [%rd4+8], 8;\ncp.async.commit_group;\ncp.async.wait_group {left};\n"
    change = ("[%r2], [%rd4+0], 16;", "[%r2], [%rd4+0], 8;")
    if left == 0:
        data, have = copies(change, (WAIT, second))
        np.testing.assert_array_equal(have, np.roll(data, -7, axis=0))
    else:
        with pytest.raises(DeviceError, match=f"byte (120|8) .*|{UNWAITED}"):
            copies(change, (WAIT, second))


def test_what_a_copy_writes_is_not_written_meanwhile():
    again = "st.shared.b32 [%r2], %r5;\n" + WAIT
    with pytest.raises(DeviceError, match=UNWAITED):
        copies((WAIT, again))


@pytest.mark.parametrize("what", ["consumer waits for no copy"])
def test_an_mbarrier_that_nobody_waits_for(what, rng):
    with pytest.raises(DeviceError, match=UNWAITED):
        ring_product(*matrices(rng, 64, 64, 520), WRONG[what])


@pk.jit
def product(a, b):
    return a @ b


def test_code_of_a_product_without_its_waits(rng, monkeypatch):
    """The factors of products in f16 come by `cp.async`, in a ring."""
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((64, 128), (128, 64)))
    da, db = (pk.array(each, device="cuda:emulated") for each in (a, b))
    taken_out = []

    def without(whole):
        changed, count = re.subn(r"cp\.async\.wait_group[^;]*;", "", whole)
        taken_out.append(count)
        return original(changed)

    original = program.parsed
    monkeypatch.setattr(program, "parsed", without)
    with pytest.raises(DeviceError, match=UNWAITED) as found:
        product(da, db)
    assert sum(taken_out) > 0
    span = found.value.span
    assert span is not None and span.source_line().strip() == "return a @ b"


# -- AMD: registers of loads, and shared memory before barriers ------------------------------------


def loading(chip, wait, use="v_add_u32_e32 v3, 1, v2", more=""):
    lines = [
        "s_load_dwordx4 s[4:7], s[0:1], 0x0", "s_waitcnt lgkmcnt(0)", "v_lshlrev_b32_e32 v1, 2, v0",
        "global_load_dword v2, v1, s[6:7]", more, "global_load_dword v4, v1, s[6:7]", wait, use,
        "global_store_dword v1, v3, s[4:5]",
    ]  # fmt: skip
    return text_of(chip, [line for line in lines if line], waits=False)


def checked(text_of_kernel):
    module = parsed(text_of_kernel)
    for kernel in module.kernels.values():
        check_waits(kernel, module.chip)


FINE = [
    ("gfx942", "s_waitcnt vmcnt(1)", {}),  # the second load may be under way
    ("gfx942", "s_waitcnt vmcnt(0)", {"use": "v_add_u32_e32 v3, v4, v2"}),
    (
        "gfx1100",
        "s_waitcnt vmcnt(1)",
        {"more": "global_store_dword v1, v0, s[4:5]"},
    ),  # stores are counted apart
    ("gfx942", "s_waitcnt vmcnt(2)", {"more": "global_store_dword v1, v0, s[4:5]"}),
    ("gfx1201", "s_wait_loadcnt 0x1", {}),
    ("gfx1201", "s_wait_loadcnt_dscnt 0x13f", {}),
]
MISSING = [
    ("gfx942", "", {}),
    ("gfx942", "s_waitcnt vmcnt(2)", {}),
    ("gfx942", "s_waitcnt lgkmcnt(0)", {}),  # another counter
    ("gfx942", "s_waitcnt vmcnt(1)", {"use": "v_add_u32_e32 v3, v4, v2"}),  # the second one is used
    ("gfx942", "s_waitcnt vmcnt(1)", {"use": "v_mov_b32_e32 v4, 0"}),  # and written over
    ("gfx1100", "s_waitcnt vmcnt(2)", {"more": "global_store_dword v1, v0, s[4:5]"}),
    ("gfx1201", "s_wait_dscnt 0x0", {}),
    ("gfx1201", "s_wait_loadcnt_dscnt 0x200", {}),
]  # fmt: skip


@pytest.mark.parametrize(("chip", "wait", "change"), FINE)
def test_waits_that_suffice(chip, wait, change):
    checked(with_scalars(loading(chip, wait, **change)))


@pytest.mark.parametrize(("chip", "wait", "change"), MISSING)
def test_registers_before_their_wait(chip, wait, change):
    with pytest.raises(UnorderedRegisters, match=r"v[24] before the load of it has been waited for"):
        checked(with_scalars(loading(chip, wait, **change)))


def with_scalars(source):
    """RDNA 4 has other names for what the others wait for."""
    if "--gfx12" not in source:
        return source
    return source.replace("s_waitcnt lgkmcnt(0)", "s_wait_kmcnt 0x0").replace("s_load_dwordx4", "s_load_b128")


def test_scalar_loads_come_in_any_order():
    lines = [
        "s_load_dword s4, s[0:1], 0x0",
        "s_load_dword s5, s[0:1], 0x4",
        "s_waitcnt lgkmcnt(1)",
        "s_mov_b32 s6, s4",
    ]
    with pytest.raises(UnorderedRegisters, match="s4 before"):
        checked(text_of("gfx942", lines, waits=False))
    checked(text_of("gfx942", [*lines[:2], "s_waitcnt lgkmcnt(0)", lines[3]], waits=False))


def test_a_wait_on_one_path_alone():
    lines = [
        "global_load_dword v2, v1, s[6:7]", "s_cbranch_scc0 .Lwithout", "s_waitcnt vmcnt(0)", ".Lwithout:",
        "v_mov_b32_e32 v3, v2",
    ]  # fmt: skip
    with pytest.raises(UnorderedRegisters, match="v2 before"):
        checked(text_of("gfx942", lines, waits=False))
    checked(text_of("gfx942", [*lines[:4], "s_waitcnt vmcnt(0)", lines[4]], waits=False))


def test_a_load_at_the_end_of_a_loop():
    """What the next iteration reads."""
    lines = [".Lagain:", "v_mov_b32_e32 v3, v2", "global_load_dword v2, v1, s[6:7]", "s_cbranch_scc0 .Lagain"]
    with pytest.raises(UnorderedRegisters, match="v2 before"):
        checked(text_of("gfx942", lines, waits=False))


def test_shared_memory_before_a_barrier():
    lines = ["ds_write_b32 v1, v2", "s_barrier"]
    with pytest.raises(UnorderedRegisters, match="writes to shared memory are done"):
        checked(text_of("gfx942", lines, waits=False))
    checked(text_of("gfx942", [lines[0], "s_waitcnt lgkmcnt(0)", lines[1]], waits=False))


def test_a_kernel_is_refused_when_it_is_loaded():
    memory = DeviceMemory(1 << 16)
    addresses = [memory.allocate(256) for _ in range(2)]
    with pytest.raises(DeviceError, match="v_add_u32_e32 uses v2 before the load of it has been waited for"):
        run(loading("gfx942", ""), memory, 1, 64, addresses)


NAMES = ("matmul", "transpose", "reduction")


@pytest.mark.parametrize("chip", ["gfx90a", "gfx942", "gfx1100", "gfx1201"])
@pytest.mark.parametrize("name", NAMES)
def test_waits_of_compiled_kernels_are_needed(name, chip):
    """But for a few, which others cover, or which order what no register holds."""
    module = parsed(CASES[name].compile(f"rocdl:{chip}+assembly+lines").artifact.binary.decode())
    (kernel,) = module.kernels.values()
    check_waits(kernel, module.chip)
    of_registers = [one.name != "s_wait_storecnt" and bool(waits_of(one)) for one in kernel.instructions]
    waits = [at for at, is_one in enumerate(of_registers) if is_one]
    assert waits
    assert sum(is_needed(kernel, at, module.chip) for at in waits) > 0.9 * len(waits)


def is_needed(kernel, at, chip):
    without = list(kernel.instructions)
    without[at] = dataclasses.replace(without[at], name="s_nop", operands=("0",))
    try:
        check_waits(dataclasses.replace(kernel, instructions=without), chip)
    except UnorderedRegisters:
        return True
    return False


@pk.kernel
def scaled(y, x):
    i = pk.index()
    y[i] = 2 * x[i]


def test_its_line_of_python(monkeypatch):
    original = amd_program.parsed
    monkeypatch.setattr(amd_program, "parsed", lambda text: original(text.replace("vmcnt(0)", "vmcnt(1)")))
    with pytest.raises(DeviceError, match="before the load of it has been waited for") as found:
        scaled(np.zeros(64, np.float32), np.ones(64, np.float32), ndrange=64, device="rocm:emulated")
    assert found.value.span is not None and found.value.span.source_line().strip() == "y[i] = 2 * x[i]"
