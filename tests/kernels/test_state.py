"""What a kernel reads beside its arguments may change between launches: none runs with what was there before."""

from __future__ import annotations

import enum
import functools
import linecache
import types
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pykern as pk
from pykern.runtime.launchable import SUPPORTED
from tests.cases.emulated import EMULATED

warm = pytest.mark.skipif(not SUPPORTED, reason="calls go through Python in this build of CPython")
X = np.arange(5.0)


class Base:
    a: Any = 2.0


class Derived(Base):
    pass


class Slots:
    __slots__ = ("s",)

    def __init__(self, s: float) -> None:
        self.s = s


class Computed:
    hidden = 4.0

    @property
    def p(self) -> float:
        return self.hidden


@dataclass(frozen=True)
class Frozen:
    w: float = 6.0


class Kind(enum.Enum):
    FIRST = 7.0


Pair = namedtuple("Pair", "u v")
config = types.SimpleNamespace(inner=types.SimpleNamespace(n=3.0))
slots, computed, frozen, pair = Slots(5.0), Computed(), Frozen(), Pair(1.0, 8.0)
module: Any = types.ModuleType("module")
module.z = 9.0
NUMBER: Any = 10.0


def class_attribute(x, y):
    i = pk.index()
    y[i] = x[i] * Base.a


def inherited(x, y):
    i = pk.index()
    y[i] = x[i] * Derived.a


def nested(x, y):
    i = pk.index()
    y[i] = x[i] * config.inner.n


def slot(x, y):
    i = pk.index()
    y[i] = x[i] * slots.s


def property_(x, y):
    i = pk.index()
    y[i] = x[i] * computed.p


def of_frozen(x, y):
    i = pk.index()
    y[i] = x[i] * frozen.w


def member(x, y):
    i = pk.index()
    y[i] = x[i] * Kind.FIRST.value


def of_pair(x, y):
    i = pk.index()
    y[i] = x[i] * pair.v


def of_module(x, y):
    i = pk.index()
    y[i] = x[i] * module.z


def of_global(x, y):
    i = pk.index()
    y[i] = x[i] * NUMBER


def changes(patch):
    """For each function: ways to make its factor another value."""

    def everywhere(name):
        return lambda v: patch.setitem(globals(), name, v)

    return {
        class_attribute: [
            lambda v: patch.setattr(Base, "a", v),
            lambda v: everywhere("Base")(type("B", (), {"a": v})),
        ],
        inherited: [
            lambda v: patch.setattr(Base, "a", v),
            lambda v: patch.setattr(Derived, "a", v, raising=False),
        ],
        nested: [
            lambda v: patch.setattr(config.inner, "n", v),
            lambda v: patch.setattr(config, "inner", types.SimpleNamespace(n=v)),
            lambda v: everywhere("config")(types.SimpleNamespace(inner=types.SimpleNamespace(n=v))),
        ],
        slot: [lambda v: patch.setattr(slots, "s", v)],
        property_: [
            lambda v: patch.setattr(computed, "hidden", v, raising=False),
            lambda v: patch.setattr(Computed, "p", property(lambda self: v)),
        ],
        of_frozen: [
            lambda v: everywhere("frozen")(Frozen(v)),
            lambda v: object.__setattr__(frozen, "w", v),
        ],
        member: [lambda v: patch.setattr(Kind.FIRST, "_value_", v)],
        of_pair: [lambda v: everywhere("pair")(Pair(0, v))],
        of_module: [
            lambda v: patch.setattr(module, "z", v),
            lambda v: everywhere("module")(types.SimpleNamespace(z=v)),
        ],
        of_global: [everywhere("NUMBER")],
    }


FUNCTIONS = [
    class_attribute, inherited, nested, slot, property_, of_frozen, member, of_pair, of_module, of_global,
]  # fmt: skip
DEVICES = pytest.mark.parametrize(
    "device", ["cpu", "opencl:0", "vulkan:0", *EMULATED, "python"], indirect=True
)


class Calls:
    """How often a kernel's launches went through Python."""

    def __init__(self, kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count, self.launch = 0, kernel.launcher.launch
        monkeypatch.setattr(kernel.launcher, "launch", self)

    def __call__(self, args: tuple, keywords: dict) -> Any:
        self.count += 1
        return self.launch(args, keywords)


def factor(kernel: Any, device: str = "cpu") -> float:
    """What the kernel multiplies with."""
    if device == "python":
        with pk.device("python"):
            return factor(kernel)
    x, y = (X, np.zeros(5)) if device == "cpu" else (pk.array(X, device=device), pk.zeros(5, device=device))
    kernel(x, y, ndrange=5)
    found = np.asarray(y if device == "cpu" else y.numpy())
    np.testing.assert_array_equal(found, X * found[1])
    return found[1]


@DEVICES
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_a_path_names_may_change(function, device, monkeypatch):
    kernel, value = pk.kernel(function), 20.0
    for change in changes(monkeypatch)[function]:
        for _ in range(2):
            value += 1.0
            change(value)
            for _ in range(3):
                assert factor(kernel, device) == value


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_array_programs_and_gradients_see_the_change(function, monkeypatch):
    line = {f: f.__code__.co_names for f in FUNCTIONS}[function]
    path = ".".join(name for name in line if name not in ("pk", "index"))
    space = globals()
    text = f"def whole(x):\n    return (x * x * {path}).sum()\n"
    whole = defined(text, "whole", space, monkeypatch)
    program, gradient, value = pk.jit(whole), pk.grad(whole), 30.0
    for change in changes(monkeypatch)[function]:
        for _ in range(2):
            value += 1.0
            change(value)
            for _ in range(4):
                assert program(X) == whole(X) == (X * X).sum() * value
                np.testing.assert_array_equal(gradient(X), 2 * X * value)


def defined(text: str, name: str, space: dict, monkeypatch: pytest.MonkeyPatch) -> Any:
    file = f"<{name} {abs(hash(text))}>"
    monkeypatch.setitem(linecache.cache, file, (len(text), None, text.splitlines(True), file))
    found: dict[str, Any] = {}
    exec(compile(text, file, "exec", dont_inherit=True), space, found)
    return found[name]


@warm
@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f is not property_], ids=lambda f: f.__name__)
def test_launches_that_read_attributes_are_warm(function, monkeypatch):
    kernel = pk.kernel(function)
    before = factor(kernel)
    calls = Calls(kernel, monkeypatch)
    for _ in range(20):
        assert factor(kernel) == before
    assert not calls.count


