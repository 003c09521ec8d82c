"""Stages are pure functions of batches; what they return, loaded, is the knowledge base that `add` makes."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import ArithmeticEmbeddings

from langgraph_rag.errors import DocumentError, EmbedderError, EmbeddingsMismatchError, KnowledgeBaseError
from langgraph_rag.tools.facts.extraction import RuleExtractor
from langgraph_rag.tools.ingest import stages
from langgraph_rag.tools.ingest.embeddings import embed_texts, name_of
from langgraph_rag.tools.ingest.splitting import Splitter, Splitting
from langgraph_rag.tools.ingest.stages import Row, Stage
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores.protocols import Matrix

Documents = list[dict[str, Any]]

LONG = {
    "title": "Kell Works",
    "text": " ".join(f"Kell Works built engine {n} in {1900 + n}. It was sold to Orla Vint." for n in range(60)),
    "source": "works.md",
    "metadata": {"year": 1931, "ratio": 0.5, "tags": ["a", None], "big": 2**60},
}


def embedded(embeddings: ArithmeticEmbeddings) -> Stage:
    return lambda rows: stages.embed(rows, partial(embed_texts, embeddings), name_of(embeddings))


def path_of(embeddings: ArithmeticEmbeddings, splitter: Splitter) -> list[Stage]:
    return [
        lambda rows: stages.split(rows, splitter),
        lambda rows: stages.analyse(rows, "rules"),
        embedded(embeddings),
        lambda rows: stages.extract(rows, RuleExtractor()),
    ]


def rows_of(documents: Documents, embeddings: ArithmeticEmbeddings, *, arrow: bool = False) -> Any:
    rows: Any = stages.document_rows(documents)
    rows = stages.to_arrow(rows) if arrow else rows
    for stage in path_of(embeddings, Splitter(how=Splitting(60))):
        rows = (stages.on_arrow(stage) if arrow else stage)(rows)
    return rows


def contents(kb: KnowledgeBase) -> Any:
    ids = sorted(kb.ids())
    facts = {repr(entry["triple"]): sorted(map(repr, entry["sources"])) for entry in kb.triples(ids)}
    vectors = {id_: vector.tolist() for id_, vector in kb.vectors(ids).items()}
    near = [kb.search("Who directed The Salt Road?", 5, by=by) for by in ("dense", "bm25", "graph")]
    places = {source: kb.ids(source) for source in ["", *kb.sources()]}
    info = {**kb.info(), "path": "", "vectors": ""}
    return kb.passages(ids), facts, vectors, near, places, info, kb.documents() and kb.fingerprint()


def opened(folder: Path, embeddings: ArithmeticEmbeddings) -> KnowledgeBase:
    return KnowledgeBase.open(folder, embeddings, pipeline="rules", splitting=Splitting(60))


@pytest.mark.parametrize("arrow", [False, True])
def test_rows_of_the_stages_loaded_are_the_knowledge_base_that_add_makes(
    tmp_path: Path, documents: Documents, embeddings: ArithmeticEmbeddings, arrow: bool
) -> None:
    given = [*documents, LONG]
    with opened(tmp_path / "added", embeddings) as added, opened(tmp_path / "loaded", embeddings) as loaded:
        added.add(given, progress=False)
        rows = rows_of(given, embeddings, arrow=arrow)
        count = len(stages.checked_rows(rows))
        assert loaded.load(rows) == {
            "added": count,
            "replaced": 0,
            "unchanged": 0,
            "read": count,
            "dropped": loaded.load(rows)["dropped"],
            "failed": 0,
        }
        assert count > len(given)
        assert contents(loaded) == contents(added)
        assert loaded.load(rows)["unchanged"] == count
        assert contents(loaded) == contents(added)
        assert loaded.add(given, progress=False)["added"] == 0


def test_rows_need_not_count_what_was_left_out(
    tmp_path: Path, documents: Documents, embeddings: ArithmeticEmbeddings
) -> None:
    with opened(tmp_path / "kb", embeddings) as kb:
        rows = [{k: v for k, v in row.items() if k != "dropped"} for row in rows_of(documents, embeddings)]
        assert kb.load(rows)["dropped"] == 0
        assert kb.info()["triples"] > 0


def test_rows_in_any_order_and_in_small_batches_make_the_same(
    tmp_path: Path, documents: Documents, embeddings: ArithmeticEmbeddings
) -> None:
    given = [*documents, LONG]
    with opened(tmp_path / "added", embeddings) as added, opened(tmp_path / "loaded", embeddings) as loaded:
        added.add(given, progress=False)
        rows = rows_of(given, embeddings)
        for row in reversed(rows):
            loaded.load([row])
        (kept, *rest), (same, *others) = contents(loaded), contents(added)
        assert kept == same
        assert rest[0] == others[0]
        assert rest[3] == others[3]  # the order of passages in their sources


def test_a_changed_passage_is_replaced_and_its_facts_with_it(tmp_path: Path, embeddings: ArithmeticEmbeddings) -> None:
    with opened(tmp_path / "kb", embeddings) as kb:
        before = {"id": "ferry", "title": "Ferry", "text": "The Kell ferry sails from Pellworth.", "year": 1}
        kb.load(rows_of([before], embeddings))
        after = {"id": "ferry", "title": "Ferry", "text": "Orla Vint built the Kell ferry.", "year": 2}
        assert kb.load(rows_of([after], embeddings))["replaced"] == 1
        (passage,) = kb.passages(["ferry"])
        assert (passage["text"], passage["metadata"]) == (after["text"], {"year": 2})
        assert {tuple(entry["triple"]) for entry in kb.triples(["ferry"])} == {("Orla Vint", "built", "Kell ferry")}


def test_a_row_on_which_a_stage_fails_keeps_its_error_and_the_others_go_on(
    tmp_path: Path, documents: Documents, embeddings: ArithmeticEmbeddings
) -> None:
    def failing(texts: Sequence[str]) -> Matrix:
        if any("heron" in text for text in texts):
            raise EmbedderError("no herons")
        return embed_texts(embeddings, texts)

    rows: Sequence[Row] = stages.document_rows(documents)
    *before, _, extract = path_of(embeddings, Splitter())
    for stage in [*before, lambda given: stages.embed(given, failing, name_of(embeddings)), extract]:
        rows = stages.keeping_failures(stage)(rows)
    (failed,) = [row for row in rows if "error" in row]
    assert failed["id"] == "heron"
    assert "no herons" in failed["error"]
    with opened(tmp_path / "kb", embeddings) as kb:
        assert (kb.load(rows)["failed"], len(kb.ids())) == (1, len(documents) - 1)


def test_rows_that_cannot_be_stored_are_refused_and_nothing_is_stored(
    tmp_path: Path, documents: Documents, embeddings: ArithmeticEmbeddings
) -> None:
    rows: list[Row] = rows_of(documents, embeddings)
    turned: Row = {**rows[0], "vector": np.roll(rows[0]["vector"], 1), "embedded_by": "another"}
    with opened(tmp_path / "kb", embeddings) as kb:
        for wrong, error in [
            ([{**rows[0], "text": "Another text."}], DocumentError),
            ([{name: value for name, value in rows[0].items() if name != "vector"}], DocumentError),
            ([rows[0], {**rows[1], "vector": np.ones(3, np.float32)}], DocumentError),
            ([turned], EmbeddingsMismatchError),
            ([{**rows[0], "analysed_by": "one"}, {**rows[1], "analysed_by": "two"}], KnowledgeBaseError),
            ("rows", TypeError),
        ]:
            with pytest.raises(error):
                kb.load(wrong)
        assert not kb.ids()


def test_arrow_keeps_what_rows_have(embeddings: ArithmeticEmbeddings) -> None:
    rows: list[Row] = rows_of([LONG, {"id": "ß\u2028", "title": "", "text": "Ein Satz.", "n": None}], embeddings)
    back = stages.from_arrow(stages.to_arrow(rows))
    assert [{**row, "vector": row["vector"].tolist()} for row in back] == [
        {**row, "vector": row["vector"].tolist()} for row in rows
    ]
    (batch, *_) = stages.to_arrow(rows).to_batches()
    assert stages.from_arrow(batch)[0]["id"] == rows[0]["id"]
