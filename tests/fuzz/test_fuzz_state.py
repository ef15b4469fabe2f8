"""Random changes of all that a kernel reads beside its arguments, between launches that are warm.

Globals, attributes of classes, instances, slots, properties, modules, cells of closures, defaults and functions change
in any order; after each change kernels, array programs and gradients give what the plain Python function gives now.
"""

from __future__ import annotations

import linecache
import types
from typing import Any

import numpy as np
import pytest

import pykern as pk
from tests.cases.seeds import seeds

STATE = """
import enum, types
from collections import namedtuple
from dataclasses import dataclass

import pykern as pk

NUMBER = 3

class Base:
    a = 2

class Derived(Base):
    pass

class Plain:
    def __init__(self):
        self.b = 1

class Slots:
    __slots__ = ("s",)
    def __init__(self, s):
        self.s = s

class Computed:
    hidden = 4
    @property
    def p(self):
        return self.hidden

class Dynamic:
    known = 5
    def __getattr__(self, name):
        return Dynamic.known

@dataclass(frozen=True)
class Frozen:
    w: int = 6

class Kind(enum.Enum):
    FIRST = 7

Pair = namedtuple("Pair", "u v")

plain, slots, computed, dynamic, frozen, pair = Plain(), Slots(3), Computed(), Dynamic(), Frozen(), Pair(1, 2)
nested = types.SimpleNamespace(inner=types.SimpleNamespace(n=4))
module = types.ModuleType("module")
module.z, module.sub = 8, types.ModuleType("module.sub")
module.sub.y = 9

@pk.func
def shifted(x, by=1):
    return x + by

@pk.func
def scaled(x):
    return x * NUMBER + Derived.a
"""
TERMS = [
    "NUMBER", "Base.a", "Derived.a", "plain.b", "slots.s", "computed.p", "dynamic.any", "frozen.w", "Kind.FIRST.value",
    "pair.v", "nested.inner.n", "module.z", "module.sub.y", "shifted(x_)", "scaled(x_)", "cell", "held.a", "max(x_, 3)",
]  # fmt: skip
COMPUTED = {"computed.p", "dynamic.any"}
"""Without these launches run no Python."""


class Changes:
    """What may happen to the state between two launches, by the name of the term that reads it."""

    def __init__(self, space: dict[str, Any], rng: np.random.Generator) -> None:
        self.space, self.rng = space, rng
        s = space
        self.of: dict[str, list] = {
            "NUMBER": [lambda v: s.update(NUMBER=v)],
            "Base.a": [lambda v: setattr(s["Base"], "a", v)],
            "Derived.a": [
                lambda v: setattr(s["Derived"], "a", v),
                lambda v: self.uncover(),
                lambda v: self.rebase(v),
            ],
            "plain.b": [
                lambda v: setattr(s["plain"], "b", v),
                lambda v: vars(s["plain"]).update(b=v),
                lambda v: self.new_dict(v),
                lambda v: s.update(plain=types.SimpleNamespace(b=v)),
                lambda v: self.new_class(v),
            ],
            "slots.s": [lambda v: setattr(s["slots"], "s", v), lambda v: s.update(slots=s["Slots"](v))],
            "computed.p": [
                lambda v: setattr(s["computed"], "hidden", v),
                lambda v: setattr(s["Computed"], "p", property(lambda self: v)),
            ],
            "dynamic.any": [lambda v: setattr(s["Dynamic"], "known", v)],
            "frozen.w": [
                lambda v: object.__setattr__(s["frozen"], "w", v),
                lambda v: s.update(frozen=s["Frozen"](v)),
            ],
            "Kind.FIRST.value": [lambda v: setattr(s["Kind"].FIRST, "_value_", v)],
            "pair.v": [lambda v: s.update(pair=s["Pair"](0, v))],
            "nested.inner.n": [
                lambda v: setattr(s["nested"].inner, "n", v),
                lambda v: setattr(s["nested"], "inner", types.SimpleNamespace(n=v)),
            ],
            "module.z": [lambda v: setattr(s["module"], "z", v), lambda v: self.new_module(v)],
            "module.sub.y": [lambda v: setattr(s["module"].sub, "y", v)],
            "shifted(x_)": [
                lambda v: setattr(s["shifted"].__pykern_function__, "__defaults__", (v,)),
                lambda v: self.redecorate(v),
            ],
            "scaled(x_)": [lambda v: s.update(NUMBER=v), lambda v: setattr(s["Base"], "a", v)],
            "cell": [lambda v: s["put_cell"](v)],
            "held.a": [lambda v: setattr(s["held_class"], "a", v)],
            "max(x_, 3)": [lambda v: self.shadow()],
        }

    def uncover(self) -> None:
        if "a" in vars(self.space["Derived"]):
            del self.space["Derived"].a

    def rebase(self, value: Any) -> None:
        """Another class between the two."""
        middle = type("Middle", (self.space["Base"],), {"a": value})
        self.uncover()
        self.space["Derived"].__bases__ = (middle,)

    def new_dict(self, value: Any) -> None:
        if type(self.space["plain"]) is not types.SimpleNamespace:
            self.space["plain"].__dict__ = {"b": value}

    def new_class(self, value: Any) -> None:
        other = type("Other", (), {"b": property(lambda self: value)})
        if type(self.space["plain"]) is not types.SimpleNamespace:
            self.space["plain"].__class__ = other

    def new_module(self, value: Any) -> None:
        made, old = types.ModuleType("module"), self.space["module"]
        made.z, made.sub = value, old.sub  # type: ignore[attr-defined]
        self.space["module"] = made

    def redecorate(self, value: Any) -> None:
        text = f"@pk.func\ndef shifted(x, by=2):\n    return x * {value} + by\n"
        run(text, self.space, f"<shifted {value}>")

    def shadow(self) -> None:
        """`max` is the module's own, or Python's again."""
        if "max" in self.space:
            del self.space["max"]
        else:
            run("@pk.func\ndef max(x, y):\n    return y - x\n", self.space, "<max>")


