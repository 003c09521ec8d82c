"""Embedders: loaded by name, in this process or on a server."""
