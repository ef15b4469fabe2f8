"""Every pass has a name of its own."""

from __future__ import annotations

from typing import ClassVar

import pytest

from pykern.errors import PassError
from pykern.passes import registry
from pykern.passes.framework import Pass
from pykern.passes.kernel.simplify import Simplify


def test_a_second_pass_of_a_name_is_refused():
    class Other(Pass):
        name: ClassVar[str] = Simplify.name

    with pytest.raises(PassError, match=f"two passes are called `{Simplify.name}`"):
        registry.register(Other)
    assert registry.known()[Simplify.name] is Simplify


def test_a_pass_may_be_registered_again():
    registry.register(Simplify)
    assert registry.known()[Simplify.name] is Simplify
