"""Tools: the knowledge base and what it is made of; each piece can be used without a model."""
