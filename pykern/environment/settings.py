"""What a user may set from outside: the one file that reads the environment.

Comes in: environment variables. Goes out: `settings()`, a frozen `Settings`, read at the first use and
kept (`settings.cache_clear()` reads again); `table()`, the documentation of every variable.
Each field of `Settings` is declared next to its variable, its meaning and its default.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import field, fields, replace
from typing import Any

from pykern.data.debug_checks import KINDS
from pykern.data.records import record
from pykern.errors import LaunchError

LOG_TOPICS = ("compile", "cache", "remarks", "all")

_SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_ON, _OFF = ("1", "on", "true", "yes"), ("0", "off", "false", "no")
_ALL = frozenset((*_ON, "info", "debug", "verbose"))
"""Words for every topic of the log."""


@record
class Variable:
    """An environment variable: how its text is read, what it allows and means, in words."""

    name: str
    read: Callable[[str], Any]
    allowed: str
    default: str
    meaning: str


def _setting(default: Any, *columns: Any) -> Any:
    variable = Variable(*columns)
    if callable(default):
        return field(default_factory=default, metadata={"variable": variable})
    return field(default=default, metadata={"variable": variable})


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError
        return text

    return read


def _switch(text: str) -> bool:
    if text.lower() not in _ON + _OFF:
        raise ValueError
    return text.lower() in _ON


def _checks(text: str) -> bool | str:
    """A switch, or names of checks."""
    if text.lower() in _ON + _OFF:
        return text.lower() in _ON
    names = [name.strip() for name in text.split(",")]
    if not set(names) <= {*KINDS}:
        raise ValueError
    return ",".join(names)


def _size(text: str) -> int:
    """``512M``, ``1.5GiB``, ``1000000`` in bytes."""
    number = text.upper().removesuffix("B").removesuffix("I")
    unit = number[-1:] if number[-1:] in "KMGT" else ""
    size = int(float(number.removesuffix(unit)) * _SIZES[unit])
    if size < 0:
        raise ValueError
    return size


def _threads(text: str) -> int:
    if (count := int(text)) < 1:
        raise ValueError
    return count


def _seconds(text: str) -> float:
    if not (seconds := float(text)) > 0:  # a NaN is refused too
        raise ValueError
    return min(seconds, 1e8)  # "inf" is fine to say, but not to wait for


def _directory(text: str) -> str:
    path = os.path.expanduser(text)
    if path.startswith("~"):  # of a user who is not known
        raise ValueError
    return os.path.abspath(path)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split(",") if word.strip())


def _topics(text: str) -> frozenset[str]:
    """Topics; what other programs take for "log something" means all of them."""
    topics = _words(text.lower())
    if topics & _ALL:
        return frozenset({"all"})
    topics -= frozenset(_OFF)
    for unknown in sorted(topics - {*LOG_TOPICS}):
        from difflib import get_close_matches  # here: seldom

        raise ValueError(*(f"did you mean {near}?" for near in get_close_matches(unknown, LOG_TOPICS, 1)))
    return topics


def default_cache_dir(environ: Mapping[str, str] | None = None) -> str:
    """Where this platform keeps a user's caches, with ``pykern`` at its end; "" for a user without a home."""
    environ = os.environ if environ is None else environ
    home = _home()
    if sys.platform == "win32":
        base = environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Caches")
    else:
        base = environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(base):  # the XDG specification: a relative path counts as unset
            base = os.path.join(home, ".cache")
    return os.path.abspath(os.path.join(base, "pykern")) if os.path.isabs(base) else ""


def _home() -> str:
    """The user's home folder, "" where none is known: a relative one would be another folder in every directory."""
    home = os.path.expanduser("~")
    if os.path.isabs(home) and os.environ.get("HOME") != "":
        return home
    if sys.platform == "win32":
        return ""
    import pwd  # here: only POSIX has it

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


_SWITCH_WORDS = "0 or 1"


