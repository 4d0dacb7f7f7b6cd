"""What every room implements: options, a reader, and a writer where the system can be a target."""

from __future__ import annotations

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Generic, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, ValidationInfo

from nestsync.catalogs.records import CatalogObject
from nestsync.core.identifiers import Levels
from nestsync.errors import ConfigurationError

Unit = TypeVar("Unit")
"""A picklable share of the reading; only the room knows what is in it."""


def _anchored(text: str, info: ValidationInfo) -> str:
    if not text.strip():
        msg = "is blank: name a path; a relative one starts from the configuration file's folder"
        raise ValueError(msg)
    folder = (info.context or {}).get("folder")
    return text if folder is None or _URI.match(text) else str(folder / Path(text).expanduser())


PathText = Annotated[str, AfterValidator(_anchored)]
"""A path or a URI; in a configuration file, a relative path starts from the file's folder."""
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


class CatalogOptions(BaseModel):
    """A system's own options, as they stand in the configuration and on ``spark.read``.

    Secrets are never values here, only names of environment variables (fields ending in ``_env``).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    @property
    def identity(self) -> Hashable:
        """What options of one catalog have in common, however its address is spelled; None where nobody can say."""
        return None

    @classmethod
    def from_spark(cls, options: Mapping[str, str]) -> Self:
        """From Spark's text options; lists and maps are JSON, because Spark lower-cases option names.

        Raises `ConfigurationError` that names the option.
        """
        values: dict[str, Any] = {}
        for name, text in options.items():
            structured = text.startswith(("[", "{")) and name in cls.model_fields
            try:
                values[name] = json.loads(text) if structured else text
            except json.JSONDecodeError as error:
                raise ConfigurationError(f"option {name!r} is not valid JSON: {error}", where=cls.__name__) from error
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
            known = ", ".join(sorted(cls.model_fields))
            raise ConfigurationError(problems, where=cls.__name__, hint=f"the options are {known}") from error

    def to_spark(self) -> dict[str, str]:
        """The inverse of `from_spark`, without what was left at its default."""
        values = self.model_dump(mode="json", exclude_unset=True, exclude_none=True)
        return {
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=True)
            for name, value in values.items()
        }


def secret(variable: str | None, *, where: str) -> str | None:
    """The value of the environment variable called `variable`, read on the driver; None for None.

    Raises `ConfigurationError` when it is named and not set.
    """
    if variable is None:
        return None
    value = os.environ.get(variable)
    if not value:
        raise ConfigurationError(
            f"the environment variable {variable} is not set", where=where, hint=f"export {variable} before the run"
        )
    return value


class CatalogReader(ABC, Generic[Unit]):
    """One configured catalog, to be read. Made on the driver, pickled to executors, secrets inside.

    `repr` must not show a secret. Raises `CatalogUnreachable` when the catalog as a whole does not
    answer (down, 401, garbage, too slow); an object that cannot be read becomes a row with its error.
    """

    @abstractmethod
    def units(self, *, tables: bool, parallelism: int) -> Sequence[Unit]:
        """Shares of the reading, found on the driver with as few requests as can be."""

    @abstractmethod
    def read(self, unit: Unit, *, namespaces: bool, tables: bool) -> Iterator[CatalogObject]:
        """The objects of one share, on an executor: namespaces, tables and views, or either."""


class CatalogWriter(ABC):
    """One configured catalog, to be written. Used from several threads at once.

    Methods send at most the one write request that they are for. Raises `CatalogUnreachable` as the
    reader does (`WriteUnheard` when the catalog may have carried out what it never answered), and `ObjectError`
    when the catalog refuses this one object.
    """

    @abstractmethod
    def namespace_properties(self, levels: Levels) -> Mapping[str, str] | None:
        """The properties of a namespace, or None where there is no such namespace. A read."""

    @abstractmethod
    def create_namespace(self, levels: Levels, properties: Mapping[str, str]) -> None:
        """Create one namespace whose parent exists. Raises `AlreadyExists`; its content was not compared."""

    @abstractmethod
    def update_namespace(self, levels: Levels, updates: Mapping[str, str], removals: Sequence[str] = ()) -> None:
        """Set and remove properties of an existing namespace."""

    def close(self) -> None:
        """Give back connections."""
