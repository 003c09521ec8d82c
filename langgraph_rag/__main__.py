"""`python -m langgraph_rag`: the command line, also where its script is not on the path."""

from langgraph_rag.cli import main

if __name__ == "__main__":
    main()