@record
class Settings:
    """All that the environment decides."""

    # fmt: off
    compiler: str = _setting(
        "worker", "PYKERN_COMPILER", _one_of("worker", "inprocess"), "worker or inprocess", "worker",
        "Where kernels are compiled: in a process of its own, or in place (to debug the compiler).",
    )
    compile_timeout: float = _setting(
        300.0, "PYKERN_COMPILE_TIMEOUT", _seconds, "seconds above 0", "300",
        "A compile that takes longer is stopped and reported as a crash.",
    )
    cache: bool = _setting(
        True, "PYKERN_CACHE", _switch, _SWITCH_WORDS, "1",
        "0 neither reads nor writes compiled kernels on disk.",
    )
    cache_dir: str = _setting(
        default_cache_dir, "PYKERN_CACHE_DIR", _directory, "a directory",
        "the user's cache directory + pykern",
        "Where compiled kernels and crash reports are kept. Must belong to the user alone.",
    )
    cache_size: int = _setting(
        512 << 20, "PYKERN_CACHE_SIZE", _size, "bytes, or a number with K, M, G or T", "512M",
        "The size the cache is kept under; what was used longest ago goes first.",
    )
    loader: str = _setting(
        "map", "PYKERN_LOADER", _one_of("map", "dlopen"), "map or dlopen", "map",
        "How compiled CPU code gets into the process: mapped by pykern itself, or by dlopen, as gdb wants it.",
    )
    device: str | None = _setting(
        None, "PYKERN_DEVICE", str, "a device such as cpu, python or cuda:0", "where the arguments live",
        "The device kernels run on when neither the arguments nor the program name one.",
    )
    num_threads: int | None = _setting(
        None, "PYKERN_NUM_THREADS", _threads, "a number of threads from 1", "the CPUs this process may use",
        "Threads that a kernel on the CPU may use.",
    )
    caching_allocator_bytes: int | None = _setting(
        None, "PYKERN_KEPT_MEMORY", _size, "bytes, or a number with K, M, G or T", "an eighth of the memory",
        "Memory of large results and scratch on the CPU that is kept for reuse, at most; 0 keeps none.",
    )
    debug: bool | str = _setting(
        False, "PYKERN_DEBUG", _checks, "0, 1, or a list, with commas, of " + ", ".join(KINDS), "0",
        "1 checks the bounds of every access in every kernel; names say what is checked, as `debug=` of a kernel.",
    )
    fault_handler: bool = _setting(
        True, "PYKERN_FAULT_HANDLER", _switch, _SWITCH_WORDS, "1",
        "0 sets no handler of segmentation faults; it says in which kernel the process dies, and hands on.",
    )
    opencl_c: bool = _setting(
        False, "PYKERN_OPENCL_C", _switch, _SWITCH_WORDS, "0",
        "1 gives OpenCL drivers kernels as OpenCL C, as those get them that take no SPIR-V.",
    )
    webgpu_standard: bool = _setting(
        False, "PYKERN_WEBGPU_STANDARD", _switch, _SWITCH_WORDS, "0",
        "1 takes from devices of WebGPU what browsers have as well: integers of 64 bits are pairs, f64 is not there.",
    )
    dump: str | None = _setting(
        None, "PYKERN_DUMP", _directory, "a directory", "nothing is written",
        "Where every stage of every compiled kernel is written, and the explorer's page of it.",
    )
    log: frozenset[str] = _setting(
        frozenset(), "PYKERN_LOG", _topics, "1 for all, or a list, with commas, of " + ", ".join(LOG_TOPICS), "nothing",
        "What is told on standard error.",
    )
    quiet: bool = _setting(
        False, "PYKERN_QUIET", _switch, _SWITCH_WORDS, "0", "1 tells no progress on standard error.",
    )
    test_require: frozenset[str] = _setting(
        frozenset(), "PYKERN_TEST_REQUIRE", _words, "kinds of devices such as cuda, or torch, with commas", "nothing",
        "Devices and packages whose absence fails the tests that need them, instead of skipping them.",
    )
    # fmt: on

    def logs(self, topic: str) -> bool:
        """True where the user asked to be told of `topic`."""
        return topic in self.log or "all" in self.log


def variables() -> tuple[Variable, ...]:
    """Every variable, in the order of the documentation."""
    return tuple(f.metadata["variable"] for f in fields(Settings))


def read_settings(environ: Mapping[str, str]) -> Settings:
    """The settings that `environ` gives. An empty variable counts as unset.

    Raises `LaunchError` (a `ValueError`) that names the variable and what it allows.
    """
    values = {}
    for setting in fields(Settings):
        variable = setting.metadata["variable"]
        text = environ.get(variable.name, "").strip()
        if not text:
            continue
        try:
            values[setting.name] = variable.read(text)
        except (ValueError, OverflowError) as error:
            near = f"{error} " if str(error).startswith("did you mean") else ""
            raise LaunchError(
                f"{variable.name}={text!r} is not {variable.allowed}",
                hint=f"{near}set {variable.name} to {variable.allowed}, or unset it (default: {variable.default})",
            ) from None
    _warn_of_misspelt(environ)
    return Settings(**values)


def _warn_of_misspelt(environ: Mapping[str, str]) -> None:
    """A variable that is nearly one of ours does nothing, which its user has to know."""
    names = [variable.name for variable in variables()]
    for unknown in (n for n in environ if n.startswith("PYKERN_") and n not in names):
        from difflib import get_close_matches  # here: seldom

        if near := get_close_matches(unknown, names, 1, 0.85):
            warnings.warn(f"{unknown} is no variable of pykern: did you mean {near[0]}?", stacklevel=2)


@functools.cache
def settings() -> Settings:
    """The settings of this process. Of the processes that run a program together the first alone tells progress."""
    found = read_settings(os.environ)
    return found if launched_rank() in (None, 0) else replace(found, quiet=True)


_RANKS = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK")
"""Variables by which launchers of MPI say which rank a process is."""


_SIZES_OF_RUNS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE")


def launched_size(environ: Mapping[str, str] | None = None) -> int | None:
    """How many ranks its launcher started with this process; None where it does not say."""
    return _number(_SIZES_OF_RUNS, environ)


def launched_rank(environ: Mapping[str, str] | None = None) -> int | None:
    """Which rank of MPI this process was launched as; None where none of its launchers did."""
    return _number(_RANKS, environ)


def _number(names: tuple[str, ...], environ: Mapping[str, str] | None) -> int | None:
    environ = os.environ if environ is None else environ
    return next((int(environ[name]) for name in names if environ.get(name, "").isdigit()), None)


def table() -> str:
    """The documentation of every variable, as a table in Markdown."""
    rows = [f"| `{v.name}` | {v.meaning} | {v.allowed} | {v.default} |" for v in variables()]
    return "\n".join(["| variable | meaning | values | default |", "|---|---|---|---|", *rows])
