"""Many questions at once over one knowledge base."""

import asyncio
from typing import Any

from sample import open_sample

from langgraph_rag import create_mgranrag, load_model

QUESTIONS = [
    "Who died later, Ilse Tarrant or Tobin Grell?",
    "Did Nessa Palliver and Sunniva Lockhaven go to the same school?",
    "Into which strait does the river that runs through the birthplace of Corwen Ashlade flow?",
]


async def main() -> None:
    """Ask all of them side by side; `max_concurrency` holds for the model calls of all together."""
    kb = open_sample()
    graph: Any = create_mgranrag(load_model("offline"), kb).compile()
    settings = {"max_concurrency": 16, "deadline_s": 60}
    results = await graph.abatch([{"question": question} for question in QUESTIONS], context=settings)
    for question, result in zip(QUESTIONS, results, strict=True):
        print(f"{question}\n  {result['answer']} ({result['usage']['calls']} model calls)")
    kb.close()


if __name__ == "__main__":
    asyncio.run(main())
