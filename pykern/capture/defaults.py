"""Defaults of parameters as they are at a call: a function may have others than when it was decorated.

Comes in: a signature and the function it was taken of. Goes out: the signature with the function's defaults of now.
"""

from __future__ import annotations

import inspect
from typing import Any


def with_current_defaults(signature: inspect.Signature, function: Any) -> inspect.Signature:
    """The very same signature where no default is another object."""
    code = function.__code__
    given = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(given) : code.co_argcount]
    now = dict(zip(names, given, strict=True)) | (function.__kwdefaults__ or {})
    parameters = signature.parameters.values()
    if all(p.default is now.get(p.name, p.empty) for p in parameters):
        return signature
    return signature.replace(parameters=[p.replace(default=now.get(p.name, p.empty)) for p in parameters])
