"""What is in the sample warehouse and lakehouse, as tables to read; how it gets there is in the other modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

Columns = tuple[tuple[str, str], ...]
"""(name, Hive type) in order."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view: its name and its format (``hive``, ``iceberg``, ``delta``, ``lance``, ``view``)."""

    name: str
    format: str


@dataclass(frozen=True, slots=True)
class Namespace:
    """A database of the warehouse (two levels: catalog, database) or a namespace of the lakehouse."""

    levels: tuple[str, ...]
    owner: str
    comment: str
    properties: Mapping[str, str] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()


def columns_of(table: str) -> Columns:
    """The columns of the table called `table`, by what its name is about."""
    return next((columns for word, columns in _COLUMNS.items() if word in table), _COLUMNS[""])


_COLUMNS: dict[str, Columns] = {
    "order": (("order_id", "bigint"), ("buyer_id", "bigint"), ("amount", "decimal(12,2)"), ("ordered_at", "timestamp")),
    "customer": (("customer_id", "bigint"), ("name", "string"), ("segment", "string"), ("since", "date")),
    "journal": (("entry_id", "bigint"), ("account", "string"), ("amount", "decimal(18,2)"), ("booked_on", "date")),
    "reading": (("machine_id", "string"), ("sensor", "string"), ("value", "double"), ("read_at", "timestamp")),
    "event": (("event_id", "string"), ("session_id", "string"), ("page", "string"), ("happened_at", "timestamp")),
    "score": (("customer_id", "bigint"), ("score", "double"), ("model_version", "int"), ("scored_at", "timestamp")),
    "": (("id", "bigint"), ("name", "string"), ("valid", "boolean"), ("updated_at", "timestamp")),
}

_DOMAINS: dict[str, tuple[str, dict[str, str]]] = {  # a domain's places, and the tables of each of its topics there
    "sales": (
        "emea amer apac",
        {
            "orders": "orders iceberg, order_lines iceberg, returns delta",
            "customers": "customers delta, consents hive, active_customers view",
            "pricing": "price_list hive, discounts hive",
        },
    ),
    "finance": (
        "emea amer apac",
        {
            "ledger": "journal hive, accounts hive, open_items delta, month_end view",
            "tax": "vat_returns hive, rates hive, withholding iceberg",
        },
    ),
    "marketing": (
        "emea amer",
        {
            "campaigns": "campaigns delta, spend delta, audiences hive, roi view",
            "web": "page_events iceberg, sessions iceberg, referrers hive",
        },
    ),
    "ml": (
        "features models experiments",
        {
            "churn": "customer_scores delta, training_set lance, runs hive",
            "fraud": "card_scores delta, training_set lance, runs hive",
            "demand": "sku_scores iceberg, training_set lance, runs hive",
        },
    ),
    "iot": (
        "germany mexico vietnam",
        {
            "machines": "readings iceberg, machines hive, alarms delta, latest_readings view",
            "quality": "inspections hive, defect_images lance",
        },
    ),
    "logistics": ("emea amer apac", {"freight": "shipments delta, carriers hive, legs iceberg, late_shipments view"}),
    "hr": ("emea amer", {"payroll": "payslips hive, cost_centers hive"}),
}

_SINGLE: dict[str, tuple[str, str]] = {  # a database's comment and tables
    "sales": ("The sales domain: what every region shares", "calendar hive, currencies hive"),
    "finance__group__treasury": ("Cash positions and hedges of the group", "cash hive, hedges hive, limits hive"),
    "finance__group__consolidation": ("Group statements", "entities hive, eliminations hive, statements view"),
    "marketing__global__brand": ("Brand assets and trackers", "assets hive, tracker_waves hive"),
    "hr__global__people": ("People and positions", "people hive, positions hive, headcount view"),
    "support__global__tickets": ("Tickets out of the service desk", "tickets delta, messages delta, sla hive"),
    "security__global__audit": ("Access logs, seven years", "access_events hive, policy_changes hive"),
    "reference": ("Codes that everybody joins", "countries hive, units hive, iso_currencies hive, holidays hive"),
    "staging": ("Landing zone of the nightly loads; nobody reads here", "landing_orders hive, landing_customers hive"),
}

_ARCHIVE: dict[str, tuple[str, str]] = {
    "sales__emea__orders": ("Orders up to 2019", "orders hive, order_lines hive, returns hive"),
    "sales__amer__orders": ("Orders up to 2019", "orders hive, order_lines hive, returns hive"),
    "finance__emea__ledger": ("Ledgers up to 2019", "journal hive, accounts hive"),
    "finance__amer__ledger": ("Ledgers up to 2019", "journal hive, accounts hive"),
    "marketing__emea__campaigns": ("Campaigns of the old agency", "campaigns hive, spend hive"),
    "hr__emea__payroll": ("Payroll of the former provider", "payslips hive"),
    "crm__legacy__contacts": ("Siebel, as it was switched off", "contacts hive, customer_notes hive, activities hive"),
    "erp__legacy__invoices": ("R/3, as it was switched off", "invoices hive, order_history hive, dunning hive"),
}

TEAM_SALES = Namespace(
    ("hive", "team:sales"),
    "sales-ops",
    "Made by hand in 2016, before names had rules",
    {"cost_center": "4711", "steward": "Zoë Müller"},
    (Table("pipeline", "hive"), Table("quotas", "hive")),
)
"""Its name holds the default separator. Hive 3.1.3 serves such a name and does not accept it."""


