"""The parts of a large graph are compiled by several processes."""

from __future__ import annotations

import pytest

from pykern.pytest_plugin import need_package

torch = need_package("torch")

import pykern.torch as pkt  # noqa: E402
from pykern.compiler.cache import shared_cache  # noqa: E402
from pykern.compiler.service import Service, service  # noqa: E402
from pykern.obtain import side_by_side  # noqa: E402
from pykern.torch.backend import backend  # noqa: E402
from pykern.torch.backend.ops import TABLE  # noqa: E402
from tests.interop.torch_backend.compare import compared, same  # noqa: E402


def parts(x):
    for n in range(4):
        x = (torch.exp(x * 0.1875) + n).cumsum(n % 2)  # numbers of no other test, which the cache has not
    return x


@pytest.fixture
def started(monkeypatch):
    """The services that are made; a machine of two processors, on which two sources are many."""
    if service().in_place:
        pytest.skip("the compiler runs in this process")
    made = []

    class Noted(Service):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            made.append(self)

    monkeypatch.setattr(side_by_side, "SHARE", 1)
    monkeypatch.setattr(side_by_side, "processors", lambda: 2)
    monkeypatch.setattr(side_by_side, "Service", Noted)
    return made


def test_parts_are_compiled_before_they_are_loaded(started, monkeypatch):
    if shared_cache().store.unusable:
        pytest.skip("there is no cache")
    asked = []
    compile = Service.compile

    def noted(self, source, *args):
        asked.append((self, source.function.name))
        return compile(self, source, *args)

    monkeypatch.setattr(Service, "compile", noted)
    told = compared(parts, torch.randn(3, 7))
    assert len(told.graphs[0].parts) == 4
    assert len(started) == 1
    programs = [name for _, name in asked if name.startswith("fused")]
    assert len(programs) == len({one.text.source for part in told.graphs[0].parts for one in part.compiled})
    assert all(one.worker_pid is None for one in started)


def test_one_that_fails_is_left(started, monkeypatch):
    monkeypatch.setitem(TABLE, torch.ops.aten.exp.default, lambda w, node: "pk.reshape(given, (5,))")
    torch._dynamo.reset()
    x = torch.randn(4, 6)
    compiled = torch.compile(parts, backend=backend)
    same(compiled(x), parts(x))
    assert all(part.failure for part in pkt.summary(compiled).graphs[0].parts)
