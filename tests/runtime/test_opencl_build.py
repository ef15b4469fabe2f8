"""OpenCL programs are compiled in a process beside this one: its death is an error, binaries are kept."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pykern as pk
from pykern.compiler.cache import shared_cache
from pykern.environment import bootstrap
from pykern.environment.settings import settings
from pykern.runtime import registry
from pykern.storage.reports import write_report
from pykern.storage.store import OPENCL as BINARIES
from pykern.storage.store import Store, shared_store

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
    from pykern.runtime.drivers.opencl import process
    from pykern.runtime.drivers.opencl.process import running

    nothing = Store("", 0, enabled=False)
    monkeypatch.setattr(build, "shared_store", lambda: nothing)
    x, z = pk.array(np.arange(4.0), device=device), pk.zeros(4, pk.f64, device=device)

    def interrupted(text):
        monkeypatch.undo()
        raise KeyboardInterrupt

    worker = running()
    monkeypatch.setattr(process.json, "loads", interrupted)
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
    from pykern.runtime.drivers.opencl import process
    from pykern.runtime.drivers.opencl.process import running

    nothing = Store("", 0, enabled=False)
    monkeypatch.setattr(build, "shared_store", lambda: nothing)
    x, z = pk.array(np.arange(4.0), device=device), pk.zeros(4, pk.f64, device=device)

    def interrupted(text):
        raise KeyboardInterrupt

    worker = running()
    with monkeypatch.context() as inner:
        inner.setattr(process.json, "loads", interrupted)
        inner.setattr(worker._process, "kill", lambda: None)
        with pytest.raises(KeyboardInterrupt):
            late(z, x, ndrange=4)
    assert worker._process.poll() is None and not worker.alive
    late(z, x, ndrange=4)
    np.testing.assert_array_equal(z.numpy(), np.arange(4.0) * 11.25 + 31)


@OPENCL
def test_an_answer_that_is_cut_off_is_none(device, build, monkeypatch):
    from pykern.runtime.drivers.opencl.process import CompilerProcess

    cut = "import sys; sys.stdin.buffer.readline(); print('{\"size\": 100}'); print('x' * 50)"
    monkeypatch.setattr(bootstrap, "_PROGRAM", cut)
    worker = CompilerProcess()
    assert worker.ask(b"{}\n", 10.0) is None
    assert worker.end() == (0, [])


KILLED_ONCE = """\
import os, signal, sys
marker = {marker!r}
if os.path.exists(marker):
    sys.argv[1] = "pykern.runtime.drivers.opencl.worker"
    {rest}
else:
    sys.stdin.buffer.readline()
    open(marker, "w").close()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pk.kernel
def killed(z, x):
    i = pk.index()
    z[i] = x[i] * 11.25 + 31


@OPENCL
def test_a_process_that_somebody_ended_is_replaced(device, build, monkeypatch, tmp_path, capfd):
    """Its end is no fault of the program: it is compiled with all optimisations by the next one."""
    x, z = pk.array(np.arange(4.0), device=device), pk.zeros(4, pk.f64, device=device)
    rest = "exec(" + repr(bootstrap._PROGRAM) + ")"
    monkeypatch.setattr(bootstrap, "_PROGRAM", KILLED_ONCE.format(marker=str(tmp_path / "m"), rest=rest))
    monkeypatch.setattr(build, "settings", lambda: replace(settings(), log=frozenset({"remarks"})))
    monkeypatch.setattr(build, "shared_store", lambda: Store("", 0, enabled=False))
    killed(z, x, ndrange=4)
    np.testing.assert_array_equal(z.numpy(), np.arange(4.0) * 11.25 + 31)
    assert (tmp_path / "m").exists() and "made without" not in capfd.readouterr().err


@pk.kernel
def slow_to_compile(z, x):
    i = pk.index()
    z[i] = x[i] * 13.25 + 37


@OPENCL
def test_a_compiler_that_hangs_is_stopped(device, build, monkeypatch):
    x, z = pk.array(np.arange(4.0), device=device), pk.zeros(4, pk.f64, device=device)
    monkeypatch.setattr(bootstrap, "_PROGRAM", "import time; time.sleep(1000)")
    monkeypatch.setattr(build, "settings", lambda: replace(settings(), compile_timeout=0.2))
    with pytest.raises(pk.CompilerCrash, match=r"was stopped after 0\.2 s while compiling `slow_to_compile`"):
        slow_to_compile(z, x, ndrange=4)


@OPENCL
def test_binaries_are_kept(device, build, monkeypatch):
    """What was compiled once needs no compiler; what is cut off, or somebody else's, is compiled again."""
    x, z = pk.array(np.arange(4.0), device=device), pk.zeros(4, pk.f64, device=device)
    lucky(z, x, ndrange=4)
    launcher: Any = lucky
    artifact = list(launcher.launcher.cache.artifacts.values())[-1]
    driver = registry.opened(device).driver
    asked = []
    compiled = build.Builder._compiled
    monkeypatch.setattr(build.Builder, "_compiled", lambda *a: asked.append(a) or compiled(*a))
    driver.load(artifact)
    assert not asked
    for change in (lambda path: os.truncate(path, 40), lambda path: os.chmod(path, 0o666), flip):
        for entry in list(shared_store().entries(BINARIES)):
            change(entry.path)
        driver.load(artifact)
        assert len(asked) == 1
        asked.clear()


