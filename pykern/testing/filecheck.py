"""Find the directives of a lit test that lit and FileCheck pass over without a word.

Comes in: the text of a test. Goes out: `Problem`s, each with its line. FileCheck reads
``CHCEK: x``, ``CHECK-NXET: x`` and ``CHECK : x`` as comments, and the test then passes whatever the
compiler prints; so a spelling that is close to a directive is reported, and so is

- a FileCheck run whose prefix stands on no line of the file,
- a CHECK line whose prefix no FileCheck run looks for,
- ``REQUIRES: opnemp``: a feature that nobody provides skips the test for ever.

Read next: `pykern.testing.run_lines`, which finds the FileCheck runs.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from dataclasses import dataclass

from pykern.testing.run_lines import RUN, FileCheckRun, filecheck_runs

LIT_DIRECTIVES = ("RUN", "REQUIRES", "UNSUPPORTED", "XFAIL")
SUFFIX = r"(?:-(?:NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT-[1-9][0-9]*))?(?:\{LITERAL\})?"
LOOKS_ALIKE = 0.66  # difflib's ratio: RNU and RUN, CHCEK and CHECK are alike; CHUNK and CHECK are not

_COMMENT = {".mlir": r"//+", ".py": r"#+|//+"}  # Python tests hold MLIR text with its own comments
_IN_CAPITALS = re.compile(r"(?P<word>[A-Z][A-Z0-9]*(?:[-_][A-Z0-9]+)*(?:\{\w*\})?)(?![a-z])(?P<after>\s*:?)")
_ANY_CASE = re.compile(r"(?P<word>[A-Za-z]+(?:[-_][A-Za-z0-9]+)*):")


@dataclass(frozen=True)
class Problem:
    """Something in a test that does not do what it looks like; `line` counts from 1."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


def problems(text: str, suffix: str = ".mlir", features: Collection[str] | None = None) -> list[Problem]:
    """What is wrong with the directives of a test; `suffix` is its file's, ``.mlir`` or ``.py``.

    `features` are the names REQUIRES may use; None leaves them unchecked.
    """
    lines = text.splitlines()
    runs = filecheck_runs(lines)
    prefixes = {prefix for run in runs for prefix in run.prefixes}
    not_read = {"COM", *(prefix for run in runs for prefix in run.comment_prefixes)}

    found = _unused_prefixes(lines, runs)
    for number, line in enumerate(lines, 1):
        for comment in _comments(line, suffix):
            if comment.partition(":")[0] in not_read:
                continue
            message = misspelling(comment, prefixes) or _unknown_feature(comment, features)
            if message:
                found.append(Problem(number, message))
    return sorted(found, key=lambda problem: problem.line)


def misspelling(comment: str, prefixes: Collection[str]) -> str | None:
    """What is wrong with a comment that begins like a directive; None for a good one and for prose.

    `prefixes` are those that the test's FileCheck runs look for.
    """
    if match := _IN_CAPITALS.match(comment):
        word, after = match["word"], match["after"]
        if _is_directive(word, prefixes):
            return None if after == ":" else f"`{word}` is a comment: a directive ends in a colon, at once"
        return _near_miss(word, prefixes) if ":" in after else None
    match = _ANY_CASE.match(comment)
    if match and _is_directive(match["word"].upper().replace("_", "-"), prefixes):
        return f"`{match['word']}:` is a comment: directives are written in capitals"
    return None


def _is_directive(word: str, prefixes: Collection[str]) -> bool:
    return word in LIT_DIRECTIVES or any(
        re.fullmatch(re.escape(prefix) + SUFFIX, word) for prefix in prefixes
    )


def _near_miss(word: str, prefixes: Collection[str]) -> str | None:
    """`word` stands before a colon and is no directive: is it close to one?"""
    if _is_directive(word, ["CHECK"]):
        return f"`{word}:` is a comment: no RUN line has FileCheck look for CHECK"
    for prefix in (*prefixes, "CHECK"):
        if word.startswith(prefix):
            return f"`{word}:` is a comment: FileCheck has no such suffix, and no RUN line names this prefix"
    stem = re.split(r"[-_{]", word)[0]
    for written in (word, stem):
        close = difflib.get_close_matches(written, (*prefixes, "CHECK", *LIT_DIRECTIVES), 1, LOOKS_ALIKE)
        if close:
            return f"`{word}:` is a comment: did you mean `{close[0]}`?"
    return None


def _unused_prefixes(lines: list[str], runs: list[FileCheckRun]) -> list[Problem]:
    """FileCheck runs with a prefix that stands nowhere in the file."""
    body = [line for line in lines if not RUN.search(line)]
    return [
        Problem(run.line, f"FileCheck looks for `{prefix}:`, which stands nowhere in this file")
        for run in runs
        for prefix in run.prefixes
        if not any(re.search(rf"(?<![\w-]){re.escape(prefix)}{SUFFIX}:", line) for line in body)
    ]


def _unknown_feature(comment: str, features: Collection[str] | None) -> str | None:
    directive, _, expression = comment.partition(":")
    if features is None or directive not in ("REQUIRES", "UNSUPPORTED"):
        return None
    for name in re.findall(r"[\w.+=-]+", expression):
        if name not in features and name not in ("true", "false"):
            return f"`{directive}: {name}`: there is no such feature"
    return None


def _comments(line: str, suffix: str) -> list[str]:
    """The texts after each comment marker of `line`; a RUN line is one comment, whatever it holds."""
    texts = [text.strip() for text in re.split(_COMMENT.get(suffix, "//+"), line)[1:]]
    return texts[:1] if RUN.search(line) else texts
