"""What a knowledge base keeps: records, which are the truth, and vectors, which are derived from them."""
