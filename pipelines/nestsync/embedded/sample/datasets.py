"""Fills a folder with Lance datasets, and with what lies beside datasets in real folders."""

from __future__ import annotations

from pathlib import Path

from nestsync.embedded.sample.content import columns_of
from nestsync.embedded.sample.tables import write_lance

# folder name: (rows of each version, versions)
DATASETS: dict[str, tuple[int, int]] = {
    "product_images.lance": (60, 2),
    "product_vectors.lance": (200, 3),
    "customer_vectors.lance": (150, 1),
    "support_ticket_vectors.lance": (80, 1),
    "defect_images_leipzig.lance": (40, 2),
    "defect_images_puebla.lance": (40, 1),
    "contract_pages.lance": (25, 1),
    "campaign_creatives.lance": (30, 1),
    "voice_of_customer.lance": (90, 4),
    "churn_training_set": (120, 1),
    "fraud_training_set": (120, 2),
    "demand_training_set": (120, 1),
    "search_queries": (70, 1),
}
EMPTY = "translations_export"
"""A folder that somebody made and never filled."""
CORRUPT = "customer_vectors_old.lance"
"""A dataset whose manifest was cut off when the disk was full."""
HIDDEN = ".ipynb_checkpoints"
PLAIN_FILE = "README.md"


def fill(folder: Path) -> None:
    """Write the datasets, an empty folder, a corrupt dataset, a hidden folder and a plain file into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (count, versions) in DATASETS.items():
        write_lance(folder / name, columns_of(name), count, versions)
    write_lance(folder / CORRUPT, columns_of(CORRUPT), 10)
    for manifest in (folder / CORRUPT / "_versions").iterdir():
        manifest.write_bytes(manifest.read_bytes()[:20])
    (folder / EMPTY).mkdir()
    (folder / HIDDEN).mkdir()
    (folder / HIDDEN / "explore-checkpoint.ipynb").write_text("{}", encoding="utf-8")
    (folder / PLAIN_FILE).write_text("Datasets of the ML platform. Ask ml-platform@example.com.\n", encoding="utf-8")
