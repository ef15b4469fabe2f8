"""The store of all that is kept on disk: every kind comes back whole or not at all, and nothing outside is touched."""

from __future__ import annotations

import errno
import os
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pykern.environment.settings import Settings, default_cache_dir, read_settings
from pykern.storage import pruning
from pykern.storage.reports import KEPT, write_report
from pykern.storage.store import KERNELS, KINDS, SEEN, TUNED, Store

KEY = "ab" * 20
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.folder)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cache", 1 << 20)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder of somebody's files, old enough for any rule to take them."""
    folder = tmp_path / "victim"
    folder.mkdir()
    for name in ("letter", "a.kernel", "b.tmp", KEY + ".mark", "c.binary"):
        (folder / name).write_bytes(b"mine")
        os.utime(folder / name, (1000, 1000))
    return folder


def listing(folder: Path) -> list[tuple[str, float, bytes]]:
    return sorted((path.name, path.stat().st_mtime, path.read_bytes()) for path in folder.iterdir())


@every_kind
def test_what_was_written_comes_back(store: Store, kind):
    assert store.read(kind, KEY) is None and not store.has(kind, KEY)
    path = store.write(kind, KEY, b"some", b"", b" bytes")
    assert path == store.path(kind, KEY) and store.has(kind, KEY)
    assert store.read(kind, KEY) == Store(store.directory, 1 << 20).read(kind, KEY) == b"some bytes"
    store.write(kind, KEY, b"")
    assert store.read(kind, KEY) == b""


@every_kind
def test_another_kind_or_key_is_a_miss(store: Store, kind):
    path = store.write(kind, KEY, b"content")
    assert path is not None
    for other in (*(k for k in KINDS if k != kind),):
        Path(store.path(other, KEY)).parent.mkdir(parents=True, mode=0o700)
        os.link(path, store.path(other, KEY))
        assert store.read(other, KEY) is None
    os.rename(path, store.path(kind, KEY[:-1] + "0"))
    assert store.read(kind, KEY[:-1] + "0") is None


