"""What the types of the usual expressions are; `test_checkers` reads the comments."""
# ruff: noqa: F821 - checkers know reveal_type

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import pykern as pk

x: npt.NDArray[np.float64] = np.ones(8)


@pk.kernel
def plain(y: pk.f64[:], n: int) -> None:
    y[pk.index()] = n


@pk.kernel(debug=True)
def debugged(y: pk.f64[:]) -> None:
    y[pk.index()] = 1


@pk.func
def half(a: float) -> float:
    return a / 2


@pk.jit
def total(a: npt.NDArray[np.float64], b: int = 1) -> float:
    return float(a.sum()) * b


@pk.jit(fastmath=True)
def pair(a: npt.NDArray[np.float64]) -> tuple[float, int]:
    return float(a.sum()), 1


reveal_type(plain)  # Kernel[(y: f64, n: int)] | Kernel[[y: Any, n: int]]
reveal_type(debugged)  # Kernel[(y: f64)] | Kernel[[y: Any]]
reveal_type(plain(x, 3, ndrange=8))  # Event
reveal_type(plain(x, 3, ndrange=8, workgroup=4, device="cpu"))  # Event
reveal_type(half)  # Function[(a: float), float] | Function[[a: float], float]
reveal_type(half(3.0))  # float
reveal_type(total(x))  # float
reveal_type(total(x, b=2))  # float
reveal_type(total(x, donate=0))  # float
reveal_type(pair(x))  # tuple[float, int]
reveal_type(pk.grad(total))  # Program[...]
reveal_type(pk.value_and_grad(total)(x))  # tuple[float, Any]
reveal_type(pk.vjp(total, x)[0])  # float
reveal_type(pk.jvp(total, (x,), (x,)))  # tuple[float, float]
reveal_type(pk.asarray(x))  # Array
reveal_type(pk.asarray(x).numpy())  # NDArray[Any]
reveal_type(pk.asarray(x).to("cpu"))  # Array
reveal_type(pk.asarray(x)[1:])  # Array
reveal_type(pk.spec((8,), pk.f64))  # Spec
reveal_type(plain.lower(x, 3, ndrange=8))  # Lowered
reveal_type(plain.lower(x, 3, ndrange=8).compile())  # Compiled
reveal_type(plain.lower(x, 3, ndrange=8).stages[0].name)  # str
reveal_type(plain.raised(x, 3, ndrange=8).text)  # str
reveal_type(pk.Stream("cpu").record())  # Event
reveal_type(pk.devices())  # list[device]
reveal_type(pk.f32(1))  # Any
