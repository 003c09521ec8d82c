"""Reading documents: which files of a folder, and what stands in each."""
