"""Training of KiRAG's aligner (Fang et al. 2025, section 3.4) on chains that a model builds."""
