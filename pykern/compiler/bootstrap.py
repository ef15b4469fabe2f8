"""How the compiler process is started: by which command, and what it may import.

Comes in: the state of the user's interpreter. Goes out: `worker_command()`, `search_path()`.

The process runs isolated (``-I``): no environment of Python's, no current directory, none of the
user's ``__main__``. It imports this very pykern, by its place, and else what this process would
import, without the directories of the script and of the shell: a ``types.py`` or ``mlir.py`` that lies
there shadows nothing. (To put them last would not do: the bindings of MLIR are a namespace package,
and any plain module wins over such a one.)
"""

from __future__ import annotations

import os
import sys

_PROGRAM = """\
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
root, *path = sys.argv[1:]
sys.path[:] = dict.fromkeys(path + sys.path)
spec = PathFinder.find_spec("pykern", [root])
sys.modules["pykern"] = package = module_from_spec(spec)
spec.loader.exec_module(package)
from pykern.compiler.worker import main
main()
"""


def worker_command() -> list[str]:
    """The command line of the compiler process; empty where there is no interpreter to start."""
    if not sys.executable or getattr(sys, "frozen", False):  # embedded in another program
        return []
    return [sys.executable, "-I", "-X", "faulthandler", "-c", _PROGRAM, package_root(), *search_path()]


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
