"""One fixture for each table of `cases`: a test that asks for it runs once for every catalog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from nestsync.catalogs import room
from nestsync.catalogs.base import CatalogWriter
from tests.contract.cases import READERS, WRITERS, Content, ReaderCase, WriterCase
from tests.contract.reading import Rows, read


@pytest.fixture(scope="session", params=[pytest.param(case, marks=case.marks, id=case.label) for case in READERS])
def reader_case(request: pytest.FixtureRequest) -> ReaderCase:
    """Each catalog that can be read."""
    case: ReaderCase = request.param
    return case


@dataclass(frozen=True)
class Filled:
    """A catalog with content, and all its rows, read once."""

    case: ReaderCase
    content: Content
    rows: Rows


@pytest.fixture(scope="session")
def filled(reader_case: ReaderCase, request: pytest.FixtureRequest) -> Filled:
    """Each catalog that can be read, with its content made."""
    content = reader_case.fill(request)
    return Filled(reader_case, content, read(reader_case.system, content.options))


@pytest.fixture(params=[pytest.param(case, marks=pytest.mark.servers, id=case.label) for case in WRITERS])
def writer_case(request: pytest.FixtureRequest) -> WriterCase:
    """Each catalog that can be written."""
    case: WriterCase = request.param
    return case


@pytest.fixture
def writer(writer_case: WriterCase, request: pytest.FixtureRequest) -> Iterator[CatalogWriter]:
    """A writer of each catalog, closed after the test."""
    open_writer = room(writer_case.system).writer
    assert open_writer is not None
    opened = open_writer(writer_case.open(request), "target")
    yield opened
    opened.close()
