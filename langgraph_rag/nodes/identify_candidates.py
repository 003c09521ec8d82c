"""KiRAG's candidate knowledge identification (section 3.2), and its two ablations."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from typing_extensions import TypedDict

from langgraph_rag.context import Settings, context
from langgraph_rag.nodes.decompose_knowledge import WholeGraph
from langgraph_rag.nodes.node import emit
from langgraph_rag.nodes.spreading import OFFERED, spread_out
from langgraph_rag.normal_forms import normalise
from langgraph_rag.records import Candidate, ScoredPassage
from langgraph_rag.tools.retrieve.ranking import Aligner, names_led_to, with_and_without_chain
from langgraph_rag.tools.retrieve.retriever import Retriever


class IdentifyCandidatesInput(TypedDict):
    """The question, the chain, the knowledge of this step, the best score of each passage, and what was offered."""

    question: str
    query: str
    step: int
    retrieved: list[ScoredPassage]
    knowledge: list[Candidate]
    chain: list[Candidate]
    offered: list[str]
    scores: dict[str, float]


Select = Callable[[IdentifyCandidatesInput, list[Candidate], int | None], list[Candidate]]
"""Selects the candidates among all knowledge, which is sorted by its scores."""


@dataclass(frozen=True)
class IdentifyCandidates:
    """Keep the `max_candidates` pieces of knowledge that the aligner scores highest, without those in the chain."""

    aligner: Aligner
    defaults: Settings
    select: Select

    async def __call__(self, state: IdentifyCandidatesInput) -> dict[str, Any]:
        """Return the candidates, best first, and each passage's best score over all steps."""
        fresh = _unused(state["knowledge"], state["chain"])
        best = await _aligned(self, state, fresh, context(self.defaults).max_candidates)
        return _identified("identify_candidates", state, best)


@dataclass(frozen=True)
class IdentifyInWholeGraph:
    """Score the knowledge of the whole knowledge base, without a retriever (table 4, "w/o Retriever")."""

    kb: Retriever
    knowledge: WholeGraph
    aligner: Aligner
    defaults: Settings
    select: Select

    async def __call__(self, state: IdentifyCandidatesInput) -> dict[str, Any]:
        """Return the number of the step, its candidates, best first, and each passage's best score over all steps."""
        step, most = state["step"] + 1, context(self.defaults).max_candidates
        assert most is not None, "the defaults say how many candidates there are at most"
        question, chain = state["question"], state["chain"]
        queries = [*with_and_without_chain(question, chain), *names_led_to(question, chain)]
        knowledge = await self.knowledge(self.kb, queries, most + len(chain))
        best = await _aligned(self, state, _unused(knowledge, chain), most)
        begun = IdentifyCandidatesInput(**{**state, "step": step})
        return {**_identified("identify_in_whole_graph", begun, best), "step": step}


@dataclass(frozen=True)
class TakeAll:
    """Take all knowledge as candidates, scored by the rank of its passage (table 4, "w/o Aligner")."""

    async def __call__(self, state: IdentifyCandidatesInput) -> dict[str, Any]:
        """Return the candidates in the order of their passages."""
        fresh = _unused(state["knowledge"], state["chain"])
        places = {passage["id"]: place for place, passage in enumerate(state["retrieved"], start=1)}
        scores = [
            max(1 / places.get(source["passage_id"], len(places) + 1) for source in candidate["sources"])
            for candidate in fresh
        ]
        return _identified("identify_candidates", state, _best(fresh, scores, None))


def _unused(knowledge: list[Candidate], chain: list[Candidate]) -> list[Candidate]:
    if not (used := set(map(_words, chain))):
        return knowledge
    return [candidate for candidate in knowledge if _words(candidate) not in used]


def _words(candidate: Candidate) -> str:
    """Return the normal form of a text, from parts that are known: many triples share their heads and relations."""
    return " ".join(map(normalise, candidate["triple"] or [candidate["text"]]))


async def _aligned(
    node: IdentifyCandidates | IdentifyInWholeGraph,
    state: IdentifyCandidatesInput,
    knowledge: list[Candidate],
    most: int | None,
) -> list[Candidate]:
    scores = await node.aligner.score(state["question"], state["chain"], knowledge) if knowledge else []
    return node.select(state, _best(knowledge, scores, None), most)


def best_alone(state: IdentifyCandidatesInput, ranked: list[Candidate], most: int | None) -> list[Candidate]:
    """Select what the aligner scores highest, as published."""
    return ranked[:most]


def places_for_all(state: IdentifyCandidatesInput, ranked: list[Candidate], most: int | None) -> list[Candidate]:
    """Select the best, but give places to what was not offered before, to each passage, and to each name compared.

    Otherwise the facts nearest to the question keep most places in each step, although the model did not take them.
    """
    offered = set(state["offered"])
    scores = [c["score"] * (OFFERED if normalise(c["name"]) in offered else 1.0) for c in ranked]
    order = sorted(range(len(ranked)), key=lambda place: -scores[place])
    return spread_out([ranked[place] for place in order], state["question"], most)


def _best(knowledge: list[Candidate], scores: list[float], most: int | None) -> list[Candidate]:
    order = sorted(range(len(knowledge)), key=lambda position: -scores[position])
    return [Candidate(**{**knowledge[position], "score": scores[position]}) for position in order[:most]]


def _identified(node: str, state: IdentifyCandidatesInput, candidates: list[Candidate]) -> dict[str, Any]:
    best = dict(state["scores"])
    for candidate in candidates:
        for source in candidate["sources"]:
            best[source["passage_id"]] = max(candidate["score"], best.get(source["passage_id"], -1.0))
    emit(node, step=state["step"], query=state["query"], candidates=len(candidates))
    shown = _named_apart(candidates, state["chain"])
    offered = [*dict.fromkeys([*state["offered"], *(normalise(candidate["name"]) for candidate in candidates)])]
    # cleared, because every checkpoint stores the whole state
    return {"candidates": shown, "offered": offered, "scores": best, "refused": [], "knowledge": []}


def _named_apart(candidates: list[Candidate], chain: list[Candidate]) -> list[Candidate]:
    """Number repeated names, such as those of documents with the same title: models refer to candidates by name."""
    taken = {normalise(candidate["name"]) for candidate in chain}
    named = []
    for candidate in candidates:
        names = (f"{candidate['name']} ({number})" if number > 1 else candidate["name"] for number in count(1))
        name = next(name for name in names if normalise(name) not in taken)
        taken.add(normalise(name))
        named.append(Candidate(**{**candidate, "name": name}))
    return named
