"""Splitting: every part is read whole by its embedder, cut where a reader would cut, and knows where it stands."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fakes import ArithmeticEmbeddings

from langgraph_rag.errors import EmbeddingsMismatchError
from langgraph_rag.tools.ingest.embeddings import MiniLMEmbeddings, PlaceholderEmbeddings
from langgraph_rag.tools.ingest.splitting import ESTIMATED, Splitter, Splitting, Tokens, tokens_of
from langgraph_rag.tools.ingest.stages import to_passages
from langgraph_rag.tools.knowledge_base import KnowledgeBase

SENTENCE = "The ferry to Kell sails at noon."  # of 9 tokens by the estimate
MINILM = MiniLMEmbeddings().tokens


def split(text: str, size: int = 40, overlap: int = 0, title: str = "") -> list[str]:
    return Splitter(ESTIMATED, Splitting(size, overlap)).split(text, title)


def prose(sentences: int, word: str = "ferry") -> str:
    return " ".join(f"The {word} number {n} sails at noon." for n in range(sentences))


# --- nothing is lost, and everything is read ------------------------------------------------------------------------
TEXTS = {
    "prose": prose(60),
    "code": "Run it:\n\n```python\n" + "\n".join(f"mill.turn(speed={n}, wheel='upper')" for n in range(60)) + "\n```",
    "list": "\n".join(f"- Mill {n}: built by Ada Renk in {1800 + n}" for n in range(60)),
    "table": "| Mill | Year |\n|---|---|\n" + "\n".join(f"| Harl {n} | {1800 + n} |" for n in range(60)),
    "one word": "kell" * 900,
    "hash": "".join(f"{n * 7919:x}" for n in range(600)),
    "Chinese": "鲁迅出生于绍兴。" * 90,
    "German": "Die Donaudampfschifffahrtsgesellschaft verkehrt. " * 60,
    "CVEs": " ".join(f"CVE-2024-{n}" for n in range(20000, 20120)),
}


@pytest.mark.parametrize("tokens", [ESTIMATED, MINILM], ids=["estimated", "MiniLM"])
@pytest.mark.parametrize("size", [16, 60, 200])
@pytest.mark.parametrize("name", TEXTS)
def test_no_part_has_more_tokens_than_wanted_and_no_word_is_lost(name: str, size: int, tokens: Tokens) -> None:
    text = TEXTS[name]

    parts = Splitter(tokens, Splitting(size)).split(text, "Kell")

    assert max(map(tokens.count, parts)) <= size + 2  # the fence of code that is cut
    whole = "".join("".join(parts).split())
    assert all(word in whole for word in text.split()) or size == 16  # which cuts lines of code, and repeats terms


def test_a_title_leaves_less_room() -> None:
    title = " ".join(f"Isle{n}" for n in range(60))
    text = prose(200)

    parts = Splitter(MINILM, Splitting(250)).split(text, title)

    assert max(MINILM.count(f"{title}\n{part}") for part in parts) <= MINILM.limit == 254


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"size": 0}, "size must be a whole number of at least 16, got 0"),
        ({"size": 15}, "size must be a whole number of at least 16, got 15"),
        ({"size": "200"}, "size must be a whole number of at least 16, got '200'"),
        ({"size": 200.0}, "size must be a whole number of at least 16, got 200.0"),
        ({"overlap": -1}, "overlap must be a whole number of at least 0, got -1"),
        ({"size": 100, "overlap": 51}, r"overlap must be at most half the size \(100 tokens\), got 51"),
        ({"overlap": True}, "overlap must be a whole number of at least 0, got True"),
    ],
)
def test_a_wrong_size_or_overlap_is_refused(given: dict[str, Any], wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        Splitting(**given)


def test_a_size_beyond_what_the_embedder_reads_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="size must be at most the 254 tokens that the embedder reads, got 255"):
        KnowledgeBase.open(tmp_path / "kb", MiniLMEmbeddings(), splitting=Splitting(255))


def test_an_embedder_that_was_not_given_is_asked_for() -> None:
    with pytest.raises(EmbeddingsMismatchError, match="made with embedder 'e5'"):
        tokens_of(PlaceholderEmbeddings("e5"))


def test_an_overlap_repeats_the_last_sentences_of_the_part_before() -> None:
    parts = split(prose(30), 60, 20)

    for before, after in pairwise(parts):
        last = before.rsplit("The ", 1)[1]
        assert after.startswith("The ") and last in after
    assert max(map(ESTIMATED.count, parts)) <= 60


# --- where it is cut ------------------------------------------------------------------------------------------------
def test_a_list_item_is_not_cut_through_if_it_fits() -> None:
    items = [f"- Mill {n}. It was built by Ada Renk. It has a wheel of oak." for n in range(12)]

    parts = split("\n".join(items), 60)

    assert [line for part in parts for line in part.split("\n")] == items


def test_sentences_stay_whole_and_abbreviations_end_none() -> None:
    text = " ".join(f"In {1800 + n}, Dr. Renk met Prof. A. Moss, e.g. in Fig. 3." for n in range(12))

    parts = split(text)

    assert all(part.startswith("In 1") and part.endswith("Fig. 3.") for part in parts)


@pytest.mark.parametrize("line", ["HISTSIZE", "3.2 Shell Commands", "The options are:", "Beispiele：", "## Parts"])
def test_a_heading_or_a_line_that_leads_in_is_not_the_last_of_a_part(line: str) -> None:
    for before in range(1, 9):
        parts = split(f"{prose(before)}\n\n{line}\n\n{prose(3, 'mill')}\n\n{prose(4, 'boat')}")

        assert not any(part.endswith(line) for part in parts)


LIMITS = "\n".join(
    f"{name}_limit (integer):\n    Sets how many {name}s are read. {prose(2)}\n" for name in ("row", "page", "second")
)


def test_a_term_is_never_cut_from_its_description() -> None:
    for before in range(9):
        for part in split(f"{prose(before)}\n\n{LIMITS}"):
            for name in ("row", "page", "second"):
                assert (f"{name}_limit (integer):" in part) == (f"how many {name}s" in part)


@pytest.mark.parametrize(
    ("text", "again"),
    [
        (f"second_limit (integer)\n    Sets the limit.\n\n    {prose(12)}\n", "second_limit (integer)\n"),
        (f"--dry-run:\n\n   {prose(12)}", "--dry-run:\n"),
        (f"- second_limit: {prose(12)}", "- second_limit:\n"),
        (f"Ada Renk: {prose(12)}", "Ada Renk:\n"),
        (
            "| Mill | Year |\n|---|---|\n" + "\n".join(f"| Harl {n} | {n} |" for n in range(30)),
            "| Mill | Year |\n",
        ),
        ("```python\n" + "\n".join(f"turn({n}, {n})" for n in range(30)) + "\n```", "```python\n"),
    ],
)
def test_what_must_be_divided_carries_its_term_or_its_head_again(text: str, again: str) -> None:
    parts = split(text, 60)

    assert len(parts) > 1
    assert all(part.lstrip().startswith(again.rstrip()) for part in parts)


# --- where a part stands --------------------------------------------------------------------------------------------
PAGE = f"""# Harl Mill

