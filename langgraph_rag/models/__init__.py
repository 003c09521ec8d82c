"""Chat models: loaded by name, what each of them takes and sends, and how a prompt reaches it."""
