"""CIRAG: Construction-Integration Retrieval and Adaptive Generation (Wei et al. 2026).

Each step retrieves passages for the current query, constructs candidate triples from them, and integrates: it selects
the core triples and asks for missing information. The answer comes from the smallest sufficient evidence: the core
triples, their sentences, or their passages.
"""

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Literal

from langgraph.graph import END, START

from langgraph_rag.arguments import expect_list
from langgraph_rag.context import Context, Settings, context
from langgraph_rag.machine import Machine
from langgraph_rag.models.bindings import ChatModel
from langgraph_rag.naming import expect_name
from langgraph_rag.nodes.accumulate import Accumulate
from langgraph_rag.nodes.answer_from import (
    AnswerFrom,
    Granularity,
    gather_passages,
    gather_sentences,
    gather_triples,
    is_answer,
    stands_in_facts,
)
from langgraph_rag.nodes.conclude import Conclude
from langgraph_rag.nodes.construct import (
    Construct,
    all_of_them,
    most_similar,
    new_first,
)
from langgraph_rag.nodes.extract_triples import ExtractTriples, ModelExtractor
from langgraph_rag.nodes.find_support import FindSupport
from langgraph_rag.nodes.integrate import Integrate, all_candidates, facts_alone, facts_with_sentences, kept_alone
from langgraph_rag.nodes.node import Choice, Node
from langgraph_rag.nodes.receive_question import QuestionInput, ReceiveQuestion
from langgraph_rag.nodes.retrieve import Retrieve
from langgraph_rag.prompts import answering
from langgraph_rag.prompts import cirag as prompts
from langgraph_rag.records import Result, ScoredPassage, Triple
from langgraph_rag.tools.retrieve.retriever import Retriever


class CiragResult(Result):
    """What a run of CIRAG returns: a `Result`, and in `granularity` the kind of evidence that the answer needed.

    It is "triples", "sentences" or "passages", and "none" for a refusal and for an answer taken from a thought because
    the budget was spent.
    """

    granularity: Literal["triples", "sentences", "passages", "none"]


class CiragState(QuestionInput, CiragResult):
    """The state of the graph; `query` is empty at the end of the search.

    `unreadable` are the passages that the extractor failed to read, and `offered` the candidates of earlier steps.
    """

    query: str
    step: int
    retrieved: list[ScoredPassage]
    first_retrieval: list[ScoredPassage]
    unreadable: list[str]
    candidates: list[Triple]
    offered: list[Triple]
    core: list[Triple]
    history: list[prompts.HistoryStep]
    read: list[str]
    thought: str


DEFAULTS = Settings(max_candidates=30, max_steps=4)
_SHOWN = {
    "ours": {
        "facts": (prompts.INTEGRATE, facts_alone),
        "sentences": (prompts.INTEGRATE_WITH_SENTENCES, facts_with_sentences),
    },
    "published": {"facts": (prompts.INTEGRATE_AS_PUBLISHED, facts_alone)},
}
_PROMPTS = {
    "triples": answering.ANSWER_FROM_TRIPLES,
    "sentences": answering.ANSWER_FROM_SENTENCES,
    "passages": answering.ANSWER_FROM_PASSAGES,
}
_GATHER = {"triples": gather_triples, "sentences": gather_sentences, "passages": gather_passages}
_SELECT = {
    "ours": {"similarity": new_first, "none": all_of_them},
    "published": {"similarity": most_similar, "none": all_of_them},
}


def is_last_chance(state: CiragState) -> bool:
    """Return whether a limit ended the search, or leaves only one call: the last level is then asked at once."""
    most = context().max_model_calls
    return bool(state["usage"]["stopped_by"]) or (most is not None and state["usage"]["calls"] >= most - 1)


def to_generate(state: CiragState) -> Literal["generate", "last_chance"]:
    """Begin the cascade, or ask its last level at once."""
    return "last_chance" if is_last_chance(state) else "generate"


def after_construct(state: CiragState) -> Literal["integrate", "generate", "last_chance"]:
    """Integrate if there are candidates."""
    return "integrate" if state["candidates"] else to_generate(state)


def after_accumulate(state: CiragState) -> Literal["retrieve", "generate", "last_chance"]:
    """Continue while there is a question, a step is left, and one of the last two steps found a core triple."""
    fruitless = len(state["trace"]) > 1 and not any(step["core_triples"] for step in state["trace"][-2:])
    goes_on = state["query"] and state["step"] < context(DEFAULTS).max_steps and not fruitless
    return "retrieve" if goes_on and not state["usage"]["stopped_by"] else to_generate(state)


def after_answer(state: CiragState) -> Literal["sufficient", "insufficient", "last_chance"]:
    """Stop the cascade at the first answer that is not a refusal (Eq. 6)."""
    if state["granularity"] != "none":
        return "sufficient"
    return "last_chance" if is_last_chance(state) else "insufficient"


