"""Reads documents: selects the files of a folder, and reads each of them."""
