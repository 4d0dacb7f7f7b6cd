"""What is wrong with one object by itself, in one pass over the rows; `core.checking.rules` is the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from nestsync.core.capabilities import capabilities
from nestsync.core.checking import messages
from nestsync.core.checking.context import CheckContext
from nestsync.core.checking.messages import Sentence, Slot
from nestsync.core.checking.rules import DANGEROUS, MOVED, NAMESPACE, STATUS_RULES, said_elsewhere
from nestsync.core.dialects import Dialect, Refusal
from nestsync.core.findings import Severity
from nestsync.schemas import FINDING_FIELDS, LEVELS
from nestsync.stages.check.harms import harms
from nestsync.stages.check.hits import Chain, fault, read_back
from nestsync.stages.check.local import local_frame
from nestsync.stages.check.native import first
from nestsync.stages.check.sentences import Codebook, Entry, explained
from nestsync.stages.check.systems import SystemRules
from nestsync.stages.columns import each_of, quoted, shown

_SUBJECT = ("source", "system", "object", "levels", "name")


@dataclass(slots=True)
class RowRules:
    """What can be wrong with a row: ``source, object, levels, name, status, target_levels, target_name``."""

    context: CheckContext
    free: str | None
    """A separator that no name holds, to be suggested."""
    codebook: Codebook = field(default_factory=Codebook)

    def chains(self) -> list[Chain]:
        """One chain for each thing that can be wrong at the same time. Rows without a target are not to be asked."""
        moved = F.col("status").isin(*MOVED)
        of_names = [*self._in_sources(), *self._of_levels(), *self._in_target(), *self._in_engines(), *self._dangers()]
        return [self._status(), *(chain.only_where(moved) for chain in of_names)]

    def code(self, rule: str, of_levels: bool, sentence: Sentence, severity: Severity | None = None) -> int:
        """The code of a finding of `rule`, which has its configured severity."""
        return self.codebook.code(Entry(rule, str(self.context.severity(rule, severity)), of_levels, sentence))

    def _status(self) -> Chain:
        chain, is_namespace = Chain(), F.col("object") == NAMESPACE
        for (status, namespace), (rule, sentence) in STATUS_RULES.items():
            of_kind = is_namespace if namespace else ~is_namespace
            chain.add((F.col("status") == status) & of_kind, self.code(rule, False, sentence))
        return chain

    def _in_sources(self) -> Iterator[Chain]:
        """What a source's own dialect has no text for; sources of one dialect together."""
        uses = sorted(self.context.sources.items(), key=lambda item: (item[1].name, item[1].separator or ""))
        for use, sources in groupby(uses, key=lambda item: item[1]):
            dialect = use.open()

            def code(refusal: Refusal, of_levels: bool, name: str = dialect.name) -> int:
                sentence = messages.source_refuses(name, refusal.reason, table=not of_levels)
                return self.code("round-trip-loss", of_levels, sentence, Severity.WARNING)

            chain = fault(dialect, F.col("levels"), F.col("name"), code)
            yield chain.only_where(F.col("source").isin(*(name for name, _ in sources)))

    def _of_levels(self) -> Iterator[Chain]:
        levels, separator = F.col("target_levels"), self.context.separator
        empty = Chain()
        no_level = F.col("target_name").isNull() & (F.size(levels) == 0)
        empty.add(no_level, self.code("empty-level", True, messages.NO_LEVEL))
        empty.add(F.array_contains(levels, ""), self.code("empty-level", True, messages.EMPTY_LEVEL))
        yield empty
        if separator:
            conflict = Chain()
            code = self.code("separator-conflict", True, messages.separator_conflict(separator, self.free))

            def holds(level: Column) -> Column:
                return level.contains(separator)

            conflict.add_level(F.exists(levels, holds), first(levels, holds), [(None, code)])
            yield conflict

    def _in_target(self) -> Iterator[Chain]:
        """What the target's dialect refuses, under the refusal's own rule, unless it is said elsewhere."""
        target, system = self.context.target, self.context.capabilities
        if target is None or system is None:
            return

        def said(refusal: Refusal) -> bool:
            return said_elsewhere(refusal, self.context)

        levels, name = F.col("target_levels"), F.col("target_name")
        yield self._written(target.dialect.open(), levels, rule=lambda refusal: refusal.rule, said=said)
        yield from SystemRules(system, self.code).chains(levels, name)

    def _in_engines(self) -> Iterator[Chain]:
        if self.context.catalogs_first:
            chain, top = Chain(), F.get(F.col("target_levels"), F.lit(0))
            code = self.code("ambiguous-first-part", True, messages.AMBIGUOUS)
            chain.add_level(top.isin(*self.context.catalogs_first), top, [(None, code)])
            yield chain
        for reader in self.context.readers():
            levels = F.col("target_levels")
            seen = F.concat(F.array(*map(F.lit, reader.before)), levels) if reader.before else levels
            yield self._written(reader.dialect, seen, rule=lambda _: "round-trip-loss", said=lambda _: False)

    def _dangers(self) -> Iterator[Chain]:
        """What readers of the target do to others because of its levels."""
        levels = F.col("target_levels")

        def kept(_rule: str, of_levels: bool, sentence: Sentence) -> int:
            return self.code(DANGEROUS, of_levels, messages.kept_in_backend(sentence))

        for reader in self.context.harmed_by:
            if reader == "gravitino":
                yield from SystemRules(capabilities(reader), kept).of_levels(levels)
            for harm in harms(reader, levels):
                chain = Chain()
                sentence = messages.dangerous(harm.reason, harm.accepted)
                chain.add_level(harm.condition, harm.level, [(None, self.code(DANGEROUS, True, sentence))])
                yield chain

    def _written(
        self, dialect: Dialect, levels: Column, *, rule: Callable[[Refusal], str], said: Callable[[Refusal], bool]
    ) -> Chain:
        """What `dialect` does not write, or reads as something else, unless it is `said` elsewhere."""
        of_levels: set[int] = set()

        def code(refusal: Refusal, levels_at_fault: bool) -> int | None:
            if not levels_at_fault:
                sentence = messages.dialect_refuses_table(dialect.name, refusal.reason, dialect.refuses)
                return self.code(rule(refusal), False, sentence)
            if said(refusal):
                return None
            level = refusal.level is not None
            sentence = messages.dialect_refuses(dialect.name, refusal.reason, dialect.refuses, level=level)
            found = self.code(rule(refusal), True, sentence)
            of_levels.add(found)
            return found

        chain = fault(dialect, levels, F.col("target_name"), code)
        chain.add_back(of_levels, read_back(dialect, levels))
        return chain


