"""Random faults of files in all caches: what is launched afterwards is right, nothing hangs, nothing else is touched.

A failure names its seed and the faults; see `tests.cases.seeds`. The faults are in `tests.fuzz.file_faults`.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pykern.storage.store import KINDS, Store
from tests.cases.seeds import seeds
from tests.fuzz.file_faults import listing, spoil

PROGRAM = """
import resource, sys
import numpy as np
import pykern as pk

most, tunes, devices = int(sys.argv[1]), sys.argv[2] == "tune", sys.argv[3:]
if most:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


@pk.kernel
def saxpy(y, x, a):
    i = pk.index()
    y[i] = a * x[i] + y[i]


@pk.kernel
def stencil(y, x):
    i = pk.index()
    if 0 < i < x.shape[0] - 1:
        y[i] = pk.sin(x[i - 1]) - 2 * x[i] + x[i + 1]


@pk.jit
def product(a, b):
    return a @ b + 1.0


rng = np.random.default_rng(7)
x, a = rng.standard_normal(1001), rng.standard_normal((20, 24))
for device in devices:
    y = x.copy()
    saxpy(y, x, 3.0, ndrange=1001, device=device)
    np.testing.assert_allclose(y, 4 * x, rtol=1e-14)
    z = np.zeros_like(x)
    stencil(z, x, ndrange=1001, device=device)
    np.testing.assert_allclose(z[1:-1], np.sin(x[:-2]) - 2 * x[1:-1] + x[2:], atol=1e-12)
np.testing.assert_allclose(product(a, a.T.copy()), a @ a.T + 1, atol=1e-12)
if tunes:
    pk.tune(product, a, a.T.copy(), seconds=0.01)
print("right")
"""


@pytest.fixture(scope="module")
def devices() -> list[str]:
    from pykern.testing.device_needs import present

    return ["cpu", *(name for name in present() if name == "opencl:0")]


@pytest.fixture(scope="module")
def script(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("program") / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(scope="module")
def full(tmp_path_factory, script, devices) -> Path:
    """A cache with an entry of every kind, as one run leaves it."""
    cache = tmp_path_factory.mktemp("full") / "cache"
    assert_right(finish(start(script, cache, devices, tune=True)))
    assert {path.name for path in cache.iterdir()} >= {"kernels", "tuned", "seen"}
    assert (cache / "opencl").exists() is ("opencl:0" in devices)
    return cache


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    folder = tmp_path / "victim"
    folder.mkdir()
    for name in ("letter", "a.kernel", "b.tmp", "ab"):
        (folder / name).write_bytes(b"mine" * 100)
        os.utime(folder / name, (1000, 1000))
    return folder


def start(script: Path, cache: Path, devices: list[str], tune: bool = False, most: int = 0, **more: str):
    environment = os.environ | {"PYKERN_CACHE_DIR": str(cache), "PYKERN_QUIET": "1"} | more
    words = [str(most), "tune" if tune else "", *devices]
    return subprocess.Popen(
        [sys.executable, str(script), *words], env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        out, errors = process.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError("it hangs") from None
    return process.returncode, out, errors


def assert_right(ended: tuple[int, str, str], told: str = "") -> None:
    status, out, errors = ended
    assert (status, out) == (0, "right\n"), f"{told}\n{errors}"
    assert "Traceback" not in errors and "Exception" not in errors, f"{told}\n{errors}"


@pytest.mark.parametrize("seed", seeds(3))
def test_launches_after_faults(seed: int, script: Path, full: Path, victim: Path, devices: list[str]):
    rng = random.Random(seed)
    cache, before = victim.parent / "cache", listing(victim)
    shutil.copytree(full, cache)
    told = f"seed {seed}: {spoil(cache, rng, victim, rng.choice((1, 3, 12)))}"
    size, most = rng.choice(("512M", "512M", "1K", "30K", "0")), rng.choice((0, 0, 0, 4096))
    for _ in range(2):  # what the first one leaves is sound
        ended = finish(start(script, cache, devices, most=most, PYKERN_CACHE_SIZE=size))
        assert_right(ended, f"{told}; PYKERN_CACHE_SIZE={size}, files of at most {most or 'any'} bytes")
        assert listing(victim) == before, told


@pytest.mark.parametrize("seed", seeds(1))
def test_launches_while_faults_happen(seed: int, script: Path, full: Path, victim: Path, devices: list[str]):
    rng = random.Random(seed)
    cache, before = victim.parent / "cache", listing(victim)
    shutil.copytree(full, cache)
    running = [start(script, cache, devices, PYKERN_CACHE_SIZE=size) for size in ("512M", "30K", "512M")]
    told = [f"seed {seed}"]
    while any(process.poll() is None for process in running) and len(told) < 500:
        told.append(spoil(cache, rng, victim, 1))
        threading.Event().wait(0.02)
    for process in running:
        assert_right(finish(process), "; ".join(told))
    assert listing(victim) == before, told


@pytest.mark.parametrize("seed", seeds(20))
def test_the_store_under_faults(seed: int, victim: Path):
    """Every kind, what comes back is what was written, or nothing."""
    rng = random.Random(seed)
    cache, before = victim.parent / "cache", listing(victim)
    written: dict[tuple[str, str], set[bytes]] = {}
    store = Store(cache, 4000)
    told = []
    for _ in range(150):
        kind, key = rng.choice(KINDS), f"{rng.randrange(3):02}{rng.randrange(4):038}"
        match rng.choice(
            ("write", "write", "read", "read", "has", "drop", "prune", "clear", "spoil", "spoil", "new")
        ):
            case "write":
                data = rng.randbytes(rng.choice((0, 1, 40, 900)))
                written.setdefault((kind.folder, key), set()).add(data)
                store.write(kind, key, data[:7], data[7:])
            case "read":
                found = store.read(kind, key)
                assert found is None or found in written[kind.folder, key], f"seed {seed}: {told}"
            case "has":
                store.has(kind, key, used=True)
            case "drop":
                store.drop(kind, key, "a test")
            case "prune":
                store.prune()
            case "clear":
                store.clear(kind)
                list(store.entries(kind))
            case "spoil":
                told.append(spoil(cache, rng, victim, 1))
            case "new":
                store = Store(cache, 4000)
        assert listing(victim) == before, f"seed {seed}: {told}"
    assert not list(cache.rglob(f"*.{os.getpid()}-*.tmp")), told
