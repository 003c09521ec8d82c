"""Graphs: one published method per file."""
