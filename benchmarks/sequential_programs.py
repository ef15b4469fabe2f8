"""Sequential algorithms as array programs: loops over single elements, results returned.

pykern (`pk.jit`) and Numba compile the same functions. Read next: `sequential`, which has their arguments.
"""

from __future__ import annotations

import numpy as np


def sieve_of_its_own(n):
    flags = np.ones(200001, dtype=np.uint8)
    flags[0] = 0
    flags[1] = 0
    i = 2
    while i * i <= n:
        if flags[i] == 1:
            for j in range(i * i, n + 1, i):
                flags[j] = 0
        i += 1
    return flags


def collatz_of_all(n):
    out = np.zeros(5000, np.int64)
    for i in range(1, n):
        k = i
        c = 0
        while k != 1:
            if k % 2 == 0:
                k = k // 2
            else:
                k = 3 * k + 1
            c += 1
        out[i] = c
    return out


def find_roots(parent, a, b):
    p = parent.copy()
    for e in range(len(a)):
        x = a[e]
        while p[x] != x:
            p[x] = p[p[x]]
            x = p[x]
        y = b[e]
        while p[y] != y:
            p[y] = p[p[y]]
            y = p[y]
        if x != y:
            p[x] = y
    return p


def sorted_by_insertion(a):
    x = a.copy()
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x
