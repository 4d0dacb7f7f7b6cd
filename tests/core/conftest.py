"""Hypothesis on a busy machine: how long an example takes says nothing about whether it is right."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("nestsync", deadline=None)
settings.load_profile("nestsync")
