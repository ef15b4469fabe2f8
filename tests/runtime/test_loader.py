"""How compiled code gets into the process: few maps, never writable and executable, no files; forks, threads."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

import pykern as pk
from pykern.data.code_image import read
from pykern.runtime import loader
from pykern.runtime.loader import load

pytestmark = [
    pytest.mark.skipif(
        not os.path.exists("/proc/self/maps") or os.uname().machine not in ("x86_64", "aarch64"),
        reason="code is mapped on Linux, x86-64 and aarch64",
    ),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]

FORKS = pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
"""JAX warns of forks where another test of this process has imported it."""

PROGRAM = """
import numpy as np

import pykern as pk


@pk.kernel
def axpy(y, x, a):
    i = pk.index()
    y[i] = pk.sin(x[i]) * a + y[i]


@pk.jit
def total(a, b):
    return (a @ b).sum(axis=1)


def check(n=1000):
    x, y = np.linspace(0, 3, n), np.ones(n)
    axpy(y, x, 2.0, ndrange=n)
    np.testing.assert_allclose(y, np.sin(x) * 2.0 + 1, rtol=1e-12)
    a = np.arange(n % 97 * 5, dtype=np.float64).reshape(-1, 5) / 7
    for _ in range(3):
        np.testing.assert_allclose(total(a, a.T.copy()), (a @ a.T).sum(axis=1), rtol=1e-12)


