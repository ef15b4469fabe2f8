"""Code that is the same for all programs, made by a compiler process before anybody asks for it.

Comes in: `compile_source`, in a process that has nothing else to do. Goes out: the same function, which answers at once
for what was made: a first launch does not wait for it. What lies on disk is not made again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pykern.compiler.cache import shared_cache
from pykern.compiler.versions import versions
from pykern.data.runtime_source import FAULTS, TEAM, RuntimeSource, Source
from pykern.errors import KernelError


class Images:
    """A compile function with a store of images beside it."""

    def __init__(self, compile: Callable[..., Any]) -> None:
        self._compile = compile
        self._made: dict[RuntimeSource, Any] = {}

    def __call__(self, source: Source, *, keep_stages: Any = False, **options: Any) -> Any:
        asked_plainly = isinstance(source, RuntimeSource) and not keep_stages and not options
        if asked_plainly and source in self._made:
            return self._made.pop(source)
        return self._compile(source, keep_stages=keep_stages, **options)

    def make(self, source: RuntimeSource) -> None:
        """Have it ready. What fails fails again for who asks, and is told there."""
        if shared_cache().has(source.key(versions())):
            return
        try:
            self._made[source] = self._compile(source)
        except KernelError:
            return


def make_faults(compile: Images) -> None:
    """The first step of what is made ahead: the handler of faults, which every program on the CPU wants."""
    compile.make(FAULTS)


def make_team(compile: Images) -> None:
    """The second one: the team of threads, which they want too."""
    compile.make(TEAM)
