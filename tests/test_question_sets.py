"""Published question sets are indexed and asked as they come; each in the form of its files, with texts of our own."""

import csv
import gzip
import json
from collections.abc import Callable, Iterable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import ArithmeticEmbeddings
from test_cli import run

from langgraph_rag import KnowledgeBase
from langgraph_rag.errors import DocumentError, UnknownNameError
from langgraph_rag.evaluation import Question, QuestionFileError, load_questions, located
from langgraph_rag.evaluation.metrics import all_at, recall_at
from langgraph_rag.tools.documents.files import read_documents

FILM = ["Nine Tides is a film of 1954.", " It was directed by Ilse Tarrant."]
ILSE = ["Ilse Tarrant was a director.", " In 1938 she married Corwen Ashlade."]
OTHER = ["The Salt Road is a path."]
ASKED = "Whom did the director of Nine Tides marry?"
TEXTS = {"Nine Tides": "".join(FILM), "Ilse Tarrant": "".join(ILSE), "Salt Road": "".join(OTHER)}
PAIRS = [["Nine Tides", FILM], ["Ilse Tarrant", ILSE], ["Salt Road", OTHER]]
HOTPOT: dict[str, Any] = {
    "_id": "5a8b",
    "question": ASKED,
    "answer": "Corwen Ashlade",
    "type": "bridge",
    "level": "hard",
    "supporting_facts": [["Ilse Tarrant", 1], ["Nine Tides", 1], ["Ilse Tarrant", 0]],
    "context": PAIRS,
}
COLUMNS: dict[str, Any] = {
    "supporting_facts": {"title": ["Ilse Tarrant", "Nine Tides"], "sent_id": [1, 1]},
    "context": {"title": [title for title, _ in PAIRS], "sentences": [sentences for _, sentences in PAIRS]},
}
HUB = {**{name: HOTPOT[name] for name in ("question", "answer", "type", "level")}, "id": "5a8b", **COLUMNS}
WIKI = {
    **HOTPOT,
    "evidences": [["Nine Tides", "director", "Ilse Tarrant"], ["Ilse Tarrant", "spouse", "Corwen Ashlade"]],
    "answer_id": "Q1",
}
PARAGRAPHS = [
    {"idx": number, "title": title, "paragraph_text": text, "is_supporting": title != "Salt Road"}
    for number, (title, text) in enumerate(TEXTS.items())
]
MUSIQUE = {
    "id": "2hop__1_2",
    "question": ASKED,
    "question_decomposition": [{"id": 1, "question": "Nine Tides >> director", "paragraph_support_idx": 0}],
    "answer": "Corwen Ashlade",
    "answer_aliases": ["C. Ashlade"],
    "answerable": True,
    "paragraphs": PARAGRAPHS,
}
TWIN = {**MUSIQUE, "answerable": False, "paragraphs": [{**PARAGRAPHS[2], "is_supporting": True}]}
SAMPLE = {
    "id": "sample/1.json",
    "question": ASKED,
    "answer": ["Corwen Ashlade"],
    "paragraphs": [{"title": title, "text": text, "is_supporting": True} for title, text in [*TEXTS.items()][:2]],
}
FLASH = {"id": "dev_0", "question": ASKED, "golden_answers": ["Corwen Ashlade", "C. Ashlade"], "metadata": {}}
FLASH_STEPS = {
    **FLASH,
    "metadata": {
        "answerable": True,
        "question_decomposition": [{"question": "?", "support_paragraph": one} for one in PARAGRAPHS[:2]],
    },
}


