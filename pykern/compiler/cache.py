"""Compiled kernels on disk, found by the hash of all that decides their code.

Comes in: a key (`KernelSource.key`) and an `Artifact`. Goes out: the artifact again, in a later
process, and the path of its file.

A cache that cannot be used is no error: kernels are compiled instead, and one line of log says why.
Read next: `pykern.storage` (how files are kept), `cache_format` (what an entry holds), `versions`.
"""

from __future__ import annotations

import functools
import os
from dataclasses import replace

from pykern.compiler.cache_format import pack, parse
from pykern.data.artifact import Artifact
from pykern.data.records import record
from pykern.environment.settings import Settings, settings
from pykern.storage.store import KERNELS, OPENCL, SEEN, Store, shared_store


@record
class CacheEntry:
    """A kernel found in the cache. `path` begins with `artifact.binary`: a shared object loads in place."""

    artifact: Artifact
    path: str


@record
class EntryInfo:
    """What a listing tells of an entry: `used` is the time of the last use, in seconds since 1970."""

    key: str
    kernel: str
    target: str
    bytes: int
    used: float
    path: str


@record
class Statistics:
    """What lies on disk, and what this process had of it. `entries` are kernels, `bytes` of everything that is kept.

    `unusable` says why there is no cache.
    """

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
    """The kernels of a store, by default of a new one. Any number of processes and threads may share it."""

    def __init__(
        self,
        directory: str | os.PathLike[str],
        max_bytes: int,
        enabled: bool = True,
        store: Store | None = None,
    ) -> None:
        self.store = store if store is not None else Store(directory, max_bytes, enabled)
        self.hits = self.misses = self.stored = 0

    @property
    def directory(self) -> str:
        return self.store.directory

    @property
    def damaged(self) -> int:
        """How many files were of no use, and dropped."""
        return self.store.damaged

    def get(self, key: str) -> CacheEntry | None:
        """The entry of `key`, checked and marked as used, or None."""
        artifact = self._read(key)
        if artifact is None:
            self.misses += 1
            return None
        self.hits += 1
        return CacheEntry(artifact, self.store.path(KERNELS, key))

    def has(self, key: str) -> bool:
        """Whether there is a file for `key`: it is not looked into."""
        return self.store.has(KERNELS, key)

    def put(self, key: str, artifact: Artifact) -> CacheEntry | None:
        """Keep `artifact` (without the texts of its stages); None where that is not possible."""
        artifact = replace(artifact, key=key, stages=())
        path = self.store.write(KERNELS, key, *pack(artifact))
        if path is None:
            return None
        self.stored += 1
        return CacheEntry(artifact, path)

    def discard(self, key: str) -> None:
        """Drop an entry that turned out not to load."""
        self.store.drop(KERNELS, key, f"{key} does not load")

    def entries(self) -> list[EntryInfo]:
        """Every sound kernel, the one used last first."""
        found = []
        for entry in self.store.entries(KERNELS):
            artifact = self._read(entry.key, used=False)
            if artifact is not None:
                about = artifact.kernel, artifact.target
                found.append(EntryInfo(entry.key, *about, entry.bytes, entry.used, entry.path))
        return sorted(found, key=lambda info: info.used, reverse=True)

    def clear(self) -> int:
        """Remove kernels, what drivers made of them, and marks (not timings and crash reports); how many kernels."""
        self.store.clear(OPENCL)
        self.store.clear(SEEN)
        self.store.prune()
        return self.store.clear(KERNELS)

    def prune(self) -> int:
        """Bring the store under its limit, what was used longest ago first; how many entries went."""
        return self.store.prune()

    def statistics(self) -> Statistics:
        """Counts and sizes; reads no entry, only the directory."""
        count, total = sum(1 for _ in self.store.entries(KERNELS)), self.store.total()
        return Statistics(
            self.directory, count, total, self.store.max_bytes,
            self.hits, self.misses, self.damaged, self.stored, self.store.unusable,
        )  # fmt: skip

    def mark_seen(self, digest: str) -> None:
        """Note that a function has been compiled on this machine, so that it probably is in the cache."""
        if not self.store.has(SEEN, digest, used=True):
            self.store.write(SEEN, digest)

    def seen(self, digest: str) -> bool:
        """True where `mark_seen` was called, in this process or an earlier one, within three months."""
        return self.store.has(SEEN, digest)

    def _read(self, key: str, used: bool = True) -> Artifact | None:
        data = self.store.read(KERNELS, key, used)
        if data is None:
            return None
        artifact = parse(key, data)
        if artifact is None:
            self.store.drop(KERNELS, key, f"{self.store.path(KERNELS, key)} is of another version")
        return artifact


def open_cache(chosen: Settings | None = None) -> Cache:
    """The cache that the settings name; with ``PYKERN_CACHE=0`` one that finds and keeps nothing."""
    chosen = chosen or settings()
    return Cache(chosen.cache_dir, chosen.cache_size, chosen.cache)


def shared_cache() -> Cache:
    """The process's view of the cache."""
    return _of(shared_store())


@functools.lru_cache(maxsize=4)
def _of(store: Store) -> Cache:
    return Cache(store.directory, store.max_bytes, store=store)
