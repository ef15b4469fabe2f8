"""What all tests share: a cache of their own, random numbers that repeat, Hypothesis's settings, devices.

A test of a device that is not there is skipped, with the reason in the summary; ``PYKERN_TEST_REQUIRE=opencl,vulkan``
makes it fail instead, for machines that are meant to have them.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cases import quick, refused, time_limit

try:
    import hypothesis
except ImportError:
    raise pytest.UsageError(
        "pykern's own tests need more than the extra `test`: pip install -e '.[dev]', or make test"
    ) from None

hypothesis.settings.register_profile(
    "pykern",
    deadline=None,  # the first example of a test compiles
    derandomize="CI" in os.environ,
    print_blob=True,
)
hypothesis.settings.load_profile("pykern")


def pytest_configure(config: pytest.Config) -> None:
    """For the tests and the programs they start: these sources, and a cache that is new and their own.

    So nothing an earlier version compiled is tested by mistake, and the user's cache is left alone. The workers of
    xdist inherit the environment, so that what one has compiled another finds; tests of the cache have their own.
    """
    if hasattr(config, "workerinput"):
        return
    folder, patch = tempfile.TemporaryDirectory(prefix="pykern-tests-"), pytest.MonkeyPatch()
    config.add_cleanup(folder.cleanup)
    config.add_cleanup(patch.undo)
    patch.setenv("PYKERN_CACHE_DIR", folder.name)
    patch.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=os.pathsep)
    if os.environ.get("PYTHONDONTWRITEBYTECODE"):
        # Each of hundreds of processes would translate every module anew, half of its time: bytecode is kept,
        # but not beside the sources.
        patch.delenv("PYTHONDONTWRITEBYTECODE")
        bytecode = tempfile.TemporaryDirectory(prefix="pykern-tests-bytecode-", ignore_cleanup_errors=True)
        config.add_cleanup(bytecode.cleanup)
        patch.setenv("PYTHONPYCACHEPREFIX", bytecode.name)


@pytest.hookimpl(tryfirst=True)  # before `-m "not slow"` is looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests first: one that begins last leaves the other workers without work."""
    quick.mark_repeated(items)
    quick.mark_long(items)
    if time_limit.is_limited():
        items[:] = time_limit.rotated(items, time_limit.commit_number())
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(tryfirst=True)  # before fixtures are made
def pytest_runtest_setup() -> None:
    """A test for which no time is left is not begun."""
    time_limit.skip_when_over()


def pytest_collection_finish() -> None:
    """Set aside what modules and tests have made until now: millions of objects, which each `gc.collect` would visit.

    Tests of memory collect after each step, and Python does so by itself; what a test leaves is found as before.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """What a device rightly refuses is skipped, with the reason."""
    from pykern.errors import KernelError

    try:
        return (yield)
    except KernelError as error:
        parameters = getattr(item, "callspec", None)
        why = refused.reason(parameters and parameters.params.get("device"), error)
        if why is None:
            raise
        pytest.skip(f"unsupported: {why}")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that are the same in every run of a test, and others in every test."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture(autouse=True)
def torch_repeats(request: pytest.FixtureRequest) -> None:
    """PyTorch's random numbers, too, are the same in every run of a test and in every order of tests."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture(scope="module", autouse=True)
def jax_as_it_was() -> Iterator[None]:
    """A file that lets JAX compute in 64 bits lets it do so for its own tests alone."""
    yield
    if "jax" in sys.modules:
        sys.modules["jax"].config.update("jax_enable_x64", False)


@pytest.fixture(scope="session")
def need_device() -> Callable[[str], str]:
    """``need_device("opencl:0")`` gives the name, or ends the test: skipped, or failed where it is required."""
    return _need_device


@pytest.fixture
def device(request: pytest.FixtureRequest) -> str:
    """For tests over devices: ``@pytest.mark.parametrize("device", [...], indirect=True)``."""
    return _need_device(request.param)


def _need_device(name: str) -> str:
    from pykern.pytest_plugin import need_device as end_test_where_missing

    if not name.startswith("null"):  # a device of tests alone, there on every machine
        end_test_where_missing(name)
    return name


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Why tests were skipped, each reason once, without having to ask for it."""
    reasons: dict[str, int] = {}
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"not run ({count}): {reason.removeprefix('Skipped: ')}")
