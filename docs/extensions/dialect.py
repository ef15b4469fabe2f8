"""The ops of the kern dialect: what each is for, an example, and its definition in IRDL."""

from __future__ import annotations

import inspect
import sys
import textwrap

from extensions.markdown import docstring, fence, prose


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
    return "\n\n".join(parts)


def _doc(module: object) -> str:
    """The docstring of a module without where to read next."""
    return (inspect.getdoc(module) or "").split("Read next")[0].strip()


def _hidden(title: str, content: str) -> str:
    return f":::{{dropdown}} {title}\n{content}\n:::"
