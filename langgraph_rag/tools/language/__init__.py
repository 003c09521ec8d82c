"""English text: its sentences and names, whom it is about, and what it states as triples."""
