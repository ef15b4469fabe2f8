"""The texts of kernels that factor one matrix in each work-item: QR, singular values, symmetric eigenvalues.

QR is Householder's, with LAPACK's signs. Singular vectors come from Jacobi's rotations of columns (M. R. Hestenes,
"Inversion of matrices by biorthogonalization", 1958), which find small singular values to their own precision.
Symmetric matrices are made tridiagonal, and then diagonal by the QL algorithm with implicit shifts (J. H. Wilkinson and
C. Reinsch, Handbook for Automatic Computation, volume 2, contributions II/2 and II/4). Vectors lie along rows, so that
inner loops are contiguous.
"""

from __future__ import annotations

from pykern.data.source import Builtin, CapturedKernel, Constant, FunctionSource, KernelOptions

EPSILON = {"f32": 2.0**-23, "f64": 2.0**-52}
"""The distance from 1 to the next number."""

_QR = """\
def factor_rows(c, h, q):
    r = index()
    m = c.shape[2]
    steps = h.shape[1]
    for k in range(steps):
        tail = 0.0 * c[r, k, k]
        for i in range(k + 1, m):
            tail += c[r, k, i] * c[r, k, i]
        for i in range(m):
            h[r, k, i] = 0.0
        if tail > 0.0:
            first = c[r, k, k]
            beta = sqrt(first * first + tail)
            if first > 0.0:
                beta = -beta
            size = sqrt(2.0 * beta * (beta - first))
            h[r, k, k] = (first - beta) / size
            for i in range(k + 1, m):
                h[r, k, i] = c[r, k, i] / size
                c[r, k, i] = 0.0
            c[r, k, k] = beta
            for j in range(k + 1, c.shape[1]):
                dot = 0.0 * beta
                for i in range(k, m):
                    dot += h[r, k, i] * c[r, j, i]
                for i in range(k, m):
                    c[r, j, i] -= 2.0 * dot * h[r, k, i]
        elif not tail == 0.0:
            c[r, k, k] = nan
    for j in range(q.shape[1]):
        for i in range(m):
            q[r, j, i] = 0.0
        q[r, j, j] = 1.0
        for back in range(steps):
            k = steps - 1 - back
            dot = 0.0 * q[r, j, j]
            for i in range(k, m):
                dot += h[r, k, i] * q[r, j, i]
            for i in range(k, m):
                q[r, j, i] -= 2.0 * dot * h[r, k, i]
"""
_QR_LAUNCH = """\
def launched(given, reflections, vectors):
    rows = copy(given)
    h = copy(reflections)
    q = copy(vectors)
    factor_rows(rows, h, q, ndrange=given.shape[0])
    return rows, q
"""
_SINGULAR = """\
def singular_rows(u, v, s):
    r = index()
    n = v.shape[1]
    m = u.shape[2]
    for i in range(n):
        for j in range(n):
            v[r, i, j] = 0.0
        v[r, i, i] = 1.0
    is_moving = True
    sweep = 0
    while is_moving and sweep < 60:
        is_moving = False
        sweep += 1
        for p in range(n - 1):
            for q in range(p + 1, n):
                alpha = 0.0 * u[r, 0, 0]
                beta = 0.0 * u[r, 0, 0]
                gamma = 0.0 * u[r, 0, 0]
                for i in range(m):
                    a = u[r, p, i]
                    b = u[r, q, i]
                    alpha += a * a
                    beta += b * b
                    gamma += a * b
                if abs(gamma) > epsilon * sqrt(alpha) * sqrt(beta) and abs(gamma) > 0.0:
                    is_moving = True
                    zeta = (beta - alpha) / (2.0 * gamma)
                    t = 1.0 / (abs(zeta) + hypot(zeta, 1.0))
                    if zeta < 0.0:
                        t = -t
                    c = 1.0 / sqrt(1.0 + t * t)
                    d = c * t
                    for i in range(m):
                        a = u[r, p, i]
                        b = u[r, q, i]
                        u[r, p, i] = c * a - d * b
                        u[r, q, i] = d * a + c * b
                    for i in range(n):
                        a = v[r, p, i]
                        b = v[r, q, i]
                        v[r, p, i] = c * a - d * b
                        v[r, q, i] = d * a + c * b
    for p in range(n):
        size = 0.0 * u[r, 0, 0]
        for i in range(m):
            size += u[r, p, i] * u[r, p, i]
        s[r, p] = sqrt(size)
    for p in range(n):
        best = p
        for q in range(p + 1, n):
            if s[r, q] > s[r, best]:
                best = q
        if best != p:
            a = s[r, p]
            s[r, p] = s[r, best]
            s[r, best] = a
            for i in range(m):
                a = u[r, p, i]
                u[r, p, i] = u[r, best, i]
                u[r, best, i] = a
            for i in range(n):
                a = v[r, p, i]
                v[r, p, i] = v[r, best, i]
                v[r, best, i] = a
    least = s[r, 0] * (epsilon * m)
    for p in range(u.shape[1]):
        is_there = p < n
        if is_there:
            if s[r, p] <= least:
                is_there = False
        if is_there:
            for i in range(m):
                u[r, p, i] = u[r, p, i] / s[r, p]
        else:
            complete(u, r, p)
"""
_COMPLETE = """\
def complete(u, r, p):
    m = u.shape[2]
    most = -1.0 + 0.0 * u[r, 0, 0]
    axis = 0
    for i in range(m):
        left = 1.0 + 0.0 * u[r, 0, 0]
        for q in range(p):
            left -= u[r, q, i] * u[r, q, i]
        if left > most:
            most = left
            axis = i
    for i in range(m):
        u[r, p, i] = 0.0
    u[r, p, axis] = 1.0
    for pass_ in range(2):
        for q in range(p):
            dot = 0.0 * most
            for i in range(m):
                dot += u[r, q, i] * u[r, p, i]
            for i in range(m):
                u[r, p, i] -= dot * u[r, q, i]
    size = 0.0 * most
    for i in range(m):
        size += u[r, p, i] * u[r, p, i]
    for i in range(m):
        u[r, p, i] = u[r, p, i] / sqrt(size)
"""
_SINGULAR_LAUNCH = """\
def launched(columns, vectors, values):
    u = copy(columns)
    v = copy(vectors)
    s = copy(values)
    singular_rows(u, v, s, ndrange=columns.shape[0])
    return u, s, v
"""
_EIGEN = """\
def eigen_rows(v, d, e):
    r = index()
    n = v.shape[1]
    for j in range(n):
        d[r, j] = v[r, j, n - 1]
    for back in range(n - 1):
        i = n - 1 - back
        scale = 0.0 * d[r, 0]
        for k in range(i):
            scale += abs(d[r, k])
        h = 0.0 * scale
        if scale == 0.0:
            e[r, i] = d[r, i - 1]
            for j in range(i):
                d[r, j] = v[r, j, i - 1]
                v[r, j, i] = 0.0
                v[r, i, j] = 0.0
        else:
            for k in range(i):
                d[r, k] = d[r, k] / scale
                h += d[r, k] * d[r, k]
            f = d[r, i - 1]
            g = sqrt(h)
            if f > 0.0:
                g = -g
            e[r, i] = scale * g
            h = h - f * g
            d[r, i - 1] = f - g
            for j in range(i):
                e[r, j] = 0.0
            for j in range(i):
                f = d[r, j]
                v[r, i, j] = f
                g = e[r, j] + v[r, j, j] * f
                for k in range(j + 1, i):
                    g += v[r, j, k] * d[r, k]
                    e[r, k] += v[r, j, k] * f
                e[r, j] = g
            f = 0.0 * h
            for j in range(i):
                e[r, j] = e[r, j] / h
                f += e[r, j] * d[r, j]
            half = f / (h + h)
            for j in range(i):
                e[r, j] -= half * d[r, j]
            for j in range(i):
                f = d[r, j]
                g = e[r, j]
                for k in range(j, i):
                    v[r, j, k] -= f * e[r, k] + g * d[r, k]
                d[r, j] = v[r, j, i - 1]
                v[r, j, i] = 0.0
        d[r, i] = h
    for i in range(n - 1):
        v[r, i, n - 1] = v[r, i, i]
        v[r, i, i] = 1.0
        h = d[r, i + 1]
        if h != 0.0:
            for k in range(i + 1):
                d[r, k] = v[r, i + 1, k] / h
            for j in range(i + 1):
                g = 0.0 * h
                for k in range(i + 1):
                    g += v[r, i + 1, k] * v[r, j, k]
                for k in range(i + 1):
                    v[r, j, k] -= g * d[r, k]
        for k in range(i + 1):
            v[r, i + 1, k] = 0.0
    for j in range(n):
        d[r, j] = v[r, j, n - 1]
        v[r, j, n - 1] = 0.0
    v[r, n - 1, n - 1] = 1.0
    for i in range(1, n):
        e[r, i - 1] = e[r, i]
    e[r, n - 1] = 0.0
    shifts(v, d, e, r)
    for p in range(n):
        best = p
        for q in range(p + 1, n):
            if d[r, q] < d[r, best]:
                best = q
        if best != p:
            f = d[r, p]
            d[r, p] = d[r, best]
            d[r, best] = f
            for k in range(n):
                f = v[r, p, k]
                v[r, p, k] = v[r, best, k]
                v[r, best, k] = f
"""
_SHIFTS = """\
def shifts(v, d, e, r):
    n = v.shape[1]
    f = 0.0 * d[r, 0]
    most = 0.0 * f
    for l in range(n):
        most = max(most, abs(d[r, l]) + abs(e[r, l]))
        m = l
        while m < n - 1 and abs(e[r, m]) > epsilon * most:
            m += 1
        turn = 0
        while m > l and turn < 100 and (turn == 0 or abs(e[r, l]) > epsilon * most):
            turn += 1
            g = d[r, l]
            p = (d[r, l + 1] - g) / (2.0 * e[r, l])
            w = hypot(p, 1.0)
            if p < 0.0:
                w = -w
            d[r, l] = e[r, l] / (p + w)
            d[r, l + 1] = e[r, l] * (p + w)
            second = d[r, l + 1]
            h = g - d[r, l]
            for i in range(l + 2, n):
                d[r, i] -= h
            f += h
            p = d[r, m]
            c = 1.0 + 0.0 * p
            c2 = c
            c3 = c
            after = e[r, l + 1]
            s = 0.0 * p
            s2 = s
            for back in range(m - l):
                i = m - 1 - back
                c3 = c2
                c2 = c
                s2 = s
                g = c * e[r, i]
                h = c * p
                w = hypot(p, e[r, i])
                e[r, i + 1] = s * w
                s = e[r, i] / w
                c = p / w
                p = c * d[r, i] - s * g
                d[r, i + 1] = h + s * (c * g + s * d[r, i])
                for k in range(n):
                    a = v[r, i, k]
                    b = v[r, i + 1, k]
                    v[r, i + 1, k] = s * a + c * b
                    v[r, i, k] = c * a - s * b
            p = -s * s2 * c3 * after * e[r, l] / second
            e[r, l] = s * p
            d[r, l] = c * p
        d[r, l] += f
        e[r, l] = 0.0
"""
_EIGEN_LAUNCH = """\
def launched(given, values, others):
    v = copy(given)
    d = copy(values)
    e = copy(others)
    eigen_rows(v, d, e, ndrange=given.shape[0])
    return d, v
"""
_FILE = "<pykern.linalg>"
_BUILTINS = ("abs", "copy", "hypot", "index", "max", "range", "sqrt")


