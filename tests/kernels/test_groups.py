"""Shared and private memory with barriers, atomics and collectives, on every type, against NumPy."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import pykern as pk

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float16, np.float32, np.float64]
EVERY = [np.bool_, *INTEGERS, *FLOATS]


def values(dtype: type, n: int, rng: np.random.Generator) -> np.ndarray:
    if dtype is np.bool_:
        return rng.random(n) < 0.5
    return rng.integers(0, 100, n).astype(dtype)


def exchanging(dtype):
    @pk.kernel(workgroup=8)
    def run(out, x, rounds):
        i = pk.index()
        l = pk.local_index()  # noqa: E741
        s = pk.shared((2, 8), dtype)
        mine = pk.private((2, 2), dtype)
        mine[0, 0] = x[i]
        for k in range(rounds):
            s[k % 2, l] = mine[0, 0]
            pk.barrier()
            mine[1, 1] = s[k % 2, (l + k + 1) % 8]
            mine[0, 0] = mine[1, 1]
        out[i] = mine[0, 0]

    return run


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_values_go_round_in_shared_memory(dtype, rounds, device, rng):
    x = values(dtype, 24, rng)
    out = np.zeros_like(x)
    exchanging(pk.types.from_numpy(np.dtype(dtype)))(out, x, rounds, ndrange=24, device=device)
    shift = sum(k + 1 for k in range(rounds))
    np.testing.assert_array_equal(out, np.roll(x.reshape(3, 8), -shift, axis=1).ravel())


@pk.kernel(workgroup=(4, 4))
def transposed_in_groups(out, x, n):
    i, j = pk.index()
    li, lj = pk.local_index()
    s = pk.shared((4, 4), pk.f64)
    if i >= n:
        return
    s[li, lj] = x[i, j]
    pk.barrier()
    keep = x[i, j] if li > lj else 0.0
    pk.barrier()
    out[i, j] = s[lj, li] + keep


def test_barriers_after_an_early_return(device, rng):
    x, out = rng.random((8, 12)), np.zeros((8, 12))
    transposed_in_groups(out, x, 8, ndrange=(8, 12), device=device)
    blocks = x.reshape(2, 4, 3, 4).transpose(0, 3, 2, 1).reshape(8, 12)
    li, lj = np.indices((8, 12)) % 4
    np.testing.assert_array_equal(out, blocks + np.where(li > lj, x, 0))
    out[:] = 0
    transposed_in_groups(out, x, 4, ndrange=(8, 12), device=device)
    assert (out[4:] == 0).all() and (out[:4] == (blocks + np.where(li > lj, x, 0))[:4]).all()


@pk.kernel(workgroup=16)
def prefix_sums(out, x):
    i = pk.index()
    l = pk.local_index()  # noqa: E741
    s = pk.shared(16, pk.i64)
    s[l] = x[i]
    step = 1
    while step < 16:
        pk.barrier()
        before = s[l - step] if l >= step else 0
        pk.barrier()
        s[l] += before
        step *= 2
    out[i] = s[l]


def test_a_barrier_in_a_uniform_while(device, rng):
    x = rng.integers(-50, 50, 64)
    out = np.zeros(64, np.int64)
    prefix_sums(out, x, ndrange=64, device=device)
    np.testing.assert_array_equal(out, x.reshape(4, 16).cumsum(1).ravel())


# -- atomics ------------------------------------------------------------------------------------


@pk.kernel
def tickets(old, counter):
    old[pk.index()] = pk.atomic_add(counter, (0, 1), 1)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_every_old_value_is_given_once(dtype, device):
    old, counter = np.zeros(100, dtype), np.full((2, 3), 5, dtype)
    tickets(old, counter[:, ::-1], ndrange=100, device=device)
    assert sorted(old.astype(int).tolist()) == list(range(5, 105))
    assert counter.tolist() == [[5, 105, 5], [5, 5, 5]]


@pk.kernel
def atomic_by_value(x, old, v):
    old[0] = pk.atomic_add(x, 0, v)
    old[1] = pk.atomic_sub(x, 1, v)
    old[2] = pk.atomic_min(x, 2, v)
    old[3] = pk.atomic_max(x, 3, v)
    old[4] = pk.atomic_exchange(x, 4, v)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("edge", ["min", "max"])
def test_atomics_wrap_and_compare_at_the_edges(dtype, edge, device, rng):
    start, v = (dtype(getattr(np.iinfo(dtype), e)) for e in (edge, "max"))
    x, old = np.full(5, start), np.zeros(5, dtype)
    atomic_by_value(x, old, v, ndrange=1, device=device)
    with np.errstate(over="ignore"):
        assert x.tolist() == [start + v, start - v, min(start, v), max(start, v), v]
    assert (old == start).all()


@pk.kernel
def multiply_by_exchange(product, factors):
    i = pk.index()
    seen = product[0]
    while True:
        found = pk.atomic_compare_exchange(product, 0, seen, seen * factors[i])
        if found == seen:
            break
        seen = found


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64, np.float32, np.float64])
def test_a_loop_of_compare_exchange(dtype, device):
    product, factors = np.ones(1, dtype), np.array([2, 1, 3] * 8).astype(dtype)
    multiply_by_exchange(product, factors, ndrange=24, device=device)
    assert product[0] == 6**8


# -- collectives --------------------------------------------------------------------------------

OPS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum,
       "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}  # fmt: skip


def collecting(op: str):
    @pk.kernel(workgroup=64)
    def run(of_group, of_subgroup, scan, before, x):
        i = pk.index()
        of_group[i] = pk.group_reduce(x[i], op)
        of_subgroup[i] = pk.subgroup_reduce(x[i], op)
        scan[i] = pk.subgroup_scan(x[i], op)
        before[i] = pk.subgroup_scan(x[i], op, exclusive=True)

    return run


@pk.kernel(workgroup=64)
def ask_for_lanes(out):
    out[pk.index()] = pk.subgroup_size()


def lanes_of(device):
    """Of a subgroup: 32, or 64 on some of AMD's."""
    out = np.zeros(64, np.int64)
    ask_for_lanes(out, ndrange=64, device=device)
    assert out[0] in (32, 64) and (out == out[0]).all()
    return out[0]


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
@pytest.mark.parametrize("op", OPS)
def test_reductions_and_scans(op, dtype, device, rng):
    if dtype in FLOATS and op in ("and", "or", "xor"):  # NumPy has none either
        with pytest.raises(pk.KernelTypeError, match=f"`{op}`"):
            collecting(op)(*np.zeros((5, 64), dtype), ndrange=64, device=device)
        return
    combine, n = OPS[op], 128
    x = rng.integers(0, 3 if op == "add" else 2, n).astype(dtype)
    if op in ("min", "max", "and", "or", "xor"):
        x = rng.integers(np.iinfo(dtype).min if dtype in INTEGERS else -99, 99, n).astype(dtype)
    outs = [np.zeros(n, dtype) for _ in range(4)]
    collecting(op)(*outs, x, ndrange=n, device=device)
    lanes = lanes_of(device)
    for width, out in ((64, outs[0]), (lanes, outs[1])):
        wanted = np.array([functools.reduce(combine, row) for row in x.reshape(-1, width)])
        np.testing.assert_array_equal(out, np.repeat(wanted, width))
    scanned = combine.accumulate(x.reshape(-1, lanes), axis=1, dtype=dtype)
    np.testing.assert_array_equal(outs[2].reshape(-1, lanes), scanned)
    np.testing.assert_array_equal(outs[3].reshape(-1, lanes)[:, 1:], scanned[:, :-1])


