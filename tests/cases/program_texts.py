"""Programs given as MLIR text, compiled in place and called with NumPy arrays."""

from __future__ import annotations

import numpy as np
from mlir import ir

from pykern.compiler.programs import Request, compile_module
from pykern.dialect.context import new_context
from pykern.lowering.record import Recorder
from pykern.program.plan import Plan
from pykern.runtime.loader import load

_CONTEXT = new_context()


class TextProgram:
    """A compiled program; calling it gives the list of its results."""

    def __init__(self, text: str, donated: tuple[str, ...] = ()) -> None:
        record = Recorder(texts=True)
        with _CONTEXT, ir.Location.unknown():
            module = ir.Module.parse(text)
            self.record = record
            self.artifact = compile_module(lambda: module, Request("f", donated=donated), record)
        count = text.split("@f(", 1)[1].split(") ->", 1)[0].count("%")
        self.plan = Plan(self.artifact, load(self.artifact.binary, ""), tuple(f"a{n}" for n in range(count)))

    def __call__(self, *values: np.ndarray | int, out: list[np.ndarray] | None = None) -> list[np.ndarray]:
        return self.plan.run(list(values), out)

    def stage(self, name: str, last: bool = False) -> str:
        """IR after the first (or last) pass whose name begins so."""
        found = [s.text for s in self.artifact.stages if s.name.startswith(name)]
        return found[-1 if last else 0]

    @property
    def buffers(self) -> str:
        """The program when the last buffer was decided on, before loops."""
        stages = list(self.artifact.stages)
        at = next(n for n, s in enumerate(stages) if s.name == "kern-destination-passing")
        return stages[at + 2].text


def program(arguments: str, results: str, body: str, extra: str = "", attributes: str = "") -> str:
    """A module with the program `@f`."""
    return f"""
#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#none1 = affine_map<(d0) -> ()>
#none2 = affine_map<(d0, d1) -> ()>
module {{
func.func @f({arguments}) -> ({results}) attributes {{kern.program{attributes}}} {{
{body}
}}
{extra}
}}
"""


def elementwise(name: str, inputs: str, types: str, kind: str, operation: str, scalar: str = "f32") -> str:
    """One generic over a vector type `kind`, `operation` yielding %r from %a, %b, ..."""
    count = inputs.count("%")
    letters = ", ".join(f"%{c}: {scalar}" for c in "abcdefgh"[:count])
    rank = kind.count("x")
    maps = ", ".join([f"#id{rank}"] * (count + 1))
    loops = ", ".join(['"parallel"'] * rank)
    return f"""
  {name}e = tensor.empty() : {kind}
  {name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}]}}
      ins({inputs} : {types}) outs({name}e : {kind}) {{
    ^bb0({letters}, %out: {scalar}):
      {operation}
      linalg.yield %r : {scalar}
  }} -> {kind}"""
