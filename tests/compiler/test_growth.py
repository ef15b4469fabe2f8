"""What compiling takes, against the number of statements: counted, not timed, so that every run finds the same."""

from __future__ import annotations

import functools
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
import pytest

import pykern as pk
from pykern.compiler.driver import compile_source
from pykern.passes import framework
from tests.cases.texts import defined

X = np.linspace(0.5, 1.5, 4096, dtype=np.float32)
FEWER, MORE = 150, 300
MOST = 2.3
"""Twice the statements may take that many times the steps: the logarithm of a sort, a table that grows."""
CHAIN = re.compile(r"  (%\S+) = (?:f(?:add|sub|mul|div|neg|cmp)|select)\b[^%]*(.*)")
CONTRACTED_STEPS = 40


def _chain(count: int) -> list[str]:
    """Two values, each of which needs what was before."""
    steps = ("a = a * 0.5 + {x} * 3.0", "b = b * 0.25 + a", "a = {x} - a * 0.125", "b = b * 0.75 - a")
    return [steps[k % 4] for k in range(count)]


@functools.cache
def kernel(count: int) -> Any:
    lines = ["i = pk.index()", "a = x[i]", "b = a", *_chain(count), "y[i] = a + b"]
    return pk.kernel(_made("y, x", lines, "x[i]")).lower(np.zeros_like(X), X, ndrange=len(X))


@functools.cache
def memory(count: int) -> Any:
    lines = ["i = pk.index()", *(f"y[i] = y[i] * 0.5 + x[i] * {k % 7}.0" for k in range(count))]
    return pk.kernel(_made("y, x", lines, "")).lower(np.zeros_like(X), X, ndrange=len(X))


@functools.cache
def program(count: int) -> Any:
    return pk.jit(_made("x", ["a = x", "b = a", *_chain(count), "return a + b"], "x")).lower(X)


def _made(parameters: str, lines: list[str], x: str) -> Callable:
    text = f"def chain({parameters}):\n" + "".join(f"    {line.format(x=x)}\n" for line in lines)
    file = f"<chain of {len(lines)} lines, {parameters}, {hash(text):x}>"
    scope = defined(text, file, {"pk": pk})
    return scope["chain"]


@contextmanager
def _lines(counts: Counter[str], name: str) -> Iterator[None]:
    """Counts the lines of Python that are run inside."""
    number = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal number
        number += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)
        counts[name] += number


def _steps(source: Any, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Lines of Python that each pass runs."""
    counts: Counter[str] = Counter()
    apply = framework.apply_pass

    def counted(step: framework.Pass, module: Any) -> None:
        with _lines(counts, str(step)):
            apply(step, module)

    with monkeypatch.context() as patched:
        patched.setattr(framework, "apply_pass", counted)
        compile_source(source)
    return counts


@pytest.mark.parametrize("family", [kernel, memory, program])
def test_passes_are_linear(family, monkeypatch):
    fewer, more = (_steps(family(count).source, monkeypatch) for count in (FEWER, MORE))
    assert len(more) > 20
    worse = {name: (fewer[name], n) for name, n in more.items() if n > MOST * fewer[name] + 2000}
    assert not worse


@pytest.mark.parametrize("family", [kernel, memory, program])
def test_stages_are_linear(family):
    """Also upstream's passes see no more than twice as much."""
    fewer, more = (
        {f"{k} {s.name}": s.text.count("\n") for k, s in enumerate(family(count).stages) if s.kind == "mlir"}
        for count in (FEWER, MORE)
    )
    assert fewer.keys() == more.keys()
    assert not {name: (fewer[name], n) for name, n in more.items() if n > MOST * fewer[name]}


@pytest.mark.parametrize("family", [kernel, memory, program])
def test_what_llvm_goes_back_through_is_short(family):
    """LLVM's vectoriser asks of each value of a loop what all values behind it are."""
    text = next(stage.text for stage in family(MORE).stages if stage.name == "llvm-translate")
    function, behind = 0, {}
    for line in text.splitlines():
        function += line.startswith("define")
        if (found := CHAIN.match(line)) and "<" not in line:
            operands = [(function, operand) for operand in re.findall(r"%\w+", found[2])]
            behind[function, found[1]] = 1 + max((behind.get(operand, 0) for operand in operands), default=0)
    assert len(behind) > MORE
    assert max(behind.values()) <= CONTRACTED_STEPS


def test_chains_through_memory_are_chains_of_values():
    """One load of an array and one store, whatever the number of statements."""
    text = next(stage.text for stage in memory(FEWER).stages if stage.name.startswith("canonicalize"))
    assert text.count("memref.load") == 2
    assert text.count("memref.store") == 1