It stands on the Harl.

## Machines

{prose(30)}

### Wheel

It is of oak.

## Owners

Ada Renk owned it.
"""


@pytest.fixture
def mill(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "mill.md").write_text(PAGE)
    return tmp_path / "docs" / "mill.md"


def read(kb: KnowledgeBase, file: Path) -> None:
    from langgraph_rag import read_documents

    kb.update(read_documents([file]), progress=False)


def test_a_passage_knows_its_headings_its_document_and_its_position(empty_kb: KnowledgeBase, mill: Path) -> None:
    read(empty_kb, mill)

    found = empty_kb.passages(empty_kb.ids(mill))
    headings = [passage["headings"][1:] for passage in found]
    assert [*dict.fromkeys(map(tuple, headings))] == [(), ("Machines",), ("Machines", "Wheel"), ("Owners",)]
    assert all(passage["headings"][0] == "Harl Mill" for passage in found)
    assert [passage["position"] for passage in found] == list(range(len(found)))
    assert len({passage["document"] for passage in found}) == 1
    (hit, *_) = empty_kb.search("wheel of oak", by="bm25")
    assert hit["headings"] == ["Harl Mill", "Machines", "Wheel"]


async def test_neighbours_are_those_before_and_after_in_the_document(empty_kb: KnowledgeBase, mill: Path) -> None:
    read(empty_kb, mill)
    ids = empty_kb.ids(mill)

    def near(place: int, **how: int) -> list[str]:
        return [passage["id"] for passage in empty_kb.neighbours(ids[place], **how)]

    assert near(2) == [ids[1], ids[3]]
    assert near(0) == [ids[1]]
    assert near(-1, before=2) == ids[-3:-1]
    assert near(1, before=0, after=2) == ids[2:4]
    assert near(2, before=99, after=99) == ids[:2] + ids[3:]
    assert [passage["id"] for passage in await empty_kb.aneighbours(ids[2])] == near(2)
    assert empty_kb.neighbours("unknown") == []
    with pytest.raises(ValueError, match="before must be a whole number of at least 0, got -1"):
        empty_kb.neighbours(ids[0], before=-1)


def test_documents_with_ids_are_alone_unless_they_are_parts_of_one_title(empty_kb: KnowledgeBase) -> None:
    lines = [
        {"id": f"l{n}", "title": f"Isle {n}", "text": f"Isle {n} is dry.", "source": "isles.jsonl"} for n in range(3)
    ]
    parts = [{"id": f"p{n}", "title": "Kell", "text": f"Part {n} is dry."} for n in range(3)]

    empty_kb.add([*lines, *parts], progress=False)

    assert empty_kb.neighbours("l1") == []
    assert [passage["id"] for passage in empty_kb.neighbours("p1")] == ["p0", "p2"]
    assert empty_kb.ids("isles.jsonl") == ["l0", "l1", "l2"]


def test_the_passages_of_a_split_can_be_added_as_documents(empty_kb: KnowledgeBase, mill: Path) -> None:
    from langgraph_rag import read_documents

    passages = empty_kb.split(read_documents([mill]))

    assert to_passages(passages) == passages
    empty_kb.add(passages, progress=False)
    assert [passage["position"] for passage in empty_kb.passages(empty_kb.ids(mill))] == list(range(len(passages)))


@pytest.mark.parametrize("field", ["position", "document", "headings"])
def test_fields_of_the_same_names_with_another_meaning_are_metadata(field: str) -> None:
    (passage,) = to_passages([{"id": "ada", "text": "Ada plays.", field: "keeper"}])

    assert passage["metadata"] == {field: "keeper"}


# --- split anew -----------------------------------------------------------------------------------------------------
def test_what_was_split_otherwise_is_told_and_split_anew(tmp_path: Path, mill: Path) -> None:
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), splitting=Splitting(40)) as kb:
        read(kb, mill)
        first = len(kb.ids())
        assert (kb.info()["splitting"], kb.info()["passages_split_otherwise"]) == ("40 tokens", 0)
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), splitting=Splitting(80, 10)) as kb:
        assert kb.info()["passages_split_otherwise"] == first
        read(kb, mill)
        assert (kb.info()["splitting"], kb.info()["passages_split_otherwise"]) == ("80 tokens, 10 of them again", 0)
        again = kb.passages(kb.ids(mill))
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as kb:
        assert kb.info()["splitting"] == "80 tokens, 10 of them again"  # as the last ones
    with KnowledgeBase.open(tmp_path / "new", ArithmeticEmbeddings(), splitting=Splitting(80, 10)) as kb:
        read(kb, mill)
        assert again == kb.passages(kb.ids(mill))
