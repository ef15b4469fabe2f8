"""What each rank checks. Run by `test_ranks`: ``mpiexec -n 2 python cases.py RESULTS [gloo RANK SIZE FILE]``.

Every function `case_...` is called by all ranks, in order. The names of those that held are written to a file by
rank 0; a check that fails on any rank ends the run with its traceback.
"""

import itertools
import os
import sys

import numpy as np
import pytest

import pykern as pk

COMM = None


@pk.kernel
def heat(t2, t, c, dt):
    i, j = pk.index()
    n, m = t.shape
    if 0 < i < n - 1 and 0 < j < m - 1:
        t2[i, j] = t[i, j] + dt * c[i, j] * (
            t[i - 1, j] + t[i + 1, j] + t[i, j - 1] + t[i, j + 1] - 4 * t[i, j]
        )


@pk.kernel
def box(t2, t):
    """All neighbours, those at corners, too."""
    i, j, k = pk.index()
    n, m, o = t.shape
    if 0 < i < n - 1 and 0 < j < m - 1 and 0 < k < o - 1:
        total = 0.0
        for a in range(-1, 2):
            for b in range(-1, 2):
                for c in range(-1, 2):
                    total += (a + 2 * b + 3 * c + 7) * t[i + a, j + b, k + c]
        t2[i, j, k] = total / 189


@pk.kernel
def wide(y, x):
    i = pk.index()
    if 1 < i < len(x) - 2:
        y[i] = 0.25 * (x[i - 2] + x[i - 1] + x[i + 1] + x[i + 2])


@pk.kernel
def scaled(y, x):
    i, j = pk.index()
    y[i, j] = 2 * x[i, j]


@pk.jit
def doubled(x):
    return x + x


def grid_of(*args, **keywords):
    return pk.mpi.Grid(*args, comm=COMM, timeout=60, **keywords)


def numbers(shape, dtype="f4", seed=0):
    return np.random.default_rng(seed).random(shape).astype(dtype)


def run(grid, whole, kernel, steps, *more):
    """a run on all ranks, and the same in this process alone."""
    t = grid.scatter(whole)
    t2 = t.copy()
    extra = [grid.scatter(m) if isinstance(m, np.ndarray) else m for m in more]
    for _ in range(steps):
        with grid.exchange(t):
            kernel(t2, t, *extra, ndrange=grid.local)
        t, t2 = t2, t
    a = whole.copy()
    b = whole.copy()
    for _ in range(steps):
        kernel(b, a, *more, ndrange=a.shape)
        a, b = b, a
    return grid.gather(t), a


def same(found, wanted, grid):
    if grid.rank == 0:
        np.testing.assert_array_equal(found, wanted)
    else:
        assert found is None


def refuses(message):
    return pytest.raises(pk.LaunchError, match=message)


# -- the cases ---------------------------------------------------------------------------------


def case_bit_equal_in_two_dimensions():
    whole, c = numbers((37, 41)), numbers((37, 41), seed=1)
    for overlap in (False, True):
        grid = grid_of((37, 41), halo="auto", overlap=overlap)
        assert grid.halo == (1, 1)  # of the kernels here that have two axes
        same(*run(grid, whole, heat, 12, c, np.float32(0.1)), grid)
        if overlap and grid.size > 1:
            assert any(found is not None for _, found in grid.splits.values())


def case_bit_equal_in_one_and_three():
    for overlap in (False, True):
        grid = grid_of(53, halo=2, overlap=overlap)
        same(*run(grid, numbers(53, "f8"), wide, 9), grid)
        grid = grid_of((11, 12, 13), halo=1, overlap=overlap)
        found, wanted = run(grid, numbers((11, 12, 13)), box, 5)
        if not overlap:
            same(found, wanted, grid)
        elif grid.rank == 0:  # launches over ranges round sums of so many products another way
            np.testing.assert_allclose(found, wanted, rtol=1e-6)


