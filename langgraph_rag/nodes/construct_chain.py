"""KiRAG's reasoning chain construction (section 3.2): the model completes the chain, its first piece is taken."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from typing_extensions import TypedDict

from langgraph_rag.llm import ask
from langgraph_rag.matching import resolve, triple_text
from langgraph_rag.metering import count_dropped
from langgraph_rag.nodes.node import emit
from langgraph_rag.prompts.kirag import ANSWER_MARK, ChainOfTexts, ChainOfTriples
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import Candidate, TraceStep

MAX_REFUSED = 2
"""Completions that may begin with what was not shown before the chain ends."""


class ConstructChainInput(TypedDict):
    """The question, the chain so far, this step's candidates, and what was proposed for it in vain."""

    question: str
    query: str
    step: int
    chain: list[Candidate]
    candidates: list[Candidate]
    refused: list[str]
    trace: list[TraceStep]


def chain_query(question: str, chain: list[Candidate]) -> str:
    """Return the query of the next step: the question with the chain (section 3.2, q_i)."""
    return f"{question} knowledge triples: {'. '.join(c['text'] for c in chain)}" if chain else question


@dataclass(frozen=True)
class ConstructChain:
    """Ask for the whole rest of the chain and take the first piece of it, if it is one of the candidates."""

    llm: BaseChatModel
    prompt: Prompt[Any]
    shown: Callable[[Candidate], Any]

    async def __call__(self, state: ConstructChainInput) -> dict[str, Any]:
        """Return the longer chain; or the refused piece; or that the chain is complete."""
        reply: ChainOfTriples | ChainOfTexts = await ask(
            self.llm,
            self.prompt,
            question=state["question"],
            candidates=[self.shown(candidate) for candidate in state["candidates"]],
            chain=[self.shown(candidate) for candidate in state["chain"]],
            refused=state["refused"],
        )
        proposed = [piece if isinstance(piece, str) else triple_text(piece) for piece in reply.chain[:1]]
        positions, dropped = resolve(proposed, [candidate["name"] for candidate in state["candidates"]])
        count_dropped(dropped)
        if dropped:
            refused = [*state["refused"], *proposed]
            emit(
                "construct_chain",
                step=state["step"],
                thought=reply.conclusion,
                taken="",
                refused=proposed[0],
                answered=False,
            )
            return {"refused": refused, "complete": len(refused) >= MAX_REFUSED, "core": []}
        return _continued(state, [state["candidates"][position] for position in positions], reply.conclusion)


@dataclass(frozen=True)
class TakeBest:
    """Continue the chain with the aligner's best candidate (table 4, "w/o Constructor")."""

    async def __call__(self, state: ConstructChainInput) -> dict[str, Any]:
        """Return the longer chain."""
        return _continued(state, state["candidates"][:1], "")


def _continued(state: ConstructChainInput, taken: list[Candidate], conclusion: str) -> dict[str, Any]:
    """End the chain where nothing continues it: then it is complete, or there is nothing to complete it with."""
    chain = [*state["chain"], *taken]
    step = TraceStep(
        step=state["step"],
        query=state["query"],
        thought=conclusion,
        core_triples=[candidate["triple"] for candidate in taken if candidate["triple"]],
        next_question="",
    )
    emit(
        "construct_chain",
        step=state["step"],
        thought=conclusion,
        taken=taken[0]["text"] if taken else "",
        refused="",
        answered=not taken and ANSWER_MARK in conclusion.lower(),
    )
    return {
        "chain": chain,
        "core": taken,
        "complete": not taken,
        "refused": [],
        "query": chain_query(state["question"], chain),
        "trace": [*state["trace"], step],
    }
