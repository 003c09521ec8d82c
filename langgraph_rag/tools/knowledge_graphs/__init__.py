"""Graphs that are derived from the records, and walks over them."""
