"""KiRAG: Knowledge-Driven Iterative Retriever (Fang et al. 2025).

Each step retrieves passages for the question and the chain of triples so far, and decomposes them into triples. An
aligner identifies those that may continue the chain. A model completes the chain; what it adds, and what it says is
missing, leads to the next passages. The candidates of all steps rank the documents; a reader answers from the chain and
the best ones.
"""

from functools import partial
from pathlib import Path
from typing import Any, Literal

from langchain_core.embeddings import Embeddings
from langgraph.graph import END, START

from langgraph_rag.arguments import expect
from langgraph_rag.context import Context, Settings, context
from langgraph_rag.machine import Machine
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.naming import expect_name
from langgraph_rag.nodes.accumulate import Accumulate
from langgraph_rag.nodes.conclude import Conclude, as_ranked
from langgraph_rag.nodes.construct_chain import ConstructChain, ConstructFirst, TakeBest
from langgraph_rag.nodes.decompose_knowledge import (
    DecomposeKnowledge,
    WithPassages,
    all_knowledge,
    as_document,
    as_sentence,
    as_triple,
    into_documents,
    into_sentences,
    into_triples,
    nearest_triples,
    with_documents,
    with_sentences,
    with_triples,
)
from langgraph_rag.nodes.find_support import FindSupport
from langgraph_rag.nodes.identify_candidates import (
    IdentifyCandidates,
    IdentifyInWholeGraph,
    TakeAll,
    best_alone,
    places_for_all,
)
from langgraph_rag.nodes.node import Choice, Node
from langgraph_rag.nodes.rank_documents import RankDocuments, by_best_score, fused
from langgraph_rag.nodes.read_passages import ReadPassages, as_given, with_chain
from langgraph_rag.nodes.receive_question import QuestionInput, ReceiveQuestion
from langgraph_rag.nodes.retrieve import LookUpQuestion, Retrieve
from langgraph_rag.prompts import answering
from langgraph_rag.prompts import kirag as prompts
from langgraph_rag.prompts.prompt import Prompt
from langgraph_rag.records import Candidate, Result, ScoredPassage
from langgraph_rag.tools.ingest.embeddings import load_embeddings
from langgraph_rag.tools.retrieve.ranking import Aligner, BiEncoder, OwnAligner, with_and_without_chain
from langgraph_rag.tools.retrieve.retriever import Retriever


class KiragState(QuestionInput, Result):
    """The state of the graph; `query` is the question with the chain, `core` the triple that this step added."""

    query: str
    step: int
    retrieved: list[ScoredPassage]
    first_retrieval: list[ScoredPassage]
    knowledge: list[Candidate]
    candidates: list[Candidate]
    offered: list[str]
    scores: dict[str, float]
    chain: list[Candidate]
    core: list[Candidate]
    refused: list[str]
    complete: bool
    ranking: list[ScoredPassage]
    read: list[str]
    thought: str


DEFAULTS = Settings(max_steps=5, max_candidates=20, read_k=5)
_PUBLISHED = Settings(max_steps=5, max_candidates=20, read_k=3)
_CONSTRUCT: dict[str, type[ConstructChain] | type[ConstructFirst]] = {"whole": ConstructChain, "first": ConstructFirst}
_SELECT = {"whole": places_for_all, "first": best_alone}
_INTO = {"triples": into_triples, "sentences": into_sentences, "documents": into_documents}
_WITH: dict[str, WithPassages] = {
    "triples": with_triples,
    "sentences": with_sentences,
    "documents": with_documents,
}
_SHOWN = {"triples": as_triple, "sentences": as_sentence, "documents": as_document}
_PROMPTS: dict[str, Prompt[Any]] = {
    "triples": prompts.CONSTRUCT_CHAIN,
    "sentences": prompts.CONSTRUCT_CHAIN_OF_SENTENCES,
    "documents": prompts.CONSTRUCT_CHAIN_OF_DOCUMENTS,
}
_RANK = {"fused": fused, "best_score": by_best_score}


def after_identify(state: KiragState) -> Literal["construct_chain", "rank_documents"]:
    """Continue the chain if there are candidates."""
    return "construct_chain" if state["candidates"] else "rank_documents"


