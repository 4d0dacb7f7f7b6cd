"""The configuration: which catalogs, what becomes of their names, and how the target is written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nestsync.config.consistency import inconsistencies
from nestsync.config.models import CatalogConfig, Config, PropertyKeys, SparkConfig, TargetConfig
from nestsync.config.problems import ConfigurationInvalid, explained, invalid, secrets_in_clear
from nestsync.config.publishing import HistoryConfig
from nestsync.configfile import read


def load(path: Path | str) -> Config:
    """The configuration in the YAML file `path`; it cannot be changed. Relative paths start from the file's folder.

    Raises `ConfigurationError` in one message that names each key that is wrong, and what was meant. Environment
    variables are not put in: ``${NAME}`` is text like any other.
    """
    file = Path(path).absolute()
    document = read(file)
    problems = secrets_in_clear(document.data)
    if problems:  # alone: no other message may quote what must not be seen
        raise invalid(document, problems)
    try:
        config = Config.model_validate(document.data, context={"folder": file.parent})
    except ValidationError as error:
        raise invalid(document, explained(error, Config, document.data)) from None
    config._path = file
    problems = inconsistencies(config)
    if problems:
        raise invalid(document, problems)
    config.name_mapping()  # a mapping file that cannot be used is a mistake of the configuration: say so now
    config._fingerprint = _fingerprint(document.data, config.mapping.file)
    return config


def _fingerprint(said: Mapping[str, Any], mapping_file: Path | None) -> str:
    found = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode("ascii"))
    if mapping_file is not None:
        found.update(mapping_file.read_bytes())
    return found.hexdigest()


__all__ = [
    "CatalogConfig",
    "Config",
    "ConfigurationInvalid",
    "HistoryConfig",
    "PropertyKeys",
    "SparkConfig",
    "TargetConfig",
    "load",
]
