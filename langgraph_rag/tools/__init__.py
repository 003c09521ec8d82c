"""The knowledge base and its parts; each can be used without a model."""
