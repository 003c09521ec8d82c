"""A method and the knowledge base's tools in an agent; give the name of a model that can call tools."""

import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from sample import open_sample

from langgraph_rag import as_tool, create_cirag, knowledge_base_tools, load_model
from langgraph_rag.narration import narrate

QUESTION = "Did Nessa Palliver and Sunniva Lockhaven go to the same school?"


class StandIn(BaseChatModel):
    """Follows a script, no model: calls one tool after the other, then repeats what the first one told it."""

    @property
    def _llm_type(self) -> str:
        return "stand-in"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        """Take any tools."""
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> ChatResult:
        calls = [
            ("answer_question", {"question": QUESTION}),
            ("search_passages", {"query": "school of Nessa Palliver", "k": 2}),
            ("search_triples", {"query": "school of Nessa Palliver", "k": 3}),
            ("neighbours", {"entity": "Sunniva Lockhaven"}),
            ("passages_near", {"entities": ["Nessa Palliver", "Sunniva Lockhaven"], "k": 2}),
        ]
        told = [message for message in messages if isinstance(message, ToolMessage)]
        if len(told) < len(calls):
            name, args = calls[len(told)]
            reply = AIMessage("", tool_calls=[{"name": name, "args": args, "id": str(len(told))}])
        else:
            reply = AIMessage(told[0].text)
        return ChatResult(generations=[ChatGeneration(message=reply)])


def main(model: str | None = None) -> None:
    """Ask an agent, showing what happens inside the method it calls."""
    kb = open_sample()
    rag = as_tool(
        create_cirag(load_model("offline"), kb).compile(),
        description="Answer a question about the people, places and works of the sample corpus.",
    )
    agent: Any = create_agent(load_model(model) if model else StandIn(), [rag, *knowledge_base_tools(kb)])
    asked = {"messages": [HumanMessage(QUESTION)]}
    for path, mode, chunk in agent.stream(asked, stream_mode=["custom", "updates"], subgraphs=True):
        if mode == "custom" and (line := narrate(chunk)):
            print("   ", line.replace("\n", "\n    "))
        elif mode == "updates" and not path:
            for update in chunk.values():
                for message in update["messages"]:
                    message.pretty_print()
    kb.close()


if __name__ == "__main__":
    main(*sys.argv[1:2])
