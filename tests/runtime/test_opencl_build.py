"""OpenCL programs are compiled in a process beside this one: its death is an error, binaries are kept."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import numpy as np
import pytest

import pykern as pk
from pykern import bootstrap
from pykern.runtime import registry

OPENCL = pytest.mark.parametrize("device", ["opencl:0"], indirect=True)

DIES = """\
import os, signal, sys
sys.stdin.buffer.readline()
sys.stderr.write("1. Running pass \\"vplan-vec\\" on function \\"kern_unlucky\\"\\n")
sys.stderr.flush()
os.kill(os.getpid(), signal.SIGSEGV)
"""


@pk.kernel
def unlucky(z, x):
    i = pk.index()
    z[i] = x[i] * 3.25 + 17


@pk.kernel
def lucky(z, x):
    i = pk.index()
    z[i] = x[i] * 5.25 + 19


@pytest.fixture
def build(device):
    """The module, with a process of its own."""
    from pykern.runtime.drivers.opencl import build

    if registry.opened(device).info.facts["kind"] != "cpu":
        pytest.skip("its driver compiles in place")
    build.end_worker()
    return build


@OPENCL
def test_a_crash_of_the_compiler_is_an_error(device, build, monkeypatch):
    x, z = pk.array(np.arange(4.0), device=device), pk.zeros(4, pk.f64, device=device)
    with monkeypatch.context() as patch:
        patch.setattr(bootstrap, "_PROGRAM", DIES)
        with pytest.raises(pk.CompilerCrash, match="died of SIGSEGV while compiling `unlucky`") as caught:
            unlucky(z, x, ndrange=4)
    assert 'Running pass "vplan-vec"' in str(caught.value) and "to see it again" in str(caught.value)
    assert caught.value.reproducer and os.path.getsize(caught.value.reproducer)
    lucky(z, x, ndrange=4)
    np.testing.assert_array_equal(z.numpy(), np.arange(4.0) * 5.25 + 19)
    unlucky(z, x, ndrange=4)
    np.testing.assert_array_equal(z.numpy(), np.arange(4.0) * 3.25 + 17)


@pk.kernel
def left(z, x):
    i = pk.index()
    z[i] = x[i] * 7.25 + 23


@pk.kernel
def taken(z, x):
    i = pk.index()
    z[i] = x[i] * 9.25 + 29


@pk.kernel
def late(z, x):
    i = pk.index()
    z[i] = x[i] * 11.25 + 31


@OPENCL
def test_an_interrupted_build_leaves_no_answer_for_the_next_one(device, build, monkeypatch):
    monkeypatch.setattr(build, "_read", lambda key: None)
    monkeypatch.setattr(build, "_write", lambda key, data: None)
    x, z = pk.array(np.arange(4.0), device=device), pk.zeros(4, pk.f64, device=device)

    def interrupted(text):
        monkeypatch.undo()
        raise KeyboardInterrupt

    worker = build._worker()
    monkeypatch.setattr(build.json, "loads", interrupted)
    with pytest.raises(KeyboardInterrupt):
        left(z, x, ndrange=4)
    assert worker._process.wait(10) and not worker.alive
    taken(z, x, ndrange=4)
    np.testing.assert_array_equal(z.numpy(), np.arange(4.0) * 9.25 + 29)
    left(z, x, ndrange=4)
    np.testing.assert_array_equal(z.numpy(), np.arange(4.0) * 7.25 + 23)


@OPENCL
def test_who_was_interrupted_is_asked_nothing_while_the_system_ends_it(device, build, monkeypatch):
    """The end of a process comes some time after it was killed: what is sent meanwhile looks like a crash."""
    monkeypatch.setattr(build, "_read", lambda key: None)
    monkeypatch.setattr(build, "_write", lambda key, data: None)
    x, z = pk.array(np.arange(4.0), device=device), pk.zeros(4, pk.f64, device=device)

    def interrupted(text):
        raise KeyboardInterrupt

    worker = build._worker()
    with monkeypatch.context() as inner:
        inner.setattr(build.json, "loads", interrupted)
        inner.setattr(worker._process, "kill", lambda: None)
        with pytest.raises(KeyboardInterrupt):
            late(z, x, ndrange=4)
    assert worker._process.poll() is None and not worker.alive
    late(z, x, ndrange=4)
    np.testing.assert_array_equal(z.numpy(), np.arange(4.0) * 11.25 + 31)


@OPENCL
def test_an_answer_that_is_cut_off_is_none(device, build, monkeypatch):
    cut = "import sys; sys.stdin.buffer.readline(); print('{\"size\": 100}'); print('x' * 50)"
    monkeypatch.setattr(bootstrap, "_PROGRAM", cut)
    worker = build._Worker()
    assert worker.ask(b"{}\n") is None
    assert worker.end() == (0, [])


@OPENCL
def test_binaries_are_kept(device, build, monkeypatch):
    """What was compiled once needs no compiler; what is cut off, or somebody else's, is compiled again."""
    x, z = pk.array(np.arange(4.0), device=device), pk.zeros(4, pk.f64, device=device)
    lucky(z, x, ndrange=4)
    launcher: Any = lucky
    artifact = list(launcher._launcher.artifacts.values())[-1]
    driver = registry.opened(device).driver
    asked = []
    compiled = build.Builder._compiled
    monkeypatch.setattr(build.Builder, "_compiled", lambda *a: asked.append(a) or compiled(*a))
    driver.load(artifact)
    assert not asked
    folder = os.path.dirname(build._path("x"))
    for change in (lambda path: os.truncate(path, 40), lambda path: os.chmod(path, 0o666)):
        for entry in list(os.scandir(folder)):
            change(entry.path)
        driver.load(artifact)
        assert len(asked) == 1
        asked.clear()


