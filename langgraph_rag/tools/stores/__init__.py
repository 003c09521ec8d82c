"""The stored data of a knowledge base: records, and vectors that are derived from them."""