def case_halos_of_any_kind():
    """Each element of each rank's array is the global one, for all combinations."""
    shapes = [(29,), (13, 17), (9, 10, 11)]
    for shape, halo, periodic in itertools.product(shapes, (1, 2), (False, True)):
        grid = grid_of(shape, halo=halo, periodic=periodic)
        for extra in (0, 1, tuple(i % 2 for i in range(len(shape)))):
            check_halo(grid, extra)
    grid = grid_of((16, 20), halo=(1, 2), periodic=(True, False))
    check_halo(grid, (1, 0))
    check_halo(grid, (0, -1))


def expected(grid, whole, extra):
    """What this rank holds of a global array of which periodic axes have no end."""
    held = grid.block.held_globally(extra)
    return whole[np.ix_(*(np.array(h) % n for h, n in zip(held, whole.shape, strict=True)))]


def check_halo(grid, extra):
    more = extra if isinstance(extra, tuple) else (extra,) * len(grid.shape)
    shape = tuple(n + (0 if p else e) for n, p, e in zip(grid.shape, grid.periodic, more, strict=True))
    first, second = numbers(shape, "f8"), numbers(shape, "f8", 5).view("i8")
    a, b = grid.empty(pk.f64, extra), grid.empty(pk.i64, extra)
    for array, whole in ((a, first), (b, second)):
        array[...] = -1
        array[grid.owned(array)] = expected(grid, whole, more)[grid.owned(array)]
    grid.exchange(a, b)
    np.testing.assert_array_equal(a, expected(grid, first, more))
    np.testing.assert_array_equal(b, expected(grid, second, more))
    one = a.copy()
    one[...] = -1
    one[grid.owned(one)] = a[grid.owned(one)]
    for _ in range(2):
        grid.exchange(one)
        np.testing.assert_array_equal(one, a)
    same(grid.gather(a), first, grid)
    np.testing.assert_array_equal(grid.scatter(first, extra), a)


def case_the_transpose_of_an_exchange():
    """<exchange x, y> is <x, transpose y>, with x and y on all ranks."""
    for periodic, extra in itertools.product((False, True), (0, 1)):
        grid = grid_of((12, 14), halo=2, periodic=periodic)
        x, y = (grid.zeros(pk.f64, extra) for _ in range(2))
        random = np.random.default_rng(grid.rank)
        x[grid.owned(x)] = random.random(x[grid.owned(x)].shape)
        y[...] = random.random(y.shape)
        before = x.copy()
        kept = y.copy()
        grid.exchange(x)
        grid.exchange_transposed(y)
        left, right = grid.allreduce([np.vdot(x, kept), np.vdot(before, y)])
        assert abs(left - right) < 1e-10 * abs(left)
        inside = np.zeros(y.shape, bool)
        inside[grid.owned(y)] = True
        assert not y[~inside].any()


def case_a_gradient_through_steps():
    """The derivative of a run of several steps by its beginning, against that of one process."""
    shape, steps = (14, 15), 3
    whole, seed = numbers(shape, "f8"), numbers(shape, "f8", 3)
    gradient = pk.autodiff(heat)

    def pulled(grid):
        """Shadows of t2 and t; each step's cotangent goes back through the kernel, then through the exchange."""
        t, shadow_of_t = (grid.scatter(w) for w in (whole, seed))
        c, dt = grid.ones(pk.f64), np.float64(0.1)
        shadow = np.zeros_like(shadow_of_t)
        shadow[grid.owned(shadow_of_t)] = shadow_of_t[grid.owned(shadow_of_t)]
        for _ in range(steps):
            inner = np.zeros_like(shadow)
            region = tuple(slice(1, n - 1) for n in shadow.shape)
            inner[region] = shadow[region]
            below = shadow - inner  # the edge stays as it is: t2 is t there
            t2 = t.copy()
            gradient(pk.Dup(t2, inner), pk.Dup(t, below), c, dt, ndrange=grid.local)
            shadow = below
            grid.exchange_transposed(shadow)
        return grid.gather(shadow)

    grid = grid_of(shape, halo=1)
    found = pulled(grid)
    if grid.rank == 0:
        eps = 1e-3
        direction = numbers(shape, "f8", 9)
        plus, minus = whole + eps * direction, whole - eps * direction
        for _ in range(steps):
            plus, minus = stepped(plus), stepped(minus)
        np.testing.assert_allclose(
            np.vdot(found, direction), np.vdot(seed, plus - minus) / (2 * eps), rtol=1e-9
        )