@pk.kernel(workgroup=32)
def exchanged(reversed_, first, third, x):
    i = pk.index()
    lane = pk.lane_index()
    reversed_[i] = pk.subgroup_shuffle(x[i], 31 - lane)
    first[i] = pk.subgroup_broadcast(x[i])
    third[i] = pk.subgroup_broadcast(x[i], 3)


@pytest.mark.parametrize("dtype", EVERY)
def test_shuffles(dtype, device, rng):
    x = values(dtype, 96, rng)
    outs = [np.zeros(96, dtype) for _ in range(3)]
    exchanged(*outs, x, ndrange=96, device=device)
    lanes = x.reshape(3, 32)
    np.testing.assert_array_equal(outs[0], lanes[:, ::-1].ravel())
    np.testing.assert_array_equal(outs[1], np.repeat(lanes[:, 0], 32))
    np.testing.assert_array_equal(outs[2], np.repeat(lanes[:, 3], 32))


@pk.func
def cast_with_three(x):
    return pk.cast(x, pk.i32, 3)


@pk.func
def reduced_exclusively(x):
    return pk.group_reduce(x, "add", exclusive=True)


@pk.func
def given_twice(x):
    return pk.subgroup_broadcast(x, value=x)


@pk.func
def scanned_as_data_say(x):
    return pk.subgroup_scan(x, "add", x > 0)


@pk.func
def shuffled_from_nowhere(x):
    return pk.subgroup_shuffle(x)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (cast_with_three, "takes x, dtype: not 3 values"),
        (reduced_exclusively, "not `exclusive` as well"),
        (given_twice, "not `value` as well"),
        (scanned_as_data_say, "known at compile time"),
        (shuffled_from_nowhere, "takes the lane"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(wrong, message):
    @pk.kernel
    def run(x):
        x[pk.index()] = wrong(x[pk.index()])

    with pytest.raises(pk.KernelTypeError, match=message):
        run(np.zeros(4, np.int32), ndrange=4)
