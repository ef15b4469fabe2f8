"""Ctrl-C ends a wait for a device: `KeyboardInterrupt` within a moment, and the device goes on."""

from __future__ import annotations

import sys

import pytest

from tests.project.programs import attempt

PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
import pykern as pk

@pk.kernel
def spin(o, n):
    i = pk.index()
    s = 1
    k = 0
    while k < n:
        s = (s * 1103515245 + 12345) % 2147483648
        k += 1
    o[i] = s

device, how = sys.argv[1:]
items, turns = 4096, 20_000
long = pk.zeros(items, pk.i64, device=device)

def seconds():
    begin = time.perf_counter()
    spin(long, turns, ndrange=items)
    long.numpy()
    return time.perf_counter() - begin

rounds = int(6 / min(seconds() for _ in range(4))) + 1  # six seconds of work
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
done = None
try:
    for _ in range(rounds):
        done = spin(long, turns, ndrange=items)
    if how == "event":
        done.wait()
    elif how == "array":
        long.numpy()
    else:
        pk.synchronize(device)
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted", "before the end" if not done.done else "after it", flush=True)
    other = pk.Stream(device)
    few = pk.zeros(3, pk.i64, device=device)
    spin(few, 0, ndrange=3, stream=other)
    other.synchronize()
    assert (few.numpy() == 1).all()  # the device goes on
os._exit(0)  # not waiting for the rest
"""


@pytest.mark.parametrize("how", ["event", "array", "device"])
@pytest.mark.parametrize("device", ["opencl:0", "vulkan:0"], indirect=True)
def test_a_wait_is_interrupted(tmp_path, device, how):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    status, output, errors = attempt(sys.executable, file, device, how, cwd=tmp_path)
    assert status == 0, output + errors
    assert output == "interrupted before the end\n", output + errors
