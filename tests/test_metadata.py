"""Metadata of documents, besides title and text: it is returned with their passages, and used nowhere else."""

import asyncio
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DOCUMENTS
from fakes import ArithmeticEmbeddings
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_rag import knowledge_base_tools
from langgraph_rag.methods import METHODS
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.records import Record, page_of
from langgraph_rag.tools.documents.files import read_documents
from langgraph_rag.tools.facts.extraction import RuleExtractor
from langgraph_rag.tools.ingest.stages import AnyDocument, to_passages
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores.records import content_hash, has_own_id

ISLE = {"id": "isle", "title": "Kell", "text": "Kell is an island in Norland.", "source": "isles.pdf"}
LIKE_FIELDS = {"id": 7, "text": "x", "metadata": {"page": 1}}
MARK = "page-one-thousand-and-one"


def kept(document: AnyDocument) -> Any:
    (passage,) = to_passages([document])
    return passage.get("metadata")


# --- what is kept ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("document", "metadata"),
    [
        (Document("Kell.", id="a", metadata={"title": "Kell", "source": "a.pdf", "page": 3}), {"page": 3}),
        (Document("Kell.", metadata=LIKE_FIELDS), LIKE_FIELDS),
        ({"text": "Kell.", "page": 3, "by": ["Orla"]}, {"page": 3, "by": ["Orla"]}),
        ({"text": "Kell.", "page": 3, "metadata": {"by": "Orla"}}, {"page": 3, "by": "Orla"}),
        ({"text": "Kell.", "metadata": {"title": "Kell", "source": "a.pdf", "by": "Orla"}}, {"by": "Orla"}),
        ({"text": "Kell.", "source": "a.pdf", "metadata": {"source": "b.pdf"}}, {"source": "b.pdf"}),
        ({"text": "Kell.", "metadata": "Orla"}, {"metadata": "Orla"}),
        ({"text": "Kell.", "metadata": {}}, None),
        (Document("Kell."), None),
    ],
)
def test_what_is_no_field_of_a_passage_is_its_metadata(document: AnyDocument, metadata: Any) -> None:
    assert kept(document) == metadata
    assert to_passages(to_passages([document])) == to_passages([document])


def test_title_and_source_are_found_among_the_metadata_and_a_source_may_be_a_path() -> None:
    (inside,) = to_passages([{"text": "A town.", "metadata": {"title": "Kell", "source": Path("a", "b.md")}}])
    (beside,) = to_passages([{"text": "A town.", "title": "Kell", "source": "a/b.md"}])

    assert inside == beside


@pytest.mark.parametrize(
    "document",
    [
        {"title": "Kell", "text": "Kell\nKell\nA town."},
        {"title": "Kell", "text": "Kell\n\n" * 5_000 + "A town."},
        {"title": "Annual Report", "text": "\n\n".join(f"Annual Report\n{'All went well. ' * 60}" for _ in range(4))},
        {"text": "\n\n".join(["Costs: none. " * 120, "Annual Report\n\nAll went well.", "Items: none. " * 120])},
        {"text": "***\n\nAnnual Report\n\nAll went well."},
    ],
)
def test_what_became_passages_stays_as_it_is(document: AnyDocument) -> None:
    passages = to_passages([document])

    assert to_passages(passages) == passages
    assert not any(passage["title"] and passage["text"].startswith(passage["title"]) for passage in passages)


def test_each_part_of_a_text_that_opens_with_no_title_is_titled_by_what_it_opens_with_and_known_by_its_text() -> None:
    minutes = ["Costs: none. " * 144, "Annual Report\n\n" + "All went well. " * 58, "Items: none. " * 144]

    passages = to_passages([{"text": "\n\n".join(minutes)}])

    assert [passage["title"] for passage in passages] == ["", "", "", "Annual Report", "", "", ""]
    assert passages[3]["text"] == ("All went well. " * 58).strip()
    assert passages[3]["id"] == content_hash("", f"Annual Report\n\n{passages[3]['text']}")


