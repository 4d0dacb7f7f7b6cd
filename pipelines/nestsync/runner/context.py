"""What the stages of one run share in one process: the configuration, the workspace, and frames already made."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from nestsync.catalogs.base import CatalogWriter
from nestsync.catalogs.records import SCHEMAS
from nestsync.commands import command
from nestsync.config import CatalogConfig, Config, TargetConfig
from nestsync.core.checking import CheckContext, DialectUse, Target
from nestsync.core.claims import PropertyKeys
from nestsync.core.wanted import WantedSettings
from nestsync.errors import ConfigurationError
from nestsync.runfiles import RunFiles
from nestsync.session import cut_off, our_errors
from nestsync.stages.inventory import CatalogRef
from nestsync.stages.journal import read_journal
from nestsync.ui import Confirm, Ui
from nestsync.workspace import Workspace


@dataclass
class RunContext:
    """One run, as far as this process takes it. A frame made by one stage is at hand for the next."""

    spark: SparkSession
    workspace: Workspace
    config: Config
    run_id: str
    command: str
    started_at: datetime
    ui: Ui
    confirm: Confirm
    with_target: bool
    frames: dict[str, DataFrame] = field(default_factory=dict)
    _give_back: dict[str, Callable[[], object]] = field(default_factory=dict)
    """What gives back the rows of each of `frames`."""

    # ---- frames

    def keep(self, name: str, frame: DataFrame) -> DataFrame:
        """Compute `frame` once, under `name`, for the stages that follow; `release` gives it back.

        It is cut off from how it was made (see `session.cut_off`).
        """
        with our_errors():
            rows, give_back = cut_off(frame)
        self.drop(name)  # not before: the new rows may be made of the old ones
        self.frames[name], self._give_back[name] = rows, give_back
        return rows

    def drop(self, name: str) -> None:
        """Give back the frame kept under `name`, if there is one."""
        if self.frames.pop(name, None) is not None:
            self._give_back.pop(name)()

    def release(self) -> None:
        """Give back every frame."""
        for name in list(self.frames):
            self.drop(name)

    def frame(self, name: str, load: Callable[[], DataFrame]) -> DataFrame:
        """The frame kept under `name`, or what `load` makes of the workspace."""
        if name not in self.frames:
            self.keep(name, load())
        return self.frames[name]

    def objects(self) -> DataFrame:
        """Every object of every catalog in this run's inventory: ``role`` and ``SCHEMAS["all"]``."""
        return self.frame("objects", self._stored_objects)

    def _stored_objects(self) -> DataFrame:
        columns = ["role", *SCHEMAS["all"].names]
        tables = self.workspace.read("tables", run_id=self.run_id)
        namespaces = self.workspace.read("namespaces", run_id=self.run_id)
        return tables.unionByName(namespaces, allowMissingColumns=True).select(*columns)

    def target_namespaces(self) -> DataFrame:
        """The namespaces that the target held at the inventory."""
        return self.objects().where((F.col("role") == "target") & (F.col("object") == "namespace"))

    def findings(self) -> DataFrame:
        """The findings of this run so far (`schemas.FINDING_FIELDS`)."""
        return self.frame("findings", lambda: self.workspace.read("findings", run_id=self.run_id))

    def finding_members(self) -> DataFrame:
        """The objects of those findings that are about several (`schemas.MEMBER_FIELDS`)."""
        return self.frame("finding_members", lambda: self.workspace.read("finding_members", run_id=self.run_id))

    def actions(self) -> DataFrame:
        """The plan of this run (`schemas.ACTION_FIELDS`)."""
        return self.frame("actions", lambda: self.workspace.read("actions", run_id=self.run_id))

    def differences(self) -> DataFrame:
        """What the target did not hold as planned when it was read again (`schemas.DIFFERENCE_FIELDS`)."""
        return self.frame("differences", lambda: self.workspace.read("differences", run_id=self.run_id))

    def ledger(self) -> DataFrame:
        """What this run did of its plan so far, out of that plan's journal (`schemas.LEDGER_FIELDS`).

        What an earlier plan of the run did is in the inventory that this one stands on, and may be undone since.
        """
        return self.frame("ledger", lambda: read_journal(self.spark, self.journals, self.journal))

    def whole_ledger(self) -> DataFrame:
        """What this run did so far, of whichever plan (`schemas.LEDGER_FIELDS`)."""
        return read_journal(self.spark, self.journals)

    @property
    def journals(self) -> Path:
        """The folder of this run's journals, one for each plan that was applied."""
        return self.workspace.folder("journal", self.run_id)

    @property
    def journal(self) -> str:
        """The name of the journal of the run's plan."""
        return f"plan-{self.facts('plan').get('number', 0)}"

    @property
    def is_empty(self) -> bool:
        """Whether the run read its sources, and none of them holds anything."""
        read = [facts for facts in self.facts("inventory").values() if facts.get("role") == "source"]
        return bool(read) and not any(facts.get("counts") for facts in read)

    @property
    def began_to_write(self) -> bool:
        """Whether apply came so far that it had something to note down."""
        return any(self.journals.glob("*.jsonl"))

    # ---- the configuration, as the stages want it

    def catalogs(self, names: Sequence[str] | None = None) -> tuple[CatalogRef, ...]:
        """The catalogs to read, or those of `names` alone. Raises `ConfigurationError` for an unknown name."""
        found = [_ref(source, "source") for source in self.config.sources]
        if self.with_target:
            found.append(_ref(self.target, "target"))
        if names is None:
            return tuple(found)
        demand_configured(self.config, names, [catalog.name for catalog in found])
        return tuple(catalog for catalog in found if catalog.name in names)

    @property
    def target(self) -> CatalogConfig:
        """The configured target. Raises `ConfigurationError` where there is none."""
        return demanded_target(self.config)

    def open_writer(self) -> CatalogWriter:
        """A writer of the target. Raises `ConfigurationError` where there is none, or its system cannot be one."""
        target = self.target
        if target.room.writer is None:
            raise ConfigurationError(f"{target.system} cannot be a target", where=str(self.config.path))
        return target.room.writer(target.options, target.name)

    @cached_property
    def check_context(self) -> CheckContext:
        """What the check knows beside the objects: configuration, and what the servers said in the inventory."""
        config = self.config
        target = config.target
        return CheckContext(
            mapping=config.name_mapping(),
            target=None if target is None else self._target(target),
            separator=config.separator.value,
            separator_before=self._separator_before(),
            replaces=config.separator.replaces,
            candidates=config.separator.candidates,
            policy=config.separator.policy,
            allowed=config.separator.allowed,
            engines=config.engines,
            paths=config.paths,
            sources={source.name: self._dialect(source) for source in config.sources},
            severities=config.severities,
            lowered=config.accepted(),
        )

    @property
    def unwanted_change(self) -> str | None:
        """The separator that the target was enabled with, where nothing says that another is to replace it."""
        before = self._separator_before()
        return None if self.config.separator.value is None or before == self.config.separator.replaces else before

    def _separator_before(self) -> str | None:
        target, now = self.config.target, self.config.separator.value
        before = None if target is None else self.workspace.separator_of(target.name)
        return None if before == now else before

    def _target(self, target: TargetConfig) -> Target:
        use = self._dialect(target)
        return Target(target.name, target.system, use, target.capabilities_name(use.separator))

    def _dialect(self, catalog: CatalogConfig) -> DialectUse:
        said = self.facts("inventory").get(catalog.name, {})
        return DialectUse(catalog.room.dialect, said.get("separator"))

    @property
    def wanted_settings(self) -> WantedSettings:
        """How the properties of wanted namespaces are put together."""
        return WantedSettings(PropertyKeys(**dict(self.config.property_keys)), self.config.source_order)

    @property
    def naming_hash(self) -> str:
        """A hash of all that decides names and properties: a plan stands on the check of the same."""
        # What the workspace remembers is no configuration, and changes as soon as something is written.
        configured = replace(self.check_context, separator_before=None)
        parts = _canonical((configured, self.wanted_settings, self.config.strategy))
        return hashlib.sha256(parts.encode("utf-8", "backslashreplace")).hexdigest()

    @property
    def standing_on(self) -> dict[str, Any]:
        """What a check, and a plan, stand on: the names as configured, and the listings of every catalog."""
        listings = {name: facts.get("listing") for name, facts in self.facts("inventory").items()}
        return {"naming": self.naming_hash, "listings": listings}

    def moved_since(self, stage: str) -> str | None:
        """What became another since `stage` of this run, in words; None where it still stands."""
        then, now = self.demand(stage), self.standing_on
        if then.get("naming") != now["naming"]:
            return "the configuration changed"
        return "the catalogs were read again" if then.get("listings") != now["listings"] else None

    # ---- what stages leave for each other

    def facts(self, stage: str) -> dict[str, Any]:
        """What `stage` left in this run's summary; empty where it did not run."""
        return _facts(self.workspace, self.run_id, stage)

    def demand(self, stage: str) -> dict[str, Any]:
        """What `stage` left. Raises `ConfigurationError` where it did not run."""
        return demand(self.workspace, self.run_id, stage, self.config)

    def note(self, stage: str, **facts: Any) -> None:
        """Leave `facts` of `stage` for the stages that follow, in whatever process."""
        self.workspace.update_summary(self.run_id, stage, facts)


