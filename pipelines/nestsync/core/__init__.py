"""What is true of names and plans: pure functions and frozen records.

No Spark, no I/O, standard library only. Everything here can be read in an hour, and everything
that Spark does elsewhere is held to what is written here by property tests.
"""
