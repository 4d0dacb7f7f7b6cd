"""What a DAG takes from a configuration: its file name and its block ``airflow:``. Nothing else of it is read.

The configuration itself is read where it is used, by nestsync; so one with a mistake in it still has its DAG, and
the mistake is told by the DAG's first task.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from nestsync_airflow.blocks import Refused, block_of

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = re.compile(r"PATH|HOME|JAVA_HOME|_*(PYSPARK_|PYTHON|SPARK_|NESTSYNC_|AIRFLOW|LD_).*")
"""The variables by which a worker, Spark, Python and nestsync itself are set up."""
_FIELDS = re.compile(r"password|login|host|schema|login:password|extra\.[A-Za-z0-9_.-]+")
_MOST = 1_000_000
"""The most seconds, or hours, that anything is waited for."""
_LARGEST = 2**31 - 1
"""The largest whole number for which Airflow's database has room."""
_LONGEST_TAG = 100


@dataclass(frozen=True)
class Secret:
    """An environment variable for the job, and the field of an Airflow connection that it holds."""

    name: str
    connection: str
    field: str = "password"


@dataclass(frozen=True)
class Settings:
    """When and how a configuration is run; `docs` below say what each key means."""

    schedule: str | None = None
    assess: str | None = None
    timezone: str = "UTC"
    approve_above: int = 100
    approval_hours: float = 12.0
    approvers: tuple[str, ...] = ()
    spark: str = "spark_default"
    environment: tuple[Secret, ...] = ()
    reports_url: str | None = None
    retries: int = 3
    retry_seconds: float = 300.0
    timeout_hours: float = 24.0
    parallel_reads: int = 4
    alert: str | None = None
    owner: str = "nestsync"
    tags: tuple[str, ...] = ()


def configurations(folder: Path) -> Iterator[tuple[str, Path]]:
    """The configurations in `folder`, by name: what the DAGs are called by it. Raises `Refused` where there are none.

    Airflow shows that as an import error. Without, it would show nothing at all: no DAG, and no word of it.
    """
    hint = "hint: NESTSYNC_CONF names the folder of configurations, wherever DAGs are parsed and run"
    try:
        files = sorted(file for file in folder.iterdir() if _is_configuration(file))
    except OSError as error:
        raise Refused(f"no configuration can be found: {folder}: {error.strerror}\n{hint}") from error
    if not files:
        raise Refused(f"there is no configuration (NAME.yaml) in the folder {folder}\n{hint}")
    for file in files:
        yield re.sub(r"[^A-Za-z0-9_.-]", "_", file.stem), file


def _is_configuration(file: Path) -> bool:
    # What begins with a dot is an editor's, an archiver's or a mount's, and nobody's sync.
    return file.suffix in (".yaml", ".yml") and not file.name.startswith(".")


def read_settings(file: Path) -> tuple[Settings, list[str]]:
    """The settings in the block of `file`, and what is wrong with it.

    Each key is read on its own: one that is missing or wrong is as `Settings` has it, and the others are in force.
    """
    try:
        said = block_of(file)
        if said is not None and not isinstance(said, Mapping):
            raise Refused(f"airflow must be a group of keys, not {said!r}")
    except Refused as error:
        return Settings(), [str(error)]
    good: dict[str, Any] = {}
    problems = []
    for key, value in (said or {}).items():
        try:
            good[key] = _checked(str(key), value)
        except Refused as error:
            problems.append(str(error))
    return Settings(**good), problems


def _checked(key: str, value: object) -> Any:
    known = [field.name for field in fields(Settings)]
    if key not in known:
        raise Refused(f"airflow.{key} is no key; there are {', '.join(known)}")
    if key in _MAY_BE_NULL and value is None:
        return None
    return _CHECKS.get(key, _text)(key, value)