@every_kind
def test_every_flipped_bit_is_noticed(store: Store, kind):
    path = Path(store.write(kind, KEY, bytes(20)) or "")
    sound = path.read_bytes()
    for bit in range(8 * len(sound)):
        broken = bytearray(sound)
        broken[bit // 8] ^= 1 << bit % 8
        path.write_bytes(broken)
        assert store.read(kind, KEY) is None, bit
        assert not path.exists()


def make_pipe(path: Path) -> None:
    os.mkfifo(path, 0o600)


def make_socket(path: Path) -> None:
    where = os.getcwd()
    os.chdir(path.parent)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(where)


def make_link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_dangling_link(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def make_folder(path: Path) -> None:
    (path / "inner").mkdir(parents=True)


def make_empty(path: Path) -> None:
    path.write_bytes(b"")


def make_huge(path: Path) -> None:
    with open(path, "wb") as file:
        os.truncate(file.fileno(), 1 << 40)  # no memory holds it


STRANGE = [
    make_pipe,
    make_socket,
    make_link_to_a_device,
    make_dangling_link,
    make_folder,
    make_empty,
    make_huge,
]


@pytest.mark.timeout(20)
@every_kind
@pytest.mark.parametrize("make", STRANGE, ids=lambda make: make.__name__)
def test_strange_things_in_the_place_of_an_entry(store: Store, kind, make):
    path = Path(store.path(kind, KEY))
    path.parent.mkdir(parents=True)
    make(path)
    assert store.read(kind, KEY) is None
    store.prune()
    if make is make_folder:  # it is not ours to remove, and says so
        assert store.write(kind, KEY, b"content") is None
        assert store.read(kind, KEY) is None
    else:
        assert store.write(kind, KEY, b"content") is not None
        assert store.read(kind, KEY) == b"content"
    store.clear(kind)
    assert store.read(kind, KEY) is None


@every_kind
@pytest.mark.parametrize("where", ["entry", "shard", "folder"])
def test_links_are_not_followed(store: Store, victim: Path, kind, where):
    """A planted link stands for somebody else's files: they are neither read, written, touched nor removed."""
    before = listing(victim)
    place = Path(store.path(kind, KEY))
    planted = {"entry": place, "shard": place.parent, "folder": place.parent.parent}[where]
    planted.parent.mkdir(parents=True, mode=0o700)
    planted.symlink_to(victim / "letter" if where == "entry" else victim)
    store.max_bytes = 1 << 20
    store.read(kind, KEY)
    store.has(kind, KEY, used=True)
    store.write(kind, KEY, b"content")
    store.drop(kind, KEY, "a test")
    store.max_bytes = 0
    store.prune()
    for each in KINDS:
        store.clear(each)
    assert listing(victim) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
@pytest.mark.parametrize("where", ["entry", "shard", "folder", "root"])
def test_what_belongs_to_others_is_not_used(store: Store, where):
    place = Path(store.write(KERNELS, KEY, b"content") or "")
    given = {
        "entry": place,
        "shard": place.parent,
        "folder": place.parent.parent,
        "root": Path(store.directory),
    }
    os.chown(given[where], 4711, -1)
    fresh = Store(store.directory, 1 << 20)
    assert fresh.read(KERNELS, KEY) is None
    assert (fresh.write(KERNELS, KEY, b"mine") is not None) is (where == "entry")


@pytest.mark.parametrize("where", ["shard", "folder", "root"])
def test_folders_that_others_may_write_are_not_used(store: Store, where, caplog):
    place = Path(store.write(KERNELS, KEY, b"content") or "")
    {"shard": place.parent, "folder": place.parent.parent, "root": Path(store.directory)}[where].chmod(0o777)
    for _ in range(3):
        assert store.read(KERNELS, KEY) is None
        assert store.write(KERNELS, KEY, b"other") is None
    assert len(caplog.records) == 1 and "may be written by others" in caplog.text
    assert (store.write(TUNED, KEY, b"content") is None) is (where == "root")


def test_the_folder_itself_may_be_a_link(tmp_path: Path):
    (tmp_path / "large-disk").mkdir(mode=0o700)
    (tmp_path / "cache").symlink_to(tmp_path / "large-disk")
    store = Store(tmp_path / "cache", 1 << 20)
    store.write(KERNELS, KEY, b"content")
    assert store.read(KERNELS, KEY) == b"content"
    (tmp_path / "large-disk").chmod(0o777)
    assert Store(tmp_path / "cache", 1 << 20).read(KERNELS, KEY) is None


def test_old_files_of_other_forms_go_with_the_rest(store: Store):
    """Files of earlier versions, whatever their names, are files of the folder: the limit is for them, too."""
    folder = Path(store.directory) / "opencl"
    folder.mkdir(parents=True)
    for number in range(20):
        (folder / f"{number:064x}").write_bytes(bytes(1000))
    store.max_bytes = 10_000
    assert store.prune() == 12 and store.total() == 8000


def test_timings_go_last(store: Store):
    old = time.time() - 1e6
    path = store.write(TUNED, KEY, b"slow to find")
    assert path is not None
    os.utime(path, (old, old))
    for number in range(10):
        store.write(KERNELS, f"{number:040}", bytes(1000))
    store.max_bytes = 5000
    store.prune()
    assert store.has(TUNED, KEY) and 0 < store.total() <= 4000


def test_a_clock_that_was_set_back(store: Store):
    """What was written "tomorrow" neither stays for ever nor is touched at each use."""
    future = time.time() + 1e7
    path = Path(store.write(KERNELS, KEY, b"content") or "")
    (path.parent / "x.kernel.1-ff.tmp").write_bytes(b"half")
    for each in path.parent.iterdir():
        os.utime(each, (future, future))
    other = Path(store.write(KERNELS, "cd" * 20, bytes(100)) or "")
    store.max_bytes = 200
    store.prune()
    assert other.exists() and not path.exists()
    assert list(path.parent.iterdir()) == []
    os.utime(other, (future, future))
    store.read(KERNELS, "cd" * 20)
    assert abs(other.stat().st_mtime - time.time()) < 60


def test_stale_marks_go(store: Store):
    marks = [store.write(SEEN, name * 10) or "" for name in ("feed", "beef")]
    os.utime(marks[0], (time.time() - 100 * 86400,) * 2)
    store.prune()
    assert not store.has(SEEN, "feed" * 10) and store.has(SEEN, "beef" * 10)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS])
