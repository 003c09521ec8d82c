"""The offline model: a weak, deterministic, general reasoner that needs no weights, key, server or download."""
