"""``pykern-opt``: mlir-opt with the kern dialect and pykern's passes.

Reads MLIR text (a file or ``-``), runs the passes given as flags or by ``--pass-pipeline=``, prints the
module. Exit code 1: the IR or a pass failed; 2: usage.
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

from pykern.dialect.context import new_context
from pykern.dialect.diagnostics import Report, collected
from pykern.errors import KernelError, PassError
from pykern.lowering.gpu.program import target as _devices  # noqa: F401  and those of programs on devices
from pykern.lowering.llvm import target as _cpu  # noqa: F401  registers the CPU's passes
from pykern.lowering.llvm.pipeline import cpu_pipeline
from pykern.lowering.llvm.program import target as _programs  # noqa: F401  and those of array programs
from pykern.lowering.nvvm import options as nvvm_options
from pykern.lowering.nvvm import target as _nvidia  # noqa: F401  and those all GPUs share, and NVIDIA's
from pykern.lowering.nvvm.pipeline import nvvm_pipeline
from pykern.lowering.rocdl import options as rocdl_options
from pykern.lowering.rocdl import target as _amd  # noqa: F401
from pykern.lowering.rocdl.pipeline import rocdl_pipeline
from pykern.lowering.spirv import target as _spirv  # noqa: F401
from pykern.passes.framework import Pipeline, Upstream, run_pass, verify
from pykern.passes.pipelines import kern_pipeline
from pykern.passes.registry import known, parse_pipeline, with_options
from pykern.passes.round_once import RoundOnce
from pykern.source import KernelOptions

SPLIT = re.compile(r"^// -----\s*$", re.MULTILINE)


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; gives the exit code."""
    parser = command_line()
    chosen, rest = parser.parse_known_args(arguments)
    try:
        pipeline = _pipeline(chosen, rest)
    except KernelError as error:
        print(f"pykern-opt: {error}", file=sys.stderr)
        return 2
    text = sys.stdin.read() if chosen.file == "-" else _read(chosen.file)
    chunks = SPLIT.split(text) if chosen.split_input_file else [text]
    outcomes = [
        _process(chunk, pipeline, chosen, line)
        for chunk, line in zip(chunks, _first_lines(chunks), strict=True)
    ]
    if not chosen.verify_diagnostics:
        print("// -----\n".join(o.text for o in outcomes), end="")
    return 0 if all(o.good for o in outcomes) else 1


def command_line() -> argparse.ArgumentParser:
    """Every option; the reference in the documentation is made from it."""
    parser = argparse.ArgumentParser(
        prog="pykern-opt",
        description="Run pykern's and MLIR's passes over MLIR text that may hold the kern dialect.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Passes are given as flags in order: --canonicalize --kern-expand-ndrange=subgroup-size=8\n"
        "MLIR's own are those of mlir-opt. pykern's:\n"
        + textwrap.indent(textwrap.fill(_passes(), 84, break_on_hyphens=False), "  "),
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


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        print(f"pykern-opt: {path}: {error.strerror}", file=sys.stderr)
        raise SystemExit(2) from None


def _pipeline(chosen: argparse.Namespace, rest: list[str]) -> Pipeline:
    steps = list(parse_pipeline(chosen.pass_pipeline)) if chosen.pass_pipeline else []
    for flag in rest:
        if not flag.startswith("--"):
            raise PassError(f"`{flag}` is neither a file nor a flag")
        name, _, options = flag[2:].partition("=")
        if name in known():
            steps.append(with_options(known()[name], options.strip("'\"{}")))
        else:
            steps.append(_upstream(name, options))
    if chosen.target:
        steps += [*kern_pipeline(KernelOptions()), RoundOnce(), *_target_pipeline(chosen.target)]
    return Pipeline(tuple(steps))


def _target_pipeline(target: str) -> Pipeline:
    family = target.split(":")[0]
    if family == "llvm":
        return cpu_pipeline(KernelOptions())
    if family == "nvvm":
        return nvvm_pipeline(*nvvm_options.parse(target))
    if family == "rocdl":
        return rocdl_pipeline(*rocdl_options.parse(target))
    raise PassError(
        f"no target `{target}`", hint="there are `llvm`, the CPU, `nvvm:…` and `rocdl:…`, e.g. nvvm:sm_90a"
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
    good: bool


def _process(text: str, pipeline: Pipeline, chosen: argparse.Namespace, first_line: int) -> _Outcome:
    context = new_context()
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
        return _Outcome("", _verify_expected(text, reports, first_line))
    for report in reports:
        line = report.span.line + first_line - 1 if report.span else "?"
        column = report.span.column + 1 if report.span else "?"
        print(f"{chosen.file}:{line}:{column}: {report.severity}: {report.message}", file=sys.stderr)
    return _Outcome(printed, not any(r.severity == "error" for r in reports))


def _run(text: str, pipeline: Pipeline, chosen: argparse.Namespace) -> str:
    module = ir.Module.parse(text)
    verify(module, "the input does not verify")
    for step in pipeline:
        run_pass(step, module)
        if chosen.mlir_print_ir_after_all:
            print(f"// -----// IR Dump After {step} //----- //\n{module}", file=sys.stderr)
    return (
        module.operation.get_asm(
            enable_debug_info=chosen.mlir_print_debuginfo, print_generic_op_form=chosen.mlir_print_op_generic
        ).rstrip("\n")
        + "\n"
    )


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
