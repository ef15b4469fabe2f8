"""What two ranks check whose arrays are on an emulated GPU: ``mpiexec -n 2 python device_cases.py``.

Messages lie in the device's memory there, which is the host's, so that any MPI takes it.
"""

import numpy as np
from cases import grid_of, heat, numbers

import pykern as pk

DEVICE = "cuda:emulated:80"


def steps():
    """Steps with overlap, beside the same in one process."""
    grid = grid_of((12, 13), halo=1, device=DEVICE)
    assert grid._transport.reaches(DEVICE) and not grid._transport.reaches("opencl:0")
    whole = numbers((12, 13))
    t = grid.scatter(whole)
    t2, c = t.copy(), grid.ones(pk.f32)
    for _ in range(4):
        with grid.exchange(t):
            heat(t2, t, c, np.float32(0.1), ndrange=grid.local)
        t, t2 = t2, t
    a, b, one = whole.copy(), whole.copy(), np.ones_like(whole)
    for _ in range(4):
        heat(b, a, one, np.float32(0.1), ndrange=whole.shape)
        a, b = b, a
    gathered = grid.gather(t)
    if grid.rank == 0:
        np.testing.assert_allclose(gathered, a, rtol=1e-6)


def several_fields():
    """In one message, where each begins at a multiple of its size."""
    grid = grid_of((6, 9), halo=1, device=DEVICE)
    whole = numbers((6, 9), "f8"), (100 * numbers((6, 9))).astype("i1"), numbers((6, 9))
    wanted = [grid.scatter(one).numpy() for one in whole]
    fields = [grid.zeros(one.dtype) for one in whole]
    for field, one in zip(fields, wanted, strict=True):
        field[grid.owned(field)] = one[grid.owned(field)]
    grid.exchange(*fields)
    for field, one in zip(fields, wanted, strict=True):
        np.testing.assert_array_equal(field.numpy(), one)


def the_transpose():
    grid = grid_of((6, 9), halo=1, device=DEVICE)
    whole = numbers((6, 9), "f8")
    ours, theirs = grid.scatter(whole), grid.scatter(whole).numpy()
    grid.exchange_transposed(ours)
    grid_of((6, 9), halo=1).exchange_transposed(theirs)
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-14)


if __name__ == "__main__":
    steps()
    several_fields()
    the_transpose()
    print("held\n", end="")  # one write: lines of two ranks do not run into each other
