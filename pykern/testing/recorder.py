"""What stands in for FileCheck while ``pykern test --update`` runs: it notes its input, and checks nothing.

Comes in: ``python -m pykern.testing.recorder FOLDER`` and FileCheck's own arguments, the output of a test on
standard input. Goes out: one `Record` in the folder. Read next: `pykern.testing.update`.
"""

from __future__ import annotations

import json
import sys
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path

from pykern.testing.run_lines import option_values

WITH_VALUE = ("check-prefix", "check-prefixes", "comment-prefixes", "input-file", "implicit-check-not", "D")


@dataclass(frozen=True)
class Record:
    """A call of FileCheck: the file with its directives, the first prefix it looks for, its input."""

    test: str
    prefix: str
    output: str


def main(arguments: list[str]) -> int:
    """Note one call; 0 whatever the input is."""
    folder, *words = arguments
    test = check_file(words)
    if test is None:
        print("FileCheck is called without a check file", file=sys.stderr)
        return 2
    inputs = option_values(words, "input-file")
    output = Path(inputs[0]).read_text("utf-8") if inputs and inputs[0] != "-" else sys.stdin.read()
    prefixes = option_values(words, "check-prefix", "check-prefixes") or ("CHECK",)
    record = Record(str(Path(test).resolve()), prefixes[0], output)
    Path(folder, f"{uuid.uuid4().hex}.json").write_text(json.dumps(asdict(record)))
    return 0


def records(folder: Path) -> list[Record]:
    """What was noted in `folder`, by test and prefix."""
    found = [Record(**json.loads(path.read_text())) for path in folder.glob("*.json")]
    return sorted(found, key=lambda record: (record.test, record.prefix, record.output))


def check_file(words: list[str]) -> str | None:
    """The file with the directives: the argument that is no option and no option's value."""
    before = ""
    for word in words:
        is_value = before.startswith("-") and before.lstrip("-") in WITH_VALUE
        if not word.startswith("-") and not is_value:
            return word
        before = word
    return None


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