@every_kind
def test_a_full_disk_leaves_no_temporaries(store: Store, kind, code, monkeypatch):
    true, room = os.write, [30]

    def full(handle: int, data) -> int:
        if not room[0]:
            raise OSError(code, os.strerror(code))
        count = true(handle, data[: room[0]])
        room[0] -= count
        return count

    monkeypatch.setattr(os, "write", full)
    assert store.write(kind, KEY, bytes(100)) is None
    monkeypatch.undo()
    assert [path for path in Path(store.directory).rglob("*") if path.is_file()] == []
    assert store.write(kind, KEY, bytes(100)) is not None


def test_an_interrupted_write_leaves_no_temporaries(store: Store, monkeypatch):
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.write(KERNELS, KEY, b"content")
    assert [path for path in Path(store.directory).rglob("*") if path.is_file()] == []


LIMITED = """
import resource, sys
from pykern.storage.store import KERNELS, Store
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
store = Store(sys.argv[1], 1 << 20)
assert store.write(KERNELS, "ab" * 20, bytes(5000)) is None
assert store.write(KERNELS, "cd" * 20, bytes(500)) is not None
assert store.read(KERNELS, "cd" * 20) == bytes(500)
"""


def test_a_limit_on_the_size_of_files(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "cache")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "is not kept" in done.stderr and len(done.stderr.splitlines()) == 1
    assert len([path for path in (tmp_path / "cache").rglob("*") if path.is_file()]) == 1


def test_a_report_follows_no_link(tmp_path: Path, victim: Path, monkeypatch):
    """Old reports are removed; a link in the place of their folder is somebody else's."""
    for number in range(2 * KEPT):
        (victim / f"{number}").write_bytes(b"mine")
    before = listing(victim)
    (tmp_path / "cache").mkdir(mode=0o700)
    (tmp_path / "cache" / "crashes").symlink_to(victim)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = write_report("crash.py", b"text", Settings(cache_dir=str(tmp_path / "cache")))
    assert path is not None and Path(path).read_bytes() == b"text"
    assert listing(victim) == before


def test_without_a_home(monkeypatch, caplog, tmp_path):
    """No folder that depends on where the program was started: nothing is kept, and one line says so."""
    import pwd

    def unknown(number: int) -> object:
        raise KeyError(number)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for home in ("", "relative", None):
        monkeypatch.setenv("HOME", home) if home is not None else monkeypatch.delenv("HOME")
        assert default_cache_dir({}) == ""
    assert default_cache_dir({"XDG_CACHE_HOME": "/scratch"}) == "/scratch/pykern"
    with pytest.raises(ValueError, match="PYKERN_CACHE_DIR"):
        read_settings({"PYKERN_CACHE_DIR": "~/kernels"})
    store = Store("", 1 << 20)
    assert store.write(KERNELS, KEY, b"content") is None and store.read(KERNELS, KEY) is None
    assert store.prune() == store.total() == 0 and "home" in store.unusable
    assert len(caplog.records) == 1 and os.listdir(tmp_path) == []


def test_modes(store: Store):
    before = os.umask(0)
    try:
        for kind in KINDS:
            store.write(kind, KEY, b"content")
    finally:
        os.umask(before)
    for path in [Path(store.directory), *Path(store.directory).rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_what_has_to_go():
    def file(name: str, size: int, used: float) -> pruning.File:
        return pruning.File(("kernels",), name, size, used, False, float("inf"))

    there = [file(str(n), 10, 1000 + n) for n in range(10)]
    assert pruning.too_many(there, 100, 2000) == []
    assert pruning.too_many(there, 99, 2000) == there[:3]
    assert pruning.too_many([*there, file("x.tmp", 10**6, 1999)], 100, 2000) == []
    assert pruning.too_many([file("x.tmp", 1, 1999 - 3600)], 100, 2000) != []