def lines(rows: Iterable[object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def in_strings(row: dict[str, Any]) -> dict[str, Any]:
    return {name: json.dumps(value) if isinstance(value, list | dict) else value for name, value in row.items()}


def table(row: dict[str, Any], write: Callable[[Any], str]) -> str:
    text = StringIO()
    csv.writer(text).writerows([row, [value if isinstance(value, str) else write(value) for value in row.values()]])
    return text.getvalue()


def arrays(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: arrays(inner) for name, inner in value.items()}
    if not isinstance(value, list):
        return value
    made = np.empty(len(value), dtype=object)
    made[:] = [arrays(inner) for inner in value]
    return made


def as_columns(row: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: [value] for name, value in row.items()}


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    def write(name: str, content: str) -> Path:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
        return tmp_path / name

    return write


@pytest.fixture(autouse=True)
def own_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("langgraph_rag.tools.ingest.embeddings.MiniLMEmbeddings", ArithmeticEmbeddings)
    monkeypatch.setattr("langgraph_rag.tools.ingest.embeddings.MINILM", "arithmetic")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("hotpot_dev_distractor_v1.json", json.dumps([HOTPOT])),
        ("hub.json", json.dumps([HUB])),
        ("hub.jsonl", lines([HUB])),
        ("page.json", json.dumps({"rows": [{"row_idx": 0, "row": HUB}], "num_rows_total": 1})),
        ("columns.json", json.dumps(as_columns(HUB))),
        ("written_by_datasets.json", lines([HUB, {**HUB, "id": "6", "question": "And?"}])),
        ("array.jsonl", json.dumps([HOTPOT], indent=1)),
        ("pandas.json", json.dumps({name: {"0": value} for name, value in HUB.items()})),
        ("pandas_index.json", json.dumps({"0": HUB})),
        ("pandas_split.json", json.dumps({"columns": [*HUB], "index": [0], "data": [[*HUB.values()]]})),
        ("splits.json", json.dumps({"train": [], "validation": [HUB]})),
        ("squad_like.json", json.dumps({"version": "1.1", "data": [HOTPOT]})),
        ("by_id.json", json.dumps({"5a8b": HOTPOT})),
        ("python.csv", table(HUB, str)),
        ("numpy.csv", table(arrays(HUB), str)),
        ("json.csv", table(HUB, json.dumps)),
        ("objects.jsonl", lines([{**HUB, "supporting_facts": [{"title": t} for t, _ in HOTPOT["supporting_facts"]]}])),
        ("windows.jsonl", "\ufeff" + lines([HUB]).replace("\n", "\r\n")),
        ("2wiki.json", json.dumps([WIKI])),
        ("2wiki.jsonl", lines([in_strings(WIKI)])),
        ("2wiki_hub.jsonl", lines([in_strings({**HUB, "evidences": WIKI["evidences"]})])),
        ("musique_ans_v1.0_dev.jsonl", lines([MUSIQUE])),
        ("musique.json", json.dumps([in_strings(MUSIQUE)], indent=1)),
        ("musique.csv", table(MUSIQUE, str)),
        ("hipporag.json", json.dumps([SAMPLE])),
        ("flashrag_hotpotqa.jsonl", lines([{**FLASH, "metadata": {"type": "bridge", **COLUMNS}}])),
        ("flashrag_musique.jsonl", lines([FLASH_STEPS])),
    ],
    ids=lambda value: value if "." in value and len(value) < 40 else "",
)
def test_a_set_is_indexed_and_asked_from_one_file(
    name: str, content: str, written: Callable[..., Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = written(name, content)

    question, *_ = load_questions(file)
    documents = {str(document["id"]): document for document in read_documents(file)}

    assert question["question"] == ASKED and question["answers"][0] == "Corwen Ashlade"
    found = {documents[id_]["title"]: documents[id_]["text"] for id_ in question["supporting_ids"]}
    assert found == {title: TEXTS[title] for title in ("Nine Tides", "Ilse Tarrant")}
    assert caplog.messages == []
    run("index", file, "--kb", tmp_path / "kb")
    run("eval", "--kb", tmp_path / "kb", "--questions", file, "--out", tmp_path / "out")
    assert json.loads((tmp_path / "out/report.json").read_text())["adaptive"]["recall_at_5"] == 100.0


def test_twins_of_musique_are_told_apart(written: Callable[..., Path], caplog: pytest.LogCaptureFixture) -> None:
    file = written("musique_full_v1.0_dev.jsonl", lines([TWIN, MUSIQUE]))

    without, with_answer = load_questions(file)

    assert without == {"id": "2hop__1_2, unanswerable", "question": ASKED, "answers": ["unanswerable"]}
    assert (with_answer["id"], with_answer["answers"]) == ("2hop__1_2", ["Corwen Ashlade", "C. Ashlade"])
    assert len({document["id"] for document in read_documents(file)}) == 3 and caplog.messages == []
    assert load_questions(written("twin.csv", table(TWIN, str))) == [without]


def test_a_supporting_passage_that_is_not_in_the_file_is_sought_by_its_title(written: Callable[..., Path]) -> None:
    (question,) = load_questions(written("fullwiki.json", json.dumps([{**HOTPOT, "context": PAIRS[1:]}])))

    assert "supporting_ids" not in question
    assert question["gold"] == [{"title": "Ilse Tarrant", "contains": "".join(ILSE)}, {"title": "Nine Tides"}]


def test_flashrags_corpus_has_titles_in_quotes(written: Callable[..., Path]) -> None:
    rows = [
        {"id": "0", "contents": '"Nine Tides"\nA film.'},
        {"id": "1", "contents": "Only a text."},
        {"id": "3", "contents": '"""Heroes"" (song)"\nA song.'},
        {"id": "2", "title": "Ilse Tarrant", "contents": "She was a director.\nShe married."},
        {"id": "4", "contents": '"Kell"\nIt has ""the gate"".'},
        {"id": "5", "title": '"Ost"', "contents": '"Ost"\nA town.'},
        {"id": "6", "contents": '"Only a title"\n'},
    ]

    found = read_documents(written("corpus.jsonl", lines(rows)))

    assert [(one["id"], one["title"], one["text"]) for one in found] == [
        ("0", "Nine Tides", "A film."),
        ("1", "", "Only a text."),
        ("3", '"Heroes" (song)', "A song."),
        ("2", "Ilse Tarrant", "She was a director.\nShe married."),
        ("4", "Kell", 'It has "the gate".'),
        ("5", "Ost", "A town."),
        ("6", "", "Only a title"),
    ]


@pytest.mark.parametrize("content", [lines([FLASH]), lines([{**FLASH, "metadata": None}])])
def test_questions_without_paragraphs_are_no_documents(content: str, written: Callable[..., Path]) -> None:
    with pytest.raises(DocumentError, match="expected passages, got questions without any: give it to `eval"):
        read_documents(written("dev.jsonl", content))


def beir(
    written: Callable[..., Path], judged: str = "query-id\tcorpus-id\tscore\nq1\tp1\t2\nq1\tp2\t1\nq1\tp3\t0\n"
) -> Path:
    written("set/corpus.jsonl", lines([
        {"_id": f"p{number}", "title": title, "text": text, "metadata": {"url": "https://example.org"}}
        for number, (title, text) in enumerate(TEXTS.items(), start=1)
    ]))  # fmt: skip
    written("set/queries.jsonl", lines([
        {"_id": "q1", "text": ASKED, "metadata": {"answer": "Corwen Ashlade"}}, {"_id": "q2", "text": "Of train?"},
    ]))  # fmt: skip
    return written("set/qrels/test.tsv", judged).parent.parent


def test_a_folder_of_beirs_is_indexed_and_asked(written: Callable[..., Path]) -> None:
    folder = beir(written)

    assert {document["id"] for document in read_documents(folder)} == {"p1", "p2", "p3"}
    expected = [
        Question(id="q1", question=ASKED, answers=["Corwen Ashlade"], supporting_ids=["p1", "p2"]),
    ]
    for given in (folder, folder / "queries.jsonl", folder / "qrels/test.tsv"):
        assert load_questions(given) == load_questions(given, format="beir") == expected


def packed(file: Path) -> None:
    file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()


@pytest.mark.parametrize(
    ("name", "judged"),
    [
        ("test.tsv", "query-id\tcorpus-id\tscore\r\nq1\tp1\t1.0\r\nq1\tp3\t0.0\r\n"),
        ("test.jsonl", lines([{"query-id": "q1", "corpus-id": "p1", "score": 1.0}])),
        ("validation.tsv", "q1\tp1\t1\n"),
    ],
)
@pytest.mark.parametrize("pack", [False, True])
def test_other_forms_of_beirs_judgements_and_packed_files(
    name: str, judged: str, pack: bool, written: Callable[..., Path]
) -> None:
    folder = beir(written)
    (folder / "qrels/test.tsv").unlink()
    written(f"set/qrels/{name}", judged)
    if pack:
        for file in ("corpus.jsonl", "queries.jsonl", f"qrels/{name}"):
            packed(folder / file)

    assert [question["supporting_ids"] for question in load_questions(folder)] == [["p1"]]
    assert {document["id"] for document in read_documents(folder)} == {"p1", "p2", "p3"}


def test_queries_beside_their_corpus_are_no_documents_and_a_title_without_text_is_one(
    written: Callable[..., Path],
) -> None:
    packed(written("set/queries.jsonl", lines([{"_id": "q1", "text": ASKED}])))
    packed(written("set/corpus.jsonl", lines([{"_id": "p1", "title": "The lock", "text": "", "metadata": {}}])))

    (document,) = read_documents(written("set/readme", "").parent)

    assert (document["id"], document["text"]) == ("p1", "The lock")


@pytest.mark.parametrize(
    ("judged", "complaint"),
    [
        ("q1 0 p1 1\n", r"test.tsv, line 1: expected query-id, corpus-id and score, separated by tabs, got 'q1 0"),
        ("query-id\tcorpus-id\tscore\nq1 p1 1\n", r"test.tsv, line 2: expected query-id, corpus-id and score"),
        ("q9\tp1\t1\n", "expected ids of queries in .*queries.jsonl, got 'q9'"),
        ("query-id\tcorpus-id\tscore\n", "got no line with text"),
    ],
)
def test_judgements_of_another_form_are_refused(judged: str, complaint: str, written: Callable[..., Path]) -> None:
    with pytest.raises(QuestionFileError, match=complaint):
        load_questions(beir(written, judged))


def test_a_folder_of_beirs_without_judgements_is_refused(written: Callable[..., Path]) -> None:
    folder = written("set/queries.jsonl", lines([{"_id": "q1", "text": ASKED}])).parent

    with pytest.raises(QuestionFileError, match="expected judgements in qrels/test.tsv beside queries.jsonl"):
        load_questions(folder)
    with pytest.raises(QuestionFileError, match="or a folder with queries.jsonl and qrels, got another folder"):
        load_questions(folder.parent)


NEWS = {
    "title": "A wedding by the sea",
    "author": "E. Vint",
    "source": "The Halden Post",
    "published_at": "2023-10-01T00:00:00+00:00",
    "category": "culture",
    "url": "https://example.org/wedding",
    "body": "Ilse Tarrant, who made Nine Tides, is a director. In 1938 she married Corwen Ashlade in Kell.",
}
MULTIHOP: list[dict[str, Any]] = [
    {
        "query": ASKED,
        "answer": "Corwen Ashlade",
        "question_type": "inference_query",
        "evidence_list": [{"title": NEWS["title"], "url": NEWS["url"], "fact": "In 1938 she married Corwen Ashlade"}],
    },
    {
        "query": "What did she eat?",
        "answer": "Insufficient information.",
        "question_type": "null_query",
        "evidence_list": [],
    },
]  # fmt: skip


def test_multihop_rag(written: Callable[..., Path], tmp_path: Path) -> None:
    corpus = written("corpus.json", json.dumps([NEWS]))
    asked = written("MultiHopRAG.json", json.dumps(MULTIHOP))

    (document,) = read_documents(corpus)
    first, null = load_questions(asked)

    columns = {name: [one[name] for one in MULTIHOP[0]["evidence_list"]] for name in ("title", "fact")}
    assert load_questions(written("hub.jsonl", lines([{**MULTIHOP[0], "evidence_list": columns}]))) == [first]
    assert (document["title"], document["text"]) == (NEWS["title"], NEWS["body"])
    assert document["source"] == NEWS["url"]
    assert document["metadata"] == {
        "author": "E. Vint", "published_at": NEWS["published_at"], "category": "culture", "publisher": "The Halden Post"
    }  # fmt: skip
    assert first["type"] == "inference_query"
    assert first["gold"] == [{"title": NEWS["title"], "contains": "In 1938 she married Corwen Ashlade"}]
    assert null["answers"] == ["unanswerable"] and "gold" not in null
    run("index", corpus, "--kb", tmp_path / "kb")
    run("eval", "--kb", tmp_path / "kb", "--questions", asked, "--out", tmp_path / "out")
    report = json.loads((tmp_path / "out/report.json").read_text())["adaptive"]
    assert (report["recall_questions"], report["recall_at_5"]) == (1, 100.0)


def test_frames(written: Callable[..., Path]) -> None:
    links = [
        "https://en.wikipedia.org/w/index.php?title=Nine_Tides_(film)&oldid=5",
        "https://en.wikipedia.org/wiki/Ilse_T%C3%A1rrant,_Lady",
    ]
    head = "\tPrompt\tAnswer\twikipedia_link_1\twikipedia_link_2\twikipedia_link_11+\treasoning_types\twiki_links"
    row = f"0\t{ASKED}\tCorwen Ashlade\t{links[0]}\t{links[1]}\t\tMultiple constraints\t{links!r}"

    (question,) = load_questions(written("test.tsv", f"{head}\n{row}\n"))
    columns = {name: [cell or None] for name, cell in zip(head.split("\t"), row.split("\t"), strict=True)}

    assert load_questions(written("columns.json", json.dumps(columns))) == [question]
    assert question == {
        "id": "1",
        "question": ASKED,
        "answers": ["Corwen Ashlade"],
        "type": "Multiple constraints",
        "gold": [{"title": "Nine Tides (film)"}, {"title": "Ilse Tárrant, Lady"}],
    }


def test_hipporags_openie_results_are_passages(written: Callable[..., Path]) -> None:
    docs = [{
        "idx": "chunk-1", "passage": f"Nine Tides\n{''.join(FILM)}", "extracted_entities": ["Nine Tides"],
        "extracted_triples": [["Nine Tides", "directed by", "Ilse Tarrant"]],
    }]  # fmt: skip
    content = json.dumps({"docs": docs, "avg_ent_chars": 10.0, "avg_ent_words": 2.0})

    (document,) = read_documents(written("openie_results_ner_model.json", content))

    assert (document["id"], document["title"], document["text"]) == ("chunk-1", "Nine Tides", "".join(FILM))


def test_hipporags_corpus_of_hotpotqa_has_titles_as_names(written: Callable[..., Path], tmp_path: Path) -> None:
    corpus = written("hotpotqa_corpus.json", json.dumps({title: sentences for title, sentences in PAIRS}))
    asked = written("hotpotqa.json", json.dumps([HOTPOT]))

    assert {document["title"]: document["text"] for document in read_documents(corpus)} == TEXTS
    run("index", corpus, "--kb", tmp_path / "kb")
    run("eval", "--kb", tmp_path / "kb", "--questions", asked, "--out", tmp_path / "out")
    assert json.loads((tmp_path / "out/report.json").read_text())["adaptive"]["recall_at_5"] == 100.0


def test_hipporags_popqa_has_answers_in_strings(written: Callable[..., Path]) -> None:
    row = {"id": 7, "question": "What is Ilse?", "obj": "director", "possible_answers": '["director", "film maker"]'}
    row |= {"o_wiki_title": "Director", "o_aliases": '["maker"]', "paragraphs": SAMPLE["paragraphs"]}

    (question,) = load_questions(written("popqa.json", json.dumps([row])))

    assert question["answers"] == ["director", "Director", "director", "film maker", "maker"]


@pytest.mark.parametrize("columns", [NEWS, {"_id": "p1", "title": "Kell", "text": "A town.", "metadata": {}}])
def test_a_corpus_in_columns_is_read(columns: dict[str, Any], written: Callable[..., Path]) -> None:
    in_columns, in_lines = written("a.json", json.dumps(as_columns(columns))), written("a.jsonl", lines([columns]))

    (document,), (same,) = read_documents(in_columns), read_documents(in_lines)

    assert document["title"] == columns["title"] and document["text"] == same["text"]


def test_an_object_with_a_text_of_its_own_is_a_document(written: Callable[..., Path]) -> None:
    page = {"title": "Kell", "body": "Kell has a lock.", "text": "A town.", "comments": [{"text": "First!"}]}

    (document,) = read_documents(written("page.json", json.dumps(page, indent=1)))

    assert document["text"] == "A town."


def test_a_torn_file_of_questions_is_refused_once(written: Callable[..., Path]) -> None:
    with pytest.raises(QuestionFileError, match=r"torn.json: expected a JSON object, got '\[\\n .*\)$"):
        load_questions(written("torn.json", json.dumps([HOTPOT], indent=1)[:-200]))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "\ufeffQuestion;Answer\r\nWho, then?;Zoë\r\n"),
        ("a.tsv", "question\tanswer\nWho, then?\tZoë\n"),
        ("a.json", '[{"question": "Who, then?", "answer": "Zoë"}]'),
        ("b.json", '{"question": ["Who, then?"], "answer": ["Zoë"]}'),
    ],
)
def test_questions_in_a_table_or_an_array_are_read(name: str, content: str, written: Callable[..., Path]) -> None:
    assert load_questions(written(name, content)) == [{"id": "1", "question": "Who, then?", "answers": ["Zoë"]}]


