"""Kernels that the tests of the tools look into."""

import pykern as pk


@pk.kernel
def saxpy(z, x, y, a):
    i = pk.index()
    z[i] = a * x[i] + y[i]


@pk.kernel
def annotated(z: pk.Out[pk.f32[:]], x: pk.In[pk.f32[:]], n: pk.static):
    i = pk.index()
    z[i] = x[i] * n
