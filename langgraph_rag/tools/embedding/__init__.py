"""Embedders: loaded by name, in this process or served."""
