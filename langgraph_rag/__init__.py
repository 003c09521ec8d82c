"""Multi-hop question answering as LangGraph state machines."""