def stepped(t):
    out = t.copy()
    heat(out, t, np.ones_like(t), np.float64(0.1), ndrange=t.shape)
    return out


def case_reductions_and_coordinates():
    grid = grid_of((10, 12), halo=1)
    x = grid.zeros(pk.f64)
    i, j = np.indices(grid.local)
    x[...] = 100 * grid.x_g(i) + grid.y_g(j)
    wanted = 100 * np.arange(10)[:, None] + np.arange(12)
    same(grid.gather(x), wanted, grid)
    owned = x[grid.owned(x)]
    assert grid.allreduce(owned.sum()) == wanted.sum()
    assert grid.allreduce(owned.max(), "max") == wanted.max() and grid.allreduce(owned.min(), "min") == 0
    assert grid.allreduce(np.arange(3)).tolist() == [0, grid.size, 2 * grid.size]
    assert (grid.nx_g, grid.ny_g, grid.nz_g) == (10, 12, 1)
    faces = grid.zeros(pk.f64, (1, 0))
    assert grid.x_g(0, 0.5, faces) == grid.x_g(0, 0.5) - 0.25


def case_files():
    grid = grid_of((13, 7), halo=1)
    path = os.path.join(os.path.dirname(sys.argv[1]), f"field{grid.size}.npy")
    whole = numbers((14, 7))
    x = grid.scatter(whole)
    grid.save(path, x)
    if grid.rank == 0:
        np.testing.assert_array_equal(np.load(path), whole)
    np.testing.assert_array_equal(grid.load(path), x)
    grid.barrier()


def case_blocks_with_other_calls():
    """What cannot be told apart waits for the halos."""
    grid = grid_of((20, 24), halo=1, overlap=True)
    whole = numbers((20, 24))
    for _ in range(3):  # the first time nothing overlaps
        t = grid.scatter(whole)
        t2, t3, c = t.copy(), t.copy(), grid.ones(pk.f32)
        t[...] = -1
        t[grid.owned(t)] = grid.scatter(whole)[grid.owned(t)]
        with grid.exchange(t):
            heat(t2, t, c, 0.1, ndrange=grid.local)
            scaled(t3, t2, ndrange=grid.local)  # reads what the rim writes
        reference = whole.copy()
        heat(reference, whole, np.ones_like(whole), 0.1, ndrange=whole.shape)
        same(grid.gather(t3), 2 * reference, grid)
        t[...] = -1
        t[grid.owned(t)] = grid.scatter(whole)[grid.owned(t)]
        with grid.exchange(t):
            twice = doubled(t)
        np.testing.assert_array_equal(twice, 2 * grid.scatter(whole))
        with grid.exchange(t) as halos:
            halos.wait()
            scaled(t, t, ndrange=grid.local)
        same(grid.gather(t), 2 * whole, grid)


def case_a_kernel_that_looks_too_far():
    grid = grid_of(40, halo=1, overlap=True)
    x, y = grid.zeros(pk.f64), grid.zeros(pk.f64)
    for _ in range(2):  # the first time nothing overlaps
        with refuses("2 elements away"), grid.exchange(x):
            wide(y, x, ndrange=grid.local)
    assert grid_of(40, halo=2).halo == (2,)