def test_an_id_made_of_the_text_is_told_from_a_given_one(kb: KnowledgeBase) -> None:
    minutes = ["Costs: none. " * 120, "Annual Report\n\n" + "All went well. " * 60, "Ada Moss is a diver. " * 60]

    ids = kb.add([{"text": "\n\n".join(minutes)}, {"id": "ada", "text": "Ada dives."}])["ids"]

    assert [record["id"] for record in asyncio.run(kb.apassages(ids)) if has_own_id(record)] == ["ada"]


@pytest.mark.parametrize(
    ("value", "as_json"),
    [
        (date(1968, 5, 3), "1968-05-03"),
        (Path("a/b.pdf"), "a/b.pdf"),
        (Decimal("1.50"), "1.50"),
        ((1, 2), [1, 2]),
        (np.int64(3), 3),
        (np.array([0.5, 1.5]), [0.5, 1.5]),
        (float("nan"), None),
        (np.float32("inf"), None),
        (2**64, "18446744073709551616"),
        ({1: {None: True}}, {"1": {"None": True}}),
    ],
)
def test_what_json_cannot_express_is_kept_as_text_and_no_number_as_nothing(value: Any, as_json: Any) -> None:
    assert kept({"text": "Kell.", "value": value}) == {"value": as_json}


BOMB = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]\n" for n in range(12))


@pytest.mark.parametrize(
    ("front_matter", "metadata"),
    [
        (
            "---\ntitle: Isles\nauthor: Orla Vint\ndate: 2019-06-30\ntags: [sea, 7]\nby: {name: Orla}\nid: 4\n---",
            {"author": "Orla Vint", "date": "2019-06-30", "tags": ["sea", 7], "by": {"name": "Orla"}, "id": 4},
        ),
        (
            '+++\ntitle = "Isles"\nurl = "https://a.b/c"\nday = 2019-06-30\n+++',
            {"url": "https://a.b/c", "day": "2019-06-30"},
        ),
        ("---\nmetadata: {page: 3}\nsource: x\ntext: y\n---", {"metadata": {"page": 3}, "source": "x", "text": "y"}),
        ("---\ntitle: Isles\n---", None),
        (f"---\n{BOMB}author: Orla\n---", {"author": "Orla"}),
        ("", None),
    ],
)
def test_the_front_matter_of_a_markdown_file_is_metadata_of_all_its_passages(
    tmp_path: Path, front_matter: str, metadata: Any
) -> None:
    file = tmp_path / "isles.md"
    file.write_text(f"{front_matter}\n# Kell\n\nAn isle.\n\n## Port\n\nIt is small.", encoding="utf-8")

    passages = to_passages(read_documents([file]))

    assert [passage.get("metadata") for passage in passages] == [metadata] * 2
    assert {passage.get("source") for passage in passages} == {str(file)}
    assert to_passages(passages) == passages


# --- where it comes back ---------------------------------------------------------------------------------------------
async def test_it_comes_back_with_the_passage_wherever_that_is_looked_up(empty_kb: KnowledgeBase) -> None:
    empty_kb.add([{**ISLE, "page": 3, "by": {"name": "Orla"}}], progress=False)
    search = knowledge_base_tools(empty_kb)[0]
    called = await search.ainvoke({"type": "tool_call", "name": search.name, "args": {"query": "isle"}, "id": "1"})

    looked_up: list[Sequence[Any]] = [
        empty_kb.passages(["isle"]),
        await empty_kb.apassages(["isle"]),
        empty_kb.search("isle"),
        called.artifact,
    ]

    assert [passage["metadata"] for (passage,) in looked_up] == [{"page": 3, "by": {"name": "Orla"}}] * 4
    assert "Orla" not in called.content


@pytest.mark.parametrize(
    ("metadata", "page"),
    [
        ({"page": 3}, "3"),
        ({"page": 0, "page_label": "iv", "total_pages": 9}, "iv"),
        ({"page": 0, "total_pages": 9}, "1"),
        ({"page": [1]}, ""),
        ({}, ""),
    ],
)
def test_the_page_is_told_as_people_count_whichever_loader_counts(metadata: dict[str, Any], page: str) -> None:
    (passage,) = to_passages([Document("Kell.", metadata=metadata)])

    assert page_of(passage) == page


