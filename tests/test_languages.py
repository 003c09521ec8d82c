"""Documents, questions and answers in languages other than English."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from fakes import ArithmeticEmbeddings

from langgraph_rag import KnowledgeBase
from langgraph_rag.evaluation.metrics import contains, exact_match, f1
from langgraph_rag.matching import resolve_triples
from langgraph_rag.metering import tokens_in
from langgraph_rag.normal_forms import normalise, words_of
from langgraph_rag.records import Record
from langgraph_rag.refusals import is_refusal, may_begin_as_refusal
from langgraph_rag.tools.documents.files import read_documents
from langgraph_rag.tools.facts.extraction import Reading
from langgraph_rag.tools.ingest.embeddings import MiniLMEmbeddings
from langgraph_rag.tools.ingest.stages import to_passages
from langgraph_rag.tools.ingest.text import RULES, text_pipeline

PAGES = {
    "桥": "青山大桥由佐藤健一设计。",
    "köln": "Die Weißbrücke steht in der Hauptstraße.",
    "ışık": "Işık Çelik İzmir'de doğdu.",
    "ёлкин": "Пётр Ёлкин жил в Рязани.",
    "محمد": "وُلِدَ مُحَمَّد أحمد هنا.",
    "παππάς": "Ο Νίκος Παππάς έζησε εδώ.",
    "부산": "김은 부산에서 태어났다.",
    "שלום": "שָׁלוֹם גר כאן.",
    "กิน": "เขากินข้าวที่บ้าน",
    "が": "これはがぎです。",
    "co2": "CO₂ per m².",
    "istanbul": "İstanbul büyüktür.",
    "café": "A café in Łódź – near the Café Ödön.",
}


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("青山大桥由佐藤健一设计，建于1931年。\n\n它于1950年重建。", ""),
        ("青山大桥\n\n青山大桥由佐藤健一设计。", "青山大桥"),
        ("„Ada Moos wurde in Anstrey geboren.“\n\nSie starb dort.", ""),
        ("यह पुल बना हुआ।\n\nवह बड़ा है।", ""),
        ("それはとても長い見出しではない一つの文であってここで終わらず次の行へ続いていく\n\nはし。", ""),
    ],
)
def test_a_first_sentence_is_no_title(text: str, title: str) -> None:
    (passage,) = to_passages([{"text": text}])

    assert passage["title"] == title


@pytest.mark.parametrize(
    ("sentence", "end"), [("राम का जन्म यहाँ हुआ। ", ("।",)), ("他说：“它很大。”这里有河流！", ("。”", "！"))]
)
def test_passages_end_with_sentences(sentence: str, end: tuple[str, ...]) -> None:
    passages = to_passages([{"text": "".join(f"{number} {sentence}" for number in range(100))}])

    assert len(passages) > 1
    assert all(passage["text"].endswith(end) for passage in passages)


@pytest.mark.parametrize(
    "sentences",
    [
        ("Karl Groß wurde am 12. März 1931 geboren.", "Im 19. Jahrhundert stand hier ein Turm.", "Er fiel."),
        ("Das Haus Nr. 5 ist alt.", "Es steht noch."),
        ("La Sra. Ruiz vive en Madrid.", "Es pintora."),
        ("Πού γεννήθηκε;", "Στην Αθήνα."),
        ("Նա ծնվել է այստեղ։", "Նա գրող է։"),
        ("عام ١٩٣١.", "أحبّ البحر."),
        ("Это ул. Ленина.", "Он жил здесь."),
    ],
)
def test_sentences(sentences: tuple[str, ...]) -> None:
    assert text_pipeline(RULES).sentences(" ".join(sentences)) == list(sentences)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("谁设计了青山大桥？", "桥"),
        ("HAUPTSTRASSE", "köln"),
        ("weissbrücke", "köln"),
        ("IŞIK", "ışık"),
        ("izmir", "ışık"),
        ("петр елкин", "ёлкин"),
        ("محمد", "محمد"),
        ("احمد", "محمد"),
        ("ΠΑΠΠΑΣ", "παππάς"),
        ("부산", "부산"),
        ("שלום", "שלום"),
        ("กินข้าว", "กิน"),
        ("がぎ", "が"),
        ("CO₂", "co2"),
        ("co2", "co2"),
        ("m²", "co2"),
        ("istanbul", "istanbul"),
        ("İSTANBUL", "istanbul"),
        ("CAFE odon", "café"),
        ("ŁÓDŹ", "café"),
    ],
)
def test_words_are_found_however_they_are_written(query: str, found: str, empty_kb: KnowledgeBase) -> None:
    empty_kb.add([{"id": id_, "text": text} for id_, text in PAGES.items()], progress=False)

    assert [passage["id"] for passage in empty_kb.search(query, by="bm25")] == [found]

    empty_kb.delete([found])
    assert empty_kb.search(query, by="bm25") == []


def test_other_characters_are_other_words(empty_kb: KnowledgeBase) -> None:
    empty_kb.add([{"id": id_, "text": text} for id_, text in PAGES.items()], progress=False)

    assert empty_kb.search("かき", by="bm25") == []
    assert empty_kb.search("大青", by="bm25") == []


class OneFact:
    version = "one fact"

    async def extract(self, passages: Sequence[Record]) -> AsyncIterator[list[Reading]]:
        yield [(passage["id"], [["青山大桥", "设计者", "佐藤健一"]]) for passage in passages]


def test_names_of_a_question_without_spaces_are_linked(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings(), extractor=OneFact()) as kb:
        kb.add([{"id": "b", "title": "青山大桥", "text": PAGES["桥"]}], progress=False)

        assert kb.entities.link("设计青山大桥的人出生在哪里？") == ["青山大桥"]
        assert kb.hierarchy.has("青山大桥")
        sentence = kb.hierarchy.sentences[kb.passages(kb.ids())[0]["sentences"][0]]
        assert kb.hierarchy.linked(sentence, kb.hierarchy.phrases["青山大桥"])


@pytest.mark.parametrize(
    ("one", "other"),
    [("İZMİR", "İzmir"), ("IŞIK", "Işık"), ("١٩٣١", "1931"), ("१९३१", "1931"), ("مُحَمَّد", "محمد"), ("STRASSE", "Straße")],
)
def test_spellings_of_one_name(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)
    assert words_of(one) == words_of(other)


def test_words_of_decomposed_text() -> None:
    assert words_of("Tie\u0302\u0301ng Vie\u0323\u0302t") == words_of("Tiếng Việt")


def test_a_fact_with_other_digits_is_the_one_that_was_shown() -> None:
    assert resolve_triples([["أحمد", "ولد عام", "1931"]], [["أحمد", "ولد عام", "١٩٣١"]]) == ([0], 0)


@pytest.mark.parametrize(
    "answer", ["无法回答", "Unbekannt.", "неизвестно", "わかりません。", "غير معروف", "Sin respuesta"]
)
def test_refusals(answer: str) -> None:
    assert is_refusal(answer)
    assert may_begin_as_refusal(answer[:3])


@pytest.mark.parametrize("answer", ["横滨市", "Unbekannter Soldat", "Неизвестный солдат", "Inconnu de la gare"])
def test_answers(answer: str) -> None:
    assert not is_refusal(answer)


def test_scores() -> None:
    assert (
        exact_match("横滨市。", ["横滨市"])
        == exact_match("«Москва»", ["москва"])
        == exact_match("¿Madrid?", ["Madrid"])
        == 1
    )
    assert exact_match("STRASSE", ["Straße"]) == 1
    assert contains("出生在横滨市", ["横滨市"]) == 1
    assert f1("横滨", ["横滨市"]) == pytest.approx(0.8)


def test_tokens_are_estimated_by_character_without_spaces() -> None:
    assert tokens_in("青山大桥") == 4
    assert tokens_in("a bridge") == 2


def test_the_english_embedder_is_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with KnowledgeBase.open(tmp_path / "kb", MiniLMEmbeddings()) as kb:
        kb.add([{"id": "b", "text": PAGES["桥"]}, {"id": "e", "text": "Café Moss is near the bridge."}], progress=False)

    (told,) = [record.getMessage() for record in caplog.records if "Latin" in record.getMessage()]
    assert told.startswith("1 passage ('b') mostly not in Latin letters: all-MiniLM-L6-v2")


@pytest.mark.parametrize(
    ("declared", "codec", "text"),
    [
        ("iso-2022-jp", "iso2022_jp", "これは橋です。"),
        ("gb2312", "gb18030", "朱镕基出生在这里。"),
        ("x-sjis", "cp932", "髙橋は①番だ。"),
        ("iso-8859-1", "cp1252", "„Größe“ – 5 €"),
        ("windows-874", "cp874", "เขากินข้าว"),
        ("ks_c_5601-1987", "cp949", "똠방각하"),
    ],
)
def test_pages_are_decoded_as_browsers_do(declared: str, codec: str, text: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(f'<html><head><meta charset="{declared}"></head><body><p>{text}</p></body></html>'.encode(codec))

    (document,) = read_documents([page])

    assert str(document["text"]).strip() == text


def test_a_column_that_counts_the_rows_names_none_of_them(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("编号,姓名,城市\n1,青山,东京\n2,佐藤,横滨\n")

    assert [document["title"] for document in read_documents([table])] == ["青山", "佐藤"]


def test_a_query_without_end_is_searched_by_its_beginning(empty_kb: KnowledgeBase) -> None:
    empty_kb.add([{"id": "bridge", "text": PAGES["桥"]}], progress=False)
    characters = "".join(map(chr, range(0x4E00, 0x9E00)))

    assert [passage["id"] for passage in empty_kb.search(f"青山{characters}", by="bm25")] == ["bridge"]
