"""Bits, sparse rows and bodies of NPBench: each in the forms that people write."""
# ruff: noqa: N803 (constants of physics keep their names)

from __future__ import annotations

import numpy as np
from npbench_setting import form

import pykern as pk

# -- crc16: a checksum, bit by bit ---------------------------------------------------------------


def _finished(crc: int) -> int:
    crc = ~int(crc) & 0xFFFF
    return (crc << 8 | crc >> 8) & 0xFFFF


@pk.kernel
def _crc_branch(out, data, poly):
    crc = 0xFFFF
    for i in range(len(data)):
        byte = data[i]
        for _ in range(8):
            if (crc & 1) ^ (byte & 1):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            byte >>= 1
    out[0] = crc


@pk.kernel
def _crc_select(out, data, poly):
    crc = 0xFFFF
    for i in range(len(data)):
        crc ^= pk.i64(data[i])
        for _ in range(8):
            crc = (crc >> 1) ^ poly if crc & 1 else crc >> 1
    out[0] = crc


@pk.kernel
def _crc_product(out, data, poly):
    crc = 0xFFFF
    for i in range(len(data)):
        crc ^= pk.i64(data[i])
        for _ in range(8):
            crc = (crc >> 1) ^ (poly * (crc & 1))
    out[0] = crc


@pk.jit
def _crc_program(data, poly):
    crc = 0xFFFF
    for i in pk.range(len(data)):
        crc ^= pk.i64(data[i])
        for _ in range(8):
            crc = np.where(crc & 1, (crc >> 1) ^ poly, crc >> 1)
    return crc


def _crc_by(kernel, data, poly):
    out = np.empty(1, np.int64)
    kernel(out, data, poly, ndrange=1)
    return _finished(out[0])


@form("crc16", "kernel, branch")
def _(data, poly=0x8408):
    return _crc_by(_crc_branch, data, poly)


@form("crc16", "kernel, choice")
def _(data, poly=0x8408):
    return _crc_by(_crc_select, data, poly)


@form("crc16", "kernel, product")
def _(data, poly=0x8408):
    return _crc_by(_crc_product, data, poly)


@form("crc16", "program")
def _(data, poly=0x8408):
    return _finished(_crc_program(data, poly))


# -- spmv: a sparse matrix by rows, times a vector -----------------------------------------------


@pk.kernel
def _row(y, starts, columns, values, x):
    i = pk.index()
    total = 0.0
    for k in range(starts[i], starts[i + 1]):
        total += values[k] * x[columns[k]]
    y[i] = total


@pk.kernel
def _rows_in_place(y, starts, columns, values, x):
    for i in range(len(y)):
        y[i] = 0.0
        for k in range(starts[i], starts[i + 1]):
            y[i] += values[k] * x[columns[k]]


@pk.kernel
def _row_while(y, starts, columns, values, x):
    i = pk.index()
    k, end = starts[i], starts[i + 1]
    total = 0.0
    while k < end:
        total += values[k] * x[columns[k]]
        k += 1
    y[i] = total


@pk.jit
def _rows_program(starts, columns, values, x):
    y = pk.empty(starts.shape[0] - 1)
    _row(y, starts, columns, values, x, ndrange=y.shape)
    return y


@pk.jit
def _rows_summed(starts, columns, values, x):
    """Differences of running sums."""
    sums = np.concatenate((np.zeros(1), np.cumsum(values * x[columns])))
    return sums[starts[1:]] - sums[starts[:-1]]


form("spmv", "program of a kernel")(_rows_program)
form("spmv", "program, running sums")(_rows_summed)


def _rows_by(kernel, starts, columns, values, x, space):
    y = np.empty(len(starts) - 1)
    kernel(y, starts, columns, values, x, ndrange=space)
    return y


@form("spmv", "kernel, a row a work-item")
def _(starts, *others):
    return _rows_by(_row, starts, *others, space=len(starts) - 1)


@form("spmv", "kernel, while")
def _(starts, *others):
    return _rows_by(_row_while, starts, *others, space=len(starts) - 1)


@form("spmv", "kernel, one loop, sums in place")
def _(starts, *others):
    return _rows_by(_rows_in_place, starts, *others, space=1)


