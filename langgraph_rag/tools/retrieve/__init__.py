"""Retrieval: what the steps of methods read, and by what filter."""
