"""KiRAG's reasoning chain construction (section 3.2): the model completes the chain, and its first piece is added.

Pieces that are not among the candidates are removed first (appendix B.3).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.conclusions import concluded
from langgraph_rag.llm import ask
from langgraph_rag.matching import resolve, resolve_triples
from langgraph_rag.metering import count_dropped, stopped
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.nodes.node import emit
from langgraph_rag.normal_forms import normalise, triple_text
from langgraph_rag.prompts.kirag import ChainOfTexts, ChainOfTriples
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import Candidate, TraceStep, trace_step
from langgraph_rag.tools.aligner import in_words

_LABEL = re.compile(r"^\s*(?:(?:title|document)\s*:|\d+[.)])\s*", re.IGNORECASE)  # before a document's title
MAX_REFUSED = 2
"""After so many completions without a usable piece, the chain ends."""


class ConstructChainInput(TypedDict):
    """The question, the chain, the candidates, and the pieces refused in this step ("" if none was proposed)."""

    question: str
    query: str
    step: int
    chain: list[Candidate]
    candidates: list[Candidate]
    refused: list[str]
    trace: list[TraceStep]


@dataclass(frozen=True)
class ConstructChain:
    """Ask for the rest of the chain and add its first piece that is a candidate."""

    llm: ChatModel
    prompt: Prompt[Any]
    shown: Callable[[Candidate], Any]

    async def __call__(self, state: ConstructChainInput) -> dict[str, Any]:
        """Return the longer chain, or the refused piece, or that the chain is complete."""
        reply: ChainOfTriples | ChainOfTexts = await ask(
            self.llm,
            self.prompt,
            question=state["question"],
            candidates=[self.shown(candidate) for candidate in state["candidates"]],
            chain=[self.shown(candidate) for candidate in state["chain"]],
            refused=state["refused"],
        )
        taken, invented = _filtered(reply.chain, reply.shown(state["candidates"]), state["chain"])
        count_dropped(len(invented))
        refused = "" if taken else next(iter(invented), "")
        goes_on = not (taken or _answers(reply.conclusion, refused) or stopped())
        if goes_on and len(state["refused"]) + 1 < MAX_REFUSED:
            _tell(state, reply.conclusion, "", refused)
            return {"refused": [*state["refused"], refused], "core": []}
        return _continued(state, taken, reply.conclusion, refused)


@dataclass(frozen=True)
class TakeBest:
    """Continue the chain with the aligner's best candidate (table 4, "w/o Constructor")."""

    async def __call__(self, state: ConstructChainInput) -> dict[str, Any]:
        """Return the longer chain."""
        return _continued(state, state["candidates"][:1])


def _filtered(
    pieces: Sequence[str | Sequence[str]], candidates: Sequence[Candidate], chain: Sequence[Candidate]
) -> tuple[list[Candidate], list[str]]:
    """Return the first piece that is a candidate, and the invented pieces before it."""
    known = {normalise(candidate["name"]) for candidate in chain}
    invented: list[str] = []
    for piece in pieces:
        name = piece if isinstance(piece, str) else triple_text(piece)
        if normalise(name) in known:  # some models repeat the chain
            continue
        if taken := meant(piece, candidates):
            return taken, invented
        if not meant(piece, chain):  # some models paraphrase the chain
            invented.append(name)
    return [], invented


def meant(piece: str | Sequence[str], candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidate that a piece refers to, if there is one."""
    if isinstance(piece, str):  # some models repeat a document as it was shown
        names = [candidate["name"] for candidate in candidates]
        positions = resolve([piece], names)[0] or resolve([_LABEL.sub("", piece).partition("\n")[0]], names)[0]
    else:
        positions, _ = resolve_triples([piece], [candidate["triple"] for candidate in candidates])
    return [candidates[position] for position in positions]


def _continued(
    state: ConstructChainInput, taken: list[Candidate], conclusion: str = "", refused: str = ""
) -> dict[str, Any]:
    """Extend the chain by what was taken; if nothing was, the chain is complete."""
    chain = [*state["chain"], *taken]
    triples = [candidate["triple"] for candidate in taken if candidate["triple"]]
    step = trace_step(state["step"], state["query"], conclusion, core_triples=triples)
    _tell(state, conclusion, taken[0]["text"] if taken else "", refused)
    return {
        "chain": chain,
        "core": taken,
        "complete": not taken,
        "refused": [],
        "query": in_words(state["question"], chain),
        "trace": [*state["trace"], step],
    }


def _tell(state: ConstructChainInput, conclusion: str, taken: str, refused: str) -> None:
    answered = not taken and _answers(conclusion, refused)
    emit("construct_chain", step=state["step"], thought=conclusion, taken=taken, refused=refused, answered=answered)


def _answers(conclusion: str, refused: str) -> bool:
    """Return whether the chain is complete: it has an answer that does not rest on a refused piece."""
    return not refused and bool(concluded(conclusion))
