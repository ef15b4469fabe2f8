"""The commands of ``pykern`` and their options, each with an example; `pykern.tools.cli` runs them.

A command's module is imported when it is asked for: ``pykern --help`` stays quick.
"""

from __future__ import annotations

import argparse

from pykern import __version__
from pykern.environment.installation import DISTRIBUTION
from pykern.errors import TargetError

COMMANDS = ("compile", "explore", "export", "bench", "bisect", "repro", "devices", "cache", "test", "explain")


def command_line() -> argparse.ArgumentParser:
    """Every command and its options; the reference in the documentation is made from it."""
    parser = argparse.ArgumentParser(
        prog="pykern",
        description="Compile Python kernels with MLIR, and look inside.",
        epilog="`pykern COMMAND --help` lists a command's options, with an example. compile, explore, export, bench, "
        "bisect and repro import FILE.py, which runs it: put what must not run then under "
        "`if __name__ == '__main__':`.",
    )
    parser.add_argument("--version", action="version", version=f"{DISTRIBUTION} {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    _compile_arguments(commands)
    _explore_arguments(commands)
    _export_arguments(commands)
    _bench_arguments(commands)
    _bisect_arguments(commands)
    _repro_arguments(commands)
    _devices_arguments(commands)
    _cache_arguments(commands)
    _test_arguments(commands)
    _explain_arguments(commands)
    return parser


HEAT = '--args "f32[?,?] f32[?,?] f32[?,?] float"'
"""The types of the README's example."""


def _command(commands, name: str, help: str, example: str, more: str = "") -> argparse.ArgumentParser:
    """A command, with an example that can be copied. A percent sign in `example` is doubled, as argparse wants it."""
    described = f"{help[0].upper()}{help[1:]}.{more}"
    return commands.add_parser(
        name, help=help, description=described, epilog=f"example: pykern {name} {example}"
    )


def _runs_the_file(commands, name: str, help: str, example: str) -> argparse.ArgumentParser:
    """A command that imports a file of the user's, which its help says."""
    told = (
        " FILE.py is imported, which runs it, with your rights: put what must not run then under "
        "`if __name__ == '__main__':`, and give it no file that you do not trust."
    )
    return _command(commands, name, help, example, told)


def _compile_arguments(commands) -> None:
    parser = _runs_the_file(
        commands,
        "compile",
        "compile a kernel without launching it, and show its stages",
        f'heat.py::heat {HEAT} --ndrange "?,?" --stage kern',
    )
    _call_arguments(parser)
    parser.add_argument("--stage", help="print the IR of this stage (a name, a part of it, or a number)")
    parser.add_argument("--diff", nargs=2, metavar=("A", "B"), help="print what changed between two stages")
    parser.add_argument("--asm", action="store_true", help="print the assembly")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the binary")
    parser.add_argument("--json", action="store_true", help="print all stages and resources as JSON")
    parser.set_defaults(run=lambda chosen: _late("compile_command").run(chosen))


def _explore_arguments(commands) -> None:
    parser = _runs_the_file(
        commands,
        "explore",
        "show every stage of a kernel beside its Python, line by line: a page, or text",
        f'heat.py::heat {HEAT} --ndrange "?,?" --target cuda',
    )
    _call_arguments(parser)
    parser.add_argument(
        "--against", action="append", default=[], metavar="FILE.py::KERNEL",
        help="another kernel, or version of it, beside the first",
    )  # fmt: skip
    parser.add_argument(
        "--grad",
        action="store_true",
        help="show its derivative: pk.autodiff of a kernel, pk.grad of a program",
    )
    parser.add_argument("--text", action="store_true", help="print text, write no page")
    parser.add_argument("--stage", help="show this stage (a name, a part of it, or a number)")
    parser.add_argument("--diff", nargs=2, metavar=("A", "B"), help="show what changed between two stages")
    parser.add_argument("--line", type=int, metavar="N", help="show what line N of the file became")
    parser.add_argument("--json", action="store_true", help="print the data of the page as JSON")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write the page here (default: KERNEL-TARGET.html)"
    )
    parser.set_defaults(run=lambda chosen: _late("explore_command").run(chosen))


