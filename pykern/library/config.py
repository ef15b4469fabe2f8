"""How a function of the library is divided on a device, and whether that fits, before anything is compiled.

Comes in: a device and the name of a function. Goes out: a `Config` of the table, the shared memory that it takes, or an
error that says what does not fit and what would. Read next: `architectures`, the table; `limits`, what devices allow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from pykern.errors import LaunchError
from pykern.library.architectures import ATTENTION, KINDS, PRODUCT, ROWS, TABLE
from pykern.library.limits import Limits, limits_of

SHAPES = {
    "mma.sync": (16, 8, 16), "wgmma": (64, 8, 16), "mfma": (32, 32, 8), "wmma": (16, 16, 16), "fma": (1, 1, 1),
}  # fmt: skip
"""Rows, columns and inner length of the 16-bit matrix instructions; PTX ISA (mma.m16n8k16, wgmma.m64nNk16), LLVM's
AMDGPU guide (v_mfma_f32_32x32x8, v_wmma_f32_16x16x16)."""
FRAGMENTS = {"mma.sync": 32, "mfma": 32, "wmma": 32}
"""Registers of a work-item for operands on their way; wgmma reads them from shared memory."""
OTHER_REGISTERS = 40
"""Of a work-item, for addresses and counters."""
COPYING_SUBGROUPS = 4
"""The warpgroup that copies and does not multiply, with wgmma."""
PANEL = 64 * 64
"""Elements of a piece of the result on its way out, of which each warpgroup that multiplies with wgmma has two."""
BARRIER_BYTES = 8


@dataclass(frozen=True)
class Config:
    """A division of a function's work: see `pykern.library.architectures.TABLE` for its numbers.

    `tile` is (rows, columns, inner) of a product, (queries, keys, head) of attention; `subgroups` work on one;
    `stages` are the copies of its operands in shared memory; `element_bytes` is the size of their elements.
    """

    op: str
    architecture: str
    tile: tuple[int, int, int]
    subgroups: int = 4
    stages: int = 1
    instruction: str = "fma"
    element_bytes: int = 2

    @classmethod
    def for_device(cls, device: object, op: str | Callable) -> Config:
        """The configuration of a function on a device.

        `device` is a `pk.device`, or the name of a device ("cpu", "cuda:0"), of a target ("nvvm:sm_90a"), of a chip
        ("gfx942") or of an architecture ("ampere", "ada", "hopper", "blackwell", "cdna3", "rdna3", "cpu",
        "fallback"). `op` is a function of the library or its name. Raises `DeviceError` for a device that there is
        not, `LaunchError` for a function that there is not.
        """
        name = _checked(getattr(op, "__name__", op))
        architecture, kind = limits_of(device).architecture, KINDS[name]
        row = TABLE.get((architecture, kind)) or TABLE["fallback", kind]
        return cls(name, architecture, *row)


def required_shared_memory(config: Config) -> int:
    """Bytes of shared memory that a group takes: stages of operands, rows of the result on their way out, barriers."""
    kind, (m, n, k), size = _kind(config), config.tile, config.element_bytes
    if config.architecture == "cpu":
        return 0
    asynchronous = config.instruction == "wgmma"
    if kind == PRODUCT:
        panels = 2 * (config.subgroups // 4 - 1) * PANEL * size + 2 * config.stages * BARRIER_BYTES
        return (m + n) * k * size * config.stages + asynchronous * panels
    if kind == ATTENTION:
        barriers = (4 * config.stages + 1) * BARRIER_BYTES
        return (m + 2 * n * config.stages) * k * size + asynchronous * barriers
    return 4 * config.subgroups if kind == ROWS else 0  # a word of each subgroup's sum


def required_registers(config: Config, subgroup: int) -> int:
    """Registers that a work-item takes, estimated: accumulators of f32, operands on their way, and others."""
    kind, (m, n, k) = _kind(config), config.tile
    copying = COPYING_SUBGROUPS if config.instruction == "wgmma" else 0
    items = max(1, config.subgroups - copying) * subgroup
    accumulators = {PRODUCT: m * n, ATTENTION: m * (n + k)}.get(kind, 0)
    return -(-accumulators // items) + FRAGMENTS.get(config.instruction, 0) + OTHER_REGISTERS


def validate_config(config: Config, device: object) -> None:
    """Raise `LaunchError`, a `ValueError`, that says why a configuration does not fit a device; nothing is compiled.

    `device` is as in `Config.for_device`. Checked are the instruction, whole numbers of its shape, the size of a
    group, its registers, and its shared memory.
    """
    kind, limits = _kind(config), limits_of(device)
    if config.instruction not in limits.instructions:
        raise _refused(
            config, limits, f"there is no {config.instruction}", f"it has {', '.join(limits.instructions)}"
        )
    if kind in (PRODUCT, ATTENTION):
        _check_shape(config)
    if limits.architecture == "cpu":
        return
    items = config.subgroups * limits.subgroup
    if items > limits.group:
        raise _refused(config, limits, f"a group has {items} work-items", f"there may be {limits.group}")
    registers = required_registers(config, limits.subgroup)
    if limits.registers and registers > limits.registers:
        hint = f"there are {limits.registers}: take a smaller tile or more subgroups"
        raise _refused(config, limits, f"a work-item takes about {registers} registers", hint)
    if limits.registers_of_group and registers * items > limits.registers_of_group:
        hint = f"there are {limits.registers_of_group}: take a smaller tile"
        raise _refused(config, limits, f"a group takes about {registers * items} registers", hint)
    shared = required_shared_memory(config)
    if shared > limits.shared:
        hint = f"there are {limits.shared}: take a smaller tile or fewer stages"
        raise _refused(config, limits, f"a group takes {shared} bytes of shared memory", hint)


def _kind(config: Config) -> str:
    """What kind of work a configuration is for. Raises `LaunchError` for what is no configuration."""
    if not isinstance(config, Config):
        raise LaunchError(
            f"a configuration is a `Config`, not {config!r}",
            hint='Config.for_device("cuda:0", "swiglu_linear") is the one that the library takes by itself',
        )
    name = _checked(config.op)
    _check_numbers(config)
    return KINDS[name]


def _checked(op: Any) -> str:
    if not isinstance(op, str) or op not in KINDS:
        near = get_close_matches(str(op), KINDS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(KINDS)}"
        raise LaunchError(f"the library has no function {op!r}", hint=hint)
    return op


def _check_numbers(config: Config) -> None:
    if len(config.tile) != 3:
        raise LaunchError(f"a tile has three lengths, not {len(config.tile)}: {config.tile}")
    for number in (*config.tile, config.subgroups, config.stages, config.element_bytes):
        if not isinstance(number, int) or number < 1:
            raise LaunchError(
                f"lengths and counts of a configuration are whole numbers from 1 on, not {number!r}"
            )
    if config.instruction not in SHAPES:
        raise LaunchError(f"no instruction {config.instruction!r}", hint=f"there are {', '.join(SHAPES)}")


def _check_shape(config: Config) -> None:
    for length, unit in zip(config.tile, SHAPES[config.instruction], strict=True):
        if length % unit:
            raise LaunchError(
                f"a tile of {config.tile} is no whole number of {config.instruction}'s {SHAPES[config.instruction]}",
                hint=f"make {length} a multiple of {unit}",
            )


def _refused(config: Config, limits: Limits, why: str, hint: str) -> LaunchError:
    return LaunchError(f"{config.op} with a tile of {config.tile} on {limits.name}: {why}", hint=hint)
