"""The one root of every error that nestsync raises on purpose."""

from __future__ import annotations

import re
from typing import Any, ClassVar


def one_line(text: str) -> str:
    """`text` with line breaks and control characters escaped, so that a message stays one line.

    Lone surrogates are escaped too: a message must be printable wherever it ends up.
    """
    return "".join(_escaped(character) for character in text)


def _escaped(character: str) -> str:
    point = ord(character)
    if point < 0x20 or 0x7F <= point < 0xA0 or point in (0x2028, 0x2029):
        return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}"
    if 0xD800 <= point <= 0xDFFF:
        return f"\\u{point:04x}"
    return character


class NestsyncError(Exception):
    """Something that a person can act on: what happened, where, and what to try.

    `code` is stable and machine readable; `exit_code` is what a command ends with (see
    `docs/exit-codes.md`). The text form is one line, ``[code] where: what Hint: hint``, because Spark
    carries an exception from an executor to the driver as text only; `from_text` reads it back.
    """

    code: ClassVar[str] = "unexpected"
    exit_code: ClassVar[int] = 1
    registry: ClassVar[dict[str, type[NestsyncError]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        NestsyncError.registry[cls.code] = cls

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f"{one_line(self.where)}: " if self.where else ""
        hint = f" Hint: {one_line(self.hint)}" if self.hint else ""
        return f"[{self.code}] {place}{one_line(self.what)}{hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        # Exception's own __reduce__ would call __init__ with `args` alone and lose the keywords.
        return (_rebuild, (type(self), self.__dict__ | {"_args": self.args}))

    @classmethod
    def from_text(cls, text: str) -> NestsyncError | None:
        """The last error of ours that `text` (a traceback, say) holds, or None.

        `where` is folded into `what`: the text form does not tell them apart.
        """
        codes = "|".join(re.escape(code) for code in sorted(NestsyncError.registry))
        found = re.findall(rf"\[({codes})\] ([^\n]*?)(?: Hint: ([^\n]*))?(?:\n|$)", text)
        if not found:
            return None
        code, what, hint = found[-1]
        kind = NestsyncError.registry[code]
        return _rebuild(kind, {"what": what, "where": "", "hint": hint, "_args": (what,)})


class UnknownKind(NestsyncError):
    """There is no dialect, no capabilities or no policy of this name, or it has no such option."""

    code: ClassVar[str] = "unknown-kind"
    exit_code: ClassVar[int] = 2


def _rebuild(kind: type[NestsyncError], state: dict[str, Any]) -> NestsyncError:
    error: NestsyncError = kind.__new__(kind)
    error.args = state["_args"]
    error.__dict__.update({key: value for key, value in state.items() if key != "_args"})
    return error


__all__ = ["NestsyncError", "UnknownKind", "one_line"]
