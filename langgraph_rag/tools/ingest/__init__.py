"""From documents to records: split, analyze, embed, read facts, store."""
