"""How processes of pykern's own are started, the compiler's and others: by which command, and what they may import.

Comes in: the state of the user's interpreter. Goes out: `worker_command()`, `start()`, `search_path()`.

Such a process runs isolated (``-I``): no environment of Python's, no current directory, none of the
user's ``__main__``. It imports this very pykern, by its place, and else what this process would
import, without the directories of the script and of the shell: a ``types.py`` or ``mlir.py`` that lies
there shadows nothing. (To put them last would not do: the bindings of MLIR are a namespace package,
and any plain module wins over such a one.)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

_PROGRAM = """\
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
module, root, *path = sys.argv[1:]
sys.argv[1:] = []
sys.path[:] = dict.fromkeys(path + sys.path)
spec = PathFinder.find_spec("pykern", [root])
sys.modules["pykern"] = package = module_from_spec(spec)
spec.loader.exec_module(package)
import_module(module).main()
"""


def worker_command(module: str, *options: str) -> list[str]:
    """The command line of a process that runs `main` of a module, with options of Python's; empty where there is no
    interpreter to start."""
    if not sys.executable or getattr(sys, "frozen", False):  # embedded in another program
        return []
    options = (*_bytecode(), *options)
    return [sys.executable, "-I", *options, "-c", _PROGRAM, module, package_root(), *search_path()]


def _bytecode() -> tuple[str, ...]:
    """Where this process keeps the bytecode of modules, and whether it does, which ``-I`` would not tell."""
    place = ("-X", f"pycache_prefix={sys.pycache_prefix}") if sys.pycache_prefix else ()
    return ("-B", *place) if sys.dont_write_bytecode else place


def start(command: Sequence[str], errors: int | IO[bytes], buffered: bool = True) -> subprocess.Popen[bytes]:
    """Start a process that is spoken to by pipes; `errors` is where its standard error goes. Raises OSError."""
    import subprocess  # here: a start with all kernels in the cache does without it

    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        bufsize=-1 if buffered else 0,
        cwd=os.path.abspath(os.sep),  # holds no directory of the user's busy
        start_new_session=True,  # Ctrl-C in the terminal is for the program alone
    )


PIPE = -1
"""`subprocess.PIPE`, which costs an import."""


def package_root() -> str:
    """The directory that holds the package ``pykern``."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def search_path() -> list[str]:
    """``sys.path`` in absolute terms, without what only happens to lie around."""
    standard_library = os.path.dirname(os.path.abspath(os.__file__))
    around = _around() - {standard_library}
    path = dict.fromkeys(entry for text in sys.path if (entry := _absolute(text)))
    return [entry for entry in path if entry not in around]


def _around() -> set[str]:
    """The current directory and the directory of the user's script."""
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    places = {_absolute(""), _absolute(os.path.dirname(script)) if script else ""}
    return places | {os.path.realpath(place) for place in places if place}


def _absolute(entry: object) -> str:
    if not isinstance(entry, str):  # `sys.path` may hold anything; the import system skips it as well
        return ""
    try:
        return os.path.abspath(entry)
    except FileNotFoundError:  # relative to a current directory that was removed
        return ""
