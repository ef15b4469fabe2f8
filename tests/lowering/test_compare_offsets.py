"""The form that `kern-compare-offsets` is for: a group goes over several pieces of an array, each behind a guard."""

from __future__ import annotations

import numpy as np
import pytest

import pykern as pk

GROUP, PIECES = 64, 6


@pk.kernel(workgroup=GROUP)
def piece_sums(sums, x):
    here = pk.local_index()
    first = pk.group_index() * (GROUP * PIECES) + here
    mine = np.float32(0)
    for k in range(PIECES):
        at = first + k * GROUP
        if at < x.shape[0]:
            mine += x[at]
    whole = pk.group_reduce(mine, "add")
    if here == 0:
        sums[pk.group_index()] = whole


@pytest.mark.parametrize(("options", "changes"), [("", False), ("+small", True)])
def test_guards_of_pieces_compare_offsets(options, changes):
    """Where lengths fit in 32 bits, the places behind the first one compare with what is left behind it."""
    x = pk.spec(("n",), pk.f32)
    lowered = piece_sums.lower(x, x, ndrange=("n",), target=f"nvvm:sm_80{options}")
    number = [stage.name for stage in lowered.stages].index("kern-compare-offsets")
    before, after = (stage.text.count("arith.minsi") for stage in lowered.stages[number - 1 : number + 1])
    assert after - before == (PIECES - 1 if changes else 0)


@pytest.mark.parametrize("device", ["opencl:0", "vulkan:0"], indirect=True)
@pytest.mark.parametrize("n", [1, GROUP * PIECES, 5 * GROUP * PIECES - 3])
def test_pieces_are_summed_up_to_the_end(device, rng, n):
    x = rng.random(n).astype(np.float32)
    groups = -(-n // (GROUP * PIECES))
    sums = pk.zeros(groups, pk.f32, device=device)
    piece_sums(sums, pk.asarray(x, device=device), ndrange=groups * GROUP)
    padded = np.zeros(groups * GROUP * PIECES)
    padded[:n] = x
    np.testing.assert_allclose(np.asarray(sums), padded.reshape(groups, -1).sum(axis=1), rtol=1e-5)
