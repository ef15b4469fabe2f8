"""Options written behind a target's chip: ``rocdl:gfx1100+cumode``."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from pykern.errors import TargetError

Options = TypeVar("Options")


def parse_target(target: str, chips: dict[str, Any], options: type[Options]) -> tuple[Any, Options]:
    """The chip and the options of ``family:chip+option``; options are the boolean fields of a dataclass.

    Raises `TargetError` with what there is.
    """
    family, _, rest = target.partition(":")
    name, *chosen = rest.split("+")
    if name not in chips:
        raise TargetError(
            f"no target `{target}`", hint=f"there are {', '.join(f'{family}:{chip}' for chip in chips)}"
        )
    known = [field.name for field in dataclasses.fields(options)]  # type: ignore[arg-type]
    for option in chosen:
        if option not in known:
            raise TargetError(
                f"target `{target}` has no option `{option}`", hint=f"there are {', '.join(known)}"
            )
    return chips[name], options(**dict.fromkeys(chosen, True))
