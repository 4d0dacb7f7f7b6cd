"""What is remembered of every run: when, how long, what it counted and what it ended with. Needs no Spark."""
