"""Files for programs and libraries that want a path, without a folder: nothing is left behind, whatever ends when.

Comes in: content. Goes out: `MemoryFile`, whose path this process and its children open. It is in memory on Linux;
elsewhere in a temporary folder, which goes with it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from types import TracebackType


class MemoryFile:
    """A file; used in a ``with`` statement, or closed."""

    def __init__(self, content: bytes = b"") -> None:
        self._folder = "" if hasattr(os, "memfd_create") else tempfile.mkdtemp(prefix="pykern-")
        if self._folder:
            self._place, self.name = self._folder, "file"
            self._handle = os.open(os.path.join(self._folder, self.name), os.O_RDWR | os.O_CREAT, 0o600)
        else:
            self._handle = os.memfd_create("pykern")
            self._place, self.name = "/proc/self/fd", str(self._handle)
        left = memoryview(content)
        while left:
            left = left[os.write(self._handle, left) :]

    def __enter__(self) -> MemoryFile:
        return self

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def path(self) -> str:
        """Where this process finds it, and a child that inherits `handles`."""
        return os.path.join(self._place, self.name)

    @property
    def shared_path(self) -> str:
        """Where any process of this user finds it."""
        return self.path.replace("/self/", f"/{os.getpid()}/") if not self._folder else self.path

    @property
    def handles(self) -> tuple[int, ...]:
        """What a child has to inherit (`pass_fds`)."""
        return () if self._folder else (self._handle,)

    def other_path(self, number: int) -> str:
        """The same file by another path: MLIR tells files by their paths."""
        return os.path.join(self._place, *["."] * number, self.name)

    def read(self) -> bytes:
        """What stands in it."""
        with open(self.path, "rb") as file:  # a program may have put another one in its place
            return file.read()

    def close(self) -> None:
        """Let it go."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
            if self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)