def demand_configured(config: Config, names: Sequence[str], known: Sequence[str]) -> None:
    """Raise `ConfigurationError` for the first of `names` that is not among `known`, the catalogs of `config`."""
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigurationError(
            f"there is no source {unknown[0]!r}",
            where=str(config.path),
            hint=f"the configuration names {', '.join(known)}",
        )


def demanded_target(config: Config) -> CatalogConfig:
    """The target of `config`. Raises `ConfigurationError` where there is none."""
    if config.target is None:
        raise ConfigurationError(
            "target is missing, and this command writes to one",
            where=str(config.path),
            hint="configure a target, or use `nestsync assess`",
        )
    return config.target


def demand(files: RunFiles, run_id: str, stage: str, config: Config) -> dict[str, Any]:
    """What `stage` left in the summary of `run_id`. Raises `ConfigurationError` where it did not run."""
    found = _facts(files, run_id, stage)
    if not found:
        raise ConfigurationError(
            f"run {run_id} has no {stage} yet",
            where=str(files.root),
            hint=command(stage, config.path, run_id),
        )
    return found


def _facts(files: RunFiles, run_id: str, stage: str) -> dict[str, Any]:
    known = files.summary(run_id) if files.has_summary(run_id) else {}
    found: dict[str, Any] = known.get(stage, {})
    return found


def _canonical(value: object) -> str:
    """`value` as text that is the same in every process: a set's own order depends on the process."""
    if is_dataclass(value):
        parts = {part.name: getattr(value, part.name) for part in fields(value)}
        return f"{type(value).__name__}{_canonical(parts)}"
    if isinstance(value, Mapping):
        return "{" + ",".join(sorted(f"{_canonical(key)}:{_canonical(held)}" for key, held in value.items())) + "}"
    if isinstance(value, frozenset | set):
        return "{" + ",".join(sorted(map(_canonical, value))) + "}"
    if isinstance(value, tuple | list):
        return "[" + ",".join(map(_canonical, value)) + "]"
    return repr(value)


def _ref(catalog: CatalogConfig, role: str) -> CatalogRef:
    return CatalogRef(catalog.name, catalog.system, catalog.options, role)


__all__ = ["RunContext", "demand", "demand_configured", "demanded_target"]
