"""ADBench's hand tracking (Srajer, Kukelova, Fitzgibbon, 2018; the simple objective) as two kernels.

26 parameters pose 22 bones: 3 turn the hand, 3 move it, and each of 5 fingers has 4 (one sideways, three
that bend). `pose` multiplies the turns down the tree of bones, one work-item; `skin` blends the posed bones
for one vertex a work-item and takes the distance to the point seen. `hand` is both, as a program. The model
is synthetic: bones in a tree like a hand's, vertices around them. Used by the tests of differentiation.
"""

from __future__ import annotations

import numpy as np

import pykern as pk

BONES = 22
PARENTS = np.array([-1, 0, *(b for f in range(5) for b in (0, *range(2 + 4 * f, 5 + 4 * f)))])
"""Bone 0 is the root; bone 1 and the first of the four bones of each finger hang on it."""


@pk.func
def turn(out, x, y, z):
    """Writes the rotation ``Rz(z) Ry(y) Rx(x)`` to the 3 x 3 block of `out`."""
    cx, sx, cy, sy, cz, sz = pk.cos(x), pk.sin(x), pk.cos(y), pk.sin(y), pk.cos(z), pk.sin(z)
    out[0, 0], out[0, 1], out[0, 2] = cy * cz, sx * sy * cz - cx * sz, sx * sz + cx * sy * cz
    out[1, 0], out[1, 1], out[1, 2] = cy * sz, cx * cz + sx * sy * sz, cx * sy * sz - sx * cz
    out[2, 0], out[2, 1], out[2, 2] = -sy, sx * cy, cx * cy


@pk.kernel
def pose(bones, theta, base, parents):
    """``bones[b]``: where bone b is, 3 x 4, relative to the hand. `base` is relative to the parent."""
    r = pk.private((3, 3), pk.f64)
    local = pk.private((3, 4), pk.f64)
    for b in range(bones.shape[0]):
        bend, side = 0.0, 0.0
        if b >= 2:
            finger = (b - 2) // 4
            joint = (b - 2) % 4
            if joint == 0:
                bend, side = theta[7 + 4 * finger], theta[6 + 4 * finger]
            elif joint < 3:
                bend = theta[7 + 4 * finger + joint]
        turn(r, bend, 0.0, side)
        for i in range(3):
            for j in range(3):
                local[i, j] = base[b, i, 0] * r[0, j] + base[b, i, 1] * r[1, j] + base[b, i, 2] * r[2, j]
            local[i, 3] = base[b, i, 3]
        p = parents[b]
        for i in range(3):
            for j in range(4):
                if p < 0:
                    bones[b, i, j] = local[i, j]
                else:
                    moved = bones[p, i, 0] * local[0, j] + bones[p, i, 1] * local[1, j]
                    moved += bones[p, i, 2] * local[2, j]
                    if j == 3:
                        moved += bones[p, i, 3]
                    bones[b, i, j] = moved


@pk.kernel
def skin(error, bones, inverse, theta, weights, vertices, points, vertex_of):
    """``error[n]``: from the posed vertex to point n. `inverse` takes a vertex at rest to its bone."""
    n = pk.index()
    v = vertex_of[n]
    x, y, z = 0.0, 0.0, 0.0
    for b in range(bones.shape[0]):
        u0, u1, u2 = inverse[b, 0, 3], inverse[b, 1, 3], inverse[b, 2, 3]
        for j in range(3):
            u0 += inverse[b, 0, j] * vertices[v, j]
            u1 += inverse[b, 1, j] * vertices[v, j]
            u2 += inverse[b, 2, j] * vertices[v, j]
        w = weights[v, b]
        x += w * (bones[b, 0, 0] * u0 + bones[b, 0, 1] * u1 + bones[b, 0, 2] * u2 + bones[b, 0, 3])
        y += w * (bones[b, 1, 0] * u0 + bones[b, 1, 1] * u1 + bones[b, 1, 2] * u2 + bones[b, 1, 3])
        z += w * (bones[b, 2, 0] * u0 + bones[b, 2, 1] * u1 + bones[b, 2, 2] * u2 + bones[b, 2, 3])
    r = pk.private((3, 3), pk.f64)
    turn(r, theta[0], theta[1], theta[2])
    for i in range(3):
        error[n, i] = points[n, i] - (r[i, 0] * x + r[i, 1] * y + r[i, 2] * z + theta[3 + i])