def flip(path):
    """Change one bit in the middle of a file."""
    with open(path, "r+b") as file:
        data = file.read()
        file.seek(len(data) // 2)
        file.write(bytes([data[len(data) // 2] ^ 1]))


@OPENCL
def test_the_limit_holds_for_binaries_too(device, build, tmp_path, monkeypatch):
    small = Store(tmp_path / "cache", 60_000)
    monkeypatch.setattr(build, "shared_store", lambda: small)
    builder = registry.opened(device).driver._builder
    monkeypatch.setattr(builder, "_compiled", lambda *a: bytes(20_000))
    monkeypatch.setattr(builder, "_load", lambda binary, options: binary)
    for number in range(20):
        assert builder.build("k", b"%d" % number, []) == bytes(20_000)
    assert 0 < small.total() <= 60_000  # each of them is a third: every write prunes


@OPENCL
@pytest.mark.parametrize("home", ["/proc/nobody", "/dev/null"])
def test_no_home_folder(device, home, tmp_path):
    """Neither pykern's cache nor those of libraries need one; one line says that nothing is kept."""
    script = tmp_path / "homeless.py"
    script.write_text(HOMELESS.format(device=device))
    left_out = ("PYKERN_CACHE_DIR", "XDG_CACHE_HOME", "PYOPENCL_NO_CACHE")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment | {"HOME": home, "PYKERN_QUIET": "1"},
        capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
    assert [line.startswith("nothing is cached") for line in done.stderr.splitlines()] == [True]
    assert os.listdir(tmp_path) == ["homeless.py"]


HOMELESS = """\
import numpy as np, pykern as pk

@pk.kernel
def twice(z, x):
    i = pk.index()
    z[i] = x[i] * 2

x, z = np.arange(5.0), np.zeros(5)
twice(z, x, ndrange=5, device={device!r})
assert (z == 2 * x).all()
print("right")
"""


@OPENCL
def test_pyopencl_is_left_as_it_was(device, build, monkeypatch, tmp_path):
    """pykern's kernels do without pyopencl's cache; a user's own have it all the same."""
    import pyopencl as cl

    x, z = pk.array(np.arange(4.0), device=device), pk.zeros(4, pk.f64, device=device)
    lucky(z, x, ndrange=4)
    launcher: Any = lucky
    artifact = list(launcher.launcher.cache.artifacts.values())[-1]
    driver = registry.opened(device).driver
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cl, "_PYOPENCL_NO_CACHE", False)
    monkeypatch.delitem(sys.modules, "pyopencl.invoker", raising=False)
    code = driver.load(artifact)
    assert "pyopencl.invoker" not in sys.modules and os.listdir(tmp_path) == []
    assert cl.Kernel(code.program, artifact.entry).function_name == artifact.entry
    assert os.listdir(tmp_path) == ["pytools"]
    theirs = sys.modules["pyopencl.invoker"]
    driver.load(artifact)
    assert sys.modules["pyopencl.invoker"] is theirs and cl._PYOPENCL_NO_CACHE is False


@OPENCL
def test_the_cache_is_cleared_with_binaries(device, build, monkeypatch, tmp_path):
    monkeypatch.setenv("PYKERN_CACHE_DIR", str(tmp_path / "cache"))
    settings.cache_clear()
    try:
        store = shared_store()
        kept, crash = store.write(BINARIES, "0" * 64, b"code"), write_report("opencl-0.spv", b"spirv")
        assert kept is not None and store.read(BINARIES, "0" * 64) == b"code"
        shared_cache().clear()
        assert store.read(BINARIES, "0" * 64) is None
        assert crash == str(tmp_path / "cache" / "crashes" / "opencl-0.spv") and os.path.exists(crash)
    finally:
        monkeypatch.undo()
        settings.cache_clear()


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


@pk.kernel
def fibonacci(z, n):
    i = pk.index()
    a, b = 0, 1
    for _ in range(n[i] % 90):
        a, b = b, a + b
    z[i] = a


def fibonacci_numbers(n):
    found = [0, 1]
    while len(found) < 90:
        found.append(found[-1] + found[-2])
    return np.array(found)[n % 90]


@OPENCL
def test_what_the_compiler_dies_of_is_made_with_fewer_optimisations(
    device, build, monkeypatch, capfd, tmp_path
):
    """With a remark, also where the binary is kept already; nobody else's code is slower for it."""
    store = Store(tmp_path / "cache", 1 << 24)
    monkeypatch.setattr(build, "shared_store", lambda: store)
    monkeypatch.setattr(build, "settings", lambda: replace(settings(), log=frozenset({"remarks"})))
    died = []
    crash = build.Builder._crash
    monkeypatch.setattr(build.Builder, "_crash", lambda *a: died.append(a) or crash(*a))
    n = np.arange(137)
    z = pk.zeros(137, pk.i64, device=device)
    fibonacci(z, pk.array(n, device=device), ndrange=137)
    np.testing.assert_array_equal(z.numpy(), fibonacci_numbers(n))
    said = capfd.readouterr().err
    assert ("fibonacci for opencl:0: made without vectors" in said) == bool(died)
    launcher: Any = fibonacci
    registry.opened(device).driver.load(list(launcher.launcher.cache.artifacts.values())[-1])
    assert capfd.readouterr().err == said
    lucky(z := pk.zeros(4, pk.f64, device=device), pk.array(np.arange(4.0), device=device), ndrange=4)
    np.testing.assert_array_equal(z.numpy(), np.arange(4.0) * 5.25 + 19)
    assert "lucky" not in capfd.readouterr().err


@OPENCL
def test_the_form_that_crashes(device):
    x, z = pk.array(np.array([0.5]), device=device), pk.zeros(1, pk.f64, device=device)
    with pytest.warns(RuntimeWarning, match="never asks pk.index"):
        still_uniform(z, x, 7)
    np.testing.assert_allclose(z.numpy()[0], 0.5 + np.sin(0.5 + np.arange(7)).sum(), rtol=1e-14)
    lucky(z, x, ndrange=1)
    assert z.numpy()[0] == 0.5 * 5.25 + 19
