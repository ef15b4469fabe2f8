"""A module of LLVM IR: its globals, its functions, and what they call from outside.

Comes in: definitions, and `function.Function`s that enter themselves. Goes out: the text, by `str`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pykern.lowering.llvm.text_ir.values import PTR, Type, Value

if TYPE_CHECKING:
    from pykern.lowering.llvm.text_ir.function import Function

Signature = tuple[Type, tuple[Type, ...]]
"""A result and parameters."""


_PLAIN = re.compile(r"[-a-zA-Z$._0-9]+")


def symbol(name: str) -> str:
    """A global name as LLVM reads it: kernels may be called anything that Python takes."""
    return f"@{name}" if _PLAIN.fullmatch(name) else f'@"{name}"'


class Module:
    """Starts empty; ``str(module)`` is complete at any time."""

    def __init__(self, triple: str = "") -> None:
        self.triple = triple
        self.globals: dict[str, Value] = {}
        self.functions: dict[str, Function] = {}
        self._definitions: list[str] = []
        self._signatures: dict[str, Signature] = {}
        self._attributes: dict[str, str] = {}
        self.linkage: dict[str, str] = {}
        """Of functions: `internal`, or `hidden` for those of another object of the same shared object."""

    def define(self, name: str, what: str) -> Value:
        """A global variable, ``internal global ptr null`` for example; its address."""
        assert name not in self.globals, f"@{name} is defined twice"
        self._definitions.append(f"{symbol(name)} = {what}")
        self.globals[name] = Value(PTR, symbol(name))
        return self.globals[name]

    def outside(self, name: str) -> Value:
        """The address of a variable of the process."""
        return self.globals.get(name) or self.define(name, "external global i8")

    def function(self, name: str, signature: Signature, attributes: str = "") -> Value:
        """The address of a function, here or of the process, which is called with this signature wherever it is."""
        known = self._signatures.setdefault(name, signature)
        assert known == signature, f"@{name} is of {known} and of {signature}"
        if attributes:
            self._attributes[name] = attributes
        return Value(PTR, symbol(name))

    def __str__(self) -> str:
        head = [f'target triple = "{self.triple}"'] if self.triple else []
        outside = [self._declaration(name) for name in self._signatures if name not in self.functions]
        return "\n".join([*head, *self._definitions, *outside, *map(str, self.functions.values()), ""])

    def _declaration(self, name: str) -> str:
        result, parameters = self._signatures[name]
        listed = ", ".join(map(str, parameters))
        parts = [
            "declare",
            self.linkage.get(name),
            f"{result} {symbol(name)}({listed})",
            self._attributes.get(name),
        ]
        return " ".join(filter(None, parts))