def run(text: str, space: dict[str, Any], file: str) -> None:
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec", dont_inherit=True), space)


def text_of(terms: list[str]) -> str:
    """Functions over the same names: a kernel, a program, a value to differentiate; both in a closure."""
    weighted = " + ".join(f"{term} * {n + 2}" for n, term in enumerate(terms))
    item = weighted.replace("x_", "x[i]")
    whole = " + ".join(f"{t} * {n + 2}" for n, t in enumerate(terms) if "(x_" not in t) or "0"
    return f"""
def make():
    cell = 5
    class held:
        a = 6
    def put_cell(value):
        nonlocal cell
        cell = value
    @pk.kernel
    def kernel(x, y):
        i = pk.index()
        y[i] = x[i] + {item}
    @pk.kernel
    def product(x, y):
        i = pk.index()
        y[i] = x[i] * x[i] * ({item.replace("x[i]", "2.0")})
    def plain_item(x):
        return x + {weighted.replace("x_", "x")}
    def plain_factor():
        return {weighted.replace("x_", "2.0")}
    def plain_whole(x):
        return (x * x * ({whole})).sum()
    return kernel, product, plain_item, plain_factor, plain_whole, put_cell, held
kernel, product, plain_item, plain_factor, plain_whole, put_cell, held_class = make()
"""


@pytest.mark.parametrize("device", ["cpu", "opencl:0", "vulkan:0", "python"], indirect=True)
@pytest.mark.parametrize("seed", seeds(3))
def test_no_launch_has_the_state_of_before(seed, device):
    rng = np.random.default_rng(seed)
    few = device != "cpu"
    terms = [str(t) for t in rng.permutation(TERMS)[: rng.integers(3, 6)]]
    if rng.random() < 0.7:
        terms = [t for t in terms if t not in COMPUTED] or ["Derived.a"]
    space: dict[str, Any] = {"__name__": f"state{seed}"}
    run(STATE, space, f"<state {seed}>")
    run(text_of(terms), space, f"<kernels {seed} {' '.join(terms)}>")
    changes = Changes(space, rng)
    check = Checked(space, device, rng)
    check(f"{terms} as they are")
    for _ in range(6 if few else 14):
        term = str(rng.choice(terms))
        kinds = changes.of[term]
        change = int(rng.integers(len(kinds)))
        value = [4, 4.0, float("2.5"), 7, 7, np.float64(7.0), True][rng.integers(7)]
        if term == "Kind.FIRST.value" or isinstance(value, np.generic):
            value = float(value)
        kinds[change](value)
        check(f"{term} is {value!r} by way {change}, of {terms}")


class Checked:
    """Launches often enough to be warm, each compared with plain Python."""

    def __init__(self, space: dict[str, Any], device: str, rng: np.random.Generator) -> None:
        self.space, self.device = space, device
        self.host = rng.integers(-8, 8, 5).astype(np.float64)
        self.x = pk.array(self.host, device=device) if device not in ("cpu", "python") else self.host
        self.program = pk.jit(space["plain_whole"])
        self.gradient = pk.grad(space["plain_whole"])
        self.derivative = pk.autodiff(space["product"])

    def __call__(self, what: str) -> None:
        host, whole = self.host, self.space["plain_whole"]
        wanted = [self.space["plain_item"](value) for value in host]
        for _ in range(3):
            y = self.fresh()
            self.launch(self.space["kernel"], self.x, y)
            np.testing.assert_array_equal(self.read(y), wanted, err_msg=f"kernel: {what}")
        if self.device == "python":
            return
        for _ in range(3):
            np.testing.assert_array_equal(self.read(self.program(self.x)), whole(host), err_msg=what)
            found = self.read(self.gradient(self.x))
            np.testing.assert_array_equal(found, 2 * host * whole(np.ones(1)), err_msg=f"gradient: {what}")
            dx, dy, y = self.fresh(), self.fresh(1.0), self.fresh()
            self.launch(self.derivative, pk.Dup(self.x, dx), pk.Dup(y, dy))
            factor = self.space["plain_factor"]()
            np.testing.assert_array_equal(self.read(dx), 2 * host * factor, err_msg=f"derivative: {what}")

    def fresh(self, value: float = 0.0) -> Any:
        made = np.full(self.host.shape, value)
        return made if self.x is self.host else pk.array(made, device=self.device)

    def launch(self, kernel: Any, *args: Any) -> None:
        if self.device == "python":
            with pk.device("python"):
                kernel(*args, ndrange=5)
        else:
            kernel(*args, ndrange=5)

    def read(self, value: Any) -> Any:
        return value.numpy() if hasattr(value, "numpy") else value
