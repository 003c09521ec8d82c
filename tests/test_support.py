"""The sentences a summary rests on."""

import pytest

from langgraph_rag.records import Record
from langgraph_rag.tools.support import answering_evidence, nearest_evidence, supporting_evidence


def passage(id_: str, title: str, *sentences: str) -> Record:
    return Record(id=id_, title=title, text=" ".join(sentences), hash="", sentences=list(sentences), phrases=[])


VINT = passage("vint", "Orla Vint", "Orla Vint was a film director.", "She was born in Pellworth in 1931.")
ROAD = passage("road", "The Salt Road", "The Salt Road is a drama film of 1968.", "It was directed by Orla Vint.")


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ("Orla Vint was born in Pellworth.", [("vint", 1)]),
        ("The Salt Road was directed by Orla Vint. Orla Vint was born in 1931.", [("road", 1), ("vint", 1)]),
        ("The Salt Road was directed by Orla Vint, born in Pellworth.", [("road", 1), ("vint", 1)]),
        ("Herons wait for fish in shallow water.", []),
        ("", []),
    ],
)
def test_each_sentence_of_a_summary_rests_on_the_sentences_that_cover_its_words(
    summary: str, expected: list[tuple[str, int]]
) -> None:
    sentences = {record["id"]: record["sentences"] for record in (VINT, ROAD)}

    found = supporting_evidence(summary, [VINT, ROAD], step=2)

    assert [(entry["passage_id"], entry["sentence"]) for entry in found] == [(i, sentences[i][p]) for i, p in expected]
    assert all(entry["triple"] == [] and entry["step"] == 2 for entry in found)


def test_a_passage_without_sentences_supports_nothing() -> None:
    empty = passage("empty", "Orla Vint")

    assert supporting_evidence("Orla Vint was born.", [empty], 1) == nearest_evidence("Orla Vint", empty, 1) == []


def test_the_nearest_sentence_shares_most_words() -> None:
    (entry,) = nearest_evidence("Who directed The Salt Road? Orla Vint directed it.", ROAD, 1)

    assert entry["sentence"] == "It was directed by Orla Vint."


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        ("When was The Salt Road made?", "1968", "The Salt Road is a drama film of 1968."),
        ("Who was born in Pellworth?", "Orla Vint", "She was born in Pellworth in 1931."),  # under its title
        ("Who directed the road?", "orla vint.", "It was directed by Orla Vint."),
        ("When was it made?", "19", None),
        ("Was it directed by her?", "was", None),
    ],
)
def test_an_answer_stands_in_the_sentence_that_shares_most_words_with_the_question(
    question: str, answer: str, expected: str | None
) -> None:
    found = answering_evidence(question, answer, [VINT, ROAD], 1)

    assert [entry["sentence"] for entry in found] == ([expected] if expected else [])
