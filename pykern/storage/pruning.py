"""What goes when the store is full: what was used longest ago, and what died writers left.

Comes in: an open folder. Goes out: the files below it, which of them have to go, and that they went.
No link is followed: what one stands for may be anybody's.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from pykern.data.records import record
from pykern.storage.folders import TEMPORARY, names, open_below, remove, state

STALE_TEMPORARY = 3600.0
KEEP = 0.8
"""Pruning goes down to this share of the limit, so that it is not needed again at once."""


@record
class File:
    """A file, the folders it is in, and what decides how long it stays: see `Kind`."""

    folders: tuple[str, ...]
    name: str
    bytes: int
    used: float
    lasting: bool
    stale: float

    @property
    def temporary(self) -> bool:
        """Somebody is writing it, or died of it."""
        return self.name.endswith(TEMPORARY)


def files(root: int, folder: str, lasting: bool, stale: float) -> list[File]:
    """The files in a folder and in those it holds."""
    found, inner = _states(root, (folder,))
    for name in inner:
        found += _states(root, (folder, name))[0]
    return [
        File(folders, name, there.st_size, there.st_mtime, lasting, stale) for folders, name, there in found
    ]


def too_many(found: Iterable[File], limit: int, now: float) -> list[File]:
    """Those that have to go for the rest to be under the limit, and what is stale.

    A time in the future counts as one as long ago: the clock was set back.
    """
    going, kept = [], []
    for file in found:
        bound = STALE_TEMPORARY if file.temporary else file.stale
        if abs(now - file.used) > bound:
            going.append(file)
        elif not file.temporary:
            kept.append(file)
    total = sum(file.bytes for file in kept)
    if total <= limit:
        return going
    for file in sorted(kept, key=lambda file: (file.lasting, -abs(now - file.used))):
        if total <= KEEP * limit:
            break
        going.append(file)
        total -= file.bytes
    return going


def removed(root: int, file: File) -> bool:
    """Remove a file, if that can be done."""
    try:
        with open_below(root, *file.folders) as folder:
            return remove(folder, file.name)
    except OSError:
        return False


_Found = tuple[tuple[str, ...], str, os.stat_result]


def _states(root: int, folders: tuple[str, ...]) -> tuple[list[_Found], list[str]]:
    """The files in a folder with their states, and the names of the folders in it."""
    found, inner = [], []
    try:
        with open_below(root, *folders) as folder:
            for name in names(folder):
                there = state(folder, name)
                if there is not None and stat.S_ISREG(there.st_mode):
                    found.append((folders, name, there))
                elif there is not None and stat.S_ISDIR(there.st_mode):
                    inner.append(name)
    except OSError:
        pass  # not there, or somebody else's
    return found, inner
