"""The final answer from all findings: DualRAG (Eq. 4), PAR RAG (section 3.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_rag.llm import ask
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.prompts.answering import Answer
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.refusals import is_refusal


@dataclass(frozen=True)
class AnswerFromFindings:
    """Answer the question from the fields of the state named in `findings`; `node` is the name in the event."""

    llm: ChatModel
    prompt: Prompt[Answer]
    node: str
    findings: Sequence[str]

    async def __call__(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer."""
        found = {name: state[name] for name in self.findings}
        reply = await ask(self.llm, self.prompt, question=state["question"], **found)
        emit(self.node, thought=reply.thought, answer=reply.answer, sufficient=not is_refusal(reply.answer))
        return {"answer": reply.answer}
