"""Texts on which quadratic or cubic algorithms would take minutes or days, and odd texts that once failed."""

from pathlib import Path

import pytest

from langgraph_rag import create_native_rag
from langgraph_rag.errors import DocumentError
from langgraph_rag.matching import resolve
from langgraph_rag.nodes.citations import cited, uncited
from langgraph_rag.normal_forms import without_piles
from langgraph_rag.offline.model import OfflineModel
from langgraph_rag.tools.documents.files import read_documents
from langgraph_rag.tools.documents.html import read_html
from langgraph_rag.tools.documents.markdown import read_markdown
from langgraph_rag.tools.facts.reading import extract_triples
from langgraph_rag.tools.ingest.spans import spot
from langgraph_rag.tools.ingest.stages import to_passages
from langgraph_rag.tools.knowledge_base import KnowledgeBase
from langgraph_rag.tools.retrieve.search import SEARCHES


@pytest.mark.parametrize(
    "sentence",
    [
        "Ada Renk (" + "1" * 4_000 + "-" * 4_000 + ")",
        "Ada Renk met Karl, who saw " + "Ab, " * 50_000,
        "(Ab) " * 40_000,
        "Ada Renk was born and he was here " * 10_000,
    ],
)
def test_what_is_longer_than_any_sentence_is_read_at_its_beginning(sentence: str) -> None:
    facts = extract_triples("Ada Renk", [sentence, "Ada Renk was born in Kell."])

    assert facts[-1] == ["Ada Renk", "was born in", "Kell"]


@pytest.mark.parametrize(
    "markdown",
    [
        "[^" * 20_000,
        "<div>\n" + "<a b" * 20_000,
        "<div>\n" + ">" * 20_000 + "x" + "<a b" * 20_000,
        "Kell" + "<sup>" * 20_000,
        "+++\n" + "a." * 20_000 + "a=1\n+++\nKell is an isle.",
    ],
)
def test_markdown_that_begins_what_it_never_ends_is_read(markdown: str) -> None:
    _, sections, _ = read_markdown(markdown)

    assert sections


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr>" + "<td colspan=100>a" * 2_000 + "</table>",
        "<table><thead>" + ("<tr>" + "<th rowspan=100 colspan=100>a" * 1_000) * 2 + "</table>",
        "<p>a" + " " * 100_000 + "b</p>",
        "<table><tr><td>" * 2_000 + "a",
        "<sup>" * 5_000 + "a",
    ],
)
def test_a_page_of_few_bytes_does_not_fill_the_memory_or_the_day(html: str) -> None:
    assert "a" in read_html(html).markdown


