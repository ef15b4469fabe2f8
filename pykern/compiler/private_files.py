"""Files that only their owner may write: what is loaded as code must not come from somebody else.

Comes in: paths. Goes out: directories made or checked, files read after a check of their owner,
files written whole or not at all. Every failure is an OSError; `UnsafePath` says whose fault it is.
"""

from __future__ import annotations

import os
import stat

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
# Windows keeps rights elsewhere, and there a user's cache directory is private by default.
_HAS_OWNERS = hasattr(os, "geteuid")
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class UnsafePath(OSError):
    """A file or directory that someone else owns or may write."""


def make_private(directory: str) -> None:
    """Make `directory` (its last part with mode 0700) unless it is there, then check it."""
    try:
        os.makedirs(directory, mode=0o700)
    except FileExistsError:
        pass
    check_private(directory, os.stat(directory))


def make_below(root: str, path: str) -> None:
    """Make the directories between `root` and the file `path`, all of mode 0700.

    `os.makedirs` would give the mode to the last one only.
    """
    directory = os.path.dirname(path)
    if os.path.isdir(directory):
        return
    if os.path.dirname(directory) != root:
        make_below(root, directory)
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        pass


def check_private(path: str, found: os.stat_result) -> None:
    """Raise `UnsafePath` unless `found`, the state of `path`, is ours alone to write."""
    if not _HAS_OWNERS:
        return
    if found.st_uid != os.geteuid():
        raise UnsafePath(f"{path} belongs to user {found.st_uid}, not to {os.geteuid()}")
    if found.st_mode & _OTHERS_WRITE:
        raise UnsafePath(f"{path} may be written by others (mode {stat.S_IMODE(found.st_mode):o})")


def read_private(path: str) -> tuple[bytes, os.stat_result]:
    """The bytes and the state of a regular file that is ours; symbolic links are refused."""
    handle = os.open(path, os.O_RDONLY | _NOFOLLOW)
    try:
        found = os.fstat(handle)  # of what was opened: nothing can change hands in between
        if not stat.S_ISREG(found.st_mode):
            raise UnsafePath(f"{path} is not a file")
        check_private(path, found)
        data = os.read(handle, found.st_size + 1)
        while len(data) < found.st_size and (more := os.read(handle, found.st_size - len(data))):
            data += more
        return data, found
    finally:
        os.close(handle)


def write_whole(path: str, *chunks: bytes) -> None:
    """Write a file of mode 0600 so that readers see all of it or none, also when processes race."""
    temporary = f"{path}.{os.getpid()}-{os.urandom(6).hex()}.tmp"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o600)
    try:
        try:
            for chunk in chunks:
                view = memoryview(chunk)
                while view:
                    view = view[os.write(handle, view) :]
        finally:
            os.close(handle)
        os.replace(temporary, path)
    except OSError:
        remove(temporary)
        raise


def remove(path: str) -> bool:
    """Remove a file if that can be done; it may be gone already, or be held open elsewhere."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
