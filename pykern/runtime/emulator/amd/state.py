"""What a wave keeps while it runs: its scalar registers, the constants of its kernel, and its vector registers.

Goes out: where each lies, in bytes from the begin of the wave's memory. Scalar registers and the like are words of 4
bytes at fixed places, constants of 8 follow, then vector registers: register after register, lane after lane.
"""

from __future__ import annotations

WORD = 4
SCALARS = {
    **{f"s{number}": number for number in range(106)},
    "vcc": 106, "vcc_lo": 106, "vcc_hi": 107,
    "flat_scratch": 108, "flat_scratch_lo": 108, "flat_scratch_hi": 109,
    "xnack_mask": 110, "xnack_mask_lo": 110, "xnack_mask_hi": 111,
    "null": 112,
    "m0": 124,
    "exec": 126, "exec_lo": 126, "exec_hi": 127,
    **{f"ttmp{number}": 128 + number for number in range(16)},
    "scc": 144, "src_scc": 144,
}  # fmt: skip
"""Names to numbers of words. What is written to `null` goes elsewhere, and is never read."""
NOWHERE = 114
"""Where what is written to `null` goes."""
SCC = SCALARS["scc"]
PC, STOPPED, WAVE, BASE_ITEM, EXISTING = 146, 148, 149, 150, 152
"""Words of the next instruction's address (0 when the wave has ended), of the number of the barrier that it stands at,
of its own number, of its first work-item's, and of the lanes that there are."""
CONSTANTS = 160 * WORD
"""Where the kernel's constants begin."""
SHARED_APERTURE, PRIVATE_APERTURE = 1 << 16, 1 << 17
"""Upper words of generic addresses of shared and of private memory: the host has no such addresses."""
PRIVATE_BUFFER = PRIVATE_APERTURE << 32
"""What the first two registers that describe private memory as a buffer hold."""
