"""What code is made for: a family, a chip of it, options, and facts of the launch that the code may rely on.

Comes in: a name as users write it, ``nvvm:sm_80+aligned``, through `parse`, which alone takes names apart. Goes out: a
`Target`, whose `str` is the name. Read next: `pykern.lowering.targets` (which targets there are).
"""

from __future__ import annotations

import functools

from pykern.data.records import record

FACTS = ("aligned", "small", "whole", "alike", "many")
"""What may be true of a launch: fields of `Target`, in the order in which a name tells them."""


@record
class Target:
    """A target, such as ``llvm``, ``spirv:vulkan1.3+lavapipe`` or ``nvvm:sm_90a+aligned+small``.

    `options` are what was asked for, in order. `aligned` says that every array begins at a multiple of 16 bytes,
    `small` that the position of every element in its array fits in 32 bits, `whole` that the launch is one grid,
    however few groups a device takes, `alike` that dense arrays of two dimensions have the same lengths, as those of
    three have, and so on, `many` that there are so many work-items that one of a GPU does several.
    """

    family: str
    chip: str = ""
    options: tuple[str, ...] = ()
    aligned: bool = False
    small: bool = False
    whole: bool = False
    alike: bool = False
    many: bool = False

    @property
    def name(self) -> str:
        """The family and the chip: what facts and options are added to."""
        return f"{self.family}:{self.chip}" if self.chip else self.family

    @property
    def added(self) -> tuple[str, ...]:
        """The options and the facts, as they are written."""
        return (*self.options, *self.facts)

    @property
    def facts(self) -> tuple[str, ...]:
        """What is true of the launch."""
        return tuple(fact for fact in FACTS if getattr(self, fact))

    def __str__(self) -> str:
        return "+".join((self.name, *self.added))


CPU, LINALG = Target("llvm"), Target("linalg")
"""This processor; the raised form of a kernel, which is read and never runs."""
REFERENCE, ACCESSES = Target("python"), Target("accesses")
"""Targets for which a kernel is only looked at: the reference device, and which elements the kernel accesses."""


@functools.cache
def parse(name: str) -> Target:
    """The target of a name. One that is no name of a target is a family of its own, which nobody knows."""
    base, *words = name.split("+")
    family, colon, chip = base.partition(":")
    if colon and not chip:
        return Target(name)
    options = tuple(word for word in words if word not in FACTS)
    return Target(family, chip, options, *(fact in words for fact in FACTS))
