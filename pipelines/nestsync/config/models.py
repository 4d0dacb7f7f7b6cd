"""The shape of the configuration file, section by section; `docs/configuration.md` is generated from here.

Nothing here names a system: a catalog's own options are those of its system's room (`nestsync.catalogs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    Field,
    PrivateAttr,
    SerializeAsAny,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo

from nestsync.catalogs import Room, room, systems
from nestsync.catalogs.base import CatalogOptions
from nestsync.config.kinds import LocalPath, Master, Name, NamedLevels, Reason, SelectingPattern, SparkText, Text
from nestsync.config.problems import Section, choices
from nestsync.config.publishing import HistoryConfig, ReportConfig, RetentionConfig
from nestsync.configfile import DEFAULT_WORKSPACE
from nestsync.core.checking.context import Lowered
from nestsync.core.findings import Severity
from nestsync.core.identifiers import Levels
from nestsync.core.mapping import Mapping as NameMapping
from nestsync.core.mapping import MappingRule, Rename, read_renames
from nestsync.core.matrix import DEFAULT_PATH
from nestsync.core.separators import ALLOWED, DEFAULT_CANDIDATES, Policy
from nestsync.errors import ConfigurationError, NestsyncError


class CatalogConfig(Section):
    """One catalog: its name, its system, and the system's own options flat beside them."""

    name: Name
    """What rows, reports and messages call the catalog: letters, digits and `_`, `.`, `-`."""
    system: str
    """The kind of catalog service."""
    options: SerializeAsAny[CatalogOptions]
    """The system's own options."""

    @model_validator(mode="before")
    @classmethod
    def _gather_options(cls, data: object) -> object:
        if not isinstance(data, dict) or isinstance(data.get("options"), CatalogOptions):
            return data
        own = cls.model_fields.keys() - {"options"}
        options = {key: value for key, value in data.items() if key not in own}
        return {key: value for key, value in data.items() if key in own} | {"options": options}

    @field_validator("system")
    @classmethod
    def _is_known(cls, system: str) -> str:
        if system not in systems():
            raise ValueError(f"there is no system {system!r}; {choices(system, systems())}")
        return system

    @field_validator("options", mode="wrap")
    @classmethod
    def _by_its_room(cls, value: Any, plain: ValidatorFunctionWrapHandler, info: ValidationInfo) -> CatalogOptions:
        if isinstance(value, CatalogOptions):
            return value
        if "system" not in info.data:  # a problem of its own; what its options are nobody knows
            found: CatalogOptions = plain({})
            return found
        return room(info.data["system"]).options.model_validate(value, context=info.context)

    @classmethod
    def fields_for(cls, data: object) -> Mapping[str, FieldInfo]:
        own = {key: field for key, field in cls.model_fields.items() if key != "options"}
        system = data.get("system") if isinstance(data, dict) else None
        return own | (room(system).options.model_fields if system in systems() else {})

    @property
    def room(self) -> Room:
        """The room of the catalog's system."""
        return room(self.system)


class TargetConfig(CatalogConfig):
    """The catalog that is written."""

    capabilities: str | None = None
    """What the target can hold, by its name in `nestsync.core.capabilities`; by default, what its system can, or the
    server that is known by the separator that it advertises."""

    @field_validator("system")
    @classmethod
    def _can_be_written(cls, system: str) -> str:
        if room(system).writer is None:
            writable = ", ".join(name for name in systems() if room(name).writer is not None)
            raise ValueError(f"{system!r} can be a source and not a target; a target can be {writable}")
        return system

    def capabilities_name(self, separator: str | None) -> str:
        """The name of the capabilities that count for a target that advertises `separator`, or nothing."""
        return self.capabilities or self.room.capabilities_with(separator)