def case_ranks_disagree():
    rank, size = (one := grid_of(8, halo=1)).rank, one.size
    if size == 1:
        return
    for wrong in (
        lambda: grid_of(8 + rank, halo=1), lambda: exchange_of_types(rank),
        lambda: one.allreduce(np.zeros(3 + rank)), lambda: one.allreduce(1.0 if rank else 1),
        lambda: one.gather(one.zeros(pk.f32 if rank else pk.f64)),
        lambda: one.save("never.npy", one.zeros(pk.f32 if rank else pk.f64)),
    ):  # fmt: skip
        with refuses("the ranks disagree"):
            wrong()


def case_scattered_is_a_global_array_alone():
    grid = grid_of((6, 5), halo=1)
    for wrong in (None, "text", 1.0, np.zeros(3), np.zeros((6, 5, 1)), np.full((6, 5), None)):
        with refuses("rank 0 scatters"):
            grid.scatter(wrong)
    for shape in ((3, 5), (0, 5), (6, 0)):
        with refuses("is none of this grid"):
            grid.scatter(np.zeros(shape))


def exchange_of_types(rank):
    grid = grid_of(8, halo=1)
    grid.exchange(grid.zeros(pk.f32 if rank else pk.f64))


def case_more_ranks_than_rows():
    if grid_of(8, halo=1).size == 1:
        return
    for shape, halo in ((1, 1), ((3, 1), 2)):
        with refuses("ranks are too many"):
            grid_of(shape, halo=halo)


def case_a_fork_is_no_rank():
    grid = grid_of((8, 8), halo=1)
    x = grid.zeros(pk.f32)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            scaled(x, x, ndrange=x.shape)
            grid.exchange(x)
        except pk.LaunchError as error:
            status = 0 if "another process" in str(error) else 2
        os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    grid.exchange(x)


def case_more_arrays_than_are_kept():
    """Views that are made anew, at the same place and at others."""
    grid = grid_of(30, halo=1)
    whole = numbers(30, "f8")
    wanted = grid.scatter(whole)
    several = np.zeros((40, *grid.local))
    for _ in range(2):
        for n in range(40):
            several[n][...] = -1
            several[n][grid.owned(wanted)] = wanted[grid.owned(wanted)]
            grid.exchange(several[n])
            np.testing.assert_array_equal(several[n], wanted)


def case_arrays_that_do_not_fit():
    grid = grid_of((8, 8), halo=1)
    for shape in ((3,), (1, 1), (100, 8)):
        with refuses("grid.zeros"):
            grid.exchange(np.zeros(shape))


def case_arrays_on_a_device():
    if "opencl:0" not in map(str, pk.devices()) or COMM is not None:
        return
    grid = grid_of((12, 13), halo=1, device="opencl:0")
    whole = numbers((12, 13))
    t = grid.scatter(whole)
    assert isinstance(t, pk.Array)
    t2, c = t.copy(), grid.ones(pk.f32)
    for _ in range(4):
        with grid.exchange(t):
            heat(t2, t, c, np.float32(0.1), ndrange=grid.local)
        t, t2 = t2, t
    a, b = (pk.array(whole, device="opencl:0") for _ in range(2))
    one = pk.array(np.ones_like(whole), device="opencl:0")
    for _ in range(4):
        heat(b, a, one, np.float32(0.1), ndrange=whole.shape)
        a, b = b, a
    same(grid.gather(t), a.numpy(), grid)


def main():
    global COMM
    results, *gloo = sys.argv[1:]
    if gloo:
        import torch.distributed as distributed

        rank, size, store = gloo[1:]
        distributed.init_process_group("gloo", f"file://{store}", rank=int(rank), world_size=int(size))
        COMM = distributed.group.WORLD
    grid = grid_of(8, halo=1)
    for name, case in list(globals().items()):
        if name.startswith("case_"):
            case()
            grid.barrier()
            if grid.rank == 0:
                with open(results, "a") as file:
                    print(name, file=file)


if __name__ == "__main__":
    main()
