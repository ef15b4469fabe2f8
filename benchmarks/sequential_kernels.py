"""Sequential algorithms as kernels of one work-item: arrays that they change come in, nothing is returned.

pykern (`ndrange=1`) and Numba compile the same functions. Read next: `sequential`, which has their arguments.
"""

from __future__ import annotations


def sieve(flags, n):
    for i in range(n + 1):
        flags[i] = 1
    flags[0] = 0
    flags[1] = 0
    i = 2
    while i * i <= n:
        if flags[i] == 1:
            j = i * i
            while j <= n:
                flags[j] = 0
                j += i
        i += 1


def collatz(out, n):
    best = 0
    for i in range(1, n):
        k = i
        c = 0
        while k != 1:
            if k % 2 == 0:
                k = k // 2
            else:
                k = 3 * k + 1
            c += 1
        if c > best:
            best = c
    out[0] = best


def unionfind(parent, a, b):
    n = len(parent)
    for i in range(n):
        parent[i] = i
    for e in range(len(a)):
        x = a[e]
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        y = b[e]
        while parent[y] != y:
            parent[y] = parent[parent[y]]
            y = parent[y]
        if x != y:
            parent[x] = y


def insertion(x, src):
    n = len(x)
    for i in range(n):
        x[i] = src[i]
    for i in range(1, n):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key


def lcs(d, a, b):
    n = len(a)
    m = len(b)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                d[i, j] = d[i - 1, j - 1] + 1
            else:
                d[i, j] = max(d[i - 1, j], d[i, j - 1])


def edit(d, a, b):
    n = len(a)
    m = len(b)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            c = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + c)


def knapsack(best, w, v, cap):
    for c in range(cap + 1):
        best[c] = 0
    for i in range(len(w)):
        for c in range(cap, w[i] - 1, -1):
            t = best[c - w[i]] + v[i]
            if t > best[c]:
                best[c] = t


def bfs(dist, queue, ptr, idx):
    n = len(dist)
    for i in range(n):
        dist[i] = -1
    dist[0] = 0
    queue[0] = 0
    head = 0
    tail = 1
    while head < tail:
        u = queue[head]
        head += 1
        for k in range(ptr[u], ptr[u + 1]):
            v = idx[k]
            if dist[v] < 0:
                dist[v] = dist[u] + 1
                queue[tail] = v
                tail += 1


def binsearch(out, table, keys):
    for i in range(len(keys)):
        lo = 0
        hi = len(table)
        while lo < hi:
            mid = (lo + hi) // 2
            if table[mid] < keys[i]:
                lo = mid + 1
            else:
                hi = mid
        out[i] = lo


def rle(vals, counts, x):
    k = 0
    i = 0
    n = len(x)
    while i < n:
        j = i
        while j < n and x[j] == x[i]:
            j += 1
        vals[k] = x[i]
        counts[k] = j - i
        k += 1
        i = j


def prefix(out, x):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
        out[i] = s


