"""Graphs made of the records, and walks over them."""
