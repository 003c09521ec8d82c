"""Analysis of English text: sentences, names, subjects, and facts as triples."""