def by_itself(judged: DataFrame, context: CheckContext, free: str | None) -> DataFrame:
    """What is wrong with each object of `judged` (`JUDGED_SCHEMA`) by itself, in `FINDING_FIELDS`, each once.

    A fault of the levels is told of the namespace, once for everything in it; `free` is the separator to suggest.
    """
    rules = RowRules(context, free)
    chains = rules.chains()
    facts = [*_SUBJECT, "error", "target_levels", "target_name"]
    # Most rows end here; of the others, what is at fault is worked out once it is known what is wrong.
    odd_ones = judged.where(~F.col("ordinary") & F.col("target_levels").isNotNull())
    coded = odd_ones.select(*facts, _codes(chains).alias("codes"))
    wrong = each_of(coded, "codes", "found").where(F.col("found.code").isNotNull())
    found = wrong.select(*facts, _hit(chains, F.col("found")).alias("hit")).select(*facts, "hit.*")
    # A namespace is told once, however many of its tables say so: before sentences are put together.
    told = _of_namespaces(_renamed_itself(found, context), rules.codebook).distinct()
    return explained(told, rules.codebook, _slots()).select(*(field.name for field in FINDING_FIELDS))


def _of_namespaces(found: DataFrame, codebook: Codebook) -> DataFrame:
    """`found`, where a fault of the levels is one of the namespace, with nothing left of who else has it."""
    of_levels = F.col("code").isin([code for code, entry in enumerate(codebook.entries) if entry.of_levels])
    of_namespace = of_levels & ~F.col("renamed_itself")
    its_own = {name: F.when(~of_namespace, F.col(name)) for name in ("name", "error", "target_name")}
    kind = F.when(of_namespace, F.lit(NAMESPACE)).otherwise(F.col("object"))
    return found.withColumns(its_own | {"object": kind}).drop("renamed_itself")


def _codes(chains: list[Chain]) -> Column:
    """What is wrong with a row: the number of each chain, with the code, which is null where it has nothing to tell."""
    return F.array(*(F.struct(F.lit(i).alias("chain"), chain.code().alias("code")) for i, chain in enumerate(chains)))


def _hit(chains: list[Chain], found: Column) -> Column:
    """The `HIT` of one of `_codes`."""
    return F.coalesce(*(F.when(found["chain"] == i, chain.hit(found["code"])) for i, chain in enumerate(chains)))


def _slots() -> dict[Slot, Column]:
    def text(value: Column) -> Column:
        return F.coalesce(value, F.lit(""))

    return {
        Slot.LEVELS: shown(F.col("levels")),
        Slot.TARGET: shown(F.col("target_levels")),
        Slot.NAME: text(quoted(F.col("target_name"))),
        Slot.LEVEL: text(quoted(F.col("level"))),
        Slot.CHARACTER: text(quoted(F.col("character"))),
        Slot.BACK: text(F.concat(F.lit(messages.COMES_BACK), shown(F.col("back")))),
        Slot.ERROR: F.coalesce(F.col("error"), F.lit(messages.NO_REASON)),
    }


def _renamed_itself(found: DataFrame, context: CheckContext) -> DataFrame:
    """`found` with whether a rename names the very table, so that it need not be where its namespace is."""
    renames = [rename for rename in context.mapping.renames if rename.identifier.name is not None]
    if not renames:
        return found.withColumn("renamed_itself", F.lit(False))
    rows = [{"s": r.source, "l": list(r.identifier.levels), "n": r.identifier.name} for r in renames]
    named = local_frame(found.sparkSession, rows, _NAMED).withColumn("renamed_itself", F.lit(True))
    same = (F.col("source") == F.col("s")) & (F.col("levels") == F.col("l")) & (F.col("name") == F.col("n"))
    joined = found.join(F.broadcast(named), same, "left").drop("s", "l", "n")
    return joined.withColumn("renamed_itself", F.coalesce("renamed_itself", F.lit(False)))


_NAMED = StructType([StructField("s", StringType()), StructField("l", LEVELS), StructField("n", StringType())])
