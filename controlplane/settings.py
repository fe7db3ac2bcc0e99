"""Reads and validates what people set."""