def create_cirag(
    llm: ChatModel,
    kb: Retriever,
    *,
    integrator: ChatModel | None = None,
    reader: ChatModel | None = None,
    ranking: Literal["similarity", "none"] = "similarity",
    triples: Literal["offline", "online"] = "offline",
    granularities: Sequence[Granularity] = ("triples", "sentences", "passages"),
    variant: Literal["ours", "published"] = "ours",
    shown: Literal["facts", "sentences"] = "facts",
) -> Machine[CiragState, Context, QuestionInput, CiragResult]:
    """Build CIRAG as a state machine; compile it with a checkpointer and a store of your choice.

    Args:
        llm: the default model, used by every step that is not given another one.
        kb: the knowledge base to ask.
        integrator: the model that selects core triples and asks the next question, e.g. a distilled student (section
            3.5).
        reader: the model that answers.
        ranking: "similarity" shows the integrator the triples most similar to the query; "none" shows it all of them
            (table 2, "w/o reranker").
        triples: "offline" uses the triples extracted when documents were added; "online" lets `llm` extract them when a
            passage is first retrieved (section 4.6).
        granularities: the kinds of evidence to answer from, in this order (table 3 leaves some out).
        variant: "published" shows the integrator all candidates of earlier steps again (Eq. 2), and takes any answer
            from triples that is no refusal (Eq. 6). "ours" leaves those that were not kept out of the history, shows
            new candidates before them, at most five of a passage before those of others, tells the last step that it is
            the last, and takes from triples what they say.
        shown: "sentences" shows the integrator each candidate with the sentence that states it, which takes about twice
            the tokens ("published" shows "facts").

    Raises:
        TypeError: when a model is not a chat model, `kb` is not a knowledge base, or the granularities are
            a single string.
        UnknownNameError: when an option has a value that is not listed for it.
        ValueError: when there is no granularity, or one is repeated.
    """
    expect_name("variant", variant, _SELECT)
    expect_name("ranking", ranking, _SELECT[variant])
    expect_name("triples", triples, ("offline", "online"))
    expect_name("shown", shown, _SHOWN[variant])
    expect_list(granularities, "levels of granularity")
    for level in granularities:
        expect_name("granularity", level, _PROMPTS)
    if not granularities or len(set(granularities)) < len(granularities):
        raise ValueError(f"granularities must name at least one level and none twice, got {list(granularities)}")

    online = ModelExtractor(llm) if triples == "online" else None
    levels = [f"answer_from_{level}" for level in granularities]
    graph = Machine(CiragState, context_schema=Context, input_schema=QuestionInput, output_schema=CiragResult)
    graph.title = "CIRAG"
    graph.add_node("receive_question", Node(ReceiveQuestion(kb, CiragState)))
    graph.add_node("retrieve", Node(Retrieve(kb)))
    select, asked = _SELECT[variant][ranking], integrator or llm
    prompt, show = _SHOWN[variant][shown]
    remember = all_candidates if variant == "published" else kept_alone
    graph.add_node("construct", Node(Construct(kb, online, select, DEFAULTS)))
    graph.add_node("integrate", Node(Integrate(asked, prompt, kb, DEFAULTS, remember, show)))
    graph.add_node("accumulate", Node(Accumulate(partial(kb.apassages_with_triples, extractor=online))))
    for name, level in zip(levels, granularities, strict=True):
        doubted = variant == "ours" and level == "triples" and level != granularities[-1]
        suffices = stands_in_facts if doubted else is_answer
        graph.add_node(name, Node(AnswerFrom(reader or llm, _PROMPTS[level], kb, level, _GATHER[level], suffices)))
    if "passages" in granularities:
        graph.add_node("find_support", Node(FindSupport(kb)))
        graph.add_edge("find_support", "conclude")
    graph.add_node("conclude", Node(Conclude(kb)))

    graph.add_edge(START, "receive_question")
    graph.add_edge("receive_question", "retrieve")
    if online:
        graph.add_node("extract_triples", Node(ExtractTriples(kb, online)))
        graph.add_edge("retrieve", "extract_triples")
        graph.add_edge("extract_triples", "construct")
    else:
        graph.add_edge("retrieve", "construct")
    answering_next: dict[Hashable, str] = {"generate": levels[0], "last_chance": levels[-1]}
    graph.add_conditional_edges("construct", Choice(after_construct), {"integrate": "integrate", **answering_next})
    graph.add_edge("integrate", "accumulate")
    graph.add_conditional_edges("accumulate", Choice(after_accumulate), {"retrieve": "retrieve", **answering_next})
    for name, following in zip(levels, [*levels[1:], "conclude"], strict=True):
        done = "find_support" if name == "answer_from_passages" else "conclude"
        last = "conclude" if name == levels[-1] else levels[-1]
        ways: dict[Hashable, str] = {"sufficient": done, "insufficient": following, "last_chance": last}
        graph.add_conditional_edges(name, Choice(after_answer), ways)
    graph.add_edge("conclude", END)
    return graph
