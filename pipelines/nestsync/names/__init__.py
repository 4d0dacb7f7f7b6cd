"""The commands that look at names alone, without Spark: one identifier, the last inventory as a tree, separators."""