def _export_arguments(commands) -> None:
    from pykern.exporter.forms import FORMS

    parser = _runs_the_file(
        commands,
        "export",
        "write a kernel or a program as files for programs without Python: source in another language, or a binary",
        f'heat.py::heat {HEAT} --ndrange "?,?" --as c -o heat.c',
    )
    _call_arguments(parser, target=False)
    parser.add_argument("--as", dest="form", required=True, choices=FORMS, help="what to write")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the file; a header or a manifest stands beside it (default: KERNEL.END)"
    )  # fmt: skip
    parser.add_argument(
        "--target",
        dest="chip",
        metavar="CHIP",
        help="the chip of a binary, such as nvvm:sm_90a or rocdl:gfx1100; source:msl for MSL without simdgroup_matrix",
    )
    parser.add_argument(
        "--comments", action="store_true", help="put lines of Python above what they became, in a language"
    )
    parser.add_argument(
        "--grad",
        action="store_true",
        help="export its derivative: pk.autodiff of a kernel, pk.grad of a program",
    )
    parser.add_argument("--show", default="", metavar="ARRAY", help="of a page: the array that is drawn")
    parser.add_argument(
        "--swap", action="append", default=[], metavar="A,B",
        help="of a page: arrays that change places after each launch",
    )  # fmt: skip
    parser.add_argument(
        "--slider", action="append", default=[], metavar="NAME=LOW:HIGH",
        help="of a page: the ends of a number's slider",
    )  # fmt: skip
    parser.add_argument(
        "--steps", type=int, default=1, metavar="N", help="of a page: launches between two pictures"
    )
    parser.set_defaults(run=lambda chosen: _late("export_command").run(chosen), target="llvm")


def _bisect_arguments(commands) -> None:
    parser = _runs_the_file(
        commands,
        "bisect",
        "find the pass that makes a kernel's result differ from plain Python's",
        'heat.py::heat --args "f32[9,8] f32[9,8] f32[9,8] float" --ndrange 9,8 --value dt=0.1',
    )
    _value_arguments(parser)
    parser.add_argument(
        "--pass", dest="passes", action="append", default=[], metavar="NAME",
        help="a registered pass that runs on the kern stage, as in passes=[...]",
    )  # fmt: skip
    parser.add_argument("--rtol", type=_tolerance, help="relative tolerance (default: by the type)")
    parser.add_argument("--atol", type=_tolerance, help="absolute tolerance (default: by the type)")
    parser.add_argument("--full", action="store_true", help="print all of what the pass changed")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the reproducer here")
    parser.set_defaults(run=lambda chosen: _late("bisect_command").run(chosen))


def _repro_arguments(commands) -> None:
    parser = _runs_the_file(
        commands,
        "repro",
        "write a script that stands alone: the kernel, its arguments from a seed, the comparison",
        'heat.py::heat --args "f32[9,8] f32[9,8] f32[9,8] float" --ndrange 9,8 -o repro.py',
    )
    _value_arguments(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="write the script here")
    parser.set_defaults(run=lambda chosen: _late("repro_command").run(chosen))


def _value_arguments(parser) -> None:
    """A call with values: arrays of the types given, filled from a seed."""
    parser.add_argument("kernel", metavar="FILE.py::KERNEL")
    parser.add_argument(
        "--args",
        default="",
        metavar="TYPES",
        help="argument types, e.g. 'f32[64,64] f64 int'; the value of a pk.static parameter",
    )
    parser.add_argument(
        "--value", dest="values", action="append", default=[], metavar="NAME=X", help="this argument is X"
    )
    parser.add_argument(
        "--ndrange",
        default="",
        metavar="LENGTHS",
        help="of the index space, e.g. 64,64 (not for array programs)",
    )
    parser.add_argument("--workgroup", default="", metavar="LENGTHS", help="of a workgroup, e.g. 16,16")
    parser.add_argument("--device", help="cpu (the default), opencl:0, vulkan:0, ...")
    parser.add_argument(
        "--seed", type=_seed, default=0, metavar="N", help="of the random numbers in the arguments (default: 0)"
    )  # fmt: skip
    parser.set_defaults(target="llvm", debug=False)


def _seed(text: str) -> int:
    """A number that NumPy's generators begin at."""
    number = int(text)
    if number < 0:
        raise ValueError
    return number


def _tolerance(text: str) -> float:
    """A difference: not negative, and a number."""
    number = float(text)
    if not number >= 0:
        raise ValueError
    return number