@pytest.mark.parametrize(
    ("format", "row", "complaint"),
    [
        ("musique", HOTPOT, "expected a row of musique with the fields question, paragraphs, got _id, question"),
        ("hotpotqa", FLASH, "expected a row of hotpotqa with the fields question, context, got id"),
        ("hotpotqa", {**HOTPOT, "context": [["Nine Tides"]]}, "expected paragraphs with a title and a text"),
        ("hotpotqa", {**HOTPOT, "supporting_facts": 7}, "expected supporting_facts with titles, got 7"),
        ("hotpotqa", {**HOTPOT, "context": {"title": ["A", "B"], "sentences": [[]]}}, "columns of the same length"),
        ("hotpotqa", {**HOTPOT, "context": "[[1,"}, "expected JSON in context, got"),
        ("multihop-rag", {**MULTIHOP[0], "evidence_list": ["x"]}, "expected a list of objects with title and fact in"),
    ],
)
def test_rows_that_are_not_of_the_named_form_are_refused(
    format: str, row: dict[str, Any], complaint: str, written: Callable[..., Path]
) -> None:
    with pytest.raises(QuestionFileError, match=f"line 1: .*{complaint}"):
        load_questions(written("questions.jsonl", lines([row])), format=format)


def test_the_name_of_another_form_is_refused(written: Callable[..., Path]) -> None:
    file = written("questions.jsonl", lines([HOTPOT]))

    for read in (load_questions, read_documents):
        with pytest.raises(UnknownNameError, match="squad"):
            read(file, format="squad")


