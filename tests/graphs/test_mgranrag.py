"""MGranRAG on scripted models: the order of its steps, its rounds and memory, its graph and weights, its options.

The paper shows its case only as a drawing; documents and question are our own.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from fakes import ScriptedModel, asked_for
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from pydantic import TypeAdapter
from running import visited

from langgraph_rag.errors import (
    EmptyKnowledgeBaseError,
    ModelCallError,
    ModelOutputError,
    QuestionError,
    UnknownNameError,
)
from langgraph_rag.graphs.mgranrag import create_mgranrag
from langgraph_rag.methods import create
from langgraph_rag.nodes.augment_query import with_evidence
from langgraph_rag.nodes.extract_evidence import EvidenceUnit
from langgraph_rag.nodes.remember import confidence
from langgraph_rag.nodes.weigh import OFFICIAL, PAPER, GrownGraph, personalization
from langgraph_rag.prompts.mgranrag import Extraction
from langgraph_rag.records import Result
from langgraph_rag.tools.knowledge_base import KnowledgeBase

QUESTION = "In which country was the director of The Salt Road born?"
DIRECTOR = "Who directed The Salt Road?"
SUBQUERIES = [DIRECTOR, "In which country was that person born?"]
DIRECTED = "The Salt Road is a 1968 drama film directed by Orla Vint."
BORN = "Vint was born in Pellworth."
TOWN = "Pellworth is a harbour town in Norland."
ROUND = ["extract_evidence", "remember", "augment_query", "align_phrases", "calibrate"]
FIRST = ["receive_question", "decompose", "retrieve"]
LAST = ["read_passages", "find_support", "conclude"]
NARROW = {"top_k": 3, "max_steps": 3, "search": "dense"}

Found = Mapping[str, Any]
EVIDENCE: dict[str, Found] = {
    DIRECTED: {"full": [1], "partial": [0, 2], "phrases": ["Orla Vint"]},
    BORN: {"full": [], "partial": [0, 2], "phrases": ["Pellworth"]},
    TOWN: {"full": [0, 2], "partial": [], "phrases": ["Pellworth", "Norland"]},
}


@pytest.fixture
def kb(read_kb: KnowledgeBase) -> KnowledgeBase:
    return read_kb


class Reader:
    """Splits the question, marks what stands in a table and has not been found yet, answers, and notes what it saw."""

    def __init__(self, evidence: Mapping[str, Found] = EVIDENCE, answer: str = "Norland") -> None:
        self.evidence, self.answer = evidence, answer
        self.saw: list[tuple[str, Mapping[str, Any]]] = []

    def __call__(self, prompt: str, values: Mapping[str, Any]) -> str:
        self.saw.append((prompt, values))
        if prompt == "decompose":
            return json.dumps({"thought": "Two things.", "subqueries": SUBQUERIES})
        if prompt == "answer_from_passages":
            return json.dumps({"thought": "So it is.", "answer": self.answer})
        return json.dumps({"thought": "Hm.", "evidence": self._marked(values)})

    def _marked(self, values: Mapping[str, Any]) -> list[Found]:
        known = {text["text"] for text in values["known"]}
        shown = [
            (number, sentence)
            for text in values["passages"]
            for number, sentence in enumerate(text["sentences"], start=text["first"])
        ]
        return [
            {"sentence": number, **self.evidence[sentence]}
            for number, sentence in shown
            if sentence in self.evidence and sentence not in known
        ]

    def values(self, prompt: str) -> list[Mapping[str, Any]]:
        """Return the values of each request with a prompt."""
        return [values for name, values in self.saw if name == prompt]


def visit(
    kb: KnowledgeBase, script: Any, context: Mapping[str, Any] | None = None, **options: Any
) -> tuple[list[str], dict[str, Any]]:
    """Return the nodes in the order they ran, and the result."""
    return visited(
        create_mgranrag(ScriptedModel.of(script), kb, **{"course": "published", **options}), QUESTION, context
    )


def states(kb: KnowledgeBase, script: Any, context: Mapping[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """Return the last state, inner keys included."""
    graph: Any = create_mgranrag(ScriptedModel.of(script), kb, **{"course": "published", **options}).compile()
    return list(graph.stream({"question": QUESTION}, context=context, stream_mode="values"))[-1]  # type: ignore[no-any-return]


def unit(sentence: str, passage: str, score: float, *phrases: str, step: int = 1) -> EvidenceUnit:
    return EvidenceUnit(
        passage_id=passage,
        title="",
        sentence=sentence,
        full=[0],
        partial=[],
        phrases=list(phrases),
        score=score,
        step=step,
    )


# --- the steps -------------------------------------------------------------------------------------------------------
def test_one_round_is_the_papers_default(kb: KnowledgeBase) -> None:
    nodes, result = visit(kb, Reader())

    assert nodes == [*FIRST, *ROUND, *LAST]
    assert result["answer"] == "Norland"
    assert result["usage"]["calls"] == 3


def test_rounds_walk_to_passages_that_no_search_for_the_question_finds(empty_kb: KnowledgeBase) -> None:
    alike = "In which country was the director of road {} born?"
    empty_kb.add(
        [
            {"id": "salt-road", "title": "The Salt Road", "text": DIRECTED},
            {"id": "vint", "title": "Orla Vint", "text": BORN},
            {"id": "pellworth", "title": "Pellworth", "text": TOWN},
            *({"id": f"road {number}", "title": f"Road {number}", "text": alike.format(number)} for number in range(4)),
        ],
        progress=False,
    )
    assert not {"vint", "pellworth"} & {passage["id"] for passage in empty_kb.search(QUESTION, 5, by="dense")}

    nodes, result = visit(empty_kb, Reader(), {"top_k": 5, "max_steps": 3, "search": "dense", "similar_k": 2})

    assert nodes == [*FIRST, *ROUND * 3, *LAST]  # the walk goes from the film over the director to the town at once
    assert [(e["sentence"], e["passage_id"], e["title"], e["step"]) for e in result["evidence"]] == [
        (DIRECTED, "salt-road", "The Salt Road", 1),
        (BORN, "vint", "Orla Vint", 2),
        (TOWN, "pellworth", "Pellworth", 2),
    ]
    assert {"salt-road", "vint", "pellworth"} <= {passage["id"] for passage in result["passages"][:4]}


def test_the_result_is_of_the_declared_types(kb: KnowledgeBase) -> None:
    result = visit(kb, Reader(), NARROW)[1]

    TypeAdapter(Result).validate_python(result, strict=True)
    assert set(result) == set(Result.__annotations__)
    assert all(len(entry["triple"]) == 3 for entry in result["evidence"])
    scores = [passage["score"] for passage in result["passages"]]
    assert scores == sorted(scores, reverse=True)
    assert [step["step"] for step in result["trace"]] == list(range(1, 1 + len(result["trace"])))


def test_the_extractor_sees_all_questions_the_memory_and_the_best_passages(kb: KnowledgeBase) -> None:
    reader = Reader()

    visit(kb, reader, NARROW)

    first, second = reader.values("extract_evidence")[:2]
    assert first["questions"] == second["questions"] == [QUESTION, *SUBQUERIES]
    assert first["known"] == []
    assert {"title": "The Salt Road", "text": DIRECTED} in second["known"]
    assert [len(values["passages"]) for values in (first, second)] == [3, 3]


def test_sentences_are_numbered_through_all_passages(kb: KnowledgeBase) -> None:
    reader = Reader()

    visit(kb, reader)

    texts = reader.values("extract_evidence")[0]["passages"]
    following = 1
    for text in texts:
        assert text["first"] == following
        following += len(text["sentences"])


def test_long_passages_are_read_in_several_calls_side_by_side(kb: KnowledgeBase) -> None:
    reader = Reader()

    result = visit(kb, reader, {"max_reading_tokens": 60})[1]

    parts = reader.values("extract_evidence")
    assert len(parts) > 2
    assert sum(len(values["passages"]) for values in parts) == 8
    assert all(values["passages"][0]["first"] == 1 for values in parts)
    assert {entry["passage_id"] for entry in result["evidence"]} == {"salt-road", "vint", "pellworth"}


async def test_parts_are_called_off_when_one_cannot_be_read(kb: KnowledgeBase) -> None:
    read: list[str] = []

    class Breaking(ScriptedModel):
        async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
            if asked_for(messages)["prompt"] == "extract_evidence":
                self.received.append(messages)
                if len(self.received) == 2:
                    raise OSError("the line is dead")
                await asyncio.sleep(0.05)
                read.append("a part")
            return self._generate(messages)

    graph: Any = create_mgranrag(Breaking(script=Reader()), kb, course="published").compile()

    with pytest.raises(ModelCallError, match="the line is dead"):
        await graph.ainvoke({"question": QUESTION}, context={"max_reading_tokens": 60})
    await asyncio.sleep(0.1)
    assert read == []


def test_the_reader_answers_from_the_five_best_passages(kb: KnowledgeBase) -> None:
    reader = Reader()

    result = visit(kb, reader)[1]

    records = kb.passages([passage["id"] for passage in result["passages"][:5]])
    assert [text["title"] for text in reader.values("answer_from_passages")[0]["passages"]] == [
        record["title"] for record in records
    ]


# --- sub-queries -----------------------------------------------------------------------------------------------------
def test_sub_queries_that_repeat_the_question_or_each_other_are_left_out(kb: KnowledgeBase) -> None:
    reader = Reader()

    def script(prompt: str, values: Mapping[str, Any]) -> str:
        if prompt == "decompose":
            return json.dumps({"thought": "", "subqueries": [QUESTION.upper(), " A? ", "", "B?", "a", "B?", "None"]})
        return reader(prompt, values)

    assert states(kb, script)["subqueries"] == ["A?", "B?"]


def test_sub_queries_after_the_eighth_are_dropped_and_counted(kb: KnowledgeBase) -> None:
    reader = Reader({})

    def script(prompt: str, values: Mapping[str, Any]) -> str:
        if prompt == "decompose":
            return json.dumps({"thought": "", "subqueries": [f"What is {number}?" for number in range(10)]})
        return reader(prompt, values)

    state = states(kb, script)

    assert len(state["subqueries"]) == 8
    assert state["usage"]["dropped"] == 2


# --- evidence --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("full", "partial", "subqueries", "score"),
    [
        ([0, 1, 2], [], 2, 2.0),
        ([0], [1], 2, 1.25),
        ([], [0], 2, 0.5),
        ([1], [], 4, 0.25),
        ([0], [], 0, 1.0),
        ([], [], 3, 0.0),
    ],
)
def test_confidence_is_the_main_label_plus_the_mean_over_all_sub_queries(
    full: Sequence[int], partial: Sequence[int], subqueries: int, score: float
) -> None:
    assert confidence(full, partial, subqueries) == pytest.approx(score)


@pytest.mark.parametrize("name", ["number", "text", "bracketed"])
def test_a_sentence_is_meant_by_its_number_or_its_wording(kb: KnowledgeBase, name: str) -> None:
    reader = Reader()

    def script(prompt: str, values: Mapping[str, Any]) -> str:
        if prompt != "extract_evidence":
            return reader(prompt, values)
        number = reader._marked(values)[0]["sentence"]
        sentence = [s for text in values["passages"] for s in text["sentences"]][number - 1]
        meant = {"number": str(number), "text": sentence.lower(), "bracketed": f"[{number}]"}[name]
        return json.dumps({"thought": "", "evidence": [{"sentence": meant, "full": ["Q1"], "phrases": []}]})

    (unit_,) = states(kb, script)["memory"]
    assert unit_["sentence"] in EVIDENCE


@pytest.mark.parametrize(
    ("row", "meant"),
    [
        ("| 2 | 1 | 0 | Orla Vint |", [2]),
        ("2 | 1", [2]),
        ("Sentence 2 | 1 | 0 | Orla Vint", [2]),
        ("2. {2} | 1 | 0 | Orla Vint", [2]),
        ("[2] {2} | 1 | 0 | Orla Vint", [2]),
        ("2. {2:.20} | 1 | 0 | Orla Vint", [2]),
        ("2. {4} | 1 | 0 | Orla Vint", [4]),
        ("{4} | 1 | 0 | Orla Vint", [4]),
        ("1, 3 | 1 | 0 | Orla Vint", [1, 3]),
        ("Sentences 1 and 3 | 1 | 0 |", [1, 3]),
        ("1-3 | 1 | 0 |", [1, 2, 3]),
        ("2. Nobody ever wrote this sentence anywhere. | 1 | 0 |", []),
        ("2 | {2} | Q1 | Q0 | Orla Vint", [2]),
        ("2 | | | Orla Vint", []),
        ("2 | Orla Vint; Norland", []),
    ],
)
def test_rows_are_read_as_small_models_write_them(kb: KnowledgeBase, row: str, meant: list[int]) -> None:
    reader, shown = Reader(), [""]

    def script(prompt: str, values: Mapping[str, Any]) -> str:
        if prompt != "extract_evidence":
            return reader(prompt, values)
        shown.extend(sentence for text in values["passages"] for sentence in text["sentences"])
        return json.dumps({"thought": "", "evidence": [row.format(*shown)]})

    state = states(kb, script)

    assert [unit["sentence"] for unit in state["memory"]] == [shown[number] for number in meant]
    assert state["usage"]["dropped"] == (not meant)


@pytest.mark.parametrize(
    ("row", "partial", "phrases"),
    [
        ("2 | 1 | 0 | Orla Vint, Norland", [0], ["Orla Vint", "Norland"]),
        ("2 | 1 | 0 | Orla Vint | Norland", [0], ["Orla Vint", "Norland"]),
        ("2 \uff5c 1 \uff5c 0 \uff5c Orla Vint\uff1bNorland", [0], ["Orla Vint", "Norland"]),
        ("2 | 1 | 0 | Orla Vint\u3001Norland", [0], ["Orla Vint", "Norland"]),
        ("2 | 1 | Orla Vint; Norland", [], ["Orla Vint", "Norland"]),
        ("2 | 1 | 2 May 1911", [], []),
        ("2 | 1 | none | Norland", [], ["Norland"]),
        ("2 | Q1 | Q0, Q2", [0, 2], []),
        ("2 | 1 | 0 and 2", [0, 2], []),
    ],
)
def test_cells_are_told_apart_where_small_models_leave_one_out(
    kb: KnowledgeBase, row: str, partial: list[int], phrases: list[str]
) -> None:
    reader = Reader()

    def script(prompt: str, values: Mapping[str, Any]) -> str:
        if prompt != "extract_evidence":
            return reader(prompt, values)
        return json.dumps({"thought": "", "evidence": [row]})

    (found,) = states(kb, script)["memory"]

    assert (found["full"], found["partial"], found["phrases"]) == ([1], partial, phrases)


def test_a_year_is_no_number_of_a_question() -> None:
    (row,) = Extraction.model_validate({"thought": "", "evidence": ["2 | 1 | 1911"]}).evidence

    assert (row.full, row.partial, row.phrases) == (["1"], [], ["1911"])


@pytest.mark.parametrize(
    ("reply", "dropped"),
    [
        ({"sentence": 999, "full": [0]}, 1),
        ({"sentence": 0, "full": [0]}, 1),
        ({"sentence": "9" * 5000, "full": [0]}, 1),
        ({"sentence": 1, "full": ["9" * 5000]}, 1),
        ({"sentence": "Nobody ever wrote this sentence anywhere.", "full": [0]}, 1),
        ({"sentence": 1, "full": [3], "partial": ["x"]}, 2),
        ({"sentence": 1, "full": [], "partial": []}, 1),
        ({"sentence": 1, "questions": [0], "phrases": ["Norland"]}, 1),
    ],
)
def test_evidence_that_names_nothing_shown_is_dropped_and_counted(
    kb: KnowledgeBase, reply: Mapping[str, Any], dropped: int
) -> None:
    reader = Reader()

    def script(prompt: str, values: Mapping[str, Any]) -> str:
        marked = json.dumps({"thought": "", "evidence": [reply]})
        return marked if prompt == "extract_evidence" else reader(prompt, values)

    state = states(kb, script)

    assert state["memory"] == []
    assert state["usage"]["dropped"] == dropped


def test_phrases_that_stand_nowhere_are_dropped_and_counted(kb: KnowledgeBase) -> None:
    evidence = {DIRECTED: {"full": [0], "phrases": ["ORLA VINT", "Orla Vint", "Zebulon Crake", "Norland", ""]}}

    state = states(kb, Reader(evidence))

    assert state["memory"][0]["phrases"] == ["ORLA VINT", "Norland"]
    assert state["usage"]["dropped"] == 1


def test_phrases_may_stand_only_in_the_questions_or_in_the_memory(kb: KnowledgeBase) -> None:
    reader = Reader({DIRECTED: {"full": [0], "partial": [], "phrases": ["country", "that person"]}})

    memory = states(kb, reader, NARROW)["memory"]

    assert [unit["phrases"] for unit in memory] == [["country", "that person"]]


def test_a_sentence_found_again_unites_its_labels_and_phrases(kb: KnowledgeBase) -> None:
    reader, labels = Reader(), iter([([], [0], ["Orla Vint"]), ([0], [1], ["The Salt Road"]), ([], [2], [])])

    def script(prompt: str, values: Mapping[str, Any]) -> str:
        if prompt != "extract_evidence":
            return reader(prompt, values)
        shown = [s for text in values["passages"] for s in text["sentences"]]
        full, partial, phrases = next(labels)
        found = {"sentence": shown.index(DIRECTED) + 1, "full": full, "partial": partial, "phrases": phrases}
        return json.dumps({"thought": "", "evidence": [found]})

    state = states(kb, script, {"top_k": 8, "max_steps": 2})

    (unit_,) = state["memory"]
    assert (unit_["full"], unit_["partial"], unit_["phrases"]) == ([0], [1], ["Orla Vint", "The Salt Road"])
    assert (unit_["score"], unit_["step"]) == (1.25, 1)


# --- rounds ----------------------------------------------------------------------------------------------------------
def test_rounds_end_when_one_found_nothing_and_the_same_passages_would_be_read_again(kb: KnowledgeBase) -> None:
    nodes, result = visit(kb, Reader({}), {"top_k": 8, "max_steps": 9})

    assert nodes == [*FIRST, *ROUND, *LAST]
    assert len(result["passages"]) == 8


def test_the_query_grows_by_new_evidence_and_the_best_of_before(kb: KnowledgeBase) -> None:
    result = visit(kb, Reader(), NARROW)[1]

    assert result["trace"][0]["query"] == QUESTION
    assert result["trace"][1]["query"].startswith(f"{QUESTION}\n")
    assert f"The Salt Road: {DIRECTED}" in result["trace"][1]["query"].split("\n")


def test_of_the_evidence_of_before_the_most_confident_is_added_and_the_best_comes_first() -> None:
    """Two sub-queries: two earlier sentences are added."""
    memory = [
        unit("Weak.", "a", 0.5),
        unit("Best.", "b", 2.0),
        unit("Good.", "c", 1.5),
        unit("New and weak.", "d", 0.4, step=2),
        unit("New and good.", "e", 1.8, step=2),
    ]

    added = with_evidence(
        {"question": QUESTION, "subqueries": SUBQUERIES, "open": [], "memory": memory, "trace": [{}, {}]}
    )

    assert added == [": Best.", ": New and good.", ": Good.", ": New and weak."]


def test_the_extractor_is_shown_the_most_confident_evidence_first(kb: KnowledgeBase) -> None:
    reader = Reader({BORN: {"full": [], "partial": [0], "phrases": ["Pellworth"]}, **{DIRECTED: EVIDENCE[TOWN]}})

    visit(kb, reader, NARROW)

    known = [[text["text"] for text in values["known"]] for values in reader.values("extract_evidence")]
    assert known[-1] == [DIRECTED, BORN]


# --- graph and weights -----------------------------------------------------------------------------------------------
def test_the_graph_grows_for_one_question_only(kb: KnowledgeBase) -> None:
    graph = kb.hierarchy
    size = graph.walk.size
    degrees = graph.walk.degree(range(size)).tolist()
    memory = [unit(BORN, "vint", 1.0, "Orla Vint", "Crake the Elder"), unit(TOWN, "pellworth", 1.0, "Pellworth")]

    grown = GrownGraph(graph, memory, {})

    assert list(grown.new) == ["crake the elder"]
    assert grown.links == [
        (graph.sentences[BORN], graph.phrases["orla vint"]),
        (graph.sentences[BORN], grown.new["crake the elder"]),
    ]
    assert grown.walk.size == size + 1
    assert kb.hierarchy.walk.size == size
    assert kb.hierarchy.walk.degree(range(size)).tolist() == degrees


def test_evidence_of_a_passage_deleted_meanwhile_weighs_nothing(kb: KnowledgeBase) -> None:
    grown = GrownGraph(kb.hierarchy, [unit("It is gone.", "x", 1.0, "Orla Vint")], {})

    assert (grown.memory, grown.links) == ([], [])
    assert personalization(grown, PAPER, before=[], similar=[{"id": "x", "score": 1.0}], asked=[]) == {}


def test_phrases_aligned_with_the_graph_are_nodes_of_it(kb: KnowledgeBase) -> None:
    grown = GrownGraph(kb.hierarchy, [unit(TOWN, "pellworth", 1.0, "Pelworth")], {"Pelworth": "Pellworth"})

    assert (grown.new, grown.links) == ({}, [])


def test_each_new_phrase_is_a_new_node(kb: KnowledgeBase) -> None:
    size = kb.hierarchy.walk.size

    grown = GrownGraph(kb.hierarchy, [unit(BORN, "vint", 1.0, "Crake the Elder", "Crake the Younger")], {})

    assert grown.new == {"crake the elder": size, "crake the younger": size + 1}
    assert grown.walk.degree([size, size + 1]).tolist() == [1, 1]


def test_two_spellings_of_a_phrase_link_a_sentence_to_it_once(kb: KnowledgeBase) -> None:
    memory = [unit(BORN, "vint", 1.0, "Norland", "Nordland")]

    grown = GrownGraph(kb.hierarchy, memory, {"Nordland": "Norland"})

    assert grown.links == [(kb.hierarchy.sentences[BORN], kb.hierarchy.phrases["norland"])]


def test_the_papers_weights_share_each_granularity_by_equations_2_to_4(kb: KnowledgeBase) -> None:
    graph = kb.hierarchy
    grown = GrownGraph(graph, [unit(DIRECTED, "salt-road", 2.0, "Orla Vint"), unit(TOWN, "pellworth", 0.5)], {})
    similar = [{"id": "vint", "score": 0.6}, {"id": "heron", "score": 0.2}, {"id": "holm", "score": -0.1}]
    before = [{"id": "heron", "score": 0.06}, {"id": "holm", "score": 0.02}]

    seeds = personalization(grown, PAPER, before=before, similar=similar, asked=["Norland", "Nowhere"])  # type: ignore[arg-type]

    passages, sentences, phrases = graph.passages, graph.sentences, graph.phrases
    vint = 2.0 / graph.walk.degree([phrases["orla vint"]])[0]
    norland = 2.0 * 0.5 / graph.walk.degree([phrases["norland"]])[0]
    assert seeds == pytest.approx(
        {
            passages["vint"]: 0.1 * 0.75,
            passages["heron"]: 0.1 * 0.25 + 0.1 * 0.75,
            passages["holm"]: 0.1 * 0.25,
            sentences[DIRECTED]: 0.5 * 0.8,
            sentences[TOWN]: 0.5 * 0.2,
            phrases["orla vint"]: 0.6 * vint / (vint + norland),
            phrases["norland"]: 0.6 * norland / (vint + norland),
        }
    )


def test_the_official_weights_are_not_shared(kb: KnowledgeBase) -> None:
    graph = kb.hierarchy
    grown = GrownGraph(graph, [unit(TOWN, "pellworth", 2.0, "Pellworth")], {})

    before = [{"id": "heron", "score": 0.06}]

    seeds = personalization(grown, OFFICIAL, before=before, similar=[{"id": "vint", "score": 0.5}], asked=[])  # type: ignore[arg-type]

    degree = graph.walk.degree([graph.phrases["pellworth"]])[0]
    assert seeds == pytest.approx(
        {
            graph.passages["heron"]: 0.01 * 0.06,
            graph.passages["vint"]: 2.0,
            graph.sentences[TOWN]: 3.0,
            graph.phrases["pellworth"]: 48 * (1 + 1 / (degree + 1)),
        }
    )


def test_in_the_paper_a_phrase_weighs_the_less_the_more_sentences_have_it(kb: KnowledgeBase) -> None:
    graph = kb.hierarchy
    grown = GrownGraph(graph, [unit(TOWN, "pellworth", 1.0, "Pellworth", "Norland")], {})

    seeds = personalization(grown, PAPER, before=[], similar=[], asked=[])

    nodes = [graph.phrases["pellworth"], graph.phrases["norland"]]
    common, rare = graph.walk.degree(nodes).tolist()
    assert common > rare
    assert seeds[nodes[0]] / seeds[nodes[1]] == pytest.approx(rare / common)


# --- options ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("parts", "nodes"),
    [
        ("graph", ["receive_question", "retrieve", "calibrate", *LAST]),
        ("graph+decomposition", [*FIRST, "augment_query", "calibrate", *LAST]),
        ("graph+decomposition+evidence", [*FIRST, *ROUND, *LAST]),
    ],
)
def test_parts_of_the_ablation_are_nodes(kb: KnowledgeBase, parts: str, nodes: list[str]) -> None:
    visited, result = visit(kb, Reader(), parts=parts)

    assert visited == nodes
    assert result["answer"] == "Norland"
    assert len(result["passages"]) == 8


def test_without_evidence_the_sub_queries_widen_the_query(kb: KnowledgeBase) -> None:
    assert states(kb, Reader(), parts="graph+decomposition")["query"].split("\n") == [QUESTION, *SUBQUERIES]
    assert states(kb, Reader(), parts="graph")["query"] == QUESTION


def test_each_task_can_have_a_model_of_its_own(kb: KnowledgeBase) -> None:
    extractor, reader = ScriptedModel.of(Reader()), ScriptedModel.of(Reader())

    visit(kb, [], extractor=extractor, reader=reader)

    assert extractor.prompts() == ["decompose", "extract_evidence"]
    assert reader.prompts() == ["answer_from_passages"]


@pytest.mark.parametrize("option", ["weights", "parts"])
def test_an_unknown_option_is_refused_and_the_known_ones_are_named(kb: KnowledgeBase, option: str) -> None:
    with pytest.raises(UnknownNameError, match=f"(?s){option}.*'nonsense'.*(paper|graph)"):
        create_mgranrag(ScriptedModel(), kb, **{option: "nonsense"})  # type: ignore[arg-type]


@pytest.mark.parametrize("weights", ["paper", "official"])
def test_both_profiles_bring_the_evidence_to_the_front(kb: KnowledgeBase, weights: str) -> None:
    result = visit(kb, Reader(), weights=weights)[1]

    assert {"salt-road", "vint", "pellworth"} <= {passage["id"] for passage in result["passages"][:5]}


# --- errors ----------------------------------------------------------------------------------------------------------
def test_without_a_usable_decomposition_the_question_is_asked_as_it_is(kb: KnowledgeBase) -> None:
    reader = Reader()

    result = visit(kb, lambda name, values: "Hm." if name == "decompose" else reader(name, values))[1]

    assert result["answer"] == "Norland"


@pytest.mark.parametrize("prompt", ["extract_evidence", "answer_from_passages"])
def test_a_model_without_a_usable_reply_is_an_error_that_names_the_prompt(kb: KnowledgeBase, prompt: str) -> None:
    reader = Reader()

    def script(name: str, values: Mapping[str, Any]) -> str:
        return "I would rather not." if name == prompt else reader(name, values)

    with pytest.raises(ModelOutputError, match=f"'{prompt}'"):
        visit(kb, script)


def test_a_bad_reply_is_asked_again(kb: KnowledgeBase) -> None:
    reader, spoilt = Reader(), iter([True])

    def script(name: str, values: Mapping[str, Any]) -> str:
        return '{"evidence": 3}' if name == "extract_evidence" and next(spoilt, False) else reader(name, values)

    result = visit(kb, script)[1]

    assert result["answer"] == "Norland"
    assert result["usage"]["repairs"] == 1


def test_an_empty_knowledge_base_and_an_empty_question_are_refused(empty_kb: KnowledgeBase) -> None:
    graph: Any = create_mgranrag(ScriptedModel.of(Reader()), empty_kb).compile()

    with pytest.raises(EmptyKnowledgeBaseError):
        graph.invoke({"question": QUESTION})
    with pytest.raises(QuestionError):
        graph.invoke({"question": "  "})


# --- the default course ----------------------------------------------------------------------------------------------
class Searching(Reader):
    """Says what is open, as long as something is."""

    def __init__(self, still_open: Sequence[Sequence[str]], evidence: Mapping[str, Found] = EVIDENCE) -> None:
        super().__init__(evidence)
        self.still_open = list(still_open)

    def __call__(self, prompt: str, values: Mapping[str, Any]) -> str:
        reply = super().__call__(prompt, values)
        if prompt != "extract_and_go_on":
            return reply
        one = {"evidence": json.loads(reply)["evidence"][:1]}  # each round finds something new
        return json.dumps(one | {"open": self.still_open.pop(0) if self.still_open else []})


OPEN = "In which country was Orla Vint born?"
PARTIAL: dict[str, Found] = {
    DIRECTED: {"full": [1], "partial": [0, 2], "phrases": ["Orla Vint"]},
    BORN: {"full": [], "partial": [0, 2], "phrases": ["Pellworth"]},
    TOWN: {"full": [2], "partial": [0], "phrases": ["Norland"]},
}
SHORT: Mapping[str, Any] = {"top_k": 3, "search": "dense"}


@pytest.mark.parametrize(("still_open", "rounds"), [([], 1), ([[OPEN]], 2), ([[OPEN]] * 9, 3), ([[""]], 1)])
def test_rounds_go_on_while_a_question_is_open_three_at_most(
    kb: KnowledgeBase, still_open: list[list[str]], rounds: int
) -> None:
    nodes, result = visit(kb, Searching(still_open, PARTIAL), {"top_k": 8}, course="short")

    assert nodes == [*FIRST, *ROUND * rounds, *LAST]
    assert result["usage"]["calls"] == 2 + rounds


def test_a_question_whose_answer_is_stated_is_not_open(kb: KnowledgeBase) -> None:
    nodes, _ = visit(kb, Searching([[OPEN]] * 9, {TOWN: EVIDENCE[TOWN]}), {"top_k": 8}, course="short")

    assert nodes == [*FIRST, *ROUND, *LAST]


def test_the_open_question_with_the_name_found_leads_the_next_round(kb: KnowledgeBase) -> None:
    _, result = visit(kb, Searching([[OPEN]], PARTIAL), SHORT, course="short")

    assert result["trace"][0]["next_question"] == OPEN
    assert result["trace"][1]["query"].split("\n")[:2] == [QUESTION, OPEN]


def test_the_published_course_makes_one_round(kb: KnowledgeBase) -> None:
    reader = Searching([[OPEN]] * 9, PARTIAL)

    nodes, _ = visited(create("mgranrag/published", ScriptedModel.of(reader), kb), QUESTION, SHORT)

    assert nodes == [*FIRST, *ROUND, *LAST]
