"""A launch that writes its arguments, as an operator.

Comes in: the launch as a function (`kernel_operation`), and which arguments it changes. Goes out: an operator whose
schema says so. Where autograd follows, the function computes what the arguments become, and they are copied there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pykern.torch.kernel_operation import KernelOperation, detached
from pykern.torch.registration import InPlace, register_in_place, unique
from pykern.torch.rules import space_of


class InPlaceOperation(InPlace):
    """`written` are numbers of arguments."""

    functional: KernelOperation

    def __init__(self, label: str, functional: KernelOperation, written: tuple[int, ...]) -> None:
        self.name = unique(label)
        self.functional = functional
        self.written = written
        self.names, self.kinds = functional.names, functional.kinds
        on_arguments = functional.written(functional.launch, None)
        self._values, self.direct_call = on_arguments.values(), on_arguments.direct()
        register_in_place(self)

    def run(self, arguments: Sequence[Any]) -> None:
        """Launch on the arguments themselves."""
        *given, space = arguments
        self._values(*map(detached, given), space_of(space))

    def direct(self, *arguments: Any) -> Any:
        """The same, where nothing of PyTorch has to see it."""
        return self.direct_call(*arguments[:-1], space_of(arguments[-1]))

    def fake(self, arguments: Sequence[Any]) -> None:
        """It gives nothing."""