def _call_arguments(parser, target: bool = True) -> None:
    parser.add_argument("kernel", metavar="FILE.py::KERNEL")
    parser.add_argument(
        "--args", default="", metavar="TYPES",
        help="argument types where the kernel has no annotations, e.g. 'f32[?,?] f32[128] f64 int'; ? is a length "
        "that is known at launch; the value of a pk.static parameter",
    )  # fmt: skip
    parser.add_argument(
        "--ndrange",
        default="",
        metavar="LENGTHS",
        help="of the index space: '?,?' or '128,?' (not for array programs)",
    )
    parser.add_argument("--workgroup", default="", metavar="LENGTHS", help="of a workgroup, e.g. 16,16")
    if target:
        parser.add_argument(
            "--target",
            default="llvm",
            type=_targets,
            help="llvm (this CPU), cuda, rocm, opencl, vulkan, or a chip such as nvvm:sm_90a; "
            "explore takes several, with commas",
        )
    parser.add_argument("--debug", action="store_true", help="with bounds checks")


def _targets(text: str) -> str:
    """Names of targets, which are refused before the file is imported."""
    from pykern.lowering.targets import checked

    try:
        return ",".join(str(checked(name.strip())) for name in text.split(","))
    except TargetError as error:
        raise argparse.ArgumentTypeError(f"{error.reason}: {error.hint}") from None


def _bench_arguments(commands) -> None:
    parser = _runs_the_file(
        commands,
        "bench",
        "run the benchmarks that a file declares with @pk.benchmark, or a suite of pykern's",
        "bench_heat.py --threads 1,2 --html heat.html",
    )
    parser.add_argument("file", nargs="?", metavar="FILE.py[::NAME]")
    parser.add_argument("--suite", choices=("cpu", "devices"), help="benchmarks that come with pykern")
    parser.add_argument("--only", default="", metavar="WORD", help="those whose name holds this")
    parser.add_argument(
        "--threads", default="", metavar="N,M", help="run once for each number of threads, bound to as many "
        "processors; `all`: 1, 2, 4, ... (default: as the process is)",
    )  # fmt: skip
    parser.add_argument(
        "--json", nargs="?", const="-", metavar="FILE", help="append JSON lines; without FILE print them"
    )
    parser.add_argument("--csv", metavar="FILE", help="write a table")
    parser.add_argument("--html", metavar="FILE", help="write a page with plots")
    parser.add_argument(
        "--compare", metavar="OLD.json", help="compare with an older run (or pytest-benchmark's JSON)"
    )
    parser.add_argument(
        "--fail-above", metavar="5%", help="exit with 1 where something is slower by more than this"
    )
    parser.add_argument("--no-limits", action="store_true", help="do not measure the machine's limits")
    parser.add_argument("--no-compile", action="store_true", help="do not measure what compiling takes")
    parser.set_defaults(run=lambda chosen: _late("bench_command").run(chosen))


def _devices_arguments(commands) -> None:
    parser = _command(
        commands, "devices", "list every device and toolchain: found or not, and what to install", "--json"
    )
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    parser.set_defaults(run=lambda chosen: _late("devices_command").run(chosen))


def _cache_arguments(commands) -> None:
    parser = _command(commands, "cache", "list or remove the compiled kernels on disk", "clear")
    parser.add_argument(
        "action", nargs="?", choices=("list", "clear", "path"), default="list",
        help="list them (the default), remove them all, or print where they are",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="list every kernel, not the 20 used last")
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    parser.set_defaults(run=lambda chosen: _late("cache_command").run(chosen))


def _explain_arguments(commands) -> None:
    parser = _command(
        commands, "explain", "explain what an error means, with an example and what to do", "PK001"
    )
    parser.add_argument("code", nargs="?", metavar="CODE", help="PK001, or 1; without one all are listed")
    parser.set_defaults(run=lambda chosen: _late("explain_command").run(chosen))


def _test_arguments(commands) -> None:
    parser = _command(
        commands, "test", "run lit tests (*.mlir, *.py with RUN lines) with FileCheck", "lit --update"
    )
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="files, folders; default: .")
    parser.add_argument("--update", action="store_true", help="write CHECK lines from what is printed now")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only tests whose name matches")
    parser.add_argument(
        "-D", "--param", action="append", default=[], metavar="NAME=VALUE",
        help="a parameter of the suite: slow=1, target=nvvm:sm_90a",
    )  # fmt: skip
    parser.add_argument("-j", "--jobs", type=int, default=0, metavar="N", help="tests at a time")
    parser.add_argument("-v", "--verbose", action="store_true", help="name the tests that pass, too")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.set_defaults(run=lambda chosen: _late("test_command").run(chosen))


def _late(name: str):
    """A command's module, imported when it is asked for: ``pykern --help`` stays quick."""
    import importlib

    return importlib.import_module(f"pykern.tools.{name}")
