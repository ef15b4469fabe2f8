"""The ``pykern`` command. What shows something has ``--json`` for machines.

Exit codes: 0 ok, 1 the kernel or its call is wrong, 2 usage, also a file that cannot be read or written,
3 no such device or tool, 4 the compiler crashed, 130 Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from difflib import get_close_matches

from pykern.api.user_file import UnreadableFile
from pykern.errors import CompilerCrash, DeviceError, KernelError
from pykern.tools.command_line import COMMANDS, command_line

OK, WRONG_KERNEL, USAGE, NO_DEVICE, CRASH = range(5)
STOPPED = 130


def main(arguments: list[str] | None = None) -> int:
    """Run a command; gives the exit code. Without one the help is shown, and the code is that of wrong usage: a script
    whose command is empty must not go on as if it had run."""
    parser = command_line()
    try:
        given = sys.argv[1:] if arguments is None else arguments
        if given and (meant := _meant(given[0])):
            parser.exit(USAGE, f"pykern: there is no command `{given[0]}`: {meant}\n")
        chosen = parser.parse_args(given)
        if chosen.command is None:
            parser.print_help(sys.stderr)
            return USAGE
        run: Callable[[argparse.Namespace], int] = chosen.run
        status = run(chosen)
        if sys.stdout:
            sys.stdout.flush()
        return status
    except BrokenPipeError:  # `pykern compile ... | head`: the reader has seen enough
        _no_output()
        return OK
    except KeyboardInterrupt:
        print("pykern: stopped", file=sys.stderr)
        return STOPPED
    except UnreadableFile as error:
        print(error, file=sys.stderr)
        return USAGE
    except CompilerCrash as error:
        print(error, file=sys.stderr)
        print(error.reproducer or "", file=sys.stderr)
        return CRASH
    except DeviceError as error:
        print(error, file=sys.stderr)
        return NO_DEVICE
    except KernelError as error:
        print(error, file=sys.stderr)
        return WRONG_KERNEL
    except OSError as error:
        if error.filename is None:
            _no_output()
        what = str(error) if error.filename is not None else f"the output cannot be written: {error.strerror}"
        print(f"pykern: {what}", file=sys.stderr)
        return WRONG_KERNEL


_ELSEWHERE = {
    "help": "write pykern --help, or pykern COMMAND --help",
    "version": "write pykern --version",
    "run": "a program runs with python FILE.py",
    "opt": "write pykern-opt",
}


def _meant(word: str) -> str | None:
    """What to write for a word that is no command; None for a command or an option."""
    near = get_close_matches(word, COMMANDS, 1, 0.6)
    if word in COMMANDS or word.startswith("-"):
        return None
    return _ELSEWHERE.get(word) or (
        f"did you mean {near[0]}?" if near else f"there are {', '.join(COMMANDS)}"
    )


def _no_output() -> None:
    """Let what is left in buffers go nowhere: Python writes it when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    raise SystemExit(main())
