"""Array programs: from `ProgramSource` to tensor functions.

`program` builds the module; `translator` is the kernel frontend's, on arrays. Values are in `values`.
"""

from pykern.frontend.program.program import build_program as build_program