def test_all_parts_of_a_text_have_it(empty_kb: KnowledgeBase) -> None:
    text = " ".join(f"Town {n} is a town on Kell." for n in range(90))

    empty_kb.add([Document(text, metadata={"page": 3})], progress=False)

    assert [record["metadata"] for record in empty_kb.passages(empty_kb.ids())] == [{"page": 3}] * 3


def test_of_a_passage_in_two_documents_that_of_the_first_is_shown(empty_kb: KnowledgeBase) -> None:
    empty_kb.add([{**ISLE, "page": 3}, {**ISLE, "page": 4}, {**ISLE, "source": "copy.pdf", "page": 5}], progress=False)
    assert empty_kb.passages(["isle"])[0]["metadata"] == {"page": 3}

    empty_kb.delete(sources=["isles.pdf"])

    (record,) = empty_kb.passages(["isle"])
    assert (record["source"], record["metadata"]) == ("copy.pdf", {"page": 5})


async def test_it_is_in_no_prompt_event_or_checkpoint(tmp_path: Path, embeddings: ArithmeticEmbeddings) -> None:
    said: list[str] = []

    class Listening(OfflineModel):
        def _generate(self, messages: Any, *rest: Any, **options: Any) -> Any:
            said.append(str(messages))
            return super()._generate(messages, *rest, **options)

    question = {"question": "Who directed the film that Casper Holm produced?"}
    with KnowledgeBase.open(tmp_path / "kb", embeddings) as kb:
        kb.add([{**document, "author": MARK} for document in DOCUMENTS], progress=False)
        for name, method in METHODS.items():
            saver = InMemorySaver()
            model: BaseChatModel = Listening()
            graph: Any = method.create(model, kb).compile(checkpointer=saver)
            thread = {"configurable": {"thread_id": name}}
            modes = ["custom", "values", "updates", "messages"]
            said += [str(part) async for part in graph.astream(question, thread, stream_mode=modes)]
            said += [str(saver.storage), str(saver.writes), str(saver.blobs)]

    assert len(said) > len(METHODS) * 5
    assert not any(MARK in text for text in [*said, *embeddings.embedded])


# --- changes ---------------------------------------------------------------------------------------------------------
class Counting(RuleExtractor):
    read = 0

    async def extract(self, passages: Sequence[Record]) -> Any:
        Counting.read += len(passages)
        async for readings in super().extract(passages):
            yield readings


async def test_an_update_replaces_it_without_embedding_or_reading_and_add_leaves_it(tmp_path: Path) -> None:
    embeddings = ArithmeticEmbeddings()
    with KnowledgeBase.open(tmp_path / "kb", embeddings, extractor=Counting()) as kb:
        kb.add([{**ISLE, "page": 3}], progress=False)
        done = (len(embeddings.embedded), Counting.read)

        kb.add([{**ISLE, "page": 4}], progress=False)
        assert (await kb.apassages(["isle"]))[0]["metadata"] == {"page": 3}

        kb.update([{**ISLE, "page": 4}], progress=False)
        assert (await kb.apassages(["isle"]))[0]["metadata"] == {"page": 4}

        kb.update([ISLE], progress=False)
        assert "metadata" not in (await kb.apassages(["isle"]))[0]
        assert (len(embeddings.embedded), Counting.read) == done == (done[0], 1)


async def test_a_reader_sees_what_another_opening_changed(
    empty_kb: KnowledgeBase, embeddings: ArithmeticEmbeddings
) -> None:
    empty_kb.add([{**ISLE, "page": 3}], progress=False)
    with KnowledgeBase.open(empty_kb.path, embeddings) as reader:
        assert (await reader.apassages(["isle"]))[0]["metadata"] == {"page": 3}

        empty_kb.update([{**ISLE, "page": 4}], progress=False)

        assert (await reader.apassages(["isle"]))[0]["metadata"] == {"page": 4}
