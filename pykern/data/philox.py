"""The constants of Philox4x32-10, and how many random bits a number of each type has.

Source: J. Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011.
"""

from __future__ import annotations

LOW = 0xFFFFFFFF
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
BITS = {"f32": 24, "f16": 11, "bf16": 8, "f64": 53}
