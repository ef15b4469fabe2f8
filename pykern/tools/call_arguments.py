"""A call from the command line: random arrays of the types that were given, from a seed.

Comes in: a kernel and ``--args``, ``--ndrange``, ``--seed``. Goes out: arguments and launch keywords.
"""

from __future__ import annotations

import argparse
import re
from typing import Any

import numpy as np

import pykern
from pykern.api.user_file import UsageError
from pykern.launching.specs import Spec
from pykern.tools.argument_types import arguments_of
from pykern.tools.compile_command import call_of
from pykern.tools.suggested_call import refuse_incomplete
from pykern.types import DType

UNKNOWN = 37
"""The length of a dimension that was left open: odd, so that groups and vectors are partial."""


def call_with_values(kernel: Any, chosen: argparse.Namespace) -> tuple[list[Any], dict[str, Any]]:
    """Arguments, and the keywords of the launch."""
    texts, launch = call_as_text(kernel, chosen)
    names = {"np": np, "pk": pykern, "rng": np.random.default_rng(chosen.seed)}
    try:
        return [eval(text, names) for text in texts], launch  # our own texts
    except (MemoryError, ValueError) as error:  # ValueError: more bytes than an address has
        raise UsageError(
            f"arrays of these lengths cannot be made: {error}", hint="give smaller ones with --args"
        ) from None


def call_as_text(kernel: Any, chosen: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """Arguments as Python text that takes random numbers from ``rng``, and the keywords of the launch."""
    refuse_incomplete(kernel, chosen, "64")
    names = list(kernel.signature.parameters)
    if getattr(kernel, "__pykern_program__", False):
        specs = with_values(names, arguments_of(kernel, chosen.args, valued(names, chosen)), chosen.values)
        return [text_of(spec) for spec in specs], {}
    specs, keywords = call_of(kernel, chosen, valued(names, chosen))
    specs = with_values(names, specs, chosen.values)
    launch: dict[str, Any] = {"ndrange": tuple(UNKNOWN if n is None else n for n in keywords["ndrange"])}
    if "workgroup" in keywords:
        launch["workgroup"] = keywords["workgroup"]
    return [text_of(spec) for spec in specs], launch


def valued(names: list[str], chosen: argparse.Namespace) -> tuple[str, ...]:
    """The parameters that ``--value`` names, by name or number."""
    given = {text.partition("=")[0] for text in chosen.values}
    return tuple(name for number, name in enumerate(names) if {name, str(number)} & given)


def with_values(names: list[str], specs: list[Any], values: list[str]) -> list[Any]:
    """Specs with numbers in place of those that were given as ``dt=0.5``, or as ``2=0.5`` for the third argument."""
    found = list(specs)
    for text in values:
        which, _, value = text.partition("=")
        number = (
            names.index(which) if which in names else int(which) if re.fullmatch("[0-9]{1,9}", which) else -1
        )
        if not 0 <= number < len(found):
            raise UsageError(
                f"--value {text} names no argument", hint=f"the arguments are {', '.join(names)}"
            )
        try:
            found[number] = int(value) if re.fullmatch("-?[0-9]+", value) else float(value)
        except ValueError:
            raise UsageError(f"--value {text} is no number", hint=f"write --value {which}=0.5") from None
    return found


def text_of(spec: Any) -> str:
    """Python that makes a random array or number: floats from 0 to 1, integers from 0 to 9."""
    if isinstance(spec, Spec):
        shape = tuple(n if isinstance(n, int) else UNKNOWN for n in spec.shape)
        made = f"np.asarray({_numbers(spec.dtype, shape)}).astype({_name(spec.dtype)})"
        return made if spec.layout == "C" else f"np.repeat({made}, 2, axis=-1)[..., ::2]"
    if isinstance(spec, DType):
        number = _numbers(spec, ())
        return f"{spec.name}({number})" if spec.weak else f"{_name(spec)}.numpy.type({number})"
    if spec is None or isinstance(spec, int | float | str | tuple):
        return repr(spec)
    if spec in (int, float, bool):
        return f"{spec.__name__}({'rng.random()' if spec is float else 'rng.integers(10)'})"
    raise UsageError(f"no value can be made for {spec!r}", hint="give the value: --value N=...")


def _numbers(dtype: DType, shape: tuple[int, ...]) -> str:
    if dtype.is_float:
        return f"rng.random({shape})"
    return f"rng.integers(0, {2 if dtype.name == 'bool' else 10}, {shape})"


def _name(dtype: DType) -> str:
    return "pk.bool_" if dtype.name == "bool" else f"pk.{dtype.name}"
