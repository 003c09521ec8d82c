"""Threads, event loops and limits on concurrency, independent of models, documents and graphs."""
