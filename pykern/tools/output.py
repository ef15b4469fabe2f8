"""Files that a command writes where the user says.

Comes in: a path and what is to stand there. Goes out: the file, or an `UnreadableFile` that names the reason.
"""

from __future__ import annotations

from pykern.api.user_file import UnreadableFile


def write(path: str, content: str | bytes, append: bool = False) -> None:
    """Write `content` to `path`, text as UTF-8. Raises `UnreadableFile` where the system does not let us."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        with open(path, "ab" if append else "wb") as file:
            file.write(data)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL
        reason = getattr(error, "strerror", None) or error
        raise UnreadableFile(
            f"`{path}` cannot be written: {reason}", hint="name another file with -o"
        ) from None
