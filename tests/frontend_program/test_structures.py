"""Dicts and lists that a program makes and changes: what Python gives for the same function, and located errors."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import pykern as pk
from pykern.errors import KernelError
from tests.cases.texts import written


def items_of_a_dict(x, n):
    d = {"w": x}
    d["w"] = d["w"] * 2
    d["v"] = x
    d["n"] = 1
    d["n"] += n
    del d["v"]
    return d, len(d)


def copies_of_an_argument(p, x):
    q = dict(p)
    q["w"] = 5 * x
    q["in"] = {**p["in"], "more": x}
    q["in"]["z"] = x + 7
    r = q.copy()
    r["w"] = x
    return q, r, p


def two_names(x, n):
    d = {"w": x, "l": [x, x + 1]}
    e, held = d, (d, n)
    e["w"] = x * 3
    e["l"][1] = x * n
    return d, held[0]["w"] + held[0]["l"][1]


def in_a_loop(x, n):
    d, old = {"w": x, "count": 0}, (x,)
    e = d
    for i in range(n):
        d["w"] = d["w"] + i
        d["count"] += 1
        old = (d["w"],)
    return d, e, old


def on_paths(x, n):
    d = {"w": x, "v": x}
    if n > 2:
        d["w"] = x * 2
    else:
        d["v"] = x * 3
        d["w"] = d["w"] - 1
    return d["w"] - d["v"]


def lists(x, n):
    xs = []
    for i in (0, 1, 2):
        xs.append(x * i)
    xs[1] = x
    xs.extend((x, x + n))
    del xs[0]
    xs[-1] = x - 1
    ys = list(xs)
    ys.append(n)
    both = xs + ys
    both[0] = x * 9
    return xs, ys, both, len(xs)


def layers(x, n):
    made = [{"w": x, "b": 1.0}, {"w": x * 2, "b": 2.0}]
    for i in range(n):
        for layer in made:
            layer["w"] = layer["w"] * 0.5 + i
            if n > 2:
                layer["b"] *= 2.0
    last = made[-1]
    last["w"] = last["w"] + 1
    return made, last


def changed_while_run_through(x, n):
    d = {"a": x, "b": x * 2}
    for k, v in d.items():
        d[k] = v * 2
    for k in d:
        d[k] = d[k] + 1
    for (k, v), g in zip(d.items(), (x, x * 3), strict=True):
        d[k] = v - n * g
    xs = [x, x * 2, x * 3]
    for i, a in enumerate(xs):
        xs[i] = a * a
    made = [{"w": x}, {"w": x * 2}]
    for each in made:
        made[1]["w"] = each["w"] * 7
    return d, xs, made


def in_functions(x, n):
    def filled(d, k=1.0):
        d["w"] = k * x
        made = {"inner": d}
        made["inner"]["v"] = x + n
        return made

    first = filled({"w": x})
    first["inner"]["w"] += n
    return first, filled(dict({"w": x}, u=x), 2.0)


def update_and_keys(x, n):
    d = {"w": x}
    d.update({"v": x}, u=x * n)
    e = dict(zip(("a", "b"), (x, x + 1), strict=True))
    e.update(d)
    return d, list(e), tuple(e.values())


PROGRAMS = [
    items_of_a_dict, two_names, in_a_loop, on_paths, lists, layers, changed_while_run_through, in_functions,
    update_and_keys,
]  # fmt: skip


def same(found, wanted):
    if isinstance(wanted, dict):
        assert list(found) == list(wanted)
        same(list(found.values()), list(wanted.values()))
    elif isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    elif isinstance(wanted, str):
        assert found == wanted
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_python_has_it(program, rng):
    compiled = pk.jit(program)
    for n, length in ((0, 4), (2, 5), (3, 1), (3, 0)):
        x = rng.normal(size=length)
        same(compiled(x.copy(), n), program(x.copy(), n))


def test_the_argument_stays(rng):
    x = rng.normal(size=3)
    p = {"w": x, "b": x + 1, "in": {"z": x}}
    before = copy.deepcopy(p)
    same(pk.jit(copies_of_an_argument)(p, x), copies_of_an_argument(p, x))
    same(p, before)


def test_gradients_are_dicts_to_be_changed(rng):
    @pk.jit
    def program(p, x, rate):
        g = pk.grad(lambda q: ((x @ q["w"] + q["b"]) ** 2).sum())(p)
        p = dict(p)
        for k in p:
            g[k] = g[k] * rate
            p[k] = p[k] - g[k]
        return p, g

    p, x = {"w": rng.random(3), "b": 0.5}, rng.random((4, 3))
    new, g = program(p, x, 0.1)
    r = x @ p["w"] + p["b"]
    np.testing.assert_allclose(g["w"], 0.2 * x.T @ r)
    np.testing.assert_allclose(new["w"], p["w"] - g["w"])
    np.testing.assert_allclose(new["b"], 0.5 - 0.2 * r.sum())


def test_gradients_through_changes(rng):
    def loss(w, n: pk.static):
        d = {"w": w, "seen": []}
        for k in range(n):
            d["w"] = np.sin(d["w"]) * (k + 1)
            d["seen"].append(d["w"].sum())
        for _ in pk.range(3):
            d["w"] = d["w"] * d["w"]
        return sum(d["seen"]) + d["w"].sum()

    w = rng.random(5)
    jitted = pk.jit(loss)
    found = pk.grad(jitted)(w, 2)
    for k in range(5):
        e = 1e-6 * np.eye(5)[k]
        np.testing.assert_allclose(found[k], (jitted(w + e, 2) - jitted(w - e, 2)) / 2e-6, rtol=1e-6)


CALLERS = "is the caller's dict, which a program cannot change"


@pytest.mark.parametrize(
    ("lines", "match", "at"),
    [
        (['p["w"] = x', "return p"], CALLERS, 'p["w"]'),
        (['p["n"] += 1.0', "return p"], CALLERS, 'p["n"]'),
        (["p.update(w=x)", "return p"], CALLERS, "p.update"),
        (['del p["w"]', "return p"], CALLERS, 'p["w"]'),
        (["p = dict(p)", 'p["in"]["z"] = x', "return p"], r"`p\['in'\]` is the caller's dict", 'p["in"]["z"]'),
        (["q = {'p': p}", "q['p']['w'] = x", "return p"], CALLERS, "q['p']['w']"),
        (['p["l"].append(x)', "return p"], "is the caller's list", 'p["l"].append'),
        (["d = {'w': x}", "def f():", "    d['w'] = 2 * x", "f()", "return d"], "a dict of another function", "d['w']"),
        (["def f(d):", "    d['w'] = x", "e = {'w': x}", "f(e)", "return e"], "which names it `e`", "d['w']"),
        (["d = {'w': x}", "e = {'w': x}", "if x[0] > 0:", "    e = d", "e['w'] = 2 * x", "return d"], "may mean",
         "e['w']"),
        (["d = {'w': x}", "o = d", "for _ in pk.range(3):", "    d['w'] = x", "    d = {**d}", "return o"], "may mean",
         "d['w']"),
        (["d = {'w': x}", "v = d.values()", "d['w'] = 2 * x", "return v"], "`v` is a view of `d`", "d['w']"),
        (["d = {'a': x, 'b': x}", "for v in d.values():", "    d['b'] = 2 * v", "return d"], "ahead of", "d['b']"),
        (["a = [x]", "for v in a:", "    a.append(v)", "return a"], "ahead of a loop", "a.append"),
        (["a = [{'w': x}, {'w': x}]", "for v in a:", "    if x[0] > 0:", "        a[1]['w'] = 2 * x", "return a"],
         "on one path only", "a[1]['w']"),
        (["t = (x, x)", "t[0] = x", "return t"], "a tuple of 2 cannot be assigned to in parts", "t[0]"),
        (["a = [x, x]", "a[2] = x", "return a"], "2 is outside of a list of 2", "a[2]"),
        (["a = [x, x]", "for i in pk.range(2):", "    a[i] = x", "return a"], "known at compile time", "a[i]"),
        (["d = {'w': x}", "del d['v']", "return d"], "has no such key", "d['v']"),
        (["d = {'w': x}", "d[0] = x", "return d"], "keys of a dict are strings", "d[0]"),
        (["d = {'w': x}", "for _ in pk.range(3):", "    d['v'] = x", "return d"], "`d` is a dict of 1 before", "for"),
        (["d = {}", "d['me'] = d", "return d"], "would hold itself", "d['me']"),
        (["d = {'w': x}", "def f(a):", "    d['w'] = a", "    return a.sum()", "return pk.grad(f)(x)"],
         "a dict of another function", "d['w']"),
    ],
)  # fmt: skip
def test_refused(lines, match, at, tmp_path):
    file = tmp_path / "program.py"
    scope = written(
        file, "\n".join(["def program(p, x):", *(f"    {line}" for line in lines), ""]), {"pk": pk}
    )
    x = np.ones(3)
    with pytest.raises(KernelError, match=match) as caught:
        pk.jit(scope["program"])({"w": x, "n": 1.0, "in": {"z": x}, "l": [x]}, x)
    error = caught.value
    assert error.span is not None and error.hint
    line = file.read_text().splitlines()[error.span.line - 1]
    assert line[error.span.column :].startswith(at)