def _source(name: str, text: str, epsilon: float, *called: tuple[str, object]) -> FunctionSource:
    numbers = (("epsilon", Constant(epsilon)), ("nan", Constant(float("nan"))))
    used = (*((n, Builtin(n)) for n in _BUILTINS if f"{n}(" in text), *(p for p in numbers if p[0] in text))
    return FunctionSource(name, _FILE, 1, text, (*used, *called))  # type: ignore[arg-type]


def _launched(kernel: FunctionSource, launch: str) -> FunctionSource:
    captured = CapturedKernel(kernel, (), KernelOptions(False, True))
    return _source("launched", launch, 0.0, (kernel.name, captured))


def qr(kind: str) -> FunctionSource:
    """From columns (batch, n, m), and zeros for reflections and for columns of Q: columns of R and of Q, along rows."""
    return _launched(_source("factor_rows", _QR, EPSILON[kind]), _QR_LAUNCH)


def singular(kind: str) -> FunctionSource:
    """From columns (batch, at least n, m): left vectors, values in falling order, right vectors; vectors along rows."""
    complete = _source("complete", _COMPLETE, EPSILON[kind])
    return _launched(
        _source("singular_rows", _SINGULAR, EPSILON[kind], ("complete", complete)), _SINGULAR_LAUNCH
    )


def eigen(kind: str) -> FunctionSource:
    """From symmetric matrices: values in rising order, and vectors along rows."""
    shifts = _source("shifts", _SHIFTS, EPSILON[kind])
    return _launched(_source("eigen_rows", _EIGEN, EPSILON[kind], ("shifts", shifts)), _EIGEN_LAUNCH)
