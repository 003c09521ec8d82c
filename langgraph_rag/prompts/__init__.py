"""Prompts: what each paper asks a model, in our own words, with the type of the reply."""