@pk.jit
def hand(theta, base, inverse, weights, vertices, points, parents, vertex_of):
    """The errors of all points, ``(points, 3)``."""
    bones = pk.zeros((BONES, 3, 4), pk.f64)
    pose(bones, theta, base, parents, ndrange=1)
    error = pk.zeros(points.shape, pk.f64)
    skin(error, bones, inverse, theta, weights, vertices, points, vertex_of, ndrange=points.shape[0])
    return error


def turn_reference(x, y, z):
    """``Rz(z) Ry(y) Rx(x)`` from three matrices, homogeneous."""
    total = np.eye(4)
    for angle, (i, j) in ((z, (0, 1)), (y, (2, 0)), (x, (1, 2))):
        one = np.eye(4)
        one[[i, j], [i, j]] = np.cos(angle)
        one[i, j], one[j, i] = -np.sin(angle), np.sin(angle)
        total = total @ one
    return total


def homogeneous(part):
    """3 x 4 matrices with the row 0 0 0 1 below."""
    row = np.broadcast_to([0.0, 0.0, 0.0, 1.0], (*part.shape[:-2], 1, 4))
    return np.concatenate([part, row], axis=-2)


def bones_reference(theta, base, parents):
    """The posed bones in NumPy, 4 x 4."""
    turns = [turn_reference(0, 0, 0)] * 2
    for side, first, second, third in theta[6:].reshape(5, 4):
        turns += [turn_reference(first, 0, side), turn_reference(second, 0, 0)]
        turns += [turn_reference(third, 0, 0), turn_reference(0, 0, 0)]
    bones = []
    for parent, local, turned in zip(parents, homogeneous(base), turns, strict=True):
        bones.append((np.eye(4) if parent < 0 else bones[parent]) @ local @ turned)
    return np.array(bones)


def hand_reference(theta, base, inverse, weights, vertices, points, parents, vertex_of):
    """The same as `hand`, in NumPy."""
    skinning = bones_reference(theta, base, parents) @ homogeneous(inverse)
    at_rest = np.c_[vertices, np.ones(len(vertices))]
    posed = np.einsum("vb,bij,vj->vi", weights, skinning, at_rest)[:, :3]
    posed = posed @ turn_reference(*theta[:3])[:3, :3].T + theta[3:6]
    return points - posed[vertex_of]


def hand_data(vertices: int, points: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """theta, base, inverse, weights, vertices, points, parents, vertex_of.

    A bone is 0.3 long and turned a little against its parent; a vertex hangs on up to four bones near it.
    """
    random = np.random.default_rng(seed)
    base = np.array([turn_reference(*0.4 * random.standard_normal(3))[:3] for _ in range(BONES)])
    base[:, :, 3] = 0.3 * random.standard_normal((BONES, 3))
    at_rest = bones_reference(np.zeros(26), base, PARENTS)
    inverse = np.ascontiguousarray(np.linalg.inv(at_rest)[:, :3])
    main = random.integers(0, BONES, vertices)
    where = at_rest[main, :3, 3] + 0.1 * random.standard_normal((vertices, 3))
    distance = np.linalg.norm(where[:, None] - at_rest[None, :, :3, 3], axis=2)
    weights = np.exp(-((distance / 0.2) ** 2))
    weights[distance > np.sort(distance, axis=1)[:, 3:4]] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    theta = 0.5 * random.standard_normal(26)
    vertex_of = random.integers(0, vertices, points)
    seen = where[vertex_of] + 0.1 * random.standard_normal((points, 3))
    return theta, base, inverse, weights, where, seen, PARENTS, vertex_of
