"""Threads, event loops, and how much is under way at once; nothing here knows of models, documents or graphs."""
