"""Whether an answer stands in what was shown."""

import pytest

from langgraph_rag.offline.support import support_of
from langgraph_rag.records import Record, Supported


def passage(title: str, *sentences: str) -> Record:
    return Record(id=title, title=title, text=" ".join(sentences), hash="", sentences=list(sentences), phrases=[])


SHOWN = [
    passage("The Salt Road", "The Salt Road is a drama film of 1968.", "It was directed by Orla Vint."),
    passage("Orla Vint", "Orla Vint (3 May 1931 – 9 June 1990) was a Norwegian director.", "She died in Émond."),
    passage("Grey Water", "Grey Water is a 1975 film directed by Jon Rask.", "It cost 4,600 pounds."),
    passage("Jon Rask", "Jon Rask (born 12 May 1940) is a Danish director.", "He has two daughters."),
    passage("Ida Moss", "Ida Moss was a singer.", "Born in Ostby, the daughter of a cooper, she sang in Kell."),
    passage("Pellworth", "Pellworth is a town in Kell.", "Its harbour was closed in 1811."),
    passage("Vale Road", "Vale Road is 74 kilometres long.", "Forty-one people live there.", "It opened in 1934."),
    passage("Kai Rand", "Kai Rand was a painter.", "Kai Rand never married Ida Moss.", "Kai Rand died in Ostby."),
]
DIED = "Where did the director of The Salt Road die?"
BORN = "When was the director of The Salt Road born?"
OLDER = "Which film has the older director, The Salt Road or Grey Water?"
SAME = "Were Orla Vint and Jon Rask both directors?"


def supported(question: str, answer: str, shown: list[Record] = SHOWN) -> Supported:
    return support_of(question, answer, shown, 1)[0]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (DIED, "Émond"),
        (DIED, "Emond"),
        (DIED, "in the town of Émond"),
        (DIED, "Orla Vint, who directed The Salt Road, died in Émond."),
        (BORN, "May 3, 1931"),
        (BORN, "1931"),
        ("Who directed The Salt Road?", "orla vint"),
        ("What nationality is the director of The Salt Road?", "Norway"),
        ("How much did Grey Water cost?", "4600 pounds"),
        ("How many daughters has Jon Rask?", "2"),
        (OLDER, "The Salt Road"),
        (OLDER, "the film The Salt Road"),
        (SAME, "yes"),
        (SAME, "Yes, both were directors."),
        ("Is Pellworth a town in Kell?", "yes"),
        ("In which town was Ida Moss born?", "Ostby"),  # "Ostby, the daughter of" is about her
        ("Hvor ligger Pellworth?", "Kell"),
        ("Who directed The Salt Road?", "O. Vint"),
        ("How many people live on Vale Road?", "41"),
        ("How long is Vale Road?", "seventy-four kilometres"),
        ("How long is Vale Road?", "74 km"),
        ("When did Orla Vint die?", "Jun. 9, 1990"),
        ("Did Kai Rand marry Ida Moss?", "no"),
    ],
)
def test_an_answer_is_supported_where_it_stands_in_a_sentence_that_bears_on_the_question(
    question: str, answer: str
) -> None:
    assert supported(question, answer) == "yes"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (DIED, "Napoleon"),
        (DIED, "Bergen"),
        (BORN, "4 May 1931"),
        (BORN, "May 1932"),
        ("Who directed The Salt Road?", "Ada Moss"),
        ("How much did Grey Water cost?", "4,700 pounds"),
        (OLDER, "Bitter Sky"),
        (DIED, "unanswerable"),
        (DIED, "The place of death is not given in the passages."),
        (DIED, "Nobody knows"),
        ("Who directed The Salt Road?", "J. Vint"),
        ("How long is Vale Road?", "74 miles"),
        ("How many people live on Vale Road?", "forty-two"),
        (SAME.replace("Orla Vint", "Ada Moss").replace("Jon Rask", "Bo Lund"), "yes"),
    ],
)
def test_an_answer_that_stands_nowhere_and_a_refusal_are_not_supported(question: str, answer: str) -> None:
    assert supported(question, answer) == "no"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (DIED, "Émond, and not Bergen"),  # one of two names
        ("Who directed The Salt Road?", "Orla Vint and Ada Moss"),
        (BORN, "Émond"),  # a place for a date
        ("How many daughters has Jon Rask?", "daughters"),
        ("Who directed The Salt Road?", "1968"),
        ("Who directed The Salt Road?", "Pellworth"),  # a town for a person
        (DIED, "Pellworth"),  # a sentence about something else
        ("Where did Kai Rand die?", "Kell"),  # a sentence with more of the question has another place
        ("Did Kai Rand ever marry Ida Moss?", "yes"),  # "never"
        (OLDER, "Grey Water"),  # its director is younger
        (SAME.replace("Jon Rask", "Ada Moss"), "yes"),  # nothing about one of them
    ],
)
def test_an_answer_of_which_a_part_stands_or_the_kind_is_another_is_supported_in_part(
    question: str, answer: str
) -> None:
    assert supported(question, answer) == "partly"


def test_the_sentences_in_which_an_answer_stands_are_its_evidence() -> None:
    _, died = support_of(DIED, "Émond", SHOWN, 2)
    _, older = support_of(OLDER, "The Salt Road", SHOWN, 1)

    assert [(entry["title"], entry["sentence"], entry["step"]) for entry in died] == [
        ("Orla Vint", "She died in Émond.", 2)
    ]
    assert {"Orla Vint", "Jon Rask"} <= {entry["title"] for entry in older}


@pytest.mark.parametrize("answer", ["Émond", "yes", "The Salt Road", "1931", "", "?", "。", "a" * 20_000, "1 " * 5_000])
def test_nothing_stands_in_no_passage_and_any_text_is_an_answer(answer: str) -> None:
    for question in (DIED, BORN, OLDER, SAME, "?", "¿" * 2_000):
        assert supported(question, answer, []) == "no"
        assert supported(question, answer, [passage("")]) == "no"
        assert supported(question, answer) in ("yes", "partly", "no")


def test_an_answer_stands_in_scripts_without_spaces() -> None:
    shown = [passage("図書館", "図書館は京都にあります。"), passage("港", "港は大阪にあります。")]

    assert supported("図書館はどこにありますか", "京都", shown) == "yes"
    assert supported("図書館はどこにありますか", "東京", shown) == "no"
