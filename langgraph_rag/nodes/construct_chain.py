"""KiRAG's reasoning chain construction (section 3.2): the model completes the chain.

Pieces that are not among the candidates are removed first (appendix B.3). The paper adds the first of the others and
looks for candidates anew; here, all of them are added, and what the model says is missing is looked up, too.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
from langgraph_rag.tools.retrieve.ranking import in_words

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
class _Constructor:
    llm: ChatModel
    prompt: Prompt[Any]
    shown: Callable[[Candidate], Any]

    async def _completed(self, state: ConstructChainInput) -> "_Completion":
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
        return _Completion(taken, invented, reply.conclusion)


class ConstructChain(_Constructor):
    """Ask for the rest of the chain, and add all of it that the candidates bear out; an answer ends the search.

    What the model says is missing is looked up next. The second time in a row that it adds nothing, the chain ends.
    """

    async def __call__(self, state: ConstructChainInput) -> dict[str, Any]:
        """Return the longer chain, or the refused piece, or that the chain is complete."""
        found = await self._completed(state)
        if found.invented and not found.taken and not stopped():
            return _refused(state, found) or _continued(state, [], found, complete=True)
        fruitless = not found.taken and any(not step["core_triples"] for step in state["trace"][-1:])
        answered = found.answers and not found.invented
        return _continued(
            state, found.taken, found, complete=answered or fruitless or stopped(), missing=found.conclusion
        )


class ConstructFirst(_Constructor):
    """Ask for the rest of the chain and add its first piece that is a candidate, as published."""

    async def __call__(self, state: ConstructChainInput) -> dict[str, Any]:
        """Return the longer chain, or the refused piece, or that the chain is complete."""
        found = await self._completed(state)
        goes_on = not (found.taken or (found.answers and not found.invented) or stopped())
        return (goes_on and _refused(state, found)) or _continued(
            state, found.taken[:1], found, complete=not found.taken
        )


@dataclass(frozen=True)
class TakeBest:
    """Continue the chain with the aligner's best candidate (table 4, "w/o Constructor")."""

    async def __call__(self, state: ConstructChainInput) -> dict[str, Any]:
        """Return the longer chain."""
        taken = state["candidates"][:1]
        return _continued(state, taken, _Completion(taken, [], ""), complete=not taken)


class _Completion(NamedTuple):
    """The pieces of a completion that are candidates, those that were invented before the first, its conclusion."""

    taken: list[Candidate]
    invented: list[str]
    conclusion: str

    @property
    def answers(self) -> bool:
        return bool(concluded(self.conclusion))


def _filtered(
    pieces: Sequence[str | Sequence[str]], candidates: Sequence[Candidate], chain: Sequence[Candidate]
) -> tuple[list[Candidate], list[str]]:
    """Return the pieces that are candidates, and those that are neither; some models repeat the chain."""
    known = {normalise(candidate["name"]) for candidate in chain}
    taken: dict[str, Candidate] = {}
    invented: list[str] = []
    for piece in pieces:
        name = piece if isinstance(piece, str) else triple_text(piece)
        if normalise(name) in known:
            continue
        if found := meant(piece, candidates):
            taken |= {candidate["name"]: candidate for candidate in found}
        elif not meant(piece, chain):  # some models paraphrase the chain
            invented.append(name)
    return list(taken.values()), invented


def meant(piece: str | Sequence[str], candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidate that a piece refers to, if there is one."""
    if isinstance(piece, str):  # some models repeat a document as it was shown
        names = [candidate["name"] for candidate in candidates]
        positions = resolve([piece], names)[0] or resolve([_LABEL.sub("", piece).partition("\n")[0]], names)[0]
    else:
        positions, _ = resolve_triples([piece], [candidate["triple"] for candidate in candidates])
    return [candidates[position] for position in positions]


def _refused(state: ConstructChainInput, found: _Completion) -> dict[str, Any] | None:
    """Return the piece to refuse, so that the model is asked again; nothing if it was asked often enough."""
    if len(state["refused"]) + 1 >= MAX_REFUSED:
        return None
    refused = next(iter(found.invented), "")
    _tell(state, [], found)
    return {"refused": [*state["refused"], refused], "core": []}


def _continued(
    state: ConstructChainInput, taken: list[Candidate], found: _Completion, *, complete: bool, missing: str = ""
) -> dict[str, Any]:
    """Extend the chain by what was taken; the next query is the question with the chain, and what is missing."""
    chain = [*state["chain"], *taken]
    triples = [candidate["triple"] for candidate in taken if candidate["triple"]]
    missing = "" if complete else missing
    step = trace_step(state["step"], state["query"], found.conclusion, core_triples=triples, next_question=missing)
    _tell(state, taken, found)
    told = [] if missing and not taken else [in_words(state["question"], chain)]
    return {
        "chain": chain,
        "core": taken,
        "complete": complete,
        "refused": [],
        "query": " ".join([*told, missing]).strip(),
        "trace": [*state["trace"], step],
    }


def _tell(state: ConstructChainInput, taken: Sequence[Candidate], found: _Completion) -> None:
    emit(
        "construct_chain",
        step=state["step"],
        thought=found.conclusion,
        taken="\n".join(candidate["text"] for candidate in taken),
        refused="" if taken else next(iter(found.invented), ""),
        answered=found.answers and not found.invented and len(taken) == len(found.taken),
    )
