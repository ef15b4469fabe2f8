"""Kernels written as AMD's assembly, one instruction or a few lines, run over arrays by the emulator alone.

Comes in: text with ``{0}`` for the result's registers, ``{1}``, ``{2}`` ... for those of operands. Goes out: an array,
an element a lane. Free for the lines are registers from v40, v[40:41] and s20 on, VCC, and EXEC.
"""

from __future__ import annotations

import numpy as np

from pykern.runtime.emulator.amd.program import LoadedAssembly
from pykern.runtime.emulator.device_memory import DeviceMemory
from tests.runtime.emulator.ptx_kernels import fetched, place

CHIPS = {"gfx942": 64, "gfx1100": 32}
"""Chips that single instructions are tested on, and the lanes of their waves."""
_LOADS = {1: "ubyte", 2: "ushort", 4: "dword", 8: "dwordx2"}
_STORES = {1: "byte", 2: "short", 4: "dword", 8: "dwordx2"}


_MEMORY = ("s_load_", "ds_", "global_", "flat_", "scratch_", "buffer_load_", "buffer_store_")
_WAITS = {
    "9": ("s_waitcnt vmcnt(0) lgkmcnt(0)",),
    "11": ("s_waitcnt vmcnt(0) lgkmcnt(0)", "s_waitcnt_vscnt null, 0x0"),
}
_NEWER = tuple(f"s_wait_{name}cnt 0x0" for name in ("load", "store", "ds", "km"))


def with_waits(chip: str, lines: list[str]) -> list[str]:
    """Everything that is asked for is waited for at once."""
    waits = next((found for begin, found in _WAITS.items() if chip.startswith(f"gfx{begin}")), _NEWER)
    return [each for line in lines for each in (line, *(waits if line.strip().startswith(_MEMORY) else ()))]


def text_of(chip: str, lines: list[str], waits: bool = True, **described: int) -> str:
    """A kernel `f` of those lines. It begins with the address of its arguments in s[0:1], its group's number in s2."""
    lines = with_waits(chip, lines) if waits else lines
    said = {
        "group_segment_fixed_size": 0,
        "private_segment_fixed_size": 0,
        "kernarg_size": 64,
        "user_sgpr_count": 2,
        "user_sgpr_kernarg_segment_ptr": 1,
        "system_sgpr_workgroup_id_x": 1,
        "system_vgpr_workitem_id": 0,
    } | described
    return "\n".join(
        [
            f'\t.amdgcn_target "amdgcn-amd-amdhsa--{chip}"',
            "\t.text",
            "f:",
            *lines,
            "\ts_endpgm",
            '\t.section .rodata,"a",@progbits',
            "\t.amdhsa_kernel f",
            *(f"\t\t.amdhsa_{name} {value}" for name, value in said.items()),
            "\t.end_amdhsa_kernel",
        ]
    )


def registers(first: int, nbytes: int) -> str:
    return f"v{first}" if nbytes <= 4 else f"v[{first}:{first + nbytes // 4 - 1}]"


def computed(
    lines: str, *operands: np.ndarray, out: object, chip: str = "gfx942", group: int = 64, **described: int
) -> np.ndarray:
    """Runs the lines in a lane for each element; operands have one length, a multiple of `group`."""
    kind = np.dtype(out)
    memory = DeviceMemory(1 << 24)
    arrays = [np.zeros(len(operands[0]), kind), *operands]
    addresses = [memory.allocate(array.nbytes) for array in arrays]
    for address, array in zip(addresses, arrays, strict=True):
        place(address, array)
    names = [registers(10 + 2 * number, array.itemsize) for number, array in enumerate(arrays)]
    text = [f"s_lshl_b32 s3, s2, {group.bit_length() - 1}", "v_or_b32_e32 v1, s3, v0"]
    for number, array in enumerate(arrays):
        at = 4 + 2 * number
        text += [
            f"s_load_dwordx2 s[{at}:{at + 1}], s[0:1], {8 * number:#x}",
            f"v_lshlrev_b32_e32 v{2 + number}, {array.itemsize.bit_length() - 1}, v1",
        ]
        if number:
            text += [f"global_load_{_LOADS[array.itemsize]} {names[number]}, v{2 + number}, s[{at}:{at + 1}]"]
    text += [line.strip() for line in lines.format(*names).split(";")]
    text += ["s_mov_b64 exec, -1", f"global_store_{_STORES[kind.itemsize]} v2, {names[0]}, s[4:5]"]
    run(text_of(chip, text, **described), memory, len(operands[0]) // group, group, addresses)
    return fetched(addresses[0], arrays[0])


def run(
    text: str, memory: DeviceMemory, groups: int, group: int, addresses: list[int], shared: int = 0
) -> None:
    """The kernel `f` of a text."""
    loaded = LoadedAssembly(text, memory)
    try:
        words = b"".join(address.to_bytes(8, "little") for address in addresses)
        loaded.program("f").launch((groups, 1, 1), (group, 1, 1), shared, words)
    finally:
        loaded.unload()
