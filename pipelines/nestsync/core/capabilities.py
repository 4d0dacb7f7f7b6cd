"""Capabilities: what each target can hold, and what it does with a name that it only half accepts.

Every entry says whether it was tried on a real server or is documented only, and where.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from nestsync.core.casing import lower
from nestsync.core.dialects.base import Refusal, depth_refusal
from nestsync.core.errors import UnknownKind
from nestsync.core.identifiers import Levels


class Unit(StrEnum):
    """What a length counts."""

    CHARACTERS = "characters"
    UTF16 = "UTF-16 units"

    def measure(self, text: str) -> int:
        """The length of `text` in this unit."""
        return len(text) if self is Unit.CHARACTERS else len(text.encode("utf-16-le", "surrogatepass")) // 2


class Case(StrEnum):
    """What becomes of upper and lower case."""

    KEPT = "kept"
    FOLDED = "stored in lower case"
    IGNORED = "kept, and ignored in comparisons"


class Parents(StrEnum):
    """What a target does about the parents of a new namespace."""

    NEEDED = "needed"
    MADE = "made by the server"
    IGNORED = "may be missing"
    UNSPECIFIED = "up to the server"
    NONE = "there are none to make"


class Evidence(StrEnum):
    """How an entry came to be known."""

    TRIED = "tried"
    DOCUMENTED = "documented only"


@dataclass(frozen=True, slots=True)
class NameRule:
    """What one level, or a table's name, may be."""

    allowed: str = r"[^\ud800-\udfff]"
    """One character, as a character class; none of them takes a lone surrogate."""
    first: str = ""
    """The first character, where it is more limited."""
    last: str = ""
    """The last character, where it is more limited."""
    reserved: tuple[tuple[str, str], ...] = ()
    """Characters that the target takes and means something else by, each with what it means."""
    taken: frozenset[str] = frozenset()
    """Whole names that the target cannot address."""
    longest: int | None = None
    unit: Unit = Unit.CHARACTERS
    may_be_empty: bool = False

    def refusals(self, part: str, index: int) -> Iterator[Refusal]:
        """Everything that is wrong with `part`, the level (or name) number `index`."""
        if not part and not self.may_be_empty:
            yield Refusal(index, part, None, "is empty", "one character or more", "empty-level")
        if part in self.taken:
            yield Refusal(index, part, None, "cannot be addressed", "another name", "reserved-character")
        reserved = next(((sign, means) for sign, means in self.reserved if sign in part), None)
        if reserved is not None:
            sign, means = reserved
            yield Refusal(index, part, sign, f"holds {sign!r}, {means}", f"without {sign!r}", "reserved-character")
        odd = next((c for c in part if not re.match(self.allowed, c)), None)
        if odd is not None:
            accepted = f"characters of {self.allowed}"
            yield Refusal(index, part, odd, f"holds {odd!r}, which is refused", accepted, "character-refused")
        elif part and not re.match(self.first, part):
            reason, accepted = f"begins with {part[0]!r}, which is refused", f"a first character of {self.first}"
            yield Refusal(index, part, part[0], reason, accepted, "character-refused")
        elif part and self.last and not re.match(self.last, part[-1]):
            reason, accepted = f"ends in {part[-1]!r}, which is refused", f"a last character of {self.last}"
            yield Refusal(index, part, part[-1], reason, accepted, "character-refused")
        if self.longest is not None and self.unit.measure(part) > self.longest:
            reason = f"is longer than {self.longest} {self.unit}"
            yield Refusal(index, part, None, reason, f"at most {self.longest} {self.unit}", "too-long")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What one system can hold."""

    name: str
    title: str
    levels: tuple[NameRule, ...]
    """One rule a level, outermost first; the last one goes for all deeper levels."""
    table: NameRule
    half_accepted: str
    """What becomes of names that the system takes and does not keep as they are."""
    evidence: Evidence
    where: str
    least_depth: int = 0
    most_depth: int | None = None
    shape: str = "namespaces of any depth"
    longest_path: int | None = None
    """All levels and the separators between them (and a table's name where `path_has_name`)."""
    path_unit: Unit = Unit.CHARACTERS
    path_joint: int = 1
    path_has_name: bool = False
    joint: str | None = None
    """What joins levels in its storage, and nothing escapes it: a level that holds it is several there."""
    case: Case = Case.KEPT
    normalises: bool = False
    parents: Parents = Parents.NEEDED
    views: bool = False
    properties: bool = True

    def refusals(self, levels: Levels, name: str | None = None) -> list[Refusal]:
        """Everything about the namespace `levels`, or the table `name` in it, that this system does not hold."""
        depth = depth_refusal(levels, self.least_depth, self.most_depth or len(levels), self.shape)
        found = [] if depth is None else [depth]
        for index, level in enumerate(levels):
            found += self.levels[min(index, len(self.levels) - 1)].refusals(level, index)
        if name is not None:
            found += self.table.refusals(name, len(levels))
        return found + self._path_refusals(levels, name)

    def _path_refusals(self, levels: Levels, name: str | None) -> list[Refusal]:
        parts = (*levels, name) if name is not None and self.path_has_name else levels
        length = sum(map(self.path_unit.measure, parts)) + self.path_joint * (len(parts) - 1)
        if self.longest_path is None or length <= self.longest_path:
            return []
        limit = f"{self.longest_path} {self.path_unit}"
        reason = f"has {length} {self.path_unit} in all, over {self.longest_path}"
        return [Refusal(None, None, None, reason, f"at most {limit} in all", "too-long")]

    def key(self, part: str) -> str:
        """What this system compares where it compares `part`: folded where it folds, NFC where it normalises."""
        folded = part if self.case is Case.KEPT else lower(part)
        return unicodedata.normalize("NFC", folded) if self.normalises else folded


_ICEBERG_JAVA = (
    ("\x1f", "which joins levels in every request"),
    ("\x00", "which Iceberg's Java classes refuse"),
)
_WORD = "[A-Za-z0-9_]"
_HIVE_4 = r"[A-Za-z0-9_ \"%&'()*+,\-./:;<=>?\[\]|{}$^!~#@`]"
_HIVE_4_DATABASE = NameRule(allowed=_HIVE_4.replace(":", ""), first="[^ ]", last="[^ #!]", longest=128)
_GLUE = r"[^\x00-\x08\x0a-\x1f\ufffe\uffff\ud800-\udfff]"
_ICEBERG = NameRule(reserved=_ICEBERG_JAVA, may_be_empty=True)
_JDBC = (*_ICEBERG_JAVA, (".", "which joins levels in storage"), ("\\", "below which nothing is listed"))
_ICEBERG_1_11 = (*_ICEBERG_JAVA, (".", "the separator that it advertises"))
_PLAIN_PATH = r"[^\x00-\x1e\x7f%/\\\ud800-\udfff]"
_NESSIE = NameRule(allowed=r"[^\x00-\x1f\x7f\ud800-\udfff]", first="[^.]")
_LAKEKEEPER = (*_ICEBERG_JAVA, (".", "which it refuses"), ("+", "which it refuses, since clients mean a blank by it"))
_GLUE_NAME = NameRule(allowed=_GLUE, reserved=((".", "which pyiceberg lists as one level more"),), longest=255)
_UNITY = NameRule(allowed="[A-Za-z0-9_@-]", longest=255, unit=Unit.UTF16)
_GRAVITINO = NameRule(allowed="[A-Za-z0-9_/=-]", first=_WORD, longest=64)
_LANCE_TABLE = NameRule(
    allowed=r"[\x20-\x7e]",
    reserved=(("$", "the delimiter"), ("/", "a path"), ("?", "a query"), ("#", "a fragment"), ("%", "an encoded byte")),
    taken=frozenset({".", ".."}),
)
_LANCE_REST = (("$", "the delimiter"), (" ", "which the client sends as + and the server takes for a plus"))

CAPABILITIES: dict[str, Capabilities] = {
    entry.name: entry
    for entry in (
        Capabilities(
            "iceberg-rest",
            "Iceberg REST, any server",
            levels=(_ICEBERG,),
            table=NameRule(reserved=_ICEBERG_JAVA),
            parents=Parents.UNSPECIFIED,
            views=True,
            half_accepted="a level with U+001F is created in a body and read as two in every path",
            evidence=Evidence.TRIED,
            where="reference server 1.10.1, in-memory backend, every sign of ASCII; 1.11.0 has an entry of its own",
        ),
        Capabilities(
            "iceberg-rest-1.11",
            "Iceberg REST reference server 1.11",
            levels=(NameRule(allowed=_PLAIN_PATH, reserved=_ICEBERG_1_11, may_be_empty=True),),
            table=NameRule(allowed=_PLAIN_PATH, reserved=_ICEBERG_JAVA),
            parents=Parents.IGNORED,
            views=True,
            half_accepted="a level with %, /, a backslash or a control character is created in a body and refused in "
            "every path; one with a dot is read as two wherever its children are listed",
            evidence=Evidence.TRIED,
            where="reference server 1.11.0, in-memory backend: its Jetty 12 refuses ambiguous paths",
        ),
        Capabilities(
            "jdbc",
            "Iceberg REST on a JDBC catalog",
            levels=(NameRule(reserved=_JDBC), NameRule(reserved=_JDBC, may_be_empty=True)),
            table=NameRule(reserved=_ICEBERG_JAVA, longest=255),
            longest_path=255,
            joint=".",
            parents=Parents.IGNORED,
            views=True,
            half_accepted='("a.b",) is listed as ("a",), and ("q.x",) is refused as a duplicate of ("q", "x"); below a '
            "level with a backslash nothing is listed",
            evidence=Evidence.TRIED,
            where="reference server 1.10.1 on H2, every sign of ASCII; the length is that of its columns",
        ),
        Capabilities(
            "nessie",
            "Nessie",
            levels=(_NESSIE,),
            table=_NESSIE,
            most_depth=19,
            shape="at most 19 levels, and a name",
            longest_path=500,
            path_unit=Unit.UTF16,
            path_joint=0,
            path_has_name=True,
            views=True,
            half_accepted="a level that begins with a dot is created and listed, and cannot be read",
            evidence=Evidence.TRIED,
            where="Nessie 0.99.0, every sign of ASCII; a table's length from the source of ContentKey",
        ),
        Capabilities(
            "polaris",
            "Apache Polaris",
            levels=(NameRule(reserved=_ICEBERG_JAVA),),
            table=NameRule(reserved=_ICEBERG_JAVA),
            views=True,
            half_accepted="not known",
            evidence=Evidence.DOCUMENTED,
            where="source of its Iceberg catalog: the parent must exist",
        ),
        Capabilities(
            "lakekeeper",
            "Lakekeeper",
            levels=(NameRule(reserved=_LAKEKEEPER),),
            table=NameRule(reserved=_LAKEKEEPER),
            most_depth=5,
            shape="at most 5 levels",
            case=Case.IGNORED,
            normalises=True,
            views=True,
            half_accepted="names that differ in case alone are one, by the collation of its database",
            evidence=Evidence.DOCUMENTED,
            where="source of its namespace validation and its schema",
        ),
        Capabilities(
            "unity",
            "Unity Catalog, open source",
            levels=(_UNITY,),
            table=_UNITY,
            least_depth=1,
            most_depth=1,
            shape="one level, a schema in the catalog of the prefix",
            parents=Parents.NONE,
            half_accepted="a list under any parent is empty and no error; writes are off by default",
            evidence=Evidence.DOCUMENTED,
            where="source of the server",
        ),
        Capabilities(
            "glue",
            "AWS Glue",
            levels=(_GLUE_NAME,),
            table=_GLUE_NAME,
            least_depth=1,
            most_depth=1,
            shape="one level, a database",
            case=Case.FOLDED,
            parents=Parents.NONE,
            half_accepted="a.b is listed by pyiceberg as two levels, which cannot be opened",
            evidence=Evidence.DOCUMENTED,
            where="AWS's own model of the API; pyiceberg on a lax stand-in",
        ),
        Capabilities(
            "gravitino",
            "Gravitino",
            levels=(_GRAVITINO,),
            table=_GRAVITINO,
            longest_path=128,
            parents=Parents.MADE,
            half_accepted="over 128 in all it answers 200 and then 500 for ever; its Iceberg REST service keeps in the "
            "backend what its own API refuses",
            evidence=Evidence.TRIED,
            where="Gravitino 1.3.0 with a JDBC-backed Iceberg catalog",
        ),
        Capabilities(
            "hms-3",
            "Hive Metastore 3",
            levels=(NameRule(allowed=_WORD, longest=256), NameRule(allowed=_WORD, longest=128)),
            table=NameRule(allowed="[A-Za-z0-9_/]", longest=256),
            least_depth=2,
            most_depth=2,
            shape="catalog and database",
            case=Case.FOLDED,
            views=True,
            half_accepted="odd names that got into its database are served, in lower case or not",
            evidence=Evidence.TRIED,
            where="HMS 3.1.3 on Derby, every sign of ASCII",
        ),
        Capabilities(
            "hms-4",
            "Hive Metastore 4",
            levels=(NameRule(allowed=_WORD, longest=256), _HIVE_4_DATABASE),
            table=NameRule(allowed=_HIVE_4, first="[^ ]", last="[^ ]", longest=256),
            least_depth=2,
            most_depth=2,
            shape="catalog and database",
            case=Case.FOLDED,
            views=True,
            half_accepted="a database that begins with a blank, or ends in # or !, is kept and cannot be asked for; "
            "one that ends in a blank answers to the name without it, and a table is kept under that name",
            evidence=Evidence.TRIED,
            where="HMS 4.0.1 on Derby, every sign of ASCII",
        ),
        Capabilities(
            "lance-dir",
            "Lance directory",
            levels=(NameRule(reserved=(("$", "the delimiter"),), may_be_empty=True),),
            table=_LANCE_TABLE,
            joint="$",
            half_accepted="a$b becomes b in a; namespaces are in its manifest alone, and folders show none; a table"
            " named with %, #, ?, or beyond ASCII is listed and not described",
            evidence=Evidence.TRIED,
            where="pylance 14.0.2, namespaces in its manifest",
        ),
        Capabilities(
            "lance-rest",
            "Lance REST",
            levels=(NameRule(reserved=_LANCE_REST, taken=frozenset({".", ".."})),),
            table=_LANCE_TABLE,
            half_accepted="none: body and route must name the same object",
            evidence=Evidence.TRIED,
            where="pylance 14.0.2, its REST adapter and client",
        ),
    )
}
"""Every system by name, as its documentation or its server has it."""


def capabilities(name: str) -> Capabilities:
    """The capabilities called `name`. Raises `UnknownKind`."""
    found = CAPABILITIES.get(name)
    if found is None:
        raise UnknownKind(f"there are no capabilities {name!r}", hint=f"there are {', '.join(CAPABILITIES)}")
    return found


__all__ = ["CAPABILITIES", "Capabilities", "Case", "Evidence", "NameRule", "Parents", "Unit", "capabilities"]
