"""Code that is the same for all programs, made by a compiler process before anybody asks for it.

Comes in: `compile_source`, in a process that has nothing else to do. Goes out: the same function, which answers at once
for what was made: a first launch does not wait for it. What lies on disk is not made again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pykern.compiler.cache import shared_cache
from pykern.compiler.versions import versions
from pykern.data.program_source import ProgramSource
from pykern.data.source import FunctionSource, KernelSource, LaunchSpec
from pykern.errors import KernelError


def image(symbol: str, target: str) -> KernelSource:
    """What to ask the compiler for."""
    return KernelSource(FunctionSource(symbol, "", 0, ""), (), LaunchSpec(0), target=f"entry:{target}")


FAULTS, TEAM = image("pk_watch", "faults"), image("pk_fork", "team")
"""Those that every program on the CPU wants: the handler of faults, and the team of threads."""


class Images:
    """A compile function with a store of images beside it."""

    def __init__(self, compile: Callable[..., Any]) -> None:
        self._compile = compile
        self._made: dict[str, Any] = {}

    def __call__(
        self, source: KernelSource | ProgramSource, *, keep_stages: Any = False, **options: Any
    ) -> Any:
        if not keep_stages and not options and source.target in self._made:
            return self._made.pop(source.target)
        return self._compile(source, keep_stages=keep_stages, **options)

    def make(self, source: KernelSource) -> None:
        """Have it ready. What fails fails again for who asks, and is told there."""
        if shared_cache().has(source.key(versions())):
            return
        try:
            self._made[source.target] = self._compile(source)
        except KernelError:
            return


def make_faults(compile: Images) -> None:
    """The first step of what is made ahead."""
    compile.make(FAULTS)


def make_team(compile: Images) -> None:
    """The second one."""
    compile.make(TEAM)
