"""Indexes that are derived from the records and kept as arrays on disk, memory-mapped by any number of readers."""
