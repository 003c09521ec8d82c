"""What passages state: facts, and the check that they are stated."""
