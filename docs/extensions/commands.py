"""Every command and option, from the parsers themselves."""

from __future__ import annotations

import argparse
import os

from extensions.markdown import fence


def page() -> str:
    os.environ["COLUMNS"] = "90"
    from pykern.tools import cli, opt

    parser = cli.command_line()
    parts = ["## pykern", fence(parser.format_help(), "text")]
    for name, command in _subcommands(parser).items():
        parts += [f"### pykern {name}", fence(command.format_help(), "text")]
    parts += ["## pykern-opt", fence(opt.command_line().format_help(), "text")]
    return "\n\n".join(parts)


def _subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (action,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return dict(action.choices)
