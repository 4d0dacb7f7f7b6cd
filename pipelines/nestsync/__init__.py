"""nestsync: proves that every catalog name survives the trip, then makes the trip."""

__version__ = "0.1.0"
