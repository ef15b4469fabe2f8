"""The pytest plugin: marks for devices, the fixture ``pk_device``, lit tests as items, golden files.

Installed with pykern (entry point ``pytest11``; ``-p no:pykern.pytest_plugin`` leaves it out). It does nothing in
runs that use none of it, and imports nothing of pykern, NumPy or lit before one does.

=====================================  ========================================================================
``@pytest.mark.pykern_device("cuda")``  skipped with the reason where there is no such device; fails where
                                       ``PYKERN_TEST_REQUIRE=cuda`` names it. ``device("cuda")`` is the same in
                                       runs that use kernels, unless its argument is no device of pykern's
``pk_device`` (fixture)                the test runs once for each device of this machine: cpu, opencl:0, ...
``pykern_lit = true`` (ini)            ``*.mlir`` files with RUN lines are tests
``--pykern-update``                    writes golden files (`pykern.testing.golden`) and CHECK lines
=====================================  ========================================================================

Read next: `pykern.testing`, whose functions tests call.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import pytest

MARK, SHORT_MARK = "pykern_device", "device"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("pykern")
    group.addoption(
        "--pykern-update",
        action="store_true",
        default=False,
        help="write golden files, and CHECK lines of *.mlir tests, from what is computed now",
    )
    parser.addini(
        "pykern_lit", "collect *.mlir files with RUN lines as tests (lit and FileCheck)", "bool", False
    )


def pytest_configure(config: pytest.Config) -> None:
    does = "skip the test, with the reason, where there is no such device (cuda, rocm, metal, vulkan, opencl, webgpu)"
    config.addinivalue_line("markers", f"{MARK}(name): {does}")
    config.addinivalue_line("markers", f"{SHORT_MARK}(name): short for {MARK}(name) in tests of kernels")
    if config.getoption("pykern_update"):
        from pykern.testing import goldens

        goldens.set_updating(True)
        config.add_cleanup(lambda: goldens.set_updating(False))


def pytest_runtest_setup(item: pytest.Item) -> None:
    marks = [*item.iter_markers(MARK)]
    if "pykern.api.kernel" in sys.modules:  # else the mark is another's
        marks += [mark for mark in item.iter_markers(SHORT_MARK) if _is_ours(mark.args)]
    for mark in marks:
        if len(mark.args) != 1 or mark.kwargs or not isinstance(mark.args[0], str):
            pytest.fail(f'write @pytest.mark.{mark.name}("opencl"), with one device', pytrace=False)
        need_device(mark.args[0])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "pk_device" not in metafunc.fixturenames or _is_parametrized(metafunc):
        return
    from pykern.testing.device_needs import PACKAGES, present

    there = present()
    known = {*there, *(name.partition(":")[0] for name in there)}
    absent = sorted(_required() - known - {*PACKAGES})  # these fail when they are run
    metafunc.parametrize("pk_device", [*there, *absent], indirect=True)


@pytest.fixture
def pk_device(request: pytest.FixtureRequest) -> str:
    """The name of a device; the test runs once for each of this machine (the reference is none of them)."""
    name: str = request.param
    need_device(name)
    return name


def need_device(name: str) -> None:
    """End the test that runs, where device `name` is not there: skipped, or failed if it is required."""
    __tracebackhide__ = True
    from pykern.errors import DeviceError
    from pykern.testing.device_needs import missing_device

    try:
        reason = missing_device(name)
    except DeviceError as error:
        pytest.fail(str(error), pytrace=False)
    if reason is None:
        return
    _end(reason, required=bool({name, name.partition(":")[0]} & _required()))


def need_package(name: str) -> Any:
    """The module `name`; where it is not installed, the test (or the file that asks) ends as with `need_device`."""
    __tracebackhide__ = True
    from pykern.testing.device_needs import missing_package

    reason = missing_package(name)
    if reason is not None:
        _end(reason, required=name in _required())
    return importlib.import_module(name)


def _end(reason: str, required: bool) -> NoReturn:
    __tracebackhide__ = True
    if required:
        pytest.fail(f"PYKERN_TEST_REQUIRE asks for it: {reason}", pytrace=False)
    pytest.skip(reason, allow_module_level=True)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".mlir" or not parent.config.getini("pykern_lit"):
        return None
    from pykern.testing.lit_run import has_run_lines

    return LitFile.from_parent(parent, path=file_path) if has_run_lines(file_path) else None


class LitFile(pytest.File):
    """A file with RUN lines: one test."""

    def collect(self) -> Iterable[LitTest]:
        yield LitTest.from_parent(self, name="lit")


class LitTest(pytest.Item):
    """A lit test as an item: what lit skips is skipped, what FileCheck tells is the failure."""

    def runtest(self) -> None:
        from pykern.testing import lit_run
        from pykern.testing.update import update

        found = lit_run.find([self.path])
        if self.config.getoption("pykern_update"):
            update(found)
        for outcome in lit_run.run(found):
            if outcome.failed:
                raise LitFailure(outcome.text)
            if outcome.not_run:
                pytest.skip(outcome.text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, LitFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"lit: {self.path.name}"


class LitFailure(AssertionError):
    """A lit test failed; the text is what its commands wrote."""


def _is_ours(arguments: tuple[Any, ...]) -> bool:
    """Whether a mark ``device(...)`` names a device of pykern's: other projects have marks of this name."""
    from pykern.testing.device_needs import kinds

    return len(arguments) == 1 and str(arguments[0]).partition(":")[0] in kinds()


def _is_parametrized(metafunc: pytest.Metafunc) -> bool:
    """Whether the test names its own devices: ``parametrize("pk_device", [...], indirect=True)``."""
    marks = metafunc.definition.iter_markers("parametrize")
    return any(
        "pk_device" in str(mark.args[0] if mark.args else mark.kwargs.get("argnames")) for mark in marks
    )


def _required() -> frozenset[str]:
    """Devices that ``PYKERN_TEST_REQUIRE`` names; read anew, so that a run may set it."""
    from pykern.environment.settings import read_settings

    return read_settings(os.environ).test_require
