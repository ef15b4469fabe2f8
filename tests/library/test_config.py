"""Configurations by device: the table, shared memory, and what is refused before anything is compiled."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pykern as pk
from pykern import library as pl
from pykern.library.architectures import ARCHITECTURES, CHIPS, KINDS

DEVICES = (
    *CHIPS,
    "cpu",
    "fallback",
    *ARCHITECTURES,
    "nvvm:sm_90a",
    "rocdl:gfx942",
    "sm_75",
    pk.device("cpu"),
)


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_all_of_the_table_fits(device):
    for op in KINDS:
        config = pl.Config.for_device(device, op)
        assert config.op == op
        pl.validate_config(config, device)


def test_functions_have_a_row():
    configuration = {"Config", "required_shared_memory", "validate_config"}
    assert set(pl.__all__) - configuration == set(KINDS)
    assert pl.Config.for_device("cpu", pl.swiglu) == pl.Config.for_device("cpu", "swiglu")


def test_architectures():
    for device, name in (
        ("sm_80", "ampere"), ("nvvm:sm_89", "ada"), ("sm_90a", "hopper"), ("sm_120", "blackwell"),
        ("gfx942", "cdna3"), ("rocdl:gfx1100", "rdna3"), ("cpu", "cpu"), ("sm_75", "fallback"),
    ):  # fmt: skip
        assert pl.Config.for_device(device, "flash_attention").architecture == name


def test_shared_memory():
    """Figures counted by hand: operands and stages, panels of 64 by 64, one barrier of 8 bytes each."""
    assert pl.required_shared_memory(pl.Config.for_device("sm_80", "layernorm_linear")) == 65536
    assert pl.required_shared_memory(pl.Config.for_device("sm_80", "flash_attention")) == 98304
    assert pl.required_shared_memory(pl.Config.for_device("hopper", "swiglu_linear")) == 229440
    assert pl.required_shared_memory(pl.Config.for_device("hopper", "flash_attention")) == 163912
    assert pl.required_shared_memory(pl.Config.for_device("cpu", "flash_attention")) == 0


def test_what_does_not_fit():
    ampere = pl.Config.for_device("sm_80", "flash_attention")
    product = pl.Config.for_device("sm_80", "swiglu_linear")
    for config, device, message in (
        (replace(product, stages=12), "sm_80", "196608 bytes of shared memory"),
        (replace(ampere, subgroups=64), "sm_80", "2048 work-items"),
        (replace(product, subgroups=1), "sm_80", "registers"),
        (pl.Config.for_device("hopper", "swiglu_linear"), "sm_80", "there is no wgmma"),
        (ampere, "gfx942", "there is no mma.sync"),
        (replace(product, tile=(100, 128, 32)), "sm_80", "no whole number"),
        (replace(product, tile=(0, 128, 32)), "sm_80", "from 1 on"),
        (replace(product, tile=(128, 32)), "sm_80", "three lengths"),
        (replace(product, instruction="magic"), "sm_80", "no instruction"),
    ):
        with pytest.raises(pk.errors.LaunchError, match=message):
            pl.validate_config(config, device)
    for wrong in (None, 3, "flash_attention"):
        for function in (pl.required_shared_memory, lambda config: pl.validate_config(config, "cpu")):
            with pytest.raises(pk.errors.LaunchError, match="a configuration is a `Config`, not"):
                function(wrong)
    with pytest.raises(pk.errors.LaunchError, match="has no function 3"):
        pl.Config.for_device("cpu", 3)
    with pytest.raises(pk.errors.LaunchError, match="flash_atention"):
        pl.Config.for_device("cpu", "flash_atention")
    with pytest.raises(pk.errors.DeviceError, match="no device or chip"):
        pl.Config.for_device("hoper", "swiglu")
