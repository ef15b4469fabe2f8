"""What the environment may say."""

from __future__ import annotations

import os
import sys

import pytest

from pykern.environment import settings as module
from pykern.environment.settings import Settings, read_settings, settings, table, variables
from pykern.errors import LaunchError


def test_nothing_set():
    assert read_settings({}) == Settings() == read_settings({v.name: "  " for v in variables()})
    assert os.path.isabs(Settings().cache_dir)


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("COMPILER", "inprocess", "compiler", "inprocess"),
        ("COMPILE_TIMEOUT", "2.5", "compile_timeout", 2.5),
        ("COMPILE_TIMEOUT", "inf", "compile_timeout", 1e8),
        ("CACHE", "0", "cache", False),
        ("CACHE", "OFF", "cache", False),
        ("CACHE_DIR", "/tmp/../tmp/x", "cache_dir", os.path.abspath("/tmp/x")),
        ("CACHE_SIZE", "1000", "cache_size", 1000),
        ("CACHE_SIZE", "64k", "cache_size", 65536),
        ("CACHE_SIZE", "1.5GiB", "cache_size", 1610612736),
        ("CACHE_SIZE", "2 MB", "cache_size", 2 << 20),
        ("CACHE_SIZE", "0", "cache_size", 0),
        ("DEVICE", "cuda:1", "device", "cuda:1"),
        ("NUM_THREADS", "3", "num_threads", 3),
        ("DEBUG", "1", "debug", True),
        ("DUMP", "~", "dump", os.path.expanduser("~")),
        ("LOG", "cache, remarks", "log", frozenset({"cache", "remarks"})),
        *(("LOG", word, "log", frozenset({"all"})) for word in ("1", "true", "info", "ON", "debug", "all,1")),
        ("LOG", "0", "log", frozenset()),
        ("LOG", "Compile", "log", frozenset({"compile"})),
        ("QUIET", "yes", "quiet", True),
        ("TEST_REQUIRE", "opencl, vulkan", "test_require", frozenset({"opencl", "vulkan"})),
    ],
)
def test_each_variable(name: str, text: str, field: str, value: object):
    read = read_settings({f"PYKERN_{name}": text})
    assert getattr(read, field) == value
    assert read != Settings() or value == getattr(Settings(), field)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("COMPILER", "remote"),
        ("COMPILE_TIMEOUT", "0"), ("COMPILE_TIMEOUT", "nan"), ("COMPILE_TIMEOUT", "soon"),
        ("CACHE", "maybe"),
        ("CACHE_SIZE", "-1"), ("CACHE_SIZE", "big"), ("CACHE_SIZE", "inf"), ("CACHE_SIZE", "B"),
        ("NUM_THREADS", "0"), ("NUM_THREADS", "2.5"), ("LOG", "everything"), ("LOG", "compiler"), ("DEBUG", "2"),
    ],
)  # fmt: skip
def test_a_bad_value_is_named_with_what_is_allowed(name: str, text: str):
    with pytest.raises(LaunchError) as caught:
        read_settings({f"PYKERN_{name}": text})
    message = str(caught.value)
    (variable,) = (v for v in variables() if v.name == f"PYKERN_{name}")
    assert (
        f"PYKERN_{name}={text!r}" in message and variable.allowed in message and variable.default in message
    )
    assert isinstance(caught.value, ValueError)


def test_read_once_and_again_on_demand(monkeypatch: pytest.MonkeyPatch):
    settings.cache_clear()
    try:
        first = settings()
        monkeypatch.setenv("PYKERN_NUM_THREADS", "7")
        assert settings() is first
        settings.cache_clear()
        assert settings().num_threads == 7
    finally:
        monkeypatch.undo()
        settings.cache_clear()


@pytest.mark.parametrize(
    ("platform", "environ", "expected"),
    [
        ("linux", {}, "~/.cache/pykern"),
        ("linux", {"XDG_CACHE_HOME": "/scratch"}, "/scratch/pykern"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "~/.cache/pykern"),
        ("darwin", {}, "~/Library/Caches/pykern"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/pykern"),
    ],
)
def test_where_the_cache_lies(
    monkeypatch: pytest.MonkeyPatch, platform: str, environ: dict[str, str], expected: str
):
    if sys.platform == "win32" and platform != "win32":
        pytest.skip("paths of POSIX")
    monkeypatch.setattr(module.sys, "platform", platform)
    assert module.default_cache_dir(environ) == os.path.abspath(os.path.expanduser(expected))


def test_the_table_names_every_variable():
    rows = table().splitlines()[2:]
    assert [row.split("`")[1] for row in rows] == [v.name for v in variables()]
    assert all(row.count(" | ") == 3 for row in rows)


def test_a_misspelt_variable_is_told():
    with pytest.warns(UserWarning, match="did you mean PYKERN_NUM_THREADS"):
        read_settings({"PYKERN_NUM_THREAD": "2"})


def test_variables_of_others_are_let_be(recwarn: pytest.WarningsRecorder):
    read_settings({"PYKERN_WRITE_TEXTS": "1", "PYKERN_QUIET": "1", "OMP_NUM_THREADS": "2", "PYKERNEL": "1"})
    assert not recwarn