def _text(key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Refused(f"airflow.{key} must be a text, not {value!r}")
    return value


def _whole_number(key: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
        raise Refused(f"airflow.{key} must be a whole number from 0 to {_LARGEST:,}, not {value!r}")
    return value


def _number(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
        raise Refused(f"airflow.{key} must be a number from 0 to {_MOST:,}, not {value!r}")
    return float(value)


def _one_or_more(key: str, value: object) -> int:
    number = _whole_number(key, value)
    if not number:
        raise Refused(f"airflow.{key} must be a whole number, 1 or more, not 0")
    return number


def _hours(key: str, value: object) -> float:
    number = _number(key, value)
    if not number:
        raise Refused(f"airflow.{key} must be a number above 0, not {value!r}")
    return number


def _tag(key: str, value: object) -> str:
    text = _text(key, value)
    if len(text) > _LONGEST_TAG:
        raise Refused(f"airflow.{key} must have at most {_LONGEST_TAG} characters: Airflow keeps no more")
    return text


def _listed(of: Callable[[str, object], Any]) -> Callable[[str, object], tuple[Any, ...]]:
    def listed(key: str, value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise Refused(f"airflow.{key} must be a list, not {value!r}")
        return tuple(of(f"{key}[{index}]", each) for index, each in enumerate(value))

    return listed


def _dotted(key: str, value: object) -> str:
    text = _text(key, value)
    if "." not in text:
        raise Refused(f"airflow.{key} must name a function with its module (package.module.function), not {text!r}")
    return text


def _schedule(key: str, value: object) -> str:
    from airflow.sdk.timezone import coerce_datetime, utcnow
    from airflow.timetables.base import TimeRestriction
    from airflow.timetables.trigger import CronTriggerTimetable

    text = _text(key, value)
    try:
        timetable = CronTriggerTimetable(text, timezone="UTC")
        timetable.validate()
    except Exception as error:  # every cron library has its own
        raise Refused(f"airflow.{key} must be a cron expression, @daily and the like, or null, not {text!r}") from error
    from_now_on = TimeRestriction(coerce_datetime(utcnow()), latest=None, catchup=True)
    try:
        timetable.next_dagrun_info(last_automated_data_interval=None, restriction=from_now_on)
    except Exception as error:  # Airflow would log it where nobody looks, and never run the DAG
        raise Refused(f"airflow.{key} names no time that will come: {text!r}") from error
    return text


def _timezone(key: str, value: object) -> str:
    from zoneinfo import ZoneInfo

    text = _text(key, value)
    try:
        ZoneInfo(text)
    except (KeyError, ValueError, OSError) as error:
        raise Refused(f"airflow.{key} must be a time zone's name (Europe/Berlin), not {text!r}") from error
    return text


def _secret(key: str, value: object) -> Secret:
    # What is wrong here may be the secret itself, in the wrong place: no message repeats it.
    known = [field.name for field in fields(Secret)]
    if not isinstance(value, Mapping) or not {"name", "connection"} <= set(value) <= set(known):
        raise Refused(f"airflow.{key} must have the keys name and connection, and may have field")
    secret = Secret(**{each: _text(f"{key}.{each}", said) for each, said in value.items()})
    if not _VARIABLE.fullmatch(secret.name):
        raise Refused(f"airflow.{key}.name must be the name of an environment variable (letters, digits, _)")
    if _RESERVED.fullmatch(secret.name):
        raise Refused(
            f"airflow.{key}.name cannot be {secret.name}: it decides how the job is run. Take another name, here and "
            "in the configuration (token_env and the like)"
        )
    if not _FIELDS.fullmatch(secret.field):
        raise Refused(f"airflow.{key}.field must be password, login, login:password, host, schema or extra.NAME")
    return secret


def _secrets(key: str, value: object) -> tuple[Secret, ...]:
    if not isinstance(value, list):
        raise Refused(f"airflow.{key} must be a list of {{name, connection}}: a value is in a connection, never here")
    found = _listed(_secret)(key, value)
    names = [secret.name for secret in found]
    for name in names:
        if names.count(name) > 1:
            raise Refused(f"airflow.{key} names {name} more than once; keep one of them")
    return found


_MAY_BE_NULL = ("schedule", "assess", "reports_url", "alert")
_CHECKS: dict[str, Callable[[str, object], Any]] = {
    "schedule": _schedule,
    "assess": _schedule,
    "timezone": _timezone,
    "approve_above": _whole_number,
    "approval_hours": _hours,
    "approvers": _listed(_text),
    "environment": _secrets,
    "retries": _whole_number,
    "retry_seconds": _number,
    "timeout_hours": _hours,
    "parallel_reads": _one_or_more,
    "alert": _dotted,
    "tags": _listed(_tag),
}
"""How the keys are checked that are no plain text."""

__all__ = ["Secret", "Settings", "configurations", "read_settings"]
