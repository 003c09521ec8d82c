"""Retrieval: what the steps of methods read, searches, fusion, similarity, and rerankers."""
