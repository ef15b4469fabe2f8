"""``pykern-opt``: mlir-opt with the kern dialect and pykern's passes.

Reads MLIR text (a file or ``-``), runs the passes given as flags or by ``--pass-pipeline=``, prints the
module. Exit codes: 0 ok, 1 the input, the IR or a pass failed, 2 usage, also a file that cannot be read, 4 the compiler
itself failed.
Read next: `mlir_text` (what is refused before MLIR sees it), `guarded` (what MLIR dies of becomes a message).
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from mlir import ir

from pykern.data.locations import SourceSpan
from pykern.data.source import KernelOptions
from pykern.dialect.context import new_context
from pykern.dialect.diagnostics import Report, collected
from pykern.dialect.reports import number_sites
from pykern.errors import KernelError, PassError, VerifyError
from pykern.lowering.gpu.program import target as _devices  # noqa: F401  and those of programs on devices
from pykern.lowering.llvm import target as _cpu  # noqa: F401  registers the CPU's passes
from pykern.lowering.llvm.machines import host_of
from pykern.lowering.llvm.pipeline import cpu_pipeline
from pykern.lowering.llvm.program import target as _programs  # noqa: F401  and those of array programs
from pykern.lowering.nvvm import options as nvvm_options
from pykern.lowering.nvvm import target as _nvidia  # noqa: F401  and those all GPUs share, and NVIDIA's
from pykern.lowering.nvvm.pipeline import nvvm_pipeline
from pykern.lowering.rocdl import options as rocdl_options
from pykern.lowering.rocdl import target as _amd  # noqa: F401
from pykern.lowering.rocdl.pipeline import rocdl_pipeline
from pykern.lowering.source import target as _source  # noqa: F401
from pykern.lowering.spirv import target as _spirv  # noqa: F401
from pykern.lowering.targets import checked
from pykern.passes.arithmetic.round_once import RoundOnce
from pykern.passes.framework import (
    Callback,
    Pass,
    Pipeline,
    Upstream,
    manager,
    run_pass,
    verify,
    verify_attributes,
)
from pykern.passes.old_names import OLD_NAMES
from pykern.passes.pipelines import kern_pipeline
from pykern.passes.registry import known, parse_pipeline, with_text
from pykern.tools.guarded import CRASHED, USAGE, WRONG_INPUT, fault_of, guarded
from pykern.tools.mlir_text import MAX_DEPTH, InputError, position, read_mlir, too_deep

_ADVICE = ". If this is intended, please use -allow-unregistered-dialect with the MLIR tool used"
"""What MLIR says for lack of a dialect, with an option that this tool does not have."""
SPLIT = re.compile(r"^// -----\s*$", re.MULTILINE)


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; gives the exit code."""
    parser = command_line()
    chosen, rest = parser.parse_known_args(arguments)
    again = sys.argv[1:] if arguments is None else arguments
    return guarded("pykern-opt", lambda: _work(chosen, rest), "pykern.tools.opt:alone", again)


def alone(arguments: list[str]) -> int:
    """As `main`, in this process."""
    return _work(*command_line().parse_known_args(arguments))


def _work(chosen: argparse.Namespace, rest: list[str]) -> int:
    try:
        pipeline = _pipeline(chosen, rest)
    except KernelError as error:
        print(f"pykern-opt: {error}", file=sys.stderr)
        return USAGE
    try:
        text = read_mlir(chosen.file)
    except InputError as error:
        print(error, file=sys.stderr)
        return error.status
    chunks = SPLIT.split(text) if chosen.split_input_file else [text]
    outcomes = [
        _process(chunk, pipeline, chosen, line)
        for chunk, line in zip(chunks, _first_lines(chunks), strict=True)
    ]
    if not chosen.verify_diagnostics:
        print("// -----\n".join(o.text for o in outcomes), end="")
    return max(o.status for o in outcomes)