"""


def run(text: str, cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A program of its own, after `PROGRAM`."""
    path = cache.parent / "program.py"
    path.write_text(PROGRAM + textwrap.dedent(text))
    known = {n: v for n, v in os.environ.items() if not n.startswith("PYKERN_")}
    return subprocess.run(
        [sys.executable, str(path)],
        env={**known, "PYKERN_CACHE_DIR": str(cache), **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def succeeds(text: str, cache: Path, **environment: str) -> str:
    done = run(text, cache, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that has what `check` compiles."""
    cache = tmp_path_factory.mktemp("warm") / "cache"
    succeeds("check()\nfor n in range(30, 34):\n    check(n)", cache)
    return cache


@pk.kernel
def scaled(y, x, a):
    i = pk.index()
    y[i] = pk.cos(x[i]) * a


@pytest.fixture(scope="module")
def binary() -> bytes:
    x = np.zeros(64)
    return scaled.lower(x, x, 1.0, ndrange=64).artifact.binary


def maps() -> list[str]:
    with open("/proc/self/maps") as file:
        return file.read().splitlines()


def runs(code: loader.LoadedKernel, a: float) -> bool:
    x, y = np.linspace(0, 1, 64), np.zeros(64)
    bits = int(np.float64(a).view(np.int64))
    code.run([y.ctypes.data, 64, x.ctypes.data, 64, bits, 64, 0])
    return np.allclose(y, np.cos(x) * a, rtol=1e-13)


def test_many_copies_add_few_maps(binary: bytes):
    load(binary, "")
    before = len(maps())
    copies = [load(binary, "") for _ in range(3000)]
    assert len(maps()) - before < 12
    assert len({code.run_address for code in copies}) == 3000
    assert all(runs(code, float(n)) for n, code in enumerate(copies) if n % 100 == 0 or n == 2999)


def test_nothing_is_writable_and_executable(binary: bytes):
    code = load(binary, "")
    rights = {}
    image, others = read(binary), 0
    begin = code.run_address - image.exports["pk_run"]
    for line in maps():
        span, allowed = line.split()[:2]
        low, high = (int(word, 16) for word in span.split("-"))
        others += "w" in allowed and "x" in allowed  # libffi has such
        if low <= begin < high:
            rights["code"] = allowed
        if low <= begin + image.distance + image.data < high:
            rights["data"] = allowed
    assert rights == {"code": "r-xp", "data": "rw-p"}
    load(binary, "")
    assert sum("wx" in line.split()[1] for line in maps()) == others


def test_no_file_is_mapped(binary: bytes):
    def files() -> set[str]:
        return {line for line in maps() if "pykern-" in line or "memfd:pykern" in line}

    before = files()  # tests before this one in this process may have used dlopen
    load(binary, "")
    assert files() <= before


def test_threads_load_at_once(binary: bytes):
    found: list[bool] = []
    gate = threading.Barrier(8)

    def work(number: int) -> None:
        gate.wait()
        codes = [load(binary, "") for _ in range(60)]
        found.extend(runs(code, number + n) for n, code in enumerate(codes))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 480 and all(found)


@FORKS
def test_a_child_runs_what_was_loaded_and_loads_more(binary: bytes):
    known = load(binary, "")
    assert runs(known, 2.0)
    stop = threading.Event()

    def keep_loading() -> None:
        while not stop.is_set():
            load(binary, "")

    busy = threading.Thread(
        target=keep_loading
    )  # the child may be made while another thread is in the loader
    busy.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                own = load(binary, "")
                os._exit(0 if runs(known, 3.0) and runs(own, 4.0) and runs(load(binary, ""), 5.0) else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        busy.join()
    assert runs(known, 6.0)


@FORKS
def test_what_a_child_loads_is_its_own(binary: bytes):
    child = os.fork()
    if child == 0:
        for _ in range(50):
            load(binary, "")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert runs(load(binary, ""), 1.5)


def test_nothing_is_made_in_the_temporary_folder(tmp_path: Path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    before = temporary.stat().st_mtime_ns  # changes with every file that is made or goes
    succeeds("check()\nfor n in range(10, 13):\n    check(n)", tmp_path / "cache", TMPDIR=str(temporary))
    succeeds("check()", tmp_path / "cache", TMPDIR=str(temporary))  # from the cache
    assert temporary.stat().st_mtime_ns == before and not list(temporary.iterdir())


def test_a_temporary_folder_is_not_needed(warm: Path):
    text = """
    import tempfile
    tempfile.tempdir = "/no/such/folder"
    check()
    """
    succeeds(text, warm, TMPDIR="/no/such/folder")


@pytest.mark.parametrize("temporary", ["there", "absent"])
def test_dlopen(tmp_path: Path, warm: Path, temporary: str):
    folder = tmp_path / "tmp"
    if temporary == "there":
        folder.mkdir()
    text = f"""
    import tempfile
    tempfile.tempdir = {str(folder)!r}
    check()
    check(30)
    lines = [line for line in open("/proc/self/maps") if "pykern-" in line and "r-xp" in line]
    print(len(lines), {str(folder)!r} in lines[0])
    """
    said = succeeds(text, warm, PYKERN_LOADER="dlopen")
    count, there = said.split()
    assert int(count) >= 2 and there == str(temporary == "there")
    assert not [*tmp_path.rglob("*.so"), *warm.rglob("*.so")]


# Linux 6.3 on: no memory becomes executable that was not from the start (as systemd's MemoryDenyWriteExecute).
DENY = """
import ctypes
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0):
    print("cannot deny")
    raise SystemExit
"""


@pytest.mark.parametrize("memory", ["there", "absent"])
def test_where_memory_may_not_become_executable(warm: Path, memory: str):
    text = f"""
    {textwrap.indent(DENY, "    ").strip()}
    import os
    if {memory!r} == "absent":
        del os.memfd_create
    check()
    for n in range(30, 34):
        check(n)
    lines = [line for line in open("/proc/self/maps") if "pykern" in line and "r-xp" in line]
    print(len(lines), "memfd:" in lines[0])
    """
    said = succeeds(text, warm)
    if "cannot deny" in said:
        pytest.skip("this Linux cannot deny it")
    count, in_memory = said.split()
    assert int(count) >= 2 and in_memory == str(memory == "there")
    assert not list(warm.rglob("*.so"))


REFUSED = """
import os, tempfile
from pykern.runtime import code_memory, dynamic_library
tempfile.tempdir = "/no/such/folder"
def refuse(*arguments):
    raise OSError("failed to map segment from shared object: Operation not permitted")
dynamic_library._from_memory = dynamic_library._from_cache_folder = refuse
memory = __import__("pykern.runtime.loader").runtime.loader._memory()
protect = memory.protect
def denied(address, size, rights):
    if rights & 4:
        ctypes.set_errno(13)
        return -1
    return protect(address, size, rights)
memory.protect = denied
"""


def test_where_nothing_is_possible_the_error_says_what_was_tried(warm: Path):
    text = f"""
    import ctypes
    {textwrap.indent(REFUSED, "    ").strip()}
    from pykern.errors import DeviceError
    try:
        check()
    except DeviceError as error:
        print(error)
    """
    said = succeeds(text, warm)
    assert "the compiled code of `axpy` does not get into this process" in said and "[PK010]" in said
    assert "/no/such/folder" in said and "Operation not permitted" in said and "def axpy(y, x, a):" in said


def test_no_room_is_an_error_and_the_cache_is_kept(warm: Path):
    text = """
    from pykern.errors import DeviceError
    from pykern.runtime import loader
    memory = loader._memory()
    reserve, memory._mmap = memory._mmap, lambda *arguments: 2**64 - 1
    x = np.linspace(0, 3, 30)
    try:
        axpy(x.copy(), x, 2.0, ndrange=30)
    except DeviceError as error:
        print(error)
    memory._mmap = reserve
    check(30)
    """
    before = {path: path.stat().st_mtime_ns for path in warm.rglob("*.kernel")}
    said = succeeds(text, warm)
    assert "does not get into this process" in said and "ulimit -v" in said
    assert {path: path.stat().st_mtime_ns for path in warm.rglob("*.kernel")} == before


@FORKS
def test_little_address_space_is_enough(binary: bytes):
    """Pools of two short halves, where there is no room for long ones."""
    child = os.fork()
    if child == 0:
        load(binary, "")
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * os.sysconf("SC_PAGESIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + (24 << 20), resource.RLIM_INFINITY))
        loader._memory()._length = 0  # type: ignore[union-attr] - the next one needs a new pool
        before = len(maps())
        codes = [load(binary, "") for _ in range(500)]
        good = len({code.run_address for code in codes}) == 500 and len(maps()) - before < 40
        os._exit(0 if good and all(runs(code, float(n)) for n, code in enumerate(codes)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("place", [0.0, 0.3, 0.6, 0.95])
def test_a_changed_file_of_the_cache_is_not_loaded(warm: Path, place: float):
    """One bit of each file: the checksum finds it before anything of it is mapped."""
    cache = warm.with_name(f"changed-{place}")  # beside the same program: its place is part of the key
    shutil.copytree(warm, cache)
    for path in cache.rglob("*.kernel"):
        content = bytearray(path.read_bytes())
        content[int(place * len(content))] ^= 4
        path.write_bytes(content)
    text = """
    check()
    from pykern.compiler.cache import shared_cache
    print(shared_cache().damaged)
    """
    assert int(succeeds(text, cache)) >= 2


def test_threads_that_launch_while_python_ends(warm: Path):
    text = """
    import threading, time
    check()
    def work():
        x, y = np.linspace(0, 3, 100_000), np.ones(100_000)
        while True:
            axpy(y, x, 2.0, ndrange=100_000)
    for _ in range(4):
        threading.Thread(target=work, daemon=True).start()
    time.sleep(0.3)
    print("end")
    """
    assert succeeds(text, warm) == "end\n"
