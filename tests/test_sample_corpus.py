"""The sample corpus is sound, and CIRAG with the offline model and the default embedder answers most questions."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import SAMPLE
from test_cli import run

from langgraph_rag.evaluation.outcomes import Outcome
from langgraph_rag.evaluation.questions import load_questions
from langgraph_rag.evaluation.runner import evaluate
from langgraph_rag.methods import METHODS
from langgraph_rag.models.loading import load_model
from langgraph_rag.normal_forms import triple_key
from langgraph_rag.tools.knowledge_base import KnowledgeBase


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SAMPLE / name).read_text(encoding="utf-8").splitlines()]


CORPUS = {passage["id"]: passage for passage in lines("corpus.jsonl")}
QUESTIONS = lines("questions.jsonl")


class Recorder:
    """Passes questions on to a graph and keeps the results."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.results: list[dict[str, Any]] = []

    async def ainvoke(self, input: Any, /, *, context: Any = None) -> Any:
        self.results.append(await self.graph.ainvoke(input, context=context))
        return self.results[-1]


# --- the corpus ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["corpus.jsonl", "questions.jsonl"])
def test_ids_are_unique(name: str) -> None:
    ids = [line["id"] for line in lines(name)]

    assert len(set(ids)) == len(ids)


def test_titles_and_texts_are_unique_and_not_empty() -> None:
    for field in ("title", "text"):
        values = [passage[field].strip() for passage in CORPUS.values()]
        assert all(values)
        assert len(set(values)) == len(values)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_supporting_sentences_stand_word_for_word_in_the_supporting_passages(question: dict[str, Any]) -> None:
    texts = [CORPUS[id_]["text"] for id_ in question["supporting_ids"]]

    assert all(any(sentence in text for text in texts) for sentence in question["supporting_sentences"])
    assert all(any(sentence in text for sentence in question["supporting_sentences"]) for text in texts)


def test_every_passage_gives_triples(sample_kb: KnowledgeBase) -> None:
    assert sample_kb.info()["passages"] == len(CORPUS)
    assert sample_kb.info()["passages_without_triples"] == 0


# --- the questions ---------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def cirag(sample_kb: KnowledgeBase) -> Recorder:
    return Recorder(METHODS["cirag"].create(load_model("offline"), sample_kb).compile())


@pytest.fixture(scope="module")
def outcomes(cirag: Recorder, tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    questions = load_questions(SAMPLE / "questions.jsonl")
    return asyncio.run(evaluate(cirag, questions, tmp_path_factory.mktemp("out"), concurrency=4))


def test_the_offline_model_answers_nearly_all_and_refuses_what_is_not_told(outcomes: list[Outcome]) -> None:
    assert [outcome["error"] for outcome in outcomes] == [None] * 12
    right = {outcome["id"] for outcome in outcomes if outcome["em"]}
    assert len(right) >= 11
    assert "q12" in right  # refused: nothing in the corpus tells it


def test_the_demo_answers_all_of_its_questions(sample_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(sample_folder, tmp_path / "kb")

    printed, again = (run("demo", "--kb", tmp_path / "kb").stdout for _ in range(2))

    assert "\n5 of 5 answers are right. " in again
    assert printed.count("\nQuestion: ") == printed.count("\nAnswer: ") == printed.count(" (right)\n") == 5
    assert "\n5 of 5 answers are right. " in printed


def test_every_run_names_passages_of_the_corpus(cirag: Recorder, outcomes: list[Outcome]) -> None:
    for result in cirag.results:
        ids = [passage["id"] for passage in result["passages"]]
        assert len(ids) >= 10
        assert set(ids) <= set(CORPUS)


def test_every_piece_of_evidence_can_be_looked_up(
    cirag: Recorder, outcomes: list[Outcome], sample_kb: KnowledgeBase
) -> None:
    evidence = [(result, entry) for result in cirag.results for entry in result["evidence"]]
    assert len(evidence) > len(outcomes)
    for result, entry in evidence:
        passage = CORPUS[entry["passage_id"]]
        stored = sample_kb.triples([entry["passage_id"]])
        assert entry["sentence"] in passage["text"]
        assert entry["title"] == passage["title"]
        if result["granularity"] != "passages":
            assert entry["triple"] in result["trace"][entry["step"] - 1]["core_triples"]
        if entry["triple"]:  # else the sentence states no fact that the rules read
            assert triple_key(entry["triple"]) in [triple_key(other["triple"]) for other in stored]
