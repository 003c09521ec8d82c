"""Indexes derived from the records: words, entities and facts, sentences and phrases; and walks over them."""
