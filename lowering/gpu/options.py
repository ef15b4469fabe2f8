"""Options written behind a target's chip: ``rocdl:gfx1100+cumode``."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from pykern.data.target import Target
from pykern.errors import TargetError

Options = TypeVar("Options")


def chip_and_options(target: Target, chips: dict[str, Any], options: type[Options]) -> tuple[Any, Options]:
    """The chip of a target and its options and facts, which are the boolean fields of a dataclass.

    Raises `TargetError` with what there is.
    """
    if target.chip not in chips:
        there = ", ".join(f"{target.family}:{chip}" for chip in chips)
        raise TargetError(f"no target `{target}`", hint=f"there are {there}")
    known = [field.name for field in dataclasses.fields(options)]  # type: ignore[arg-type]
    for option in target.added:
        if option not in known:
            raise TargetError(
                f"target `{target}` has no option `{option}`", hint=f"there are {', '.join(known)}"
            )
    return chips[target.chip], options(**dict.fromkeys(target.added, True))
