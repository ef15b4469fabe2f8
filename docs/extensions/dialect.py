"""The ops of the kern dialect: what each is for, an example, its definition in IRDL; and the table of attributes."""

from __future__ import annotations

import inspect
import sys
import textwrap

from extensions.attributes import attributes
from extensions.markdown import docstring, fence, prose

ATTRIBUTES = """\
Passes talk to each other by attributes named `kern.*`. Each is declared once, in `dialect/attributes.py`. An attribute
of this prefix that is not declared, holds something else, or stands on another op is an error at the op's place: in
MLIR that comes from outside, and after each pass where stages are kept. A folder with a star stands for several of its
modules."""


def page() -> str:
    from pykern.dialect import base, kern  # noqa: F401  the second one registers every op

    parts, family = [], ""
    for op in base.OP_CLASSES:
        if op.__module__ != family:
            family = op.__module__
            module = sys.modules[family]
            parts += [f"## {family.rpartition('.')[2].replace('_', ' ').capitalize()}", prose(_doc(module))]
        parts += [f"### {op.OPERATION_NAME}", docstring(op)]
        parts.append(_hidden("Definition", fence(textwrap.dedent(op.IRDL.strip("\n")), "mlir")))
        rule = vars(op).get("check")
        if rule is not None:
            parts.append(
                _hidden("What else is checked", fence(textwrap.dedent(inspect.getsource(rule)), "python"))
            )
    parts += ["## Attributes", ATTRIBUTES, attributes()]
    return "\n\n".join(parts)


def _doc(module: object) -> str:
    """The docstring of a module without where to read next."""
    return (inspect.getdoc(module) or "").split("Read next")[0].strip()


def _hidden(title: str, content: str) -> str:
    return f":::{{dropdown}} {title}\n{content}\n:::"