def heapsort(x, src):
    n = len(x)
    for i in range(n):
        x[i] = src[i]
    for start in range(n // 2 - 1, -1, -1):
        r = start
        while 2 * r + 1 < n:
            c = 2 * r + 1
            if c + 1 < n and x[c] < x[c + 1]:
                c += 1
            if x[r] >= x[c]:
                break
            t = x[r]
            x[r] = x[c]
            x[c] = t
            r = c
    for end in range(n - 1, 0, -1):
        t = x[0]
        x[0] = x[end]
        x[end] = t
        r = 0
        while 2 * r + 1 < end:
            c = 2 * r + 1
            if c + 1 < end and x[c] < x[c + 1]:
                c += 1
            if x[r] >= x[c]:
                break
            t = x[r]
            x[r] = x[c]
            x[c] = t
            r = c


def spmv(y, ptr, idx, val, x):
    for i in range(len(y)):
        s = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            s += val[k] * x[idx[k]]
        y[i] = s


def floyd(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


def search(out, text, pat):
    n = len(text)
    m = len(pat)
    count = 0
    for i in range(n - m + 1):
        j = 0
        while j < m and text[i + j] == pat[j]:
            j += 1
        if j == m:
            count += 1
    out[0] = count


def hashtable(keys, counts, x):
    n = len(keys)
    for i in range(n):
        keys[i] = -1
        counts[i] = 0
    for i in range(len(x)):
        h = (x[i] * 2654435761) % n
        while keys[h] != -1 and keys[h] != x[i]:
            h = (h + 1) % n
        keys[h] = x[i]
        counts[h] += 1


def smith(h, a, b):
    n = len(a)
    m = len(b)
    best = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            s = 2 if a[i - 1] == b[j - 1] else -1
            v = max(0, h[i - 1, j - 1] + s, h[i - 1, j] - 1, h[i, j - 1] - 1)
            h[i, j] = v
            best = max(best, v)
    h[0, 0] = best


def quickselect(out, x, src, k):
    n = len(x)
    for i in range(n):
        x[i] = src[i]
    lo = 0
    hi = n - 1
    while lo < hi:
        p = x[(lo + hi) // 2]
        i = lo
        j = hi
        while i <= j:
            while x[i] < p:
                i += 1
            while x[j] > p:
                j -= 1
            if i <= j:
                t = x[i]
                x[i] = x[j]
                x[j] = t
                i += 1
                j -= 1
        if k <= j:
            hi = j
        elif k >= i:
            lo = i
        else:
            break
    out[0] = x[k]


def walk(out, steps):
    s = 12345
    p = 0
    far = 0
    for _ in range(steps):
        s = (s * 1103515245 + 12345) % 2147483648
        if s & 65536:
            p += 1
        else:
            p -= 1
        far = max(far, abs(p))
    out[0] = p
    out[1] = far


def kmeans(centres, labels, x, iters):
    n = x.shape[0]
    k = centres.shape[0]
    d = x.shape[1]
    for c in range(k):
        for q in range(d):
            centres[c, q] = x[c, q]
    for _ in range(iters):
        for i in range(n):
            best = 1e30
            at = 0
            for c in range(k):
                s = 0.0
                for q in range(d):
                    t = x[i, q] - centres[c, q]
                    s += t * t
                if s < best:
                    best = s
                    at = c
            labels[i] = at
        for c in range(k):
            m = 0
            for q in range(d):
                centres[c, q] = 0.0
            for i in range(n):
                if labels[i] == c:
                    m += 1
                    for q in range(d):
                        centres[c, q] += x[i, q]
            if m > 0:
                for q in range(d):
                    centres[c, q] /= m


def viterbi(path, score, back, init, trans, emit, obs):
    n = len(obs)
    s = trans.shape[0]
    for j in range(s):
        score[0, j] = init[j] + emit[j, obs[0]]
    for t in range(1, n):
        for j in range(s):
            best = -1e30
            at = 0
            for i in range(s):
                v = score[t - 1, i] + trans[i, j]
                if v > best:
                    best = v
                    at = i
            score[t, j] = best + emit[j, obs[t]]
            back[t, j] = at
    at = 0
    for j in range(s):
        if score[n - 1, j] > score[n - 1, at]:
            at = j
    path[n - 1] = at
    for t in range(n - 1, 0, -1):
        at = back[t, at]
        path[t - 1] = at


def life(new, old):
    n = old.shape[0]
    m = old.shape[1]
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            c = 0
            for a in range(-1, 2):
                for b in range(-1, 2):
                    c += old[i + a, j + b]
            c -= old[i, j]
            if c == 3 or (c == 2 and old[i, j] == 1):
                new[i, j] = 1
            else:
                new[i, j] = 0


def pagerank(rank, fresh, ptr, idx, deg, iters):
    n = len(rank)
    for i in range(n):
        rank[i] = 1.0 / n
    for _ in range(iters):
        for i in range(n):
            s = 0.0
            for k in range(ptr[i], ptr[i + 1]):
                s += rank[idx[k]] / deg[idx[k]]
            fresh[i] = 0.15 / n + 0.85 * s
        for i in range(n):
            rank[i] = fresh[i]