def after_construct(state: KiragState) -> Literal["construct_chain", "accumulate", "look_further", "rank_documents"]:
    """Accumulate what was added, ask again after an unusable completion, look up what is missing, or end the chain."""
    if state["core"]:
        return "accumulate"
    if state["refused"]:
        return "construct_chain"
    return "rank_documents" if is_over(state) else "look_further"


def after_accumulate(state: KiragState) -> Literal["look_further", "rank_documents"]:
    """Continue until the chain is complete."""
    return "rank_documents" if is_over(state) else "look_further"


def is_over(state: KiragState) -> bool:
    """Return whether the chain is complete, or the maximum number of steps (the paper's L) is done."""
    return state["complete"] or state["step"] >= context(DEFAULTS).max_steps


def create_kirag(
    llm: ChatModel,
    kb: Retriever,
    *,
    constructor: ChatModel | Literal["none"] | None = None,
    reader: ChatModel | None = None,
    aligner: Embeddings | Literal["untrained", "none"] | str | Path | None = None,
    retriever: Literal["passages", "none"] = "passages",
    knowledge: Literal["triples", "sentences", "documents"] = "triples",
    ranking: Literal["fused", "best_score"] = "fused",
    construction: Literal["whole", "first"] = "whole",
    reading: Literal["chain", "passages"] = "chain",
) -> Machine[KiragState, Context, QuestionInput, Result]:
    """Build KiRAG as a state machine; compile it with a checkpointer and a store of your choice.

    Args:
        llm: the default model, used by every step that is not given another one.
        kb: the knowledge base to ask.
        constructor: the model that completes the chain; "none" takes the aligner's best candidate instead (table 4,
            "w/o Constructor").
        reader: the model that answers.
        aligner: the bi-encoder that scores candidates, or its folder. The default for triples is the aligner that
            `train_aligner` stored in the knowledge base, or else the knowledge base's embedder, which compares
            candidates with the question, alone and with the chain, and with the names that the chain leads to.
            "untrained" uses that embedder like a trained aligner, with the whole chain only (table 4, "w/o Training").
            "none" shows the constructor all triples (table 4, "w/o Aligner").
        retriever: "passages" retrieves passages and uses their triples; "none" lets the aligner search all triples of
            the knowledge base (table 4, "w/o Retriever"); the default one looks up those nearest to its queries.
        knowledge: the units of chains (table 1: KiRAG, KiRAG-Sent, KiRAG-Doc).
        ranking: "best_score" ranks documents by the score of their best triple (section 3.3); "fused" by the chain, by
            that score, and by what the question itself found.
        construction: "first" adds the first triple of each completion, of candidates that the aligner alone selects, as
            published. "whole" adds all its triples, looks up also what the model says is missing, and gives places
            among the candidates to new ones, to each passage, and to each name of a comparison.
        reading: "passages" shows the reader passages alone, three of them by default, as published; "chain" five of
            them by default, with the chain.

    Raises:
        TypeError: when a model is not a chat model, `kb` is not a knowledge base, or the aligner is neither
            an embedder nor the name or path of one.
        UnknownNameError: when an option has a value that is not listed for it.
        ValueError: when retriever and aligner are both "none", or the aligner's folder does not exist.
    """
    expect_name("retriever", retriever, ("passages", "none"))
    expect_name("knowledge", knowledge, _INTO)
    expect_name("ranking", ranking, _RANK)
    expect_name("construction", construction, _CONSTRUCT)
    expect_name("reading", reading, ("chain", "passages"))
    hint = "load_embeddings(NAME) returns one"
    expect(Embeddings | str | Path | None, aligner, "an aligner (LangChain Embeddings)", hint)
    if isinstance(aligner, str | Path) and _is_missing(aligner):
        raise ValueError(f"expected the folder of an aligner, got {str(aligner)!r}, which does not exist")
    if isinstance(constructor, str):
        expect_name("constructor", constructor, ("none",))
    if retriever == "none" and aligner == "none":
        raise ValueError("without a retriever there must be an aligner, got none of both")

    graph = Machine(KiragState, context_schema=Context, input_schema=QuestionInput, output_schema=Result)
    graph.title = "KiRAG"
    graph.add_node("receive_question", Node(ReceiveQuestion(kb, KiragState)))
    select = _SELECT[construction]
    if retriever == "none":
        first = identify = "identify_in_whole_graph"
        scored_by = _aligner(aligner, kb, knowledge)
        whole = nearest_triples if isinstance(scored_by, OwnAligner) else all_knowledge(_INTO[knowledge])
        graph.add_node("look_up_question", Node(LookUpQuestion(kb)))
        graph.add_node(identify, Node(IdentifyInWholeGraph(kb, whole, scored_by, DEFAULTS, select)))
        graph.add_edge("receive_question", "look_up_question")
        graph.add_edge("look_up_question", identify)
    else:
        first, identify = "retrieve", "identify_candidates"
        chosen = (
            TakeAll() if aligner == "none" else IdentifyCandidates(_aligner(aligner, kb, knowledge), DEFAULTS, select)
        )
        graph.add_node("retrieve", Node(Retrieve(kb)))
        graph.add_node("decompose_knowledge", Node(DecomposeKnowledge(kb, _INTO[knowledge])))
        graph.add_node(identify, Node(chosen))
        graph.add_edge("receive_question", "retrieve")
        graph.add_edge("retrieve", "decompose_knowledge")
        graph.add_edge("decompose_knowledge", identify)
    if isinstance(constructor, str):
        graph.add_node("construct_chain", Node(TakeBest()))
    else:
        construct = _CONSTRUCT[construction](constructor or llm, _PROMPTS[knowledge], _SHOWN[knowledge])
        graph.add_node("construct_chain", Node(construct))
    graph.add_node("accumulate", Node(Accumulate(partial(_WITH[knowledge], kb))))
    graph.add_node("rank_documents", Node(RankDocuments(_RANK[ranking])))
    graph.add_node("read_passages", Node(_reader(reading, reader or llm, kb)))
    graph.add_node("find_support", Node(FindSupport(kb)))
    graph.add_node("conclude", Node(Conclude(kb, as_ranked)))

    graph.add_edge(START, "receive_question")
    graph.add_conditional_edges(identify, Choice(after_identify), ["construct_chain", "rank_documents"])
    graph.add_conditional_edges(
        "construct_chain",
        Choice(after_construct),
        {
            "construct_chain": "construct_chain",
            "accumulate": "accumulate",
            "look_further": first,
            "rank_documents": "rank_documents",
        },
    )
    graph.add_conditional_edges(
        "accumulate", Choice(after_accumulate), {"look_further": first, "rank_documents": "rank_documents"}
    )
    graph.add_edge("rank_documents", "read_passages")
    graph.add_edge("read_passages", "find_support")
    graph.add_edge("find_support", "conclude")
    graph.add_edge("conclude", END)
    return graph


def _reader(reading: str, llm: ChatModel, kb: Retriever) -> ReadPassages:
    if reading == "passages":
        return ReadPassages(llm, answering.ANSWER_FROM_PASSAGES, kb, _PUBLISHED, choose=as_given)
    return ReadPassages(llm, answering.ANSWER_FROM_CHAIN, kb, DEFAULTS, with_chain)


def _is_missing(aligner: str | Path) -> bool:
    """Return whether a path does not exist; other text may name a model on a hub."""
    is_path = isinstance(aligner, Path) or aligner.startswith(("/", "./", "../"))
    return not aligner or (is_path and not Path(aligner).exists())


def _aligner(given: Embeddings | str | Path | None, kb: Retriever, knowledge: str) -> Aligner:
    """Return the aligner; by default a trained one, or the embedder of the knowledge base with its stored vectors."""
    if given is None and knowledge == "triples":
        if not kb.aligner.is_dir():
            return OwnAligner(kb)
        given = kb.aligner
    if given == "untrained":
        return BiEncoder(kb.embeddings)
    if given is None:
        return BiEncoder(kb.embeddings, with_and_without_chain)
    return BiEncoder(load_embeddings(str(given)) if isinstance(given, str | Path) else given)
