"""What is right key by key and does not hang together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from nestsync.config.models import CatalogConfig, Config, PropertyKeys, SeparatorConfig, SparkConfig
from nestsync.config.problems import choices
from nestsync.config.publishing import ExpectationConfig
from nestsync.configfile import Loc
from nestsync.core.capabilities import CAPABILITIES
from nestsync.core.dialects import DIALECTS
from nestsync.core.expectations import EXPECTATIONS, REASON
from nestsync.core.findings import RULES, Severity
from nestsync.core.identifiers import shown
from nestsync.core.mapping import MappingRule, deepened_again
from nestsync.core.patterns import ANY_FURTHER

Problems = Iterator[tuple[tuple[str | int, ...], str]]


def inconsistencies(config: Config) -> dict[Loc, str]:
    """A sentence for each problem, by its place in the file."""
    return dict(_found(config))


def _found(config: Config) -> Problems:
    names = tuple(source.name for source in config.sources)
    yield from _catalogs(config, names)
    yield from _references(config, names)
    yield from _severities(config.severities)
    yield from _expectations(config.report.expectations)
    yield from _separator(config.separator)
    yield from _shared_keys(config.property_keys)
    yield from _spark(config.spark)
    yield from _growing(config)


def _catalogs(config: Config, names: tuple[str, ...]) -> Problems:
    if not names:
        yield ("sources",), "must not be empty: name at least one catalog to read"
    for name, count in Counter(names).items():
        if count > 1:
            last = len(names) - 1 - names[::-1].index(name)
            yield ("sources", last, "name"), f"two sources are called {name!r}; every source needs a name of its own"
    target = config.target
    if target is not None and target.name in names:
        yield ("target", "name"), f"a source is called {target.name!r} too; give the target another name"
    if target is not None and target.capabilities is not None:
        yield from _unknown(("target", "capabilities"), "capabilities", target.capabilities, tuple(CAPABILITIES))


def _references(config: Config, names: tuple[str, ...]) -> Problems:
    for index, rule in enumerate(config.mapping.rules):
        yield from _unknown(("mapping", "rules", index, "source"), "source", rule.source, names)
    for index, name in enumerate(config.source_order):
        yield from _unknown(("source_order", index), "source", name, names)
        if name in config.source_order[:index]:
            yield ("source_order", index), f"{name!r} has its place in the order already; name it once"
    for index, entry in enumerate(config.lowered):
        yield from _unknown(("lowered", index, "rule"), "rule", entry.rule, tuple(RULES))
        if entry.source is not None:
            yield from _unknown(("lowered", index, "source"), "source", entry.source, names)
    for index, name in enumerate(config.engines):
        yield from _unknown(("engines", index), "dialect", name, tuple(DIALECTS))
    for index, path in enumerate(config.paths):
        for name in path.split(">"):
            yield from _unknown(("paths", index), "dialect", name.strip(), tuple(DIALECTS))


def _unknown(loc: tuple[str | int, ...], kind: str, name: str, known: tuple[str, ...]) -> Problems:
    if name not in known:
        yield loc, f"there is no {kind} called {name!r}; {choices(name, known)}"


def _severities(severities: Mapping[str, Severity]) -> Problems:
    for slug, severity in severities.items():
        yield from _unknown(("severities", slug), "rule", slug, tuple(RULES))
        if slug in RULES and severity.is_less_than(RULES[slug].severity):
            yield (
                ("severities", slug),
                f"{RULES[slug].severity} by default, and only raised here; lower it for one object under 'lowered'",
            )


def _expectations(expectations: Mapping[str, ExpectationConfig]) -> Problems:
    for name, config in expectations.items():
        place = ("report", "expectations", name)
        yield from _unknown(place, "expectation", name, tuple(EXPECTATIONS))
        if name not in EXPECTATIONS:
            continue
        expected = EXPECTATIONS[name]
        lowered = "severity" in config.said and config.severity.is_less_than(expected.severity)
        for key in sorted(config.said.keys() - {*expected.keys, REASON}):
            yield (*place, key), f"{name} takes no {key}; it takes {' and '.join(expected.keys)}"
        if lowered and expected.decided:
            stops = "the run itself stops at what it stands for; accept a finding for one object under 'lowered'"
            yield (*place, "severity"), f"{expected.severity}, and not lowered: {stops}"
        elif lowered and config.reason is None:
            yield (
                (*place, "severity"),
                f"{expected.severity} by default: to lower it, say why with 'reason', which the report shows",
            )
        elif config.reason is not None and not expected.departures(expected.settings(config.said)):
            yield (*place, "reason"), f"it is a reason for nothing: {name} is held as it is by default"


def _separator(said: SeparatorConfig) -> Problems:
    if said.replaces is None:
        return
    if said.value is None:
        yield ("separator", "replaces"), "nothing replaces it: separator.value is null"
    elif said.replaces == said.value:
        yield (
            ("separator", "replaces"),
            f"{said.value!r} cannot replace itself: name the separator that was used so far",
        )


def _shared_keys(keys: PropertyKeys) -> Problems:
    used: Iterable[str] = filter(None, (keys.comment, keys.owner, keys.location))
    for key, count in Counter(used).items():
        if count > 1:
            yield ("property_keys",), f"two fields would be written to the one key {key!r}"


def _spark(spark: SparkConfig) -> Problems:
    if "spark.master" in spark.conf:
        yield ("spark", "conf", "spark.master"), "the master has a key of its own: write it under spark.master"


def also_the_target(config: Config) -> tuple[CatalogConfig, ...]:
    """The sources that are the target, too: what a run writes, the next one reads."""
    target = config.target
    if target is None or target.options.identity is None:
        return ()
    own = (target.system, target.options.identity)
    return tuple(source for source in config.sources if (source.system, source.options.identity) == own)


def _growing(config: Config) -> Problems:
    for source in also_the_target(config):
        places = [index for index, rule in enumerate(config.mapping.rules) if rule.source == source.name]
        rules = [MappingRule(**dict(config.mapping.rules[index])) for index in places]
        for prefix in {rule.prefix: None for rule in rules if rule.deepens}:
            again = deepened_again(rules, prefix)
            if again is None:
                continue
            told = f"takes what is below {shown(prefix)} already; add {shown((*prefix, ANY_FURTHER))} to its exclude"
            yield (
                ("mapping", "rules", places[rules.index(again)], "prefix"),
                f"{source.name} is the target as well, and its tree would grow with every run: the rule {told}",
            )