def command_line() -> argparse.ArgumentParser:
    """Every option; the reference in the documentation is made from it."""
    parser = argparse.ArgumentParser(
        prog="pykern-opt",
        description="Run pykern's and MLIR's passes over MLIR text that may hold the kern dialect.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Passes are given as flags in order: --canonicalize --kern-expand-ndrange=subgroup-size=8\n"
        "MLIR's own are those of mlir-opt. pykern's:\n"
        + textwrap.indent(textwrap.fill(_passes(), 84, break_on_hyphens=False), "  ")
        + "\nDeprecated names, which go with the next release:\n"
        + textwrap.indent("\n".join(f"--{old} is now --{new}" for old, new in OLD_NAMES.items()), "  "),
    )
    parser.add_argument("file", nargs="?", default="-", help="MLIR text; - reads standard input")
    parser.add_argument("--pass-pipeline", help="passes as builtin.module(...)")
    parser.add_argument("--target", help="run the whole pipeline of a target: llvm, nvvm:sm_90a, …")
    parser.add_argument("--split-input-file", action="store_true", help="cut the input at // -----")
    parser.add_argument(
        "--verify-diagnostics", action="store_true", help="check // expected-error {{...}} comments"
    )
    parser.add_argument(
        "--mlir-print-ir-after-all", action="store_true", help="print the IR after every pass, to stderr"
    )
    parser.add_argument("--mlir-print-debuginfo", action="store_true", help="print locations")
    parser.add_argument("--mlir-print-op-generic", action="store_true", help="print ops in generic form")
    return parser


def _passes() -> str:
    return " ".join(f"--{name}" for name in sorted(known()))


def _pipeline(chosen: argparse.Namespace, rest: list[str]) -> Pipeline:
    steps = list(parse_pipeline(chosen.pass_pipeline)) if chosen.pass_pipeline else []
    context = ir.Context()
    with context:
        for step in steps:
            if isinstance(step, Upstream):
                manager(context, step.pipeline)  # says what MLIR does not know
    for flag in rest:
        if not flag.startswith("--"):
            raise PassError(f"`{flag}` is neither a file nor a flag")
        name, _, options = flag[2:].partition("=")
        steps.append(with_text(name, options.strip("'\"{}")) or _upstream(name, options))
    if chosen.target:
        steps += [*kern_pipeline(KernelOptions()), RoundOnce(), Callback(function=_number_sites)]
        steps += _target_pipeline(chosen.target)
    return Pipeline(tuple(steps))


def _number_sites(module: ir.Module) -> None:
    """As the driver does before it lowers; what the sites are is for launches."""
    number_sites(module)


def _target_pipeline(given: str) -> Pipeline:
    target = checked(given)
    if target.family == "llvm":
        return cpu_pipeline(host_of(target)[1])
    if target.family == "nvvm":
        return nvvm_pipeline(*nvvm_options.options_of(target))
    if target.family == "rocdl":
        return rocdl_pipeline(*rocdl_options.options_of(target))
    raise PassError(
        f"pykern-opt has no whole pipeline for `{target}`",
        hint="there are those of `llvm`, the CPU, `nvvm:…` and `rocdl:…`, e.g. nvvm:sm_90a",
    )


def _upstream(name: str, options: str) -> Upstream:
    from mlir.passmanager import PassManager

    text = name + (f"{{{options}}}" if options else "")
    with ir.Context():
        for anchored in (text, f"func.func({text})"):
            try:
                PassManager.parse(f"builtin.module({anchored})")
            except (ValueError, ir.MLIRError):
                continue
            return Upstream(pipeline=anchored)
    near = get_close_matches(name, known(), 1)
    hint = f"did you mean --{near[0]}?" if near else "see pykern-opt --help, or write --pass-pipeline="
    raise PassError(f"no pass `{name}`", hint=hint)


@dataclass(frozen=True)
class _Outcome:
    text: str
    status: int


