"""Many sources at once, as the parts of a model are: they are compiled side by side, each process of the compiler with
its share.

Comes in: sources. Goes out: nothing; the cache holds what they compile to, where `pykern.obtain.code` finds it. An
error is left to who asks for the code.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack

from pykern.compiler.cache import shared_cache
from pykern.compiler.service import Service, service
from pykern.compiler.versions import versions
from pykern.data.runtime_source import Source
from pykern.environment.machine import processors
from pykern.environment.settings import settings
from pykern.errors import KernelError

SHARE = 12
"""Sources for each further process: it loads MLIR first, which takes as long as it takes to compile some of them."""
MOST_PROCESSES = 8
"""Each takes some 200 MB of memory while it runs."""


def compile_side_by_side(sources: Sequence[Source]) -> None:
    """Put what sources compile to into the cache, if there are many that it has not; else nothing is done."""
    cache = shared_cache()
    if settings().dump is not None or service().in_place or len(sources) <= SHARE:
        return
    wanted = {key: source for source in sources if not cache.has(key := source.key(versions()))}
    count = min(processors(), MOST_PROCESSES, 1 + len(wanted) // SHARE)
    if count == 1 or cache.store.unusable:
        return
    left = [*wanted.items()]
    with ExitStack() as running:
        services = [service(), *(running.enter_context(Service()) for _ in range(count - 1))]
        running.callback(left.clear)  # first of all, where Ctrl-C ends the wait
        threads = [threading.Thread(target=_compile, args=(each, left), daemon=True) for each in services]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def _compile(one: Service, left: list[tuple[str, Source]]) -> None:
    """Compile until nothing is left."""
    while left:
        try:
            key, source = left.pop()
        except IndexError:  # another thread took the last one
            return
        try:
            shared_cache().put(key, one.compile(source))
        except KernelError:
            continue