# -- nbody: bodies that attract each other, and their energies after each step -------------------


def _settled(mass, vel):
    """In the frame of the centre of mass."""
    vel -= np.mean(mass * vel, axis=0) / np.mean(mass)


@pk.jit
def _move(mass, pos, vel, steps: pk.static, dt, G, softening):
    """Arrays of all pairs, by broadcasting."""

    def pull(pos):
        d = pos[None, :, :] - pos[:, None, :]
        r2 = (d * d).sum(axis=2) + softening**2
        near = G * mass[:, 0] * np.where(r2 > 0, r2**-1.5, 0.0)
        return (d * near[:, :, None]).sum(axis=1)

    def energies(pos, vel):
        d = pos[None, :, :] - pos[:, None, :]
        r = np.sqrt((d * d).sum(axis=2))
        inverse = np.where(r > 0, 1 / r, 0.0)
        potential = -0.5 * G * (mass * mass[:, 0] * inverse).sum()
        return 0.5 * (mass * vel**2).sum(), potential

    vel -= np.mean(mass * vel, axis=0) / np.mean(mass)
    kinetic, potential = np.empty(steps + 1), np.empty(steps + 1)
    a = pull(pos)
    kinetic[0], potential[0] = energies(pos, vel)
    for step in pk.range(steps):
        vel += a * dt / 2
        pos += vel * dt
        a = pull(pos)
        vel += a * dt / 2
        kinetic[step + 1], potential[step + 1] = energies(pos, vel)
    return kinetic, potential


@pk.jit
def _move_columns(mass, pos, vel, steps: pk.static, dt, G, softening):
    """Coordinates apart, and products with the vector of masses."""

    def pull(x, y, z):
        dx, dy, dz = x[None] - x[:, None], y[None] - y[:, None], z[None] - z[:, None]
        r2 = dx * dx + dy * dy + dz * dz + softening**2
        near = np.where(r2 > 0, r2**-1.5, 0.0)
        m = mass[:, 0]
        return G * (dx * near) @ m, G * (dy * near) @ m, G * (dz * near) @ m

    def energies(x, y, z, u, v, w):
        dx, dy, dz = x[None] - x[:, None], y[None] - y[:, None], z[None] - z[:, None]
        r = np.sqrt(dx * dx + dy * dy + dz * dz)
        inverse = np.where(r > 0, 1 / r, 0.0)
        m = mass[:, 0]
        return 0.5 * (m * (u * u + v * v + w * w)).sum(), -0.5 * G * (m * (inverse @ m)).sum()

    vel -= np.mean(mass * vel, axis=0) / np.mean(mass)
    x, y, z = pos[:, 0].copy(), pos[:, 1].copy(), pos[:, 2].copy()
    u, v, w = vel[:, 0].copy(), vel[:, 1].copy(), vel[:, 2].copy()
    kinetic, potential = np.empty(steps + 1), np.empty(steps + 1)
    ax, ay, az = pull(x, y, z)
    kinetic[0], potential[0] = energies(x, y, z, u, v, w)
    for step in pk.range(steps):
        u, v, w = u + ax * dt / 2, v + ay * dt / 2, w + az * dt / 2
        x, y, z = x + u * dt, y + v * dt, z + w * dt
        ax, ay, az = pull(x, y, z)
        u, v, w = u + ax * dt / 2, v + ay * dt / 2, w + az * dt / 2
        kinetic[step + 1], potential[step + 1] = energies(x, y, z, u, v, w)
    pos[:] = np.stack((x, y, z), axis=1)
    vel[:] = np.stack((u, v, w), axis=1)
    return kinetic, potential


@pk.kernel(fastmath=True)
def _pull(a, pos, mass, G, softening):
    i = pk.index()
    x, y, z = 0.0, 0.0, 0.0
    for j in range(pos.shape[0]):
        dx = pos[j, 0] - pos[i, 0]
        dy = pos[j, 1] - pos[i, 1]
        dz = pos[j, 2] - pos[i, 2]
        r2 = dx * dx + dy * dy + dz * dz + softening * softening
        near = G * mass[j, 0] / (r2 * pk.sqrt(r2))
        x += dx * near
        y += dy * near
        z += dz * near
    a[i, 0] = x
    a[i, 1] = y
    a[i, 2] = z


