"""Code that gets no memory for what it keeps while it runs ends its launch with a MemoryError; the process lives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = '''
import resource, sys
import numpy as np
import pykern as pk

@pk.kernel
def private(o):
    i = pk.index()
    t = pk.private(24_000_000, pk.f64)
    for k in range(10):
        t[k * 1000 + i % 1000] = i
    o[i] = t[9000 + i % 1000]

@pk.kernel
def power(y, x, n):
    i = pk.index()
    p = x[i]
    for k in range(n):
        if p < 3.0:
            p = p * x[i] + 0.25 * pk.sin(p)
    y[i] = p

def limited(call):
    """Call with hardly any memory left, three times: through Python, and by the entry."""
    pk.empty_cache("cpu")
    with open("/proc/self/status") as lines:
        used = next(int(line.split()[1]) for line in lines if line.startswith("VmSize")) << 10
    before = resource.getrlimit(resource.RLIMIT_AS)
    for _ in range(3):
        resource.setrlimit(resource.RLIMIT_AS, (used + (16 << 20), before[1]))
        try:
            call()
        except MemoryError as error:
            told = str(error)
        else:
            told = "nothing"
        resource.setrlimit(resource.RLIMIT_AS, before)
        assert "no memory for what a kernel" in told, told

what = sys.argv[1]
if what == "private":
    o = np.zeros(1)
    private(o, ndrange=1)
    limited(lambda: private(o, ndrange=1))
    o[:] = -1
    private(o, ndrange=1)
    assert o[0] == 0
elif what == "threads":
    o, wanted = np.zeros(4000), np.arange(4000.0)
    private(o, ndrange=4000)
    assert (o == wanted).all()
    limited(lambda: private(o, ndrange=4000))
    o[:] = -1
    private(o, ndrange=4000)
    assert (o == wanted).all()
else:
    gradient = pk.autodiff(power, level="direct")
    def run(n):
        x, dx, y, dy = np.full(3, 0.5), np.zeros(3), np.zeros(3), np.ones(3)
        gradient(pk.Dup(y, dy), pk.Dup(x, dx), n, ndrange=3)
        return dx
    first = run(100)
    limited(lambda: run(20_000_000))
    assert (run(100) == first).all()
print("alive")
'''


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of the address space")
@pytest.mark.parametrize("kept", ["", "0"], ids=["kept", "malloc"])
@pytest.mark.parametrize("what", ["private", "threads", "tape"])
def test_a_launch_ends_and_the_process_goes_on(what, kept, tmp_path, monkeypatch):
    if kept:
        monkeypatch.setenv("PYKERN_KEPT_MEMORY", kept)
    file = Path(tmp_path, "limited.py")
    file.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(file), what], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("alive")
