"""Folders and files that only their owner may write: what is loaded as code must not come from somebody else.

Comes in: the path of the outermost folder, then names alone. Goes out: open folders, checked; files read after a check
of their owner, and written whole or not at all. Below the outermost folder no link is followed: every folder is opened
from the one above it, and a file is named within an open folder, so nobody can change a path on the way.
Every failure is an OSError; `UnsafePath` says whose fault it is.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

SUPPORTED = os.open in os.supports_dir_fd and hasattr(os, "geteuid")
"""POSIX. Elsewhere nothing is kept; no kernel is compiled there either."""

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
"""Not to wait: opening a pipe would, for somebody who writes into it."""
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | getattr(os, "O_CLOEXEC", 0)
TEMPORARY = ".tmp"
"""How the name ends of a file that is being written."""


class UnsafePath(OSError):
    """A file or folder that someone else owns or may write, or that is something else than it should be."""


def make_folder(path: str) -> None:
    """Make a folder of mode 0700, and those it stands in, where they are missing."""
    try:
        os.makedirs(path, mode=0o700)
    except FileExistsError:
        pass


@contextmanager
def open_folder(path: str) -> Iterator[int]:
    """The descriptor of the outermost folder. It may be a link, of the user's own: what it leads to is checked."""
    folder = os.open(path, _FOLDER)
    try:
        _check(path, os.fstat(folder))
        yield folder
    finally:
        os.close(folder)


@contextmanager
def open_below(folder: int, *names: str, make: bool = False) -> Iterator[int]:
    """The descriptor of a folder below an open one; `make` makes it, with mode 0700. A link is refused."""
    inner, path = os.dup(folder), ""
    try:
        for name in names:
            path = os.path.join(path, name)
            outer, inner = inner, _inner(inner, name, path, make)
            os.close(outer)
            _check(path, os.fstat(inner))
        yield inner
    finally:
        os.close(inner)


def _inner(folder: int, name: str, path: str, make: bool) -> int:
    if make:
        try:
            os.mkdir(name, 0o700, dir_fd=folder)
        except FileExistsError:
            pass
    try:
        return os.open(name, _FOLDER | _NOFOLLOW, dir_fd=folder)
    except OSError:
        if (found := state(folder, name)) is not None and not stat.S_ISDIR(found.st_mode):
            raise UnsafePath(f"{path} is not a folder") from None
        raise


def _check(path: str, found: os.stat_result) -> None:
    """Raise `UnsafePath` unless `found`, the state of `path`, is ours alone to write."""
    if found.st_uid != os.geteuid():
        raise UnsafePath(f"{path} belongs to user {found.st_uid}, not to {os.geteuid()}")
    if found.st_mode & _OTHERS_WRITE:
        raise UnsafePath(f"{path} may be written by others (mode {stat.S_IMODE(found.st_mode):o})")


def state(folder: int, name: str) -> os.stat_result | None:
    """What stands under a name, a link itself rather than what it leads to; None where nothing does."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None


def names(folder: int) -> list[str]:
    """What is in a folder."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def read_private(folder: int, name: str, most: int) -> tuple[bytes, os.stat_result]:
    """The bytes and the state of a regular file that is ours and has at most so many bytes."""
    handle = os.open(name, _READ, dir_fd=folder)
    try:
        found = os.fstat(handle)  # of what was opened: nothing can change hands in between
        if not stat.S_ISREG(found.st_mode):
            raise UnsafePath(f"{name} is not a file")
        _check(name, found)
        if found.st_size > most:
            raise UnsafePath(f"{name} has {found.st_size} bytes")
        data = os.read(handle, found.st_size + 1)
        while len(data) < found.st_size and (more := os.read(handle, found.st_size - len(data))):
            data += more
        return data, found
    finally:
        os.close(handle)


def write_whole(folder: int, name: str, *chunks: bytes) -> None:
    """Write a file of mode 0600 so that readers see all of it or none, also when processes race."""
    temporary = f"{name}.{os.getpid()}-{os.urandom(6).hex()}{TEMPORARY}"
    handle = os.open(temporary, _MAKE, 0o600, dir_fd=folder)
    try:
        try:
            for chunk in chunks:
                view = memoryview(chunk)
                while view:
                    view = view[os.write(handle, view) :]
        finally:
            os.close(handle)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:  # Ctrl-C, too, leaves nothing behind
        remove(folder, temporary)
        raise


def touch(folder: int, name: str) -> None:
    """Mark a file as used now, if that can be done."""
    try:
        os.utime(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        pass  # read-only, or pruned just now


def remove(folder: int, name: str) -> bool:
    """Remove a file, or a link itself, if that can be done; it may be gone already."""
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        return False
    return True