@pk.kernel
def _pull_strict(a, pos, mass, G, softening):
    i = pk.index()
    for c in range(3):
        a[i, c] = 0.0
    for j in range(pos.shape[0]):
        r2 = softening * softening
        for c in range(3):
            r2 += (pos[j, c] - pos[i, c]) ** 2
        near = G * mass[j, 0] * r2**-1.5
        for c in range(3):
            a[i, c] += (pos[j, c] - pos[i, c]) * near


@pk.kernel(fastmath=True)
def _energy(kinetic, potential, pos, vel, mass, G):
    i = pk.index()
    around = 0.0
    for j in range(pos.shape[0]):
        if j != i:
            dx = pos[j, 0] - pos[i, 0]
            dy = pos[j, 1] - pos[i, 1]
            dz = pos[j, 2] - pos[i, 2]
            around += mass[j, 0] / pk.sqrt(dx * dx + dy * dy + dz * dz)
    potential[i] = -0.5 * G * mass[i, 0] * around
    kinetic[i] = 0.5 * mass[i, 0] * (vel[i, 0] ** 2 + vel[i, 1] ** 2 + vel[i, 2] ** 2)


@pk.kernel
def _kick(vel, a, dt):
    i, c = pk.index()
    vel[i, c] += a[i, c] * dt / 2


@pk.kernel
def _drift(pos, vel, dt):
    i, c = pk.index()
    pos[i, c] += vel[i, c] * dt


@pk.jit
def _move_kernels(mass, pos, vel, steps: pk.static, dt, G, softening):
    """Kernels, one after the other."""
    n = pos.shape[0]
    vel -= np.mean(mass * vel, axis=0) / np.mean(mass)
    kinetic, potential, a = pk.empty(steps + 1), pk.empty(steps + 1), pk.empty_like(pos)
    kin, pot = pk.empty(n), pk.empty(n)
    _pull(a, pos, mass, G, softening, ndrange=n)
    _energy(kin, pot, pos, vel, mass, G, ndrange=n)
    kinetic[0], potential[0] = kin.sum(), pot.sum()
    for step in pk.range(steps):
        _kick(vel, a, dt, ndrange=vel.shape)
        _drift(pos, vel, dt, ndrange=pos.shape)
        _pull(a, pos, mass, G, softening, ndrange=n)
        _kick(vel, a, dt, ndrange=vel.shape)
        _energy(kin, pot, pos, vel, mass, G, ndrange=n)
        kinetic[step + 1], potential[step + 1] = kin.sum(), pot.sum()
    return kinetic, potential


@form("nbody", "program, broadcasting")
def _(mass, pos, vel, n, steps, dt, G, softening):
    return _move(mass, pos, vel, steps, dt, G, softening)


@form("nbody", "program, coordinates apart")
def _(mass, pos, vel, n, steps, dt, G, softening):
    return _move_columns(mass, pos, vel, steps, dt, G, softening)


@form("nbody", "program of kernels")
def _(mass, pos, vel, n, steps, dt, G, softening):
    return _move_kernels(mass, pos, vel, steps, dt, G, softening)


@form("nbody", "kernels, loops over coordinates, strict")
def _(mass, pos, vel, n, steps, dt, G, softening):
    _settled(mass, vel)
    kinetic, potential, a = np.empty(steps + 1), np.empty(steps + 1), np.empty_like(pos)
    kin, pot = np.empty(n), np.empty(n)

    def measure(step):
        _energy(kin, pot, pos, vel, mass, G, ndrange=n)
        kinetic[step], potential[step] = kin.sum(), pot.sum()

    _pull_strict(a, pos, mass, G, softening, ndrange=n)
    measure(0)
    for step in range(steps):
        _kick(vel, a, dt, ndrange=vel.shape)
        _drift(pos, vel, dt, ndrange=pos.shape)
        _pull_strict(a, pos, mass, G, softening, ndrange=n)
        _kick(vel, a, dt, ndrange=vel.shape)
        measure(step + 1)
    return kinetic, potential