# --- places ----------------------------------------------------------------------------------------------------------
LONG = " ".join(f"The gate number {number} of the lock at Kell opens at noon." for number in range(60))


@pytest.fixture
def split(tmp_path: Path) -> Iterable[KnowledgeBase]:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/lock.txt").write_text(f"The lock\n\n{LONG}", encoding="utf-8")
    (tmp_path / "docs/film.txt").write_text("Nine Tides\n\nIt\u2019s a film \u2013 of 1954.", encoding="utf-8")
    with KnowledgeBase.open(tmp_path / "kb", ArithmeticEmbeddings()) as kb:
        kb.add(read_documents(tmp_path / "docs"))
        yield kb


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ({"source": "docs/film.txt", "contains": "It's a film - of  1954"}, True),
        ({"source": "film.txt", "contains": "nine tides"}, True),
        ({"contains": "The gate number 41 of the lock"}, True),
        ({"title": "The lock", "contains": "gate number 41 of"}, True),
        ({"title": "Nine Tides"}, True),
        ({"title": "Nine Tides", "contains": "gate number 41 of"}, False),
        ({"source": "lock.txt", "contains": "It's a film"}, False),
        ({"source": "m.txt", "contains": "It's a film"}, False),
        ({"source": "lock.txt", "contains": "The gate number 99 of the lock"}, False),
    ],
)
def test_a_place_is_found_by_source_title_and_fragment(
    split: KnowledgeBase, place: dict[str, str], found: bool
) -> None:
    (question,) = located([Question(id="q", question="Q?", gold=[place])], split)  # type: ignore[list-item]

    (ids,) = question["places"]
    assert bool(ids) is found and set(ids) <= set(split.ids())