@warm
def test_an_equal_value_that_is_another_object_is_warm_again(monkeypatch):
    kernel = pk.kernel(of_global)
    for text in ("2.5", "2.5", "3.5", "2.5"):
        monkeypatch.setitem(globals(), "NUMBER", float(text))
        for _ in range(70):
            assert factor(kernel) == float(text)
        calls = Calls(kernel, monkeypatch)
        assert factor(kernel) == float(text)
        assert not calls.count


@warm
def test_an_attribute_that_becomes_a_property(monkeypatch):
    class Local:
        a = 2.0

    local = Local()

    @pk.kernel
    def kernel(x, y):
        i = pk.index()
        y[i] = x[i] * local.a

    asked = []

    def counted(self):
        asked.append(self)
        factor(kernel) if len(asked) == 1 else None  # a launch, while an entry looks
        return 3.0 + len(asked)

    assert [factor(kernel) for _ in range(3)] == [2.0] * 3
    Local.a = property(counted)  # type: ignore[assignment]
    for _ in range(5):
        before = len(asked)
        assert before + 3.0 < factor(kernel) <= len(asked) + 3.0
    del Local.a
    local.a = 7.0
    assert [factor(kernel) for _ in range(3)] == [7.0] * 3


def test_a_builtin_that_is_shadowed_later(monkeypatch):
    def largest(x, y):
        i = pk.index()
        y[i] = max(x[i], x[i] * 2.0)

    @pk.func
    def smallest(a, b):
        return min(a, b)

    kernel = pk.kernel(largest)
    assert [factor(kernel) for _ in range(3)] == [2.0] * 3
    monkeypatch.setitem(globals(), "max", smallest)
    assert [factor(kernel) for _ in range(3)] == [1.0] * 3
    monkeypatch.delitem(globals(), "max")
    assert [factor(kernel) for _ in range(3)] == [2.0] * 3


def test_a_module_under_another_name(monkeypatch):
    other: Any = types.ModuleType("other")
    other.z = 12.0
    kernel = pk.kernel(of_module)
    for made in (other, module, other):
        monkeypatch.setitem(globals(), "module", made)
        assert [factor(kernel) for _ in range(3)] == [made.z] * 3


def test_defaults_of_functions_kernels_and_programs():
    @pk.func
    def times(x, by=2.0, *, more=1.0):
        return x * by * more

    @pk.kernel
    def calls(x, y):
        i = pk.index()
        y[i] = times(x[i])

    @pk.kernel
    def own(x, y, by=2.0, more=1.0):
        i = pk.index()
        y[i] = x[i] * by * more

    @pk.jit
    def program(x, by=2.0, *, more=1.0):
        return x * by * more

    function = times.__pykern_function__
    gradient = pk.grad(lambda_free_sum(program))
    for by, more in ((2.0, 1.0), (3.0, 1.0), (3.0, 5.0), (4.0, 6.0)):
        function.__defaults__ = program.__wrapped__.__defaults__ = (by,)
        function.__kwdefaults__["more"] = program.__wrapped__.__kwdefaults__["more"] = more
        own.__wrapped__.__defaults__ = by, more
        for _ in range(3):
            assert factor(calls) == factor(own) == by * more
            np.testing.assert_array_equal(program(X), X * by * more)
            np.testing.assert_array_equal(gradient(X), np.full(5, by * more))


def lambda_free_sum(program):
    def total(x):
        return program(x).sum()

    return total


def test_a_wrapper_of_a_function_is_not_the_function():
    @pk.func
    def twice(x):
        return x * 2.0

    @functools.wraps(twice)
    def wrapper(x):
        return twice(x) + 1.0

    @pk.kernel
    def kernel(x, y):
        i = pk.index()
        y[i] = wrapper(x[i])

    with pytest.raises(pk.KernelTypeError, match="plain Python function"):
        kernel(X, np.zeros(5), ndrange=5)


def test_an_object_that_has_every_attribute():
    class Every:
        def __getattr__(self, name):
            return 4.0

    every = Every()

    @pk.kernel
    def kernel(x, y):
        i = pk.index()
        y[i] = x[i] * every.something

    assert factor(kernel) == 4.0


@pytest.mark.parametrize(
    "device",
    ["cpu", "opencl:0", "vulkan:0", "webgpu:0", *EMULATED, "metal:emulated:0"],
    indirect=True,
)
def test_replays_of_a_graph_have_the_names_of_the_capture(device, monkeypatch):
    kernel = pk.kernel(of_global)
    monkeypatch.setitem(globals(), "NUMBER", 2.0)
    x, y = pk.array(X, device=device), pk.zeros(5, device=device)
    with pk.graph() as steps:
        kernel(x, y, ndrange=5)
    for number in (2.0, 3.0, 4.0):
        monkeypatch.setitem(globals(), "NUMBER", number)
        steps.replay()
        pk.synchronize(device)
        np.testing.assert_array_equal(y.numpy(), X * 2.0)
        assert factor(kernel, device) == number
