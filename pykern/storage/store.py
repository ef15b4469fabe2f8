"""Files kept between processes: read back whole and unchanged, or not at all.

Comes in: a kind, a key and bytes. Goes out: the same bytes, in a later process. Any number of processes and threads
may share a store. One that cannot be used is no error: what it would keep is made again, and one line of log says why.
Read next: `folders` (whose files are trusted), `entries` (the form of a file), `pruning` (what goes when it is full).
"""

from __future__ import annotations

import functools
import os
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from pykern.data.records import record
from pykern.environment.settings import settings
from pykern.storage.entries import OVERHEAD, content, footer
from pykern.storage.folders import (
    SUPPORTED,
    UnsafePath,
    make_folder,
    open_below,
    open_folder,
    read_private,
    remove,
    state,
    touch,
    write_whole,
)
from pykern.storage.pruning import File, files, removed, too_many

_TOUCH_AFTER = 60.0
_SHARD = 2
"""Characters of a key that name the folder of its file: folders of many thousand files are slow to list."""


@record
class Kind:
    """Entries that are alike: the folder they are in, how their names end, and what messages call one of them.

    `lasting` ones go last when room is made: they took long to find. Ones not used for `stale` seconds go in any case.
    """

    folder: str
    suffix: str
    called: str
    lasting: bool = False
    stale: float = float("inf")


KERNELS = Kind("kernels", ".kernel", "a compiled kernel")
OPENCL = Kind("opencl", ".binary", "a binary of an OpenCL driver")
METAL = Kind("metal", ".so", "a kernel for the emulated Metal")
TUNED = Kind("tuned", ".timings", "timings of pk.tune", lasting=True)
SEEN = Kind("seen", ".mark", "a mark", stale=90 * 24 * 3600.0)
LIMITS = Kind("limits", ".rates", "what the processor reaches", lasting=True, stale=90 * 24 * 3600.0)
KINDS = (KERNELS, OPENCL, METAL, TUNED, SEEN, LIMITS)


@record
class Entry:
    """A file of the store: its bytes on disk, and when it was used last, in seconds since 1970."""

    key: str
    bytes: int
    used: float
    path: str


