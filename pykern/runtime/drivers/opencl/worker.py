"""The process in which a driver's compiler runs: one of them dies of some kernels, and must not take the user along.

Comes in, on standard input: requests, a line of JSON (`ordinal`, `options`, `size`, `environment`), then SPIR-V or
OpenCL C. Goes out, on standard output: answers, a line of JSON (`size` or `error`) and the device's own binary. It ends
with its input. By hand, ``python -m pykern.runtime.drivers.opencl.worker FILE.spv ORDINAL OPTION...`` compiles a file,
to see a crash again. Read next: `process`, the other side.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from typing import Any, cast

from pykern.runtime.drivers.opencl import RUNTIME
from pykern.runtime.drivers.opencl.given import given


def binary_of(ordinal: int, spirv: bytes, options: list[str]) -> bytes:
    """Compile for the device. Raises pyopencl's errors."""
    import pyopencl as cl

    device = RUNTIME.native(ordinal)
    context = _contexts.get(ordinal)
    if context is None:
        context = _contexts[ordinal] = cl.Context([device])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        program = cl.Program(context, given(spirv)).build(options)
    return cast("list[bytes]", program.get_info(cl.program_info.BINARIES))[0]


_contexts: dict[int, Any] = {}


def serve() -> None:
    """Answer requests until there are no more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # compilers print where they like
    requests = sys.stdin.buffer
    import pyopencl as cl

    while line := requests.readline():
        asked = json.loads(line)
        os.environ.update(asked["environment"])  # drivers read it when they are asked first
        spirv = requests.read(asked["size"])
        binary, answer = b"", {}
        try:
            binary = binary_of(asked["ordinal"], spirv, asked["options"])
        except cl.Error as error:
            answer["error"] = str(error)
        answers.write(json.dumps(answer | {"size": len(binary)}).encode() + b"\n" + binary)
        answers.flush()


def main() -> None:
    """Serve, or compile the file that is named."""
    if len(sys.argv) < 3:
        serve()
        return
    path, ordinal, *options = sys.argv[1:]
    with open(path, "rb") as file:
        print(f"{len(binary_of(int(ordinal), file.read(), options))} bytes for opencl:{ordinal}")


if __name__ == "__main__":
    main()