def _process(text: str, pipeline: Pipeline, chosen: argparse.Namespace, first_line: int) -> _Outcome:
    context = new_context()
    context.enable_multithreading(False)  # only this thread has room for what is deeply nested
    with context, ir.Location.unknown(), collected(context) as reports:
        printed, error = "", None
        try:
            printed = _run(text, pipeline, chosen)
        except KernelError as raised:
            error = raised
        except ir.MLIRError as raised:
            if not any(r.severity == "error" for r in reports):
                error = PassError(raised.message)
        if error is not None:
            reports.append(Report("error", error.reason, error.span))
    if chosen.verify_diagnostics:
        good = _verify_expected(text, reports, first_line)
        return _Outcome("", 0 if good else WRONG_INPUT)
    for report in reports:
        place = f":{report.span.line + first_line - 1}:{report.span.column + 1}" if report.span else ""
        message = report.message.replace(_ADVICE, ": MLIR's own dialects and kern are known")
        print(f"{chosen.file}{place}: {report.severity}: {message}", file=sys.stderr)
    if isinstance(error, _Fault):
        return _Outcome(printed, CRASHED)
    return _Outcome(printed, WRONG_INPUT if any(r.severity == "error" for r in reports) else 0)


def _run(text: str, pipeline: Pipeline, chosen: argparse.Namespace) -> str:
    if (place := too_deep(text)) is not None:
        line, column = position(text, place)
        raise VerifyError(
            f"more than {MAX_DEPTH} brackets within each other, more than can be followed",
            SourceSpan(chosen.file, line, column - 1, column),
        )
    module = ir.Module.parse(text)
    verify_attributes(module, "the input does not verify")
    verify(module, "the input does not verify")
    for step in pipeline:
        _run_pass(step, module)
        if chosen.mlir_print_ir_after_all:
            print(f"// -----// IR Dump After {step} //----- //\n{module}", file=sys.stderr)
    return (
        module.operation.get_asm(
            enable_debug_info=chosen.mlir_print_debuginfo, print_generic_op_form=chosen.mlir_print_op_generic
        ).rstrip("\n")
        + "\n"
    )


class _Fault(PassError):
    """A pass that is wrong, rather than what it was given."""


def _run_pass(step: Pass, module: ir.Module) -> None:
    """As `run_pass`. What a pass trips over in Python is its own fault, and told as such, whoever wrote it."""
    try:
        run_pass(step, module)
    except (KernelError, ir.MLIRError, MemoryError, OSError):
        raise
    except Exception as error:  # noqa: BLE001 - the end of the process: the user hears which pass it was
        raise _Fault(fault_of(f"pass `{step}`", error)) from None


# -- expected diagnostics ------------------------------------------------------------------------

EXPECTED = re.compile(
    r"//\s*expected-(error|warning|remark|note)(?:-re)?\s*(@[+-]?\d+|@above|@below)?\s*\{\{(.*?)\}\}"
)


def _verify_expected(text: str, reports: list[Report], first_line: int) -> bool:
    """Every expectation is met by a report on its line, and every error was expected."""
    wanted = list(_expectations(text))
    good = True
    open_reports = [r for r in reports if r.severity != "note"]
    for severity, line, message in wanted:
        met = next(
            (r for r in reports if r.severity == severity and message in r.message
             and (r.span is None or r.span.line == line)), None,
        )  # fmt: skip
        if met is None:
            print(
                f"line {line + first_line - 1}: expected {severity} `{message}` was not produced",
                file=sys.stderr,
            )
            good = False
        elif met in open_reports:
            open_reports.remove(met)
    for report in open_reports:
        line = report.span.line + first_line - 1 if report.span else "?"
        print(f"line {line}: unexpected {report.severity}: {report.message}", file=sys.stderr)
        good = False
    return good


def _expectations(text: str) -> Iterator[tuple[str, int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        for severity, offset, message in EXPECTED.findall(line):
            yield severity, number + _offset(offset, number), message


def _offset(offset: str, number: int) -> int:
    if offset in ("", "@above", "@below"):
        return {"": 0, "@above": -1, "@below": 1}[offset]
    value = int(offset[1:])
    return value if offset[1] in "+-" else value - number


def _first_lines(chunks: list[str]) -> Iterator[int]:
    line = 1
    for chunk in chunks:
        yield line
        line += chunk.count("\n")


if __name__ == "__main__":
    raise SystemExit(main())
