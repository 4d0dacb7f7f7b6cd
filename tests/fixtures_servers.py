"""The real servers that tests can ask for; each starts when first asked for and stops with the test session."""
