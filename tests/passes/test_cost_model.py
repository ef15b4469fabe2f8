"""The cost model: tiles fit the registers, and waste little of sizes that divide nothing."""

from __future__ import annotations

import pytest

from pykern.environment.machine import cpu
from pykern.passes.codegen.cpu.contraction.cost_model import Problem, can_take, schedule_for


def problem(m: int, n: int, k: int, bits: int = 32, group: int = 1) -> Problem:
    """A product of two matrices whose rows lie side by side; `group` terms an instruction."""
    return Problem(
        m=m, n=n, k=k, batch=1, bits=bits, factor_bits=bits // group, is_float=group == 1, row=m, lane=n,
        unit_right=True, packable=True, simple=True, group=group,
    )  # fmt: skip


SIZES = [
    (1024, 1024, 1024),
    (1021, 1021, 1021),
    (1500, 1500, 1500),
    (1000, 3000, 2000),
    (70, 9000, 900),
    (20, 8191, 999),
]


@pytest.mark.parametrize("machine", ["avx2", "avx512", "neon"])
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("size", SIZES)
def test_schedules_fit_the_registers(size, bits, machine):
    target = cpu(machine)
    schedule = schedule_for(problem(*size, bits), target)
    assert can_take(problem(*size, bits), schedule, target)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("size", SIZES)
def test_packed_tiles_of_whole_lines(size, bits):
    target = cpu("avx512")
    schedule = schedule_for(problem(*size, bits), target)
    if schedule.form != "packed":
        assert size[0] <= 64 or size[1] * size[2] * bits // 8 <= 2 * target.l2
        return
    columns = schedule.vectors * target.lanes(bits)
    covered = -(-size[0] // schedule.rows) * schedule.rows * (-(-size[1] // columns) * columns)
    assert covered <= 1.05 * size[0] * size[1]
    assert schedule.rows * schedule.vectors + schedule.vectors + 2 <= target.registers
    assert schedule.depth <= 512


@pytest.mark.parametrize("size", SIZES)
def test_bytes_have_room_for_the_sums_of_the_right_factor(size):
    target = cpu("avx512+i16-dot")
    schedule = schedule_for(problem(*size, group=4), target)
    assert schedule.form == "packed"
    assert (schedule.rows + 2) * schedule.vectors + 2 <= target.registers