def test_a_paragraph_that_was_split_is_at_each_of_its_parts(split: KnowledgeBase) -> None:
    (question,) = located([Question(id="q", question="Q?", gold=[{"title": "The lock", "contains": LONG}])], split)

    assert len(question["places"][0]) == len(split.ids()) - 1 > 1


def test_a_fragment_over_two_passages_is_where_its_longest_sentence_is(split: KnowledgeBase) -> None:
    parts = [record["text"] for record in split.passages(split.ids()) if record["text"].startswith("The gate")]
    fragment = "The end of another. " + parts[-1].split(". ")[0] + "."

    (question,) = located([Question(id="q", question="Q?", gold=[{"source": "lock.txt", "contains": fragment}])], split)

    assert len(question["places"][0]) == 1


def test_recall_is_the_share_of_places_of_which_a_passage_is_found() -> None:
    gold = [["a", "b"], ["c"], []]

    assert recall_at(["b", "a"], gold, 2) == pytest.approx(1 / 3)
    assert all_at(["b", "c"], gold, 2) == 0.0 and all_at(["b", "c"], gold[:2], 2) == 1.0


def test_eval_tells_the_places_that_no_passage_holds(split: KnowledgeBase, tmp_path: Path) -> None:
    gold = [{"source": "film.txt", "contains": "a film"}, {"source": "film.txt", "contains": "a play"}]
    (tmp_path / "questions.jsonl").write_text(
        lines([{"question": "What is Nine Tides?", "answer": "film", "gold": gold}])
    )

    said = run(
        "eval", "--kb", split.path, "--questions", tmp_path / "questions.jsonl", "--out", tmp_path / "out"
    ).stderr

    assert "warning: 1 of 2 gold places are in no passage in" in said and "'film.txt' 'a play'" in said
    assert json.loads((tmp_path / "out/report.json").read_text())["adaptive"]["recall_at_5"] == 50.0
