"""What a call of a kernel or of an array program takes, for one whose arguments do not fit.

Comes in: the names of the parameters, and what was passed. Goes out: the reason, and what to write.
"""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from typing import Any

from pykern.data.elsewhere import instead_of_keyword
from pykern.launching.entries import LAUNCH_KEYWORDS

CALL_KEYWORDS = ("out", "donate", "device", "stream")


def wrong_binding(signature: inspect.Signature, keywords: dict[str, Any], error: TypeError) -> str:
    """Why arguments do not fit. A misspelt keyword comes first: that its parameter is missing follows from it."""
    unknown = next((name for name in keywords if name not in signature.parameters), None)
    return str(error) if unknown is None else f"got an unexpected keyword argument {unknown!r}"


def how_to_launch(names: list[str], args: tuple, keywords: dict[str, Any]) -> str:
    """What a launch takes."""
    if names[:1] == ["self"]:
        where = "define it outside of the class, and pass what it reads of self as arguments"
        return f"a kernel cannot be a method: {where}"
    unknown = [name for name in keywords if name not in names]
    near = get_close_matches(unknown[0], [*LAUNCH_KEYWORDS, *names], 1, 0.5) if unknown else []
    if unknown and (instead := instead_of_keyword(unknown[0])) is not None:
        return instead
    if near:
        return f"did you mean `{near[0]}`?"
    if unknown:
        return f"beside the arguments a launch takes {', '.join(f'{n}=' for n in LAUNCH_KEYWORDS)}"
    count = len(args) + len(keywords)
    return f"it takes {len(names)} arguments ({', '.join(names)}), and {count} {'is' if count == 1 else 'are'} given"


def how_to_call(names: list[str], keywords: dict[str, Any]) -> str:
    """What a call of an array program takes."""
    if names[:1] == ["self"]:
        return "a program cannot be a method: define it outside of the class, and pass what it reads of self"
    unknown = next((name for name in keywords if name not in names), "")
    if unknown in ("ndrange", "workgroup"):
        return (
            "leave it out: an array program works on whole arrays; kernels are launched over an index space"
        )
    near = get_close_matches(unknown, [*names, *CALL_KEYWORDS], 1, 0.5)
    if near:
        return f"did you mean `{near[0]}`?"
    return f"it takes {', '.join(names)}; keywords of each call are {', '.join(CALL_KEYWORDS)}"
