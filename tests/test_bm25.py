"""BM25 ranks as FTS5 does, word by word and name by name, before and after changes of any process."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

import pytest
from conftest import SAMPLE
from fakes import ArithmeticEmbeddings

from langgraph_rag.context import Search
from langgraph_rag.evaluation.questions import load_questions
from langgraph_rag.tools.index.words import parts_of, words_to_search
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.stores import database

QUERIES = [
    "Who directed Nine Tides?",
    "the the of",
    "director director films village",
    "東京の塔",
    "Ilse-Tarrant's o’clock",
    "rare",
    "Ilse-Tarrant or nine/tides, No.such.name",
    "zzz",
]
_WORDS = """
CREATE VIRTUAL TABLE temp.words USING fts5(title, text, content='',
    tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
INSERT INTO temp.words (rowid, title, text)
    SELECT number, coalesce(title_words, title), coalesce(text_words, text) FROM passages;
"""
_BM25 = """
SELECT id, -bm25(words, 3.0, 1.0) FROM words JOIN passages ON number = words.rowid WHERE words MATCH ?
"""


def by_fts5(folder: Path, query: str, k: int) -> list[tuple[str, float]]:
    scores: defaultdict[str, float] = defaultdict(float)
    with sqlite3.connect(folder / "records.sqlite") as connection:
        connection.executescript(_WORDS)

        def scored(word: str) -> dict[str, float]:
            return dict(connection.execute(_BM25, [f'"{word}"']))

        names = words_to_search(query)
        weights = dict.fromkeys(names, 1.0)
        for name, parts in names.items():
            for part in parts:
                weights.setdefault(part, 0.5 if scored(name) else 1.0)
        for word, weight in weights.items():
            for id_, score in scored(word).items():
                scores[id_] += weight * score
    connection.close()
    return sorted(scores.items(), key=lambda passage: (-passage[1], passage[0]))[:k]


def agrees(kb: KnowledgeBase, folder: Path, queries: Iterable[str] = QUERIES) -> bool:
    for query, k in product(queries, (1, 3, 1_000)):
        found = [(passage["id"], passage["score"]) for passage in kb.search(query, k, by="bm25")]
        expected = by_fts5(folder, query, k)
        assert [id_ for id_, _ in found] == [id_ for id_, _ in expected]
        assert [score for _, score in found] == pytest.approx([score for _, score in expected], rel=1e-12)
    return True


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kb"


def test_it_ranks_as_fts5_does(kb: KnowledgeBase, folder: Path) -> None:
    assert agrees(kb, folder) and agrees(kb, folder)  # the second time from memory


def test_it_follows_each_change(kb: KnowledgeBase, folder: Path) -> None:
    assert agrees(kb, folder)
    for title, text in [
        ("Rare", "rare " * 3),
        ("Long", "film rare " * 20_000),
        ("東京", "東京の塔は東京にある"),
        ("", "x"),
    ]:
        kb.upsert([{"id": "new", "title": title, "text": text}], progress=False)
        assert agrees(kb, folder)
    kb.delete(["new"])
    assert agrees(kb, folder)


def test_it_ranks_what_was_added_after_all_was_deleted(kb: KnowledgeBase, folder: Path) -> None:
    kb.delete(kb.ids())
    kb.add([{"id": "new", "title": "Rare", "text": "film"}], progress=False)
    assert agrees(kb, folder)


def test_it_ranks_real_text_as_fts5_does(sample_kb: KnowledgeBase, sample_folder: Path) -> None:
    assert agrees(
        sample_kb, sample_folder, (question["question"] for question in load_questions(SAMPLE / "questions.jsonl"))
    )


def test_it_follows_the_changes_of_others(kb: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert agrees(kb, folder)
    monkeypatch.setattr(database, "_KEPT", 2)  # so that the last changes no longer tell all that changed
    with KnowledgeBase.open(folder, ArithmeticEmbeddings()) as other:
        for number in range(3):
            other.add([{"title": "Rare", "text": f"A rare village, director {number}."}], progress=False)
        other.delete(["skellby"])
    assert agrees(kb, folder)


def test_of_equal_passages_the_first_are_found(empty_kb: KnowledgeBase, folder: Path) -> None:
    documents = [{"id": f"p{99 - n}", "title": "Kell", "text": "rare " * (1 + n % 2) + "town"} for n in range(60)]
    for start in range(0, 60, 20):
        empty_kb.add(documents[start : start + 20], progress=False)

    found = [passage["id"] for passage in empty_kb.search("rare", 35, by="bm25")]

    assert found == [id_ for id_, _ in by_fts5(folder, "rare", 35)]


NAMED = {
    "4.5.0": ("Version 4.5.0", "Version 0.4.5", "Version 5.4.0", "Version 4.5", "Version 4.0.5"),
    "CVE-2031-6907": ("CVE-2031-6907 was fixed.", "CVE-2030-6907 was fixed.", "CVE-2031-6970 was fixed. 6907 lines."),
    "What is fields.E304?": (
        "fields.E304: it clashes.",
        "fields.E305: it clashes. models.E304",
        "E304 of fields",
    ),
    "skell run --dry-run": ("With --dry-run, skell writes nothing.", "To run skell, keep it dry."),
    "see ref/settings": ("It is told in ref/settings.", "The ref of topics/settings", "Settings: a ref"),
    "skell.db.models": ("Import skell.db.models first.", "skell.models uses the db", "the models of the db of skell"),
    "MAX_BOAT_LENGTH": ("MAX_BOAT_LENGTH is 12.", "MAX_LENGTH of a BOAT is 12.", "the max length of a boat"),
    "the header X-Kell-Id": ("It sends X-Kell-Id.", "It sends the Id of Kell, X.", "It sends Id-Kell-X."),
    "tide::Harbour": ("tide::Harbour opens.", "The harbour opens at high tide.", "Harbour::tide opens."),
    "a compiler for C++": ("A compiler for C++ exists.", "A compiler for C exists.", "A compiler for C# exists."),
    "C#": ("Written in C#.", "Written in C++.", "Written in C."),
}


@pytest.mark.parametrize(("query", "texts"), NAMED.items(), ids=NAMED)
@pytest.mark.parametrize("by", ["bm25", "hybrid", "graph"])
def test_a_whole_name_comes_before_its_parts(
    empty_kb: KnowledgeBase, query: str, texts: Sequence[str], by: Search
) -> None:
    others = [f"The pier of Skellby has {number} lamps." for number in range(20)]
    empty_kb.add([{"id": text, "text": text} for text in (*reversed(texts), *others)], progress=False)

    assert empty_kb.search(query, 1, by=by)[0]["id"] == texts[0]


def test_where_nothing_has_the_whole_name_its_parts_count_in_full(empty_kb: KnowledgeBase) -> None:
    texts = ["The tide is low.", "The harbour is closed.", "A tide came to the harbour."]
    empty_kb.add([{"id": text, "text": text} for text in texts], progress=False)

    found = [
        {passage["id"]: passage["score"] for passage in empty_kb.search(query, by="bm25")}
        for query in ("tide.harbour", "tide harbour")
    ]

    assert found[0] == found[1]
    assert max(found[0], key=lambda id_: found[0][id_]) == texts[2]


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("Who built the Harl Mill, and who owns it now?", []),  # the second has one word that tells
        (
            "Who built the Harl Mill, and which ferry sails to Kell?",
            ["Who built the Harl Mill", "which ferry sails to Kell?"],
        ),
        ("Are Harl Mill and Kell Ferry on the same isle?", ["Are Harl Mill", "Kell Ferry on the same isle?"]),
        ("What does 10,000 litres weigh?", []),
        ("哈尔磨坊是谁建的，去凯尔的渡船几点开？", ["哈尔磨坊是谁建的", "去凯尔的渡船几点开？"]),
        ("mill and ferry, " * 300, []),
        ("", []),
    ],
)
def test_a_query_is_parted_where_it_joins_several(query: str, parts: list[str]) -> None:
    assert [part.strip() for part in parts_of(query)] == parts


@pytest.mark.parametrize("by", ["bm25", "hybrid", "graph"])
def test_of_passages_alike_the_first_by_id_are_found_whenever_they_were_added(
    empty_kb: KnowledgeBase, by: Search
) -> None:
    ids = [f"kell-{number:02}" for number in range(60)]
    for some in (ids[5:30], ids[30:], ids[:5]):
        empty_kb.add([{"id": id_, "title": "Kell", "text": "A town with a mill."} for id_ in some], progress=False)

    assert [passage["id"] for passage in empty_kb.search("mill", 5, by=by)] == ids[:5]


def test_how_well_passages_tell_words_is_relative_to_the_best(empty_kb: KnowledgeBase) -> None:
    texts = {
        "a": "The mill of Harl.",
        "b": "Mill, mill and mill.",
        "c": "A ferry sails.",
        **{f"o{n}": "Rain." for n in range(9)},
    }
    empty_kb.add([{"id": id_, "text": text} for id_, text in texts.items()], progress=False)

    told, weights = empty_kb._records.told("mill ferry harbour", ["c", "gone", "b", "a"])

    mill, ferry, harbour = told.T.tolist()
    assert mill[:3] == [0, 0, 1]
    assert 0 < mill[3] < 1
    assert ferry == [1, 0, 0, 0]
    assert harbour == [0, 0, 0, 0]
    assert weights.argmax() == 2  # no passage has it
    assert sum(weights) == pytest.approx(1)
    for place, id_ in enumerate(["c", "gone", "b", "a"]):
        share = empty_kb._records.share_of_passage("mill ferry harbour", id_)
        assert share == pytest.approx(sum(weights[told[place] > 0]))