def _tables(text: str) -> tuple[Table, ...]:
    return tuple(Table(*entry.split(" ")) for entry in text.split(", "))


def _properties(domain: str, place: str) -> dict[str, str]:
    return {
        "domain": domain,
        "cost_center": str(1000 + sum(map(ord, domain + place)) % 900),
        "classification": "confidential" if domain in {"finance", "hr"} else "internal",
        "contact": f"{domain}-{place}@example.com",
        "retention": "P10Y" if domain == "finance" else "P3Y",
    }


def warehouse() -> Iterator[Namespace]:
    """The databases that a Hive Metastore accepts, the live catalog's first (`TEAM_SALES` is the other one)."""
    for domain, (places, topics) in _DOMAINS.items():
        for place in places.split():
            for topic, tables in topics.items():
                comment = f"{topic.capitalize()} of {domain} {place.upper() if len(place) == 4 else place}"
                levels = ("hive", f"{domain}__{place}__{topic}")
                yield Namespace(levels, f"{domain}-{place}", comment, _properties(domain, place), _tables(tables))
    for name, (comment, tables) in _SINGLE.items():
        domain = name.partition("__")[0]
        yield Namespace(("hive", name), f"{domain}-team", comment, _properties(domain, "global"), _tables(tables))
    for name, (comment, tables) in _ARCHIVE.items():
        properties = {"frozen": "true", "restore": "ticket to data-platform: archive|restore"}
        yield Namespace(("archive", name), "records-management", comment, properties, _tables(tables))


_LAKEHOUSE: dict[str, tuple[str, str, dict[str, str], str]] = {  # owner, comment, further properties, tables
    "sales": ("sales-platform", "The sales domain", {"domain": "sales"}, ""),
    "sales/emea": ("sales-emea", "", {}, ""),
    "sales/emea/orders": ("sales-emea", "Orders, streamed", {"freshness": "5 min"}, "orders_stream, order_status"),
    "sales/emea/returns": ("sales-emea", "Returns by season", {}, "returns"),
    "sales/emea/returns/2024": ("sales-emea", "", {"season": "2024"}, "returns_audited"),
    "sales/amer": ("sales-amer", "", {}, ""),
    "sales/amer/forecast": ("sales-amer", "Weekly forecast", {"codes": "a:b|c"}, "forecast, forecast_error"),
    "clickstream": ("web-analytics", "Everything that is clicked", {}, ""),
    "clickstream/web": ("web-analytics", "", {}, ""),
    "clickstream/web/events": ("web-analytics", "Raw events", {"retention": "P13M"}, "page_events, consent_events"),
    "clickstream/web/sessions": ("web-analytics", "Events, sessionised", {}, "sessions"),
    "clickstream/mobile": ("mobile", "", {}, ""),
    "clickstream/mobile/ios": ("mobile", "", {}, "app_events"),
    "clickstream/mobile/android": ("mobile", "", {}, "app_events"),
    "risk": ("risk-office", "Credit and market risk", {"classification": "confidential"}, ""),
    "risk/credit": ("risk-office", "", {}, ""),
    "risk/credit/scores": ("risk-models", "Scores per model version", {}, "customer_scores, score_drift"),
    "risk/market": ("risk-office", "", {}, ""),
    "risk/market/exposures": ("risk-office", "", {}, "exposures"),
    "risk/market/exposures/daily": ("risk-office", "At close", {"calendar": "TARGET2"}, "exposures_daily"),
    "telemetry": ("iot-platform", "Factory telemetry", {}, ""),
    "telemetry/germany": ("iot-germany", "", {}, ""),
    "telemetry/germany/leipzig": ("iot-germany", "Werk Leipzig", {"plant": "DE-04"}, ""),
    "telemetry/germany/leipzig/line_1": ("iot-germany", "", {}, "readings, alarms"),
    "telemetry/germany/leipzig/line_2": ("iot-germany", "", {}, "readings, alarms"),
    "telemetry/mexico": ("iot-mexico", "", {}, ""),
    "telemetry/mexico/puebla": ("iot-mexico", "Planta Puebla", {"plant": "MX-01"}, ""),
    "telemetry/mexico/puebla/line_1": ("iot-mexico", "", {}, "readings"),
    "ml": ("ml-platform", "Machine learning", {}, ""),
    "ml/embeddings": ("ml-platform", "", {}, ""),
    "ml/embeddings/products": ("ml-platform", "", {}, "product_vectors_index"),
    "customer_success": ("customer-success", "Renewals and health of accounts", {}, ""),
    "customer_success/emea": ("customer-success", "", {}, "health_scores, renewals"),
    "partners": ("partner-desk", "", {}, ""),
    "partners/zurich": ("partner-desk", "Rückversicherer", {"sprache": "de-CH"}, "contracts"),
}


def lakehouse() -> Iterator[Namespace]:
    """The namespaces of the Iceberg REST catalog, parents first; their tables are all Iceberg's."""
    for path, (owner, comment, properties, tables) in _LAKEHOUSE.items():
        found = tuple(Table(name, "iceberg") for name in tables.split(", ") if name)
        yield Namespace(tuple(path.split("/")), owner, comment, properties, found)
