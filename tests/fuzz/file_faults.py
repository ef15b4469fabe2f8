"""Faults of files, at random: what a disk, another program or somebody with ill will may do to a cache folder.

Comes in: the folder, random numbers, and a folder of somebody else's files. Goes out: the folder with faults, and what
they were, in words.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

Fault = Callable[[Path, random.Random, Path], None]


def flip(path: Path, rng: random.Random, victim: Path) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 1, 1, 9))):
        place = rng.randrange(len(data))
        data[place] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def cut(path: Path, rng: random.Random, victim: Path) -> None:
    os.truncate(path, rng.randrange(path.stat().st_size))


def empty(path: Path, rng: random.Random, victim: Path) -> None:
    os.truncate(path, 0)


def grow(path: Path, rng: random.Random, victim: Path) -> None:
    with path.open("ab") as file:
        file.write(rng.randbytes(rng.choice((1, 48, 4096))))


def grow_without_end(path: Path, rng: random.Random, victim: Path) -> None:
    os.truncate(path, 1 << 40)


def swap(path: Path, rng: random.Random, victim: Path) -> None:
    """With another entry, of any kind."""
    other, aside = rng.choice(entries(root_of(path))), path.with_name("aside")
    os.rename(path, aside)
    if other != path:
        os.rename(other, path)
    os.rename(aside, other)


def copy_of_another(path: Path, rng: random.Random, victim: Path) -> None:
    path.write_bytes(rng.choice([each for each in entries(root_of(path)) if _is_plain(each)]).read_bytes())


def noise(path: Path, rng: random.Random, victim: Path) -> None:
    path.write_bytes(rng.randbytes(path.stat().st_size))


def gone(path: Path, rng: random.Random, victim: Path) -> None:
    path.unlink()


def pipe(path: Path, rng: random.Random, victim: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def folder(path: Path, rng: random.Random, victim: Path) -> None:
    path.unlink()
    (path / "inner").mkdir(parents=True)


def link(path: Path, rng: random.Random, victim: Path) -> None:
    path.unlink()
    path.symlink_to(rng.choice([*victim.iterdir(), victim, Path("/dev/zero"), Path("/dev/stdin"), path]))


def hard_link(path: Path, rng: random.Random, victim: Path) -> None:
    path.unlink()
    os.link(rng.choice(list(victim.iterdir())), path)


def mode(path: Path, rng: random.Random, victim: Path) -> None:
    path.chmod(rng.choice((0, 0o200, 0o400, 0o666, 0o777)))


def old(path: Path, rng: random.Random, victim: Path) -> None:
    when = rng.choice((0.0, 1e9, 4e9))
    os.utime(path, (when, when))


def left_behind(path: Path, rng: random.Random, victim: Path) -> None:
    """What a process wrote that died of it."""
    other = path.with_name(f"{path.name}.{rng.randrange(10**5)}-{rng.randrange(10**6):x}.tmp")
    other.write_bytes(b"half")
    os.utime(other, (1e9, 1e9))


def folder_is_a_link(path: Path, rng: random.Random, victim: Path) -> None:
    place = rng.choice((path.parent, path.parent.parent))
    shutil.rmtree(place)
    place.symlink_to(victim)


def folder_is_a_file(path: Path, rng: random.Random, victim: Path) -> None:
    place = rng.choice((path.parent, path.parent.parent))
    shutil.rmtree(place)
    place.write_bytes(b"")


def folder_mode(path: Path, rng: random.Random, victim: Path) -> None:
    rng.choice((path.parent, path.parent.parent)).chmod(rng.choice((0, 0o500, 0o777, 0o770)))


def folder_gone(path: Path, rng: random.Random, victim: Path) -> None:
    shutil.rmtree(rng.choice((path.parent, path.parent.parent)))


FAULTS: tuple[Fault, ...] = (
    flip, flip, flip, cut, empty, grow, grow_without_end, swap, swap, copy_of_another, noise, gone, pipe, folder, link,
    hard_link, mode, old, left_behind, folder_is_a_link, folder_is_a_file, folder_mode, folder_gone,
)  # fmt: skip


def root_of(path: Path) -> Path:
    """The cache folder that an entry is in: three folders up."""
    return path.parents[2]


def entries(cache: Path) -> list[Path]:
    """The regular files of a cache folder."""
    return sorted(path for path in cache.rglob("*") if path.is_file() and not path.is_symlink())


def _is_plain(path: Path) -> bool:
    """Not of somebody else by another name, not empty, and not without end."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    return found.st_nlink == 1 and 0 < found.st_size < 1 << 30


def spoil(cache: Path, rng: random.Random, victim: Path, count: int) -> str:
    """Let `count` faults happen; what they were. Files may be made and removed by others meanwhile."""
    told = []
    for _ in range(count):
        files = [path for path in entries(cache) if len(path.relative_to(cache).parts) == 3]
        files = [path for path in files if _is_plain(path)]
        if not files:
            break
        path, fault = rng.choice(files), rng.choice(FAULTS)
        try:
            with contextlib.suppress(FileNotFoundError, FileExistsError, NotADirectoryError):
                fault(path, rng, victim)
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:  # a folder that is removed got another file
                raise
        told.append(f"{fault.__name__} of {path.relative_to(cache)}")
    return "; ".join(told)


def listing(folder: Path) -> list[tuple[str, float, int, bytes]]:
    """All that a look at a folder tells of its files."""
    states = [(path, path.stat()) for path in folder.iterdir()]
    return sorted((path.name, found.st_mtime, found.st_mode, path.read_bytes()) for path, found in states)