def test_a_table_of_many_columns_is_read(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text(",".join(map(str, range(100_000))) + "\nKell")

    assert [document["title"] for document in read_documents(tmp_path / "wide.csv")] == ["Kell"]


def test_a_reply_of_one_long_word_is_compared() -> None:
    assert resolve(["a" * 200_000], ["Ada"]) == ([], 1)


def test_a_file_larger_than_the_memory_is_told(tmp_path: Path) -> None:
    with (tmp_path / "dump.txt").open("wb") as dump:
        dump.truncate(60_000_000_000)

    with pytest.raises(DocumentError, match="dump.txt: expected at most 2,000,000,000 bytes, got 60,000,000,000"):
        read_documents(tmp_path / "dump.txt")


@pytest.mark.parametrize(
    "front", ["title: 0x" + "f" * 4_000, "a: " + ":".join(["1"] * 300) + ".1", "title: 0b" + "1" * 20_000]
)
def test_front_matter_with_a_number_that_nobody_writes_costs_no_file(tmp_path: Path, front: str) -> None:
    (tmp_path / "odd.md").write_text(f"---\n{front}\n---\nKell is an isle.")
    (tmp_path / "good.md").write_text("Ost is a town.")

    assert len({document["source"] for document in read_documents([tmp_path])}) == 2


def test_text_without_a_space_is_cut_into_sentences(empty_kb: KnowledgeBase) -> None:
    rows = '{"id":1,"name":"Ada"},' * 10_000

    assert empty_kb.add([{"title": "Rows", "text": f"See this: [{rows}]."}], progress=False)["added"]


@pytest.mark.parametrize(
    "letter",
    ["a\u0301\u0323", "\u05d0\u05b8\u05bc", "a\U00010376\U000101fd"],
    ids=["Latin", "Hebrew", "Permic"],
)
def test_accents_on_accents_are_cut_to_thirty(letter: str) -> None:
    pile = letter[0] + letter[1:] * 100_000

    assert without_piles(pile) == pile[:31]
    (passage,) = to_passages([{"text": f"{pile} Kell is an isle."}])
    assert passage["text"].endswith("Kell is an isle.")


def test_a_citation_that_goes_on_in_blanks_is_none() -> None:
    assert cited("It is Kell [source" + " " * 100_000, 3) == []


@pytest.mark.parametrize("part", ["[1], ", "[1 ", "[1.", "([1] and "])
def test_many_citations_are_taken_out_in_one_go(part: str) -> None:
    assert "[1]" not in uncited(part * 20_000)


def test_a_title_that_nobody_gave_is_never_too_long(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Kell" * 500 + "\n\nIt is an isle.")
    (tmp_path / "b.md").write_text("# " + "Kell " * 500 + "\n\nIt is an isle.\n\n# Ost\n\nIt is a town.")

    assert all(len(str(passage["title"])) <= 1_000 for passage in read_documents([tmp_path]))


def test_the_offline_model_reads_a_long_list_without_spaces(empty_kb: KnowledgeBase) -> None:
    empty_kb.add(
        [{"id": "renk", "title": "Ada Renk", "text": "Ada Renk was born in Ost" + ",Ab" * 5_000}], progress=False
    )

    result = create_native_rag(OfflineModel(), empty_kb).compile().invoke({"question": "Where was Ada Renk born?"})

    assert result["answer"] == "Ost"


@pytest.mark.parametrize(
    "text",
    [
        "Ada Renk (" + "1" * 2_000 + "–" * 2_000 + "1" * 2_000 + " was born in Ost.",
        "Ada Renk (" + "1900– " * 100 + "1950" * 20 + ") was born in Ost.",
        "Ada Renk was born in Ost and met " + " and ".join(f"Bo{number:x} Vint" for number in range(10_000)),
    ],
    ids=["a bracket that never ends", "many years", "a sentence as long as a book"],
)
def test_the_offline_model_reads_passages_that_are_no_prose(text: str, empty_kb: KnowledgeBase) -> None:
    empty_kb.add([{"id": "renk", "title": "Ada Renk", "text": text}], progress=False)

    result = create_native_rag(OfflineModel(), empty_kb).compile().invoke({"question": "Where was Ada Renk born?"})

    assert result["answer"] in ("Ost", "unanswerable")


PIECES = """A-|a.|a@|1,|1-|(|"|[1]|'|Ab |Ab, who |the |was born in |http://a|a: b\n| \n""".split("|")


@pytest.mark.parametrize("piece", PIECES)
def test_no_pattern_takes_quadratic_time_for_a_text_of_one_piece(piece: str) -> None:
    """Linear time is a quarter of a second for a text of this size, quadratic time minutes."""
    text = piece * (50_000 // len(piece))

    assert to_passages([{"text": f"Kell is an isle. {text}"}])
    assert extract_triples("Kell", ["Kell is an isle.", text])
    spot(text)
    cited(text, 3)
    uncited(text)


@pytest.mark.parametrize("piece", PIECES)
def test_of_a_query_of_any_length_only_the_beginning_is_searched(piece: str, empty_kb: KnowledgeBase) -> None:
    text = piece * (50_000 // len(piece))
    renk = {"id": "renk", "title": "Ada Renk", "text": f"Ada Renk was born in Ost. {text[:5_000]}"}
    empty_kb.add([renk], progress=False)
    query = f"Where was Ada Renk born? {text}"

    for by in SEARCHES:
        assert empty_kb.search(query, by=by) == empty_kb.search(query[:4_000], by=by) != []
    assert empty_kb.search_triples(query) == empty_kb.search_triples(query[:4_000]) != []
    assert empty_kb.near_entities([query]) == empty_kb.near_entities([query[:4_000]]) != []
    result = create_native_rag(OfflineModel(), empty_kb).compile().invoke({"question": query[:4_000]})
    assert result["answer"] in ("Ost", "unanswerable")


async def test_cosines_are_of_the_beginnings_of_texts(empty_kb: KnowledgeBase) -> None:
    empty_kb.add([{"id": "renk", "title": "Ada Renk", "text": "Ada Renk was born in Ost."}], progress=False)
    start, fact = "born " * 800, ["Ada Renk", "was born in", "Ost"]  # 4,000 characters
    whole = start + "Ada Renk" * 1_000

    assert await empty_kb.acosines(whole, [start, whole]) == pytest.approx([1, 1])
    near = await empty_kb.apassage_cosines([start, whole], ["renk"])
    assert near["renk"][0] == near["renk"][1]
    ((one, other),) = await empty_kb.atriple_cosines([start, whole], [fact])
    assert one == other
