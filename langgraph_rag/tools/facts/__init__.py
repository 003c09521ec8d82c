"""What passages state: facts read by rules, from a parse or by a model, and the check that they are stated."""
