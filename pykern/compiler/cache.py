"""Compiled kernels on disk, found by the hash of all that decides their code.

Comes in: a key (`KernelSource.key`) and an `Artifact`. Goes out: the artifact again, in a later
process, and the path of its file.

A cache that cannot be used is no error: kernels are compiled instead, and one line of log says why.
Read next: `cache_format` (what a file holds), `private_files` (whose files are trusted), `versions`.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pykern.artifact import Artifact
from pykern.compiler.cache_format import pack, parse
from pykern.compiler.private_files import (
    UnsafePath,
    check_private,
    make_below,
    make_private,
    read_private,
    remove,
    write_whole,
)
from pykern.settings import Settings, settings

_SUFFIX = ".kernel"
_TOUCH_AFTER = 60.0
_STALE_TEMPORARY = 3600.0
_STALE_MARKER = 90 * 24 * 3600.0
_KEEP = 0.8
"""Pruning goes down to this share of the limit, so that it is not needed again at once."""


@dataclass(frozen=True)
class CacheEntry:
    """A kernel found in the cache. `path` begins with `artifact.binary`: a shared object loads in place."""

    artifact: Artifact
    path: str


@dataclass(frozen=True)
class EntryInfo:
    """What a listing tells of an entry: `used` is the time of the last use, in seconds since 1970."""

    key: str
    kernel: str
    target: str
    bytes: int
    used: float
    path: str


@dataclass(frozen=True)
class Statistics:
    """What lies on disk, and what this process had of it. `unusable` says why there is no cache."""

    directory: str
    entries: int
    bytes: int
    max_bytes: int
    hits: int
    misses: int
    damaged: int
    stored: int
    unusable: str = ""


class Cache:
    """The cache in one directory. Any number of processes and threads may share it."""

    def __init__(self, directory: str | os.PathLike[str], max_bytes: int, enabled: bool = True) -> None:
        self.directory = os.path.abspath(directory)
        self.max_bytes = max_bytes
        self.hits = self.misses = self.damaged = self.stored = 0
        self.unusable = "" if enabled else "switched off"
        self._checked = False
        self._said: set[str] = set()

    def get(self, key: str) -> CacheEntry | None:
        """The entry of `key`, checked and marked as used, or None."""
        path = self._path(key)
        entry = self._load(key, path) if self._may_read() else None
        if entry is None:
            self.misses += 1
        else:
            self.hits += 1
        return entry

    def put(self, key: str, artifact: Artifact) -> CacheEntry | None:
        """Keep `artifact` (without the texts of its stages); None where that is not possible."""
        path = self._path(key)
        artifact = replace(artifact, key=key, stages=())
        parts = pack(artifact)
        size = sum(map(len, parts))
        if size > self.max_bytes or not self._may_write():
            return None
        try:
            make_below(self.directory, path)
            write_whole(path, *parts)
        except OSError as error:
            self._say("write", f"compiled kernels are not kept: {error}")
            return None
        self.stored += 1
        # With a chance that fits the size of the entry, so that short processes prune as well and no one
        # scans on each put: about every sixteenth part of the limit.
        if int.from_bytes(os.urandom(4), "little") < 16 * size / self.max_bytes * 2**32:
            self.prune()
        return CacheEntry(artifact, path)

    def discard(self, key: str) -> None:
        """Drop an entry that turned out not to load."""
        self._discard(self._path(key), f"{key} does not load")

    def entries(self) -> list[EntryInfo]:
        """Every sound entry, the one used last first."""
        found = []
        for item in self._files():
            key = item.name.removesuffix(_SUFFIX)
            if key != item.name and (loaded := self._read(key, item.path)) is not None:
                artifact, state = loaded
                found.append(
                    EntryInfo(key, artifact.kernel, artifact.target, state.st_size, state.st_mtime, item.path)
                )
        return sorted(found, key=lambda info: info.used, reverse=True)

    def clear(self) -> int:
        """Remove every entry and marker (not the crash reports); how many entries that were.

        What other processes are just writing is left alone.
        """
        count = sum(remove(item.path) for item in self._files() if item.name.endswith(_SUFFIX))
        for folder in ("seen", "opencl"):  # markers; what drivers made of kernels
            for item in _scan(os.path.join(self.directory, folder)):
                if not item.name.startswith("crash-"):
                    remove(item.path)
        self.prune()
        return count

    def prune(self) -> int:
        """Bring the cache under its limit, what was used longest ago first; how many entries went."""
        now = time.time()
        files = []
        for item in self._files():
            if (state := _state(item)) is None:
                continue
            if not item.name.endswith(_SUFFIX):
                if now - state.st_mtime > _STALE_TEMPORARY:  # of a process that died while writing
                    remove(item.path)
                continue
            files.append((state.st_mtime, state.st_size, item.path))
        for item in _scan(os.path.join(self.directory, "seen")):
            if (state := _state(item)) is not None and now - state.st_mtime > _STALE_MARKER:
                remove(item.path)
        total = sum(size for _, size, _ in files)
        if total <= self.max_bytes:
            return 0
        removed = 0
        for _, size, path in sorted(files):
            if total <= _KEEP * self.max_bytes:
                break
            if remove(path):
                removed += 1
                total -= size
        return removed

    def statistics(self) -> Statistics:
        """Counts and sizes; reads no entry, only the directory."""
        self._may_read()
        sizes = [s.st_size for item in self._files() if item.name.endswith(_SUFFIX) and (s := _state(item))]
        return Statistics(
            self.directory, len(sizes), sum(sizes), self.max_bytes,
            self.hits, self.misses, self.damaged, self.stored, self.unusable,
        )  # fmt: skip

    def mark_seen(self, digest: str) -> None:
        """Note that a function has been compiled on this machine, so that it probably is in the cache."""
        path = self._marker(digest)
        if not self._may_write():
            return
        try:
            make_below(self.directory, path)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
            os.utime(path)
        except OSError as error:
            self._say("write", f"compiled kernels are not kept: {error}")

    def seen(self, digest: str) -> bool:
        """True where `mark_seen` was called, in this process or an earlier one, within three months."""
        path = self._marker(digest)
        return self._may_read() and os.path.exists(path)

    def _path(self, key: str) -> str:
        return os.path.join(self.directory, "kernels", _name(key)[:2], key + _SUFFIX)

    def _marker(self, digest: str) -> str:
        return os.path.join(self.directory, "seen", _name(digest))

    def _load(self, key: str, path: str) -> CacheEntry | None:
        loaded = self._read(key, path)
        if loaded is None:
            return None
        artifact, state = loaded
        if time.time() - state.st_mtime > _TOUCH_AFTER:
            try:
                os.utime(path)
            except OSError:
                pass  # read-only, or pruned just now: the entry is as good
        return CacheEntry(artifact, path)

    def _read(self, key: str, path: str) -> tuple[Artifact, os.stat_result] | None:
        try:
            data, state = read_private(path)
        except FileNotFoundError:
            return None
        except UnsafePath as error:
            self._discard(path, str(error))
            return None
        except OSError as error:  # also ELOOP: a symbolic link stands there
            self._say("read", f"a compiled kernel cannot be read: {error}")
            return None
        artifact = parse(key, data)
        if artifact is None:
            self._discard(path, f"{path} is damaged")
            return None
        return artifact, state

    def _discard(self, path: str, why: str) -> None:
        self.damaged += 1
        remove(path)
        self._say("damaged", f"a compiled kernel was dropped: {why}")

    def _files(self) -> Iterator[os.DirEntry[str]]:
        if self._may_read():
            for shard in _scan(os.path.join(self.directory, "kernels")):
                yield from _scan(shard.path)

    def _may_read(self) -> bool:
        """Check the directory once; one that is not there yet is neither good nor bad."""
        if self.unusable or self._checked:
            return not self.unusable
        try:
            check_private(self.directory, os.stat(self.directory))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            self._give_up(str(error))
            return False
        self._checked = True
        return True

    def _may_write(self) -> bool:
        if self.unusable:
            return False
        try:
            make_private(self.directory)
        except OSError as error:
            self._give_up(str(error))
            return False
        return True

    def _give_up(self, why: str) -> None:
        self.unusable = why
        advice = "set PYKERN_CACHE_DIR to a directory of your own"
        self._say("unusable", f"no cache of compiled kernels: {why}; {advice}")

    def _say(self, topic: str, message: str) -> None:
        """One line per topic is enough: such reasons come in crowds."""
        if topic in self._said:
            return
        self._said.add(topic)
        import logging  # here, because a start with a good cache should not pay for it

        logging.getLogger("pykern.cache").warning("%s", message)


def open_cache(chosen: Settings | None = None) -> Cache:
    """The cache that the settings name; with ``PYKERN_CACHE=0`` one that finds and keeps nothing."""
    chosen = chosen or settings()
    return Cache(chosen.cache_dir, chosen.cache_size, chosen.cache)


@functools.cache
def shared_cache() -> Cache:
    """The process's view of the cache."""
    return open_cache()


def _name(key: str) -> str:
    if not (key.isascii() and key.isalnum() and len(key) >= 4):
        raise ValueError(f"{key!r} is not a key: only letters and digits name a file")
    return key


def _scan(directory: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as items:
            return list(items)
    except OSError:
        return []


def _state(item: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return item.stat(follow_symlinks=False)
    except OSError:
        return None
