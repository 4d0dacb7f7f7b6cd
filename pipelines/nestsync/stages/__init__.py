"""The flow: inventory, check, plan, apply, verify, report. DataFrames in, DataFrames out."""