class Store:
    """The entries in one folder, which together have `max_bytes` at most."""

    def __init__(self, directory: str | os.PathLike[str], max_bytes: int, enabled: bool = True) -> None:
        self.directory = os.path.abspath(directory) if os.fspath(directory) else ""
        self.max_bytes = max_bytes
        self.damaged = 0
        self.unusable = "" if enabled else "switched off"
        self._said: set[str] = set()
        if enabled and not SUPPORTED:
            self._give_up("this system has no folders that belong to one user alone")
        elif enabled and not self.directory:
            self._give_up("the user has no home folder")

    def read(self, kind: Kind, key: str, used: bool = True) -> bytes | None:
        """What was written under `key`, or None; `used` marks it as used now."""
        name = _name(kind, key)
        with self._folder(kind, key) as folder:
            if folder is None:
                return None
            try:
                data, found = read_private(folder, name, self.max_bytes)
            except FileNotFoundError:
                return None
            except UnsafePath as error:
                self._drop(kind, folder, name, str(error))
                return None
            except OSError as error:  # also ELOOP: a symbolic link stands there
                self.say("read", f"{kind.called} cannot be read: {error}")
                return None
            sound = content(kind.folder, key, data)
            if sound is None:
                self._drop(kind, folder, name, f"{self.path(kind, key)} is damaged")
            elif used:
                _touch(folder, name, found)
            return sound

    def write(self, kind: Kind, key: str, *parts: bytes) -> str | None:
        """Keep the bytes of `parts`, one after the other; the path of their file, None where that is not possible."""
        name = _name(kind, key)
        size = sum(map(len, parts)) + OVERHEAD
        if size > self.max_bytes:
            return None
        with self._folder(kind, key, make=True) as folder:
            if folder is None:
                return None
            try:
                write_whole(folder, name, *parts, footer(kind.folder, key, parts))
            except OSError as error:
                self.say("write", f"{kind.called} is not kept: {error}")
                return None
        # With a chance that fits the size of the entry, so that short processes prune as well and no one
        # scans on each write: about every sixteenth part of the limit.
        if int.from_bytes(os.urandom(4), "little") < 16 * size / self.max_bytes * 2**32:
            self.prune()
        return self.path(kind, key)

    def has(self, kind: Kind, key: str, used: bool = False) -> bool:
        """True where there is a file of that key; whether it is sound is seen when it is read."""
        name = _name(kind, key)
        with self._folder(kind, key) as folder:
            found = state(folder, name) if folder is not None else None
            if folder is None or found is None or not stat.S_ISREG(found.st_mode):
                return False
            if used:
                _touch(folder, name, found)
            return True

    def drop(self, kind: Kind, key: str, why: str) -> None:
        """Remove an entry that turned out to be of no use."""
        name = _name(kind, key)
        with self._folder(kind, key) as folder:
            if folder is not None:
                self._drop(kind, folder, name, why)

    def entries(self, kind: Kind) -> Iterator[Entry]:
        """Every file of a kind that may be an entry, in no order."""
        for found in self._files(kind):
            key = found.name.removesuffix(kind.suffix)
            if _is_key(key) and found.name == key + kind.suffix and found.folders == _folders(kind, key):
                yield Entry(key, found.bytes, found.used, self.path(kind, key))

    def total(self) -> int:
        """Bytes of all entries together."""
        return sum(found.bytes for kind in KINDS for found in self._files(kind) if not found.temporary)

    def clear(self, kind: Kind) -> int:
        """Remove every entry of a kind; how many. What other processes are just writing is left alone."""
        going = [found for found in self._files(kind) if not found.temporary]
        return sum(map(self._removed, going))

    def prune(self) -> int:
        """Bring the store under its limit, what was used longest ago first; how many entries went."""
        there = [found for kind in KINDS for found in self._files(kind)]
        gone = [found for found in too_many(there, self.max_bytes, time.time()) if self._removed(found)]
        return sum(not found.temporary for found in gone)

    def path(self, kind: Kind, key: str) -> str:
        """Where the file of an entry is, or would be."""
        return os.path.join(self.directory, *_folders(kind, key), _name(kind, key))

    def usable(self) -> bool:
        """False where the folder is refused; one that is not there yet is neither good nor bad."""
        with ExitStack() as stack:
            self._root(stack, make=False)
        return not self.unusable

    def say(self, topic: str, message: str) -> None:
        """One line per topic is enough: such reasons come in crowds."""
        if topic in self._said:
            return
        self._said.add(topic)
        import logging  # here, because a start with a good cache should not pay for it

        logging.getLogger("pykern.cache").warning("%s", message)

    def _files(self, kind: Kind) -> list[File]:
        """What is in the folder of a kind."""
        with ExitStack() as stack:
            root = self._root(stack, make=False)
            return [] if root is None else files(root, kind.folder, kind.lasting, kind.stale)

    def _removed(self, found: File) -> bool:
        with ExitStack() as stack:
            root = self._root(stack, make=False)
            return root is not None and removed(root, found)

    def _drop(self, kind: Kind, folder: int, name: str, why: str) -> None:
        self.damaged += 1
        remove(folder, name)
        self.say("damaged", f"{kind.called} was dropped: {why}")

    @contextmanager
    def _folder(self, kind: Kind, key: str, make: bool = False) -> Iterator[int | None]:
        """The folder of an entry; None where it is not there, or not to be used."""
        with ExitStack() as stack:
            root = self._root(stack, make)
            yield None if root is None else self._below(stack, root, kind, key, make)

    def _root(self, stack: ExitStack, make: bool) -> int | None:
        if self.unusable:
            return None
        try:
            if make:
                make_folder(self.directory)
        except OSError as error:
            self._give_up(str(error))
            return None
        try:
            return stack.enter_context(open_folder(self.directory))
        except FileNotFoundError:  # not made yet, or removed just now
            return None
        except OSError as error:
            self._give_up(str(error))
            return None

    def _below(self, stack: ExitStack, root: int, kind: Kind, key: str, make: bool) -> int | None:
        try:
            return stack.enter_context(open_below(root, *_folders(kind, key), make=make))
        except FileNotFoundError:
            return None
        except OSError as error:
            self.say(kind.folder, f"{kind.called} is not kept: {self.directory}: {error}")
            return None

    def _give_up(self, why: str) -> None:
        self.unusable = why
        self.say("unusable", f"nothing is cached: {why}; set PYKERN_CACHE_DIR to a folder of your own")


@functools.lru_cache(maxsize=4)
def _store(directory: str, max_bytes: int, enabled: bool) -> Store:
    return Store(directory, max_bytes, enabled)


def shared_store() -> Store:
    """The process's view of the store that the settings name; with ``PYKERN_CACHE=0`` one that keeps nothing."""
    chosen = settings()
    return _store(chosen.cache_dir, chosen.cache_size, chosen.cache)


def _touch(folder: int, name: str, found: os.stat_result) -> None:
    """Mark as used now; not a file that has another name, too, in somebody's folder."""
    if abs(time.time() - found.st_mtime) > _TOUCH_AFTER and found.st_nlink == 1:
        touch(folder, name)


def _folders(kind: Kind, key: str) -> tuple[str, str]:
    return kind.folder, key[:_SHARD]


def _name(kind: Kind, key: str) -> str:
    if not _is_key(key):
        raise ValueError(f"{key!r} is not a key: only letters and digits name a file")
    return key + kind.suffix


def _is_key(key: str) -> bool:
    return key.isascii() and key.isalnum() and 4 <= len(key) <= 200