class SeparatorConfig(Section):
    """The one character that joins levels in text, and what it may be."""

    value: Text | None = ":"
    """The separator that the target's users will write; null where levels are never written as one text."""
    replaces: Text | None = None
    """The separator that the target was enabled with, when `value` is to take its place: the names that this concerns
    are then reported, and block nothing."""
    policy: Policy = "restricted"
    """`restricted` takes what `allowed` lists, `unrestricted` whatever is safe."""
    allowed: tuple[Text, ...] = ALLOWED
    """The separators that the restricted policy takes."""
    candidates: tuple[Text, ...] = DEFAULT_CANDIDATES
    """The separators that the check ranks."""


class RuleConfig(Section):
    """What happens to the objects of one source that the patterns select; the first rule that selects decides."""

    source: str
    """The name of the source that the rule is about."""
    include: tuple[SelectingPattern, ...] = ()
    """Patterns of source levels, one glob a level (`["hive", "sales_*"]`): `*` is any text, `?` one character, and a
    last `"**"` any further levels; none includes everything."""
    exclude: tuple[SelectingPattern, ...] = ()
    """Patterns that take away from what is included."""
    drop: int = Field(default=0, ge=0, strict=True)
    """How many of the outermost levels are left out."""
    split: Text | None = None
    """The text on which every remaining level is split into several."""
    flatten: Text | None = None
    """For a target that holds fewer levels: the text that joins what is deeper than `depth` to one level. Two names
    that come out as one are a collision."""
    depth: int = Field(default=1, ge=1, strict=True)
    """How many levels `flatten` leaves, those of `prefix` not counted."""
    prefix: NamedLevels = ()
    """Levels to put in front."""


class MappingConfig(Section):
    """What becomes of each source identifier."""

    rules: tuple[RuleConfig, ...] = ()
    """The rules, in order. A source without one is mapped to itself."""
    file: LocalPath | None = None
    """A CSV file of renames, which are final: `source,levels,name,target_levels,target_name`."""
    merge: frozenset[NamedLevels] = frozenset()
    """The target namespaces that several sources may claim."""


class PropertyKeys(Section):
    """The target's property key for what a source keeps in a field of its own; null where it is not copied."""

    comment: Text | None = "comment"
    """The key for a namespace's comment or description."""
    owner: Text | None = "owner"
    """The key for its owner."""
    location: Text | None = "location"
    """The key for its location. A copied location steers new tables into the old directories."""


class LoweredConfig(Section):
    """A finding that is known and accepted: a rule, an object and a reason, which the report shows.

    One that is about several objects, a collision, is lowered once there is an entry for each of them.
    """

    rule: str
    """The finding's slug."""
    source: str | None = None
    """The source that holds the object; every source by default."""
    levels: Levels
    """The object's namespace in the source."""
    name: Text | None = None
    """The table's name; null for the namespace itself."""
    severity: Literal["warning", "info"] = "warning"
    """What the finding is lowered to."""
    reason: Reason
    """Why that is right."""


class ApplyConfig(Section):
    """How the target is written."""

    concurrency: int = Field(default=8, ge=1, le=64, strict=True)
    """Requests to the target at once."""


class SparkConfig(Section):
    """The Spark session. `spark-submit` has the last word on the master."""

    master: Master | None = None
    """Spark's own master (`local[2]`); `local[*]` by default."""
    conf: dict[str, SparkText] = Field(default_factory=dict)
    """Spark's own settings."""