@OPENCL
def test_the_cache_is_cleared_with_binaries(device, build, monkeypatch, tmp_path):
    from pykern.compiler.cache import Cache

    tmp_path.chmod(0o700)
    monkeypatch.setattr(build, "_path", lambda name: str(tmp_path / build.FOLDER / name))
    kept, crash = build._write("0" * 64, b"code"), build._write("crash-0.spv", b"spirv")
    assert build._read("0" * 64) == b"code" and kept is not None and crash is not None
    Cache(tmp_path, 1 << 20).clear()
    assert build._read("0" * 64) is None and os.path.exists(crash)


# -- what Intel's compiler dies of -----------------------------------------------------------------


@pk.kernel
def sines(z, x, n):
    s = x[0]
    for i in range(n):
        s = s + pk.sin(x[0] + i)
    z[0] = s


@pk.kernel
def tangents(z, x, n):
    s = x[0]
    for i in range(n):
        for j in range(i):
            s = s + pk.cos(x[0] + i) * pk.tan(x[0] - j)
    z[0] = s


@OPENCL
def test_loops_of_kernels_that_ask_for_no_id(device):
    x, z = pk.array(np.array([0.5]), device=device), pk.zeros(1, pk.f64, device=device)
    sines(z, x, 7, ndrange=1)
    np.testing.assert_allclose(z.numpy()[0], 0.5 + np.sin(0.5 + np.arange(7)).sum(), rtol=1e-14)
    tangents(z, x, 5, ndrange=1)
    wanted = 0.5 + sum(np.cos(0.5 + i) * np.tan(0.5 - j) for i in range(5) for j in range(i))
    np.testing.assert_allclose(z.numpy()[0], wanted, rtol=1e-13)


@pk.kernel(ndrange=64, workgroup=64)
def still_uniform(z, x, n):
    """Here the work-items' numbers are known to come to nothing: the loop is what the compiler died of."""
    s = x[0]
    for i in range(n):
        s = s + pk.sin(x[0] + i)
    z[0] = s


@OPENCL
def test_the_form_that_crashes_leaves_the_process_alive(device):
    x, z = pk.array(np.array([0.5]), device=device), pk.zeros(1, pk.f64, device=device)
    with contextlib.suppress(pk.CompilerCrash):
        still_uniform(z, x, 7)
        np.testing.assert_allclose(z.numpy()[0], 0.5 + np.sin(0.5 + np.arange(7)).sum(), rtol=1e-14)
    lucky(z, x, ndrange=1)
    assert z.numpy()[0] == 0.5 * 5.25 + 19
