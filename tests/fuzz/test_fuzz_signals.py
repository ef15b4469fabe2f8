"""Signals at random moments of launches and compiles: what their handlers raise comes out, the next launch is right.

Each case is a process of its own, whose launches would take many minutes: one that did not stop would run out of time.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pykern.runtime.team import SUPPORTED
from tests.cases.seeds import seeds

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="no team of threads on this system")

SCRIPT = """
import os, random, signal, sys, threading, time
import numpy as np
import pykern as pk

choose = random.Random(int(sys.argv[1]))

@pk.kernel
def sines(y, x, n):
    i = pk.index()
    total = 0.0
    for k in range(n):
        total += pk.sin(x[i] + k)
    y[i] = total

@pk.kernel
def steps(y, x, limit):
    i = pk.index()
    count = 0
    value = x[i]
    while count < limit:
        value = 0.5 * value + 1.0
        count += 1
    y[i] = value

@pk.kernel
def counted(counts, x, n):
    i = pk.index()
    for k in range(n):
        pk.atomic_add(counts, (i + k) % 7, 1.0)

@pk.jit
def smoothed(x, n: int):
    for k in range(n):
        x = 0.5 * x + pk.sin(x)
    return x

@pk.jit
def iterated(x, limit: float):
    total = 0.0
    while total < limit:
        x = 0.5 * x + 1.0
        total += 1.0
    return x

@pk.jit
def powers(a, n: int):
    b = a
    for k in range(n):
        b = pk.tanh(a @ b)
    return b

backwards = pk.autodiff(sines)

x = np.linspace(0.0, 1.0, 20_001)
large = np.linspace(0.0, 1.0, 600_001)
square = np.random.default_rng(0).random((400, 400)) / 400

def by_kernel(n, strided=False):
    y = np.full(2 * len(x), np.nan)[::2] if strided else np.full_like(x, np.nan)
    sines(y, x, n, ndrange=x.shape)
    return y, lambda: sum(np.sin(x + k) for k in range(n))

def by_steps(n):
    y = np.full_like(x, np.nan)
    steps(y, x, n, ndrange=x.shape)
    return y, lambda: [x := 0.5 * (x if k else globals()["x"]) + 1.0 for k in range(n)][-1]

def by_atomics(n):
    counts = np.zeros(7)
    counted(counts, x, n, ndrange=x.shape)
    return counts, lambda: sum(np.bincount((np.arange(len(x)) + k) % 7, minlength=7) for k in range(n))

def by_program(n, of=None):
    def want():
        value = of
        for _ in range(n):
            value = 0.5 * value + np.sin(value)
        return value
    of = large if of is None else of
    return smoothed(of, n), want

def by_iteration(n):
    def want():
        value = x
        for _ in range(n):
            value = 0.5 * value + 1.0
        return value
    return iterated(x, float(n)), want

def by_products(n):
    def want():
        value = square
        for _ in range(n):
            value = np.tanh(square @ value)
        return value
    return powers(square, n), want

def by_derivative(n):
    dx, y, dy = np.zeros_like(x), np.zeros_like(x), np.ones_like(x)
    backwards(pk.Dup(y, dy), pk.Dup(x, dx), n, ndrange=x.shape)
    return dx, lambda: sum(np.cos(x + k) for k in range(n))

WAYS = {
    "kernel": (by_kernel, 3, 20_000_000),
    "strided": (lambda n: by_kernel(n, strided=True), 3, 20_000_000),
    "while": (by_steps, 3, 1 << 40),
    "atomics": (by_atomics, 3, 20_000_000),
    "program": (by_program, 3, 10_000_000),
    "short rows": (lambda n: by_program(n, x[:100].copy()), 3, 1 << 40),
    "iteration": (by_iteration, 3, 1 << 40),
    "products": (by_products, 3, 10_000_000),
    "derivative": (by_derivative, 3, 2_000_000),
}

class Raised(Exception):
    pass

def raises(number, frame):
    raise Raised

heard = []
signal.signal(signal.SIGTERM, raises)
signal.signal(signal.SIGALRM, raises)
signal.signal(signal.SIGUSR1, lambda number, frame: heard.append(number))

def right(way):
    call, few, _ = WAYS[way]
    found, want = call(few)
    np.testing.assert_allclose(found, want(), rtol=1e-9, atol=1e-12)

for _ in range(int(sys.argv[2])):
    way = choose.choice(list(WAYS))
    pk.set_num_threads(choose.choice([1, 2, 2, 3]))
    sent = choose.choice([signal.SIGINT, signal.SIGTERM, signal.SIGALRM])
    if choose.random() < 0.7:
        right(way)  # compiled before; else the signal may come in the midst of that
    moment = choose.choice([0.0, 0.02, 0.15, 0.4]) * choose.random()
    def send():
        time.sleep(moment)
        if choose.random() < 0.5:
            os.kill(os.getpid(), signal.SIGUSR1)
        os.kill(os.getpid(), sent)
    try:
        threading.Thread(target=send).start()
        WAYS[way][0](WAYS[way][2])
        print("was not stopped", way)
    except (KeyboardInterrupt, Raised) as error:
        if isinstance(error, KeyboardInterrupt) != (sent == signal.SIGINT):
            print("another signal", way, repr(error), sent)
    right(way)
print("fine")
"""


@pytest.mark.parametrize("seed", seeds(4))
def test_launches_are_stopped_and_the_next_is_right(seed, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = os.environ | {"PYKERN_QUIET": "1"} | ({"PYKERN_CACHE": "0"} if seed % 2 else {})
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", script, str(seed), "8"],
        capture_output=True, text=True, timeout=170, env=environment,
    )  # fmt: skip
    assert (done.stdout, done.stderr, done.returncode) == ("fine\n", "", 0)
