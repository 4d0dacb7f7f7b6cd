"""The commands that look back: which runs there were, what changed between two of them, which ones may go."""
