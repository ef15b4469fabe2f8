# RUN: %python %s | FileCheck %s
"""A work-item that does four of a launch loads for all of them before it stores."""

import pykern as pk


def show(kernel, *args, ndrange):
    target = "nvvm:sm_90a+aligned+small+whole+alike+many"
    print(kernel.lower(*args, ndrange=ndrange, target=target).compile().asm())


@pk.kernel
def copied(out, x):
    i = pk.index()
    out[i] = x[i]


# CHECK-LABEL: .visible .entry kern_copied(
# CHECK-COUNT-4: ld.global.nc.b32
# CHECK-NOT: ld.global
# CHECK-COUNT-4: st.global.b32
show(copied, pk.spec(None, pk.f32), pk.spec(None, pk.f32), ndrange="n")


@pk.kernel
def heat(v, u):
    i, j = pk.index()
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        v[i, j] = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j]


# Rows that are neighbours share loads: 14 for four.
# CHECK-LABEL: .visible .entry kern_heat(
# CHECK-COUNT-14: ld.global.nc.b32
# CHECK-NOT: ld.global
# CHECK-COUNT-4: st.global.b32
show(heat, pk.spec((None, None), pk.f32), pk.spec((None, None), pk.f32), ndrange=("n", "m"))
