"""A call as a script that stands alone: the kernel, its arguments or their seeds, the device, and the comparison.

Comes in: a kernel or program, and the arguments of a call, as values or as Python text. Goes out: the text of a
script that needs pykern alone. `standalone` writes the kernel.
"""

from __future__ import annotations

import base64
import dataclasses
import textwrap
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

import pykern
from pykern.environment.settings import settings
from pykern.errors import LaunchError
from pykern.testing.standalone import literal, source_of
from pykern.types import from_numpy

_SCRIPT = '''\
"""`{name}` on {device} against plain Python: run me with the Python that has pykern.

Written by `pykern repro`, pykern {version}. Exit status 0: they agree; 1: they do not, or the kernel is wrong.
"""

{source}

{arguments}


if __name__ == "__main__":
    from pykern.testing import assert_matches_python

    try:
        assert_matches_python({call})
    except (pk.KernelError, AssertionError) as error:
        print(f"{{type(error).__name__}}: {{error}}")
        raise SystemExit(1) from None
    print("{name} on {device}: as plain Python")
'''
_UNPACK = '''

def unpacked(text, dtype, shape):
    """An array from its bytes: base64 of zlib."""
    raw = zlib.decompress(base64.b64decode("".join(text.split())))
    return np.frombuffer(raw, np.uint8).copy().view(dtype).reshape(shape)

'''


def repro(kernel: Any, *args: Any, device: str | None = None, **launch: Any) -> str:
    """A script that makes this call again, with these very values, as text.

    ``open("repro.py", "w").write(repro(heat, T2, T, 0.1, ndrange=T.shape))``. Arrays are kept in it, compressed.
    """
    code = [f"_{n} = {_value(value)}" for n, value in enumerate(args)]
    packs = any("unpacked(" in line for line in code)
    head = "import base64\nimport zlib\n" + _UNPACK if packs else ""
    names = [f"_{n}" for n in range(len(args))]
    return _text(kernel, head + "\n".join(code), names, launch, device)


def repro_of_texts(
    kernel: Any, arguments: Sequence[str], launch: dict[str, Any], device: str | None, seed: int
) -> str:
    """The same with arguments as Python text, which may use ``rng``, a generator that starts from `seed`."""
    lines = [f"rng = np.random.default_rng({seed})"]
    lines += [f"_{n} = {text}" for n, text in enumerate(arguments)]
    return _text(kernel, "\n".join(lines), [f"_{n}" for n in range(len(arguments))], launch, device)


def _text(kernel: Any, arguments: str, names: list[str], launch: dict[str, Any], device: str | None) -> str:
    keywords = [f"{name}={_keyword(value)}" for name, value in launch.items() if value is not None]
    where = device or settings().device or "cpu"
    call = ", ".join([kernel.__name__, *names, *keywords, f"device={where!r}"])
    return _SCRIPT.format(
        name=kernel.__name__,
        device=where,
        version=pykern.__version__,
        source=source_of(kernel),
        arguments=arguments.strip(),
        call=call,
    )


def _keyword(value: Any) -> str:
    if isinstance(value, range):
        return repr(value)
    if isinstance(value, tuple):
        return f"({''.join(f'{_keyword(item)}, ' for item in value)})"
    return literal(value)


def _value(value: Any) -> str:
    if getattr(value, "__pykern_array__", False):
        value = value.numpy()
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic | bool | int | float | str) or value is None:
        return literal(value)
    if isinstance(value, tuple):
        items = [_value(item) for item in value]
        name = type(value).__name__ if hasattr(value, "_fields") else ""
        return f"{name}({''.join(f'{item}, ' for item in items)})"
    if dataclasses.is_dataclass(value):
        fields = [f"{f.name}={_value(getattr(value, f.name))}" for f in dataclasses.fields(value)]
        return f"{type(value).__name__}({', '.join(fields)})"
    raise LaunchError(f"a {type(value).__name__} cannot be written into a script")


def _array(array: np.ndarray) -> str:
    text = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
    dtype = f"np.dtype({array.dtype.str!r})" if array.dtype.isbuiltin == 1 else f"pk.{_small(array)}.numpy"
    body = "\n".join(textwrap.wrap(text, 110))
    made = f'unpacked("""\n{body}\n""", {dtype}, {array.shape})'
    if array.flags.c_contiguous:
        return made
    steps = [abs(s) // array.itemsize for s in array.strides]
    return (
        f"np.asfortranarray({made})" if steps == sorted(steps) else f"np.stack([{made}] * 2, axis=-1)[..., 0]"
    )


def _small(array: np.ndarray) -> str:
    found = from_numpy(array.dtype)
    if found is None:
        raise LaunchError(f"an array of {array.dtype} is none that kernels take")
    return found.name
