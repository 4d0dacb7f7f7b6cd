"""What people and machines read of a run: one HTML page, Data Docs, JUnit XML, a JSON summary, CSV files."""
