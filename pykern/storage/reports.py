"""Files for people that show a crash of a compiler again: in the folder ``crashes``, the newest ones.

Comes in: a name and text or bytes. Goes out: the path, in a folder of the system for temporary files where the user's
own cannot be used.
"""

from __future__ import annotations

import os
import tempfile

from pykern.environment.settings import Settings, settings
from pykern.storage.folders import make_folder, names, open_below, open_folder, remove, state, write_whole

FOLDER = "crashes"
KEPT = 32


def write_report(name: str, data: bytes, chosen: Settings | None = None) -> str | None:
    """Write a report and return its path, or None where no folder takes it."""
    directory = (chosen or settings()).cache_dir
    try:
        if directory:
            return _write(directory, name, data)
    except OSError:
        pass
    try:
        folder = tempfile.mkdtemp(prefix="pykern-crash-")
    except OSError:
        return None
    try:
        with open_folder(folder) as opened:
            write_whole(opened, name, data)
    except OSError:
        os.rmdir(folder)
        return None
    return os.path.join(folder, name)


def _write(directory: str, name: str, data: bytes) -> str:
    make_folder(directory)
    with open_folder(directory) as root, open_below(root, FOLDER, make=True) as folder:
        there = {each: state(folder, each) for each in names(folder)}
        oldest_first = sorted((found.st_mtime, each) for each, found in there.items() if found is not None)
        for _, each in oldest_first[: -KEPT + 1]:
            remove(folder, each)
        write_whole(folder, name, data)
    return os.path.join(directory, FOLDER, name)
