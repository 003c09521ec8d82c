"""The sentences that support a summary."""

import pytest

from langgraph_rag.records import Evidence, Record, Source, Triple
from langgraph_rag.tools.retrieve.ranking import answering_evidence, nearest_evidence, supporting_evidence, traced_back


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


def test_a_sentence_that_says_it_itself_comes_before_one_that_only_stands_under_the_title() -> None:
    lake = passage("lake", "Orm Lake, Vestland", "Orm Lake is a village in southern Vestland.", "It has 823 people.")

    found = supporting_evidence("Orm Lake is in Vestland.", [lake], 1)

    assert [entry["sentence"] for entry in found] == ["Orm Lake is a village in southern Vestland."]


def test_a_sentence_is_taken_for_a_name_alone() -> None:
    film = passage("film", "Grey Water", "It was made in 1990 by Orla Vint.", "Also written by Ada Moss and Jon Rask.")

    found = supporting_evidence("Orla Vint, Ada Moss and Jon Rask were writers of the Grey Water film.", [film], 1)

    assert {entry["sentence"] for entry in found} == set(film["sentences"])


def test_a_date_is_shown_whole_before_a_sentence_that_shares_as_many_words() -> None:
    came, won = "It came out on 3 May 1990.", "The Grey Water album came to win a prize of 1990."
    song = passage("song", "Grey Water", won, came)

    found = supporting_evidence("The album Grey Water came out on 3 May 1990.", [song], 1)

    assert found[0]["sentence"] == came


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


IS = ["Orla Vint", "is", "director"]
BORN_IN = ["Orla Vint", "born in", "Pellworth"]
BORN_ON = ["Orla Vint", "date of birth", "1931"]
TRIPLES = [
    *(Triple(triple=triple, sources=[Source(passage_id="vint", sentences=[1])]) for triple in (BORN_IN, BORN_ON)),
    Triple(triple=IS, sources=[Source(passage_id="road", sentences=[0]), Source(passage_id="vint", sentences=[0])]),
]


def entry(sentence: str, *triple: str) -> Evidence:
    return Evidence(triple=list(triple), sentence=sentence, passage_id="vint", title="Orla Vint", step=1)


@pytest.mark.parametrize(
    ("piece", "question", "answer", "expected"),
    [
        (entry(VINT["sentences"][1]), "Where was she born?", "1931", BORN_ON),
        (entry(VINT["sentences"][1]), "Where was she born?", "Norland", BORN_IN),
        (entry(VINT["sentences"][1], *IS), "Where was she born?", "1931", IS),
        (entry(VINT["sentences"][0]), "Where was she born?", "1931", IS),
        (entry("This sentence is not in the passage."), "Where was she born?", "1931", []),
    ],
)
def test_evidence_names_the_triple_of_its_sentence_that_has_the_answer_or_is_nearest_to_the_question(
    piece: Evidence, question: str, answer: str, expected: list[str]
) -> None:
    (found,) = traced_back([piece], [VINT], TRIPLES, question, answer)

    assert found == {**piece, "triple": expected}


def test_of_the_triples_of_a_sentence_the_one_that_leads_to_the_other_evidence_is_taken() -> None:
    film = passage("film", "Nine Mills", "Nine Mills is a film of 1968 by Orla Vint.")
    told = [["Nine Mills", "is film of", "1968"], ["Nine Mills", "is film by", "Orla Vint"]]
    triples = [Triple(triple=one, sources=[Source(passage_id="film", sentences=[0])]) for one in told]
    (of_film,) = nearest_evidence("film", film, 1)

    first, _ = traced_back(
        [of_film, entry(VINT["sentences"][1])],
        [film, VINT],
        triples,
        "Where was the maker of Nine Mills born?",
        "Pellworth",
    )

    assert first["triple"] == ["Nine Mills", "is film by", "Orla Vint"]


def test_evidence_names_the_source_of_its_passage() -> None:
    (found,) = traced_back([entry(VINT["sentences"][0], *IS)], [{**VINT, "source": "directors.pdf"}], [], "", "")

    assert found["source"] == "directors.pdf"


def test_evidence_from_a_passage_that_is_gone_stays_as_it_is() -> None:
    assert traced_back([entry("It was.")], [], TRIPLES, "", "") == [entry("It was.")]
