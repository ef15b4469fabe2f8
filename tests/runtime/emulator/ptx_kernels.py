"""Kernels written as PTX, one instruction or a few lines, run over arrays by the emulator alone.

Comes in: text with ``{0}`` for the result, ``{1}``, ``{2}`` ... for operands. Goes out: an array, an element a thread.
"""

from __future__ import annotations

import numpy as np

from pykern.runtime.emulator.device_memory import DeviceMemory
from pykern.runtime.emulator.program import LoadedText

HEAD = ".version 8.0\n.target sm_90a\n.address_size 64\n"
GROUP = 32
COMBINE = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip
"""What NumPy calls the operations of atomic instructions and reductions."""
SPECIAL = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    np.inf,
    -np.inf,
    np.nan,
    1e-42,
    -1e-42,
    3.4e38,
    0.5,
    1.5,
    2.5,
    -2.5,
    1e-7,
    65504.0,
    65520.0,
    5e-8,
)
"""Zeros, infinities, NaN, subnormals of f32 and of f16, ties, limits."""
INTEGERS = (
    0,
    1,
    -1,
    2,
    7,
    31,
    32,
    33,
    63,
    64,
    127,
    -128,
    255,
    32767,
    -32768,
    65535,
    2**31 - 1,
    -(2**31),
    2**63 - 1,
    -(2**63),
)


def computed(
    lines: str, *operands: np.ndarray, out: object, group: int = GROUP, declared: str = ""
) -> np.ndarray:
    """Runs the lines in a thread for each element; operands have one length, a multiple of `group`."""
    kind = np.dtype(out)
    memory = DeviceMemory(1 << 24)
    arrays = [np.zeros(len(operands[0]), kind), *operands]
    addresses = [memory.allocate(array.nbytes) for array in arrays]
    for address, array in zip(addresses, arrays, strict=True):
        place(address, array)
    registers = [f"%x{n}" for n in range(len(arrays))]
    text = [
        HEAD,
        declared,
        f".visible .entry f({', '.join(f'.param .u64 p{n}' for n in range(len(arrays)))})",
        "{",
    ]
    text += [f".reg .b{8 * array.itemsize} {name};" for name, array in zip(registers, arrays, strict=True)]
    text += [".reg .b32 %t<9>;", ".reg .b64 %a<9>;", ".reg .b16 %h<9>;", ".reg .pred %p<9>;"]
    text += ["mov.u32 %t1, %tid.x;", "mov.u32 %t2, %ctaid.x;", f"mad.lo.s32 %t0, %t2, {group}, %t1;"]
    for number, array in enumerate(arrays):
        text += [
            f"mul.wide.s32 %a0, %t0, {array.itemsize};",
            f"ld.param.u64 %a1, [p{number}];",
            "add.s64 %a1, %a1, %a0;",
        ]
        if number:
            text += [f"ld.global.b{8 * array.itemsize} %x{number}, [%a1];"]
        else:
            text += ["mov.b64 %a8, %a1;"]
    text += [
        lines.format(*registers).replace("; ", ";\n"),
        f"st.global.b{8 * kind.itemsize} [%a8], %x0;",
        "ret;",
        "}",
    ]
    grid = (len(operands[0]) // group, 1, 1)
    run("\n".join(text), memory, grid, (group, 1, 1), addresses)
    return fetched(addresses[0], arrays[0])


def run(
    text: str, memory: DeviceMemory, grid: tuple, group: tuple, addresses: list[int], shared: int = 0
) -> None:
    """The kernel `f` of a text."""
    loaded = LoadedText(text, memory)
    try:
        words = b"".join(address.to_bytes(8, "little") for address in addresses)
        loaded.program("f").launch(grid, group, shared, words)
    finally:
        loaded.unload()


def place(address: int, array: np.ndarray) -> None:
    _over(address, array)[...] = array


def fetched(address: int, like: np.ndarray) -> np.ndarray:
    return _over(address, like).copy()


def _over(address: int, like: np.ndarray) -> np.ndarray:
    class Memory:
        __array_interface__ = {  # noqa: RUF012 - NumPy's protocol
            "version": 3, "shape": (like.nbytes,), "typestr": "|u1", "data": (address, False),
        }  # fmt: skip

    return np.asarray(Memory()).view(like.dtype).reshape(like.shape)


def floats(rng: np.random.Generator, kind: object, count: int = 2048) -> np.ndarray:
    """Numbers of many sizes, and the special ones in all orders of pairs."""
    dtype = np.dtype(kind)
    found = rng.standard_normal(count) * 2.0 ** rng.integers(-20, 16, count)
    found[: len(SPECIAL) ** 2] = np.repeat(SPECIAL, len(SPECIAL))
    with np.errstate(all="ignore"):
        return found.astype(dtype)


def second_floats(rng: np.random.Generator, kind: object, count: int = 2048) -> np.ndarray:
    """The other side of the pairs."""
    found = floats(rng, np.float64, count)
    found[: len(SPECIAL) ** 2] = np.tile(SPECIAL, len(SPECIAL))
    with np.errstate(all="ignore"):
        return found.astype(np.dtype(kind))


def integers(rng: np.random.Generator, kind: object, other: bool = False, count: int = 2048) -> np.ndarray:
    dtype = np.dtype(kind)
    found = rng.integers(-(2**63), 2**63 - 1, count) >> rng.integers(0, 63, count)
    special = np.array(INTEGERS)
    found[: len(special) ** 2] = np.tile(special, len(special)) if other else np.repeat(special, len(special))
    return found.astype(dtype)
