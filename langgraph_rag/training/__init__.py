"""Training of KiRAG's aligner (Fang et al. 2025, section 3.4) on reasoning chains that a model builds."""