class Config(Section):
    """A whole configuration file."""

    workspace: LocalPath = Field(default=Path(DEFAULT_WORKSPACE), validate_default=True)
    """The folder for Delta tables, journals, plans and reports, on a local file system."""
    sources: tuple[CatalogConfig, ...]
    """The catalogs to read."""
    target: TargetConfig | None = None
    """The catalog to write; `nestsync assess` needs none."""
    strategy: Literal["create-only", "upsert"] = "create-only"
    """`create-only` never alters what exists; `upsert` makes the wanted properties equal, and takes none away."""
    on_blocking: Literal["stop", "skip"] = "stop"
    """With blocking findings, `stop` writes nothing; `skip` leaves out what they stand on and writes the rest."""
    separator: SeparatorConfig = SeparatorConfig()
    """The separator of levels in text."""
    engines: tuple[str, ...] = ()
    """The dialects of the engines that read the target: every name has to survive them too."""
    paths: tuple[str, ...] = (DEFAULT_PATH,)
    """Ways through several dialects, `a > b > c`: the check counts what each hop keeps, refuses or loses."""
    mapping: MappingConfig = MappingConfig()
    """What becomes of each source identifier."""
    property_keys: PropertyKeys = PropertyKeys()
    """The target's property keys for comment, owner and location."""
    source_order: tuple[str, ...] = ()
    """Sources by precedence: where merged properties differ, the earlier source wins."""
    severities: dict[str, Severity] = Field(default_factory=dict)
    """Raised severities by rule: `missing-parent: blocking`."""
    lowered: tuple[LoweredConfig, ...] = ()
    """Findings that are known and accepted, each with its reason."""
    apply: ApplyConfig = ApplyConfig()
    """How the target is written."""
    report: ReportConfig = ReportConfig()
    """Where reports go."""
    history: HistoryConfig = HistoryConfig()
    """How runs are compared."""
    retention: RetentionConfig = RetentionConfig()
    """How long runs are kept; by default, all of them are."""
    spark: SparkConfig = SparkConfig()
    """The Spark session."""
    airflow: dict[str, Any] = Field(default_factory=dict)
    """When and how the DAGs in `airflow_dags/` run this configuration; the command itself does not look at it."""

    _path: Path = PrivateAttr(default=Path())
    _fingerprint: str = PrivateAttr(default="")

    @property
    def path(self) -> Path:
        """The file that this was read from."""
        return self._path

    @property
    def fingerprint(self) -> str:
        """A hash of what that file and the mapping file said, comments and layout apart."""
        return self._fingerprint

    @property
    def report_folder(self) -> Path:
        """The folder of the reports."""
        return self.report.folder or self.workspace / "reports"

    @property
    def catalog_names(self) -> tuple[str, ...]:
        """Every catalog that it names: the sources, and the target where there is one."""
        return self._source_names + (() if self.target is None else (self.target.name,))

    @property
    def _source_names(self) -> tuple[str, ...]:
        return tuple(source.name for source in self.sources)

    def source(self, name: str) -> CatalogConfig:
        """The source called `name`. Raises `ConfigurationError` that lists the sources."""
        names = self._source_names
        if name not in names:
            raise ConfigurationError(f"there is no source {name!r}", where=str(self.path), hint=choices(name, names))
        return self.sources[names.index(name)]

    def name_mapping(self) -> NameMapping:
        """The mapping, with the renames of the mapping file. Raises `MappingInvalid` for a line that cannot be."""
        rules = tuple(MappingRule(**dict(rule)) for rule in self.mapping.rules)
        return NameMapping(rules, self._renames(), self.mapping.merge)

    def _renames(self) -> tuple[Rename, ...]:
        file = self.mapping.file
        if file is None:
            return ()
        try:
            renames = read_renames(file.read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(
                f"mapping.file cannot be read: {error}",
                where=str(file),
                hint="it is relative to the configuration file",
            ) from error
        except NestsyncError as error:
            error.where = f"{file}: {error.where}" if error.where else str(file)
            raise
        names = self._source_names
        unknown = next((rename.source for rename in renames if rename.source not in names), None)
        if unknown is not None:
            raise ConfigurationError(f"there is no source {unknown!r}", where=str(file), hint=choices(unknown, names))
        return renames

    def accepted(self) -> tuple[Lowered, ...]:
        """The lowered findings, one a source that they are about."""
        return tuple(
            Lowered(entry.rule, source.name, entry.levels, Severity(entry.severity), entry.reason, entry.name)
            for entry in self.lowered
            for source in self.sources
            if entry.source in (None, source.name)
        )


__all__ = ["CatalogConfig", "Config", "PropertyKeys", "SparkConfig", "TargetConfig"]
